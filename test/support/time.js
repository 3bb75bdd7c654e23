'use strict'

// The time that queues read for their slices, in the hands of the test. Their deadlines have a clock of their own: `fakeClock`.

module.exports = { stoppedTime, withoutTime }

/** Calls fn while time stands still, so that no slice ends: what is started together does not depend on the machine. @returns {Promise<any>} what it gives */
async function withoutTime (fn) {
  const time = stoppedTime()
  try {
    return await fn()
  } finally {
    time.release()
  }
}

/** @returns {{ pass: (ms: number) => void, release: () => void }} stands still but for what passes; `release` must be called */
function stoppedTime () {
  const { now } = performance
  let time = performance.now()
  performance.now = () => time
  return {
    pass (ms) { time += ms },
    release () { performance.now = now }
  }
}
