'use strict'

// What is called of others while something of ours goes on. Without clock.js, which lends names to aflow: where no queue is loaded nobody
// takes them back.

module.exports = { callGuarded }

/** What fn throws becomes an uncaught exception. */
function callGuarded (fn) {
  try {
    fn()
  } catch (err) {
    queueMicrotask(() => { throw err })
  }
}
