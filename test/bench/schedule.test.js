'use strict'

const assert = require('node:assert/strict')
const { orderOf } = require('../../bench/schedule')

const ROUNDS = 5

describe('the order of the contenders of a bench', () => {
  for (const contenders of ['A', 'AB', 'ABC', 'ABCD', 'ABCDE', 'ABCDEFGHIJK']) {
    const orders = Array.from({ length: ROUNDS }, (_, i) => orderOf([...contenders], i + 1))

    it(`has each run once in a round: ${contenders}`, () => {
      for (const order of orders) assert.equal([...order].sort().join(''), contenders)
    })

    it(`has each begin in turn, and not follow the same one all the time: ${contenders}`, () => {
      for (let i = 1; i < ROUNDS; i++) assert.equal(orders[i][0], contenders[i % contenders.length])
      if (contenders.length < 3) return
      const all = orders.flat()
      for (const contender of contenders) {
        const before = all.filter((_, i) => all[i + 1] === contender)
        assert.ok(new Set(before).size > 1, `${contender} comes after ${before.join()}`)
      }
    })
  }

  it('is the same whenever it is asked for', () => {
    assert.equal(orderOf([...'ABCDE'], 1).join(''), 'AEBDC')
    assert.equal(orderOf([...'ABCDE'], 2).join(''), 'BACED')
    assert.equal(orderOf([...'ABCDE'], 6).join(''), 'AEBDC')
  })
})
