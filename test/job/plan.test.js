'use strict'

const assert = require('node:assert')
const { readKey } = require('../../lib/job/plan')
const { KEYS, NO_KEYS } = require('../shared/keys')

describe('The key of a job', () => {
  it('is a string, or a finite number, which is made into one', () => {
    for (const [key, text] of KEYS) assert.equal(readKey(key), text)
  })

  it('is nothing else: what has the same text would be taken for the same job', () => {
    for (const key of [undefined, ...NO_KEYS]) {
      assert.throws(() => readKey(key), ({ code, message }) => code === 'FAIRLANE_ERR_ARGUMENT' && /^key must be a string or a finite number, not ./.test(message))
    }
    assert.throws(() => readKey(NaN), RangeError)
    assert.throws(() => readKey(null), TypeError)
  })
})
