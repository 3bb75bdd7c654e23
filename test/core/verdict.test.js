'use strict'

// The errors of jobs that one call ends: each has its own; of many, they share what their stacks say.

const assert = require('node:assert/strict')
const fairlane = require('../..')

const { stackTraceLimit, prepareStackTrace } = Error

/** What the callbacks of so many jobs get when they are cleared. */
function clearedErrors (count, reason) {
  const errors = []
  const queue = fairlane(() => {}).pause()
  for (let i = 0; i < count; i++) queue.push(i, (error) => errors.push(error))
  clearInHere(queue, reason)
  return errors
}

function clearInHere (queue, reason) {
  queue.clear({ reason })
}

describe('the errors of jobs that one call ends', function () {
  afterEach(function () {
    assert.equal(Error.stackTraceLimit, stackTraceLimit)
    assert.equal(Error.prepareStackTrace, prepareStackTrace)
  })

  for (const count of [1, 15, 16, 100]) {
    it(`are errors of their own, with code, message, cause, and a stack that tells the call: ${count} of them`, function () {
      const reason = new Error('why')
      const errors = clearedErrors(count, reason)
      assert.equal(new Set(errors).size, count)
      for (const error of errors) {
        assert.ok(error instanceof fairlane.FairlaneError)
        assert.equal(Object.prototype.toString.call(error), '[object Error]')
        assert.deepEqual([error.code, error.message, error.cause, error.name], ['FAIRLANE_ERR_CLEARED', 'The queue was cleared', reason, 'FairlaneError'])
        assert.ok(error.stack.startsWith('FairlaneError: The queue was cleared\n'), error.stack)
        assert.match(error.stack, /clearInHere/)
        assert.deepEqual(Object.keys(error), ['code'])
      }
    })
  }

  it('do not see what is done to another', function () {
    const errors = []
    const queue = fairlane(() => {}).pause()
    for (let i = 0; i < 20; i++) {
      queue.push(i, (error) => {
        errors.push({ stack: error.stack, message: error.message, code: error.code })
        error.stack = error.message = error.code = 'changed'
      })
    }
    queue.clear()
    assert.ok(errors.every(({ stack, message, code }) => /^FairlaneError/.test(stack) && message !== 'changed' && code === 'FAIRLANE_ERR_CLEARED'))
  })

  it('leave the errors that callbacks make as they are', function () {
    const stacks = []
    const queue = fairlane(() => {}).pause()
    for (let i = 0; i < 20; i++) queue.push(i, function ownCallback () { stacks.push(new Error('own').stack) })
    queue.clear()
    assert.ok(stacks.every((stack) => /ownCallback/.test(stack)))
  })

  it('cope with an Error.prepareStackTrace that throws', function () {
    Error.prepareStackTrace = () => { throw new Error('expected') }
    try {
      const errors = clearedErrors(20)
      assert.equal(new Set(errors).size, 20)
      assert.ok(errors.every(({ code }) => code === 'FAIRLANE_ERR_CLEARED'))
    } finally {
      Error.prepareStackTrace = prepareStackTrace
    }
  })

  it('cope with a stackTraceLimit that can not be set', function () {
    Object.defineProperty(Error, 'stackTraceLimit', { value: stackTraceLimit, writable: false, configurable: true })
    try {
      const errors = clearedErrors(20)
      assert.ok(errors.every(({ stack }) => /clearInHere/.test(stack)))
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', { value: stackTraceLimit, writable: true, enumerable: true, configurable: true })
    }
  })
})
