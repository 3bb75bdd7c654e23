'use strict'

// Has time go by that a test would have to wait for: what looks at performance.now() finds it later than it is.

module.exports = { atLaterTimes }

/** To be called in describe(). @returns {(ms: number) => Promise<void>} from then on, until the test is over, it is so much later */
function atLaterTimes () {
  const { now } = performance
  afterEach(() => { performance.now = now })
  return async ms => {
    await new Promise(resolve => setImmediate(resolve)) // what is done by now was done in time
    performance.now = () => now.call(performance) + ms
  }
}
