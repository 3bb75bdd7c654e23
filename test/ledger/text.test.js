'use strict'

const assert = require('node:assert/strict')
const { textOf } = require('../../lib/ledger/text')

describe('the text of an error', function () {
  const cases = [
    { what: 'its code and its message', err: Object.assign(new Error('no file'), { code: 'ENOENT' }), text: 'ENOENT: no file' },
    { what: 'its name where it has no code', err: new TypeError('wrong'), text: 'TypeError: wrong' },
    { what: 'its name where the code is a number', err: new DOMException('over', 'AbortError'), text: 'AbortError: over' },
    { what: 'its title alone where it has no message', err: new RangeError(''), text: 'RangeError' },
    { what: 'its message alone where it has no title', err: { message: 'plain' }, text: 'plain' },
    { what: 'what it is where it has neither', err: {}, text: 'an object' },
    { what: 'a text as it is', err: 'no', text: 'no' },
    { what: 'a number', err: 404, text: '404' },
    { what: 'a symbol', err: Symbol('x'), text: 'Symbol(x)' },
    { what: 'a function', err: () => {}, text: 'a function' },
    { what: 'that nothing can be said', err: { get code () { throw new Error('hostile') } }, text: 'what cannot be described' }
  ]
  for (const { what, err, text } of cases) {
    it(`is ${what}`, () => assert.equal(textOf(err), text))
  }

  it('is 200 characters long at most', function () {
    assert.equal(textOf(new Error('x'.repeat(1000))), `Error: ${'x'.repeat(193)}`)
  })
})
