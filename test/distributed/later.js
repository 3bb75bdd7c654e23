'use strict'

// Has time go by that a test would have to wait for, or hardly any: what looks at performance.now() finds it later than it is, or nearly
// as it was.

const SLOWER = 1000

module.exports = { atLaterTimes, inSlowTime }

/** To be called in describe(). @returns {(ms: number) => Promise<void>} from then on, until the test is over, it is so much later */
function atLaterTimes () {
  const { now } = performance
  afterEach(() => { performance.now = now })
  return async ms => {
    await new Promise(resolve => setImmediate(resolve)) // what is done by now was done in time
    performance.now = () => now.call(performance) + ms
  }
}

/**
 * To be called in describe(): time goes by so slowly that a job starts in time which was taken by a rate, however busy the machine is. One
 * that does not goes back, and its permit counts as used.
 */
function inSlowTime () {
  const { now } = performance
  beforeEach(() => {
    const begunAt = now.call(performance)
    performance.now = () => begunAt + (now.call(performance) - begunAt) / SLOWER
  })
  afterEach(() => { performance.now = now })
}
