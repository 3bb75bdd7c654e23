'use strict'

const assert = require('node:assert')

module.exports = { expectThrow, expectReject }

/** Throws at once, with that code and class. */
function expectThrow (fn, code, Class = TypeError) {
  assert.throws(fn, err => {
    assert.equal(err.code, code, err.stack)
    assert(err instanceof Class, err.stack)
    return true
  })
}

/** Rejects with that code. @returns {Promise<any>} the error */
async function expectReject (promise, code) {
  const err = await promise.then(value => { throw new Error(`it gave ${value}`) }, reason => reason)
  assert.equal(err.code, code, err.stack)
  return err
}
