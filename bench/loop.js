'use strict'

// qtimeit as the harness uses it: silent, counted, as a promise.
// qtimeit calls the function once before it starts its clock, and takes its own calibrated overhead off the time.

/**
 * @param {number} count how often to run `fn` inside the timed loop
 * @param {function(function(): void): void} fn gets a callback and calls it when one repetition has ended
 * @returns {Promise<number>} nanoseconds per repetition
 */
function timeLoop (count, fn) {
  // loaded late: it starts a child process at once, which must not disturb a cold measurement
  const timeit = require('qtimeit')
  return new Promise((resolve, reject) => {
    timeit(count, fn, '/* NOOUTPUT */', (err, calls, elapsedSeconds) => {
      if (err) return reject(err)
      resolve(elapsedSeconds * 1e9 / calls)
    })
  })
}

module.exports = { timeLoop }
