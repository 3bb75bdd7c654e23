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
      const first = new Set(orders.map(([contender]) => contender))
      assert.ok(first.size >= Math.min(contenders.length, 3), [...first].join())
      if (contenders.length < 3) return
      for (const contender of contenders) {
        const before = orders.map(order => order[order.indexOf(contender) - 1]).filter(contender => contender !== undefined)
        assert.ok(new Set(before).size > 1, `${contender} comes after ${before.join()}`)
      }
    })
  }

  it('is the same whenever it is asked for', () => {
    assert.equal(orderOf([...'ABCDE'], 1).join(''), 'AEBDC')
    assert.equal(orderOf([...'ABCDE'], 2).join(''), 'DECAB')
    assert.equal(orderOf([...'ABCDE'], 11).join(''), 'AEBDC')
  })
})
