'use strict'

// The time that queues read for their slices, in the hands of the test. Their deadlines have a clock of their own: `fakeClock`.

module.exports = { stoppedTime, withoutTime, spin }

let stopped // what passes is in the hands of a test

/**
 * Calls fn while time stands still, so that no slice ends: what is started together does not depend on the machine.
 * @returns {Promise<any>} what it gives
 */
async function withoutTime (fn) {
  const time = stoppedTime()
  try {
    return await fn()
  } finally {
    time.release()
  }
}

/**
 * @param {number} [from] in ms
 * @returns {{ lookCount: number, pass: (ms: number) => void, release: () => void }} stands still but for what passes; `release` must be
 *   called
 */
function stoppedTime (from = performance.now()) {
  const { now } = performance
  const outer = stopped
  let time = from
  performance.now = () => {
    stopped.lookCount++
    return time
  }
  stopped = {
    lookCount: 0,
    pass (ms) { time += ms },
    release () {
      performance.now = now
      stopped = outer
    }
  }
  return stopped
}

/** Keeps the thread busy, as a slow synchronous runner does; where time stands still, so much of it passes. */
function spin (ms) {
  if (stopped !== undefined) return stopped.pass(ms)
  const end = performance.now() + ms
  while (performance.now() < end);
}
