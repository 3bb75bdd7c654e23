'use strict'

const assert = require('node:assert/strict')
const { readWellFormed } = require('../../lib/job/well-formed')

describe('a text that is kept', function () {
  it('is refused if it would not be read back as it was written', function () {
    for (const text of ['', 'a', '\u0000', '\u{1F600}', '__proto__']) assert.equal(readWellFormed(text, 'the key', 'FAIRLANE_ERR_ARGUMENT'), text)
    for (const text of ['\uD800', 'a\uDC00b']) {
      assert.throws(() => readWellFormed(text, 'the key', 'FAIRLANE_ERR_ARGUMENT'), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT', message: /^the key must be well-formed/ })
      assert.throws(() => readWellFormed(text, 'the type', 'FAIRLANE_ERR_TYPE'), { code: 'FAIRLANE_ERR_TYPE' })
    }
  })
})
