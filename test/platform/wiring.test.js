'use strict'

const assert = require('node:assert')
const { givenTo } = require('../../lib/platform/wiring')

describe('a table of parts', () => {
  it('says which others a part is given: those of its row, also if there are none of that name', () => {
    const wiring = { a: [], b: ['a'], c: ['b', 'ledger'] }
    assert.deepEqual(givenTo('a', wiring, { a: 1 }), {})
    assert.deepEqual(givenTo('c', wiring, { a: 1, b: 2 }), { b: 2, ledger: undefined })
  })
})
