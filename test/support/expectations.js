'use strict'

const assert = require('node:assert/strict')

/** What a round has seen go wrong: in the caller's code nothing may be thrown for it, as the queue would take that for the job's. */
class Expectations {
  failure = undefined

  expect (condition, message) {
    if (!condition) this.fail(new assert.AssertionError({ message, stackStartFn: this.expect }))
  }

  /** The first failure is the one that tells something. */
  fail (error) {
    this.failure ??= error
  }

  rethrow () {
    if (this.failure !== undefined) throw this.failure
  }
}

module.exports = { Expectations }
