'use strict'

const assert = require('node:assert/strict')
const { Names } = require('../../lib/ledger/names')

describe('the types of a ledger', function () {
  it('have numbers that go back when no record is left, and chunks that go with their last type', function () {
    const names = new Names()
    const numbers = Array.from({ length: 5000 }, (_, i) => names.add(`type ${i}`))
    assert.equal(new Set(numbers).size, 5000)
    numbers.forEach((number, i) => assert.equal(names.textOf(number), `type ${i}`))
    for (const number of numbers.slice(1024)) names.drop(number, 1)
    assert.equal(names.numbers.size, 1024)
    assert.equal(names.counts.filter(counts => counts !== undefined).length, 1)
    assert.equal(names.add('again'), 1024 * 8)
    names.drop(numbers[7], 1)
    assert.equal(names.add('in its place'), numbers[7])
  })

  it('are counted by state', function () {
    const names = new Names()
    const countsOf = number => {
      const counts = [0, 0, 0, 0, 0, 0, 0, 0]
      names.addTo(counts, number)
      return counts
    }
    const number = names.add('a')
    const other = names.add('b')
    assert.notEqual(other, number)
    for (let i = 0; i < 9; i++) assert.equal(names.add('a'), number)
    for (let state = 2; state < 8; state++) names.move(number, 1, state)
    assert.deepEqual(countsOf(number), [0, 4, 1, 1, 1, 1, 1, 1])
    names.move(number, 2, 3)
    names.move(number, 3, 1)
    names.move(number, 7, 1)
    assert.deepEqual(countsOf(number), [0, 6, 0, 1, 1, 1, 1, 0])
    names.drop(number, 1, 5)
    names.drop(number, 4)
    names.move(number, 1, 2)
    names.drop(number, 2)
    assert.deepEqual(countsOf(number), [0, 0, 0, 1, 0, 1, 1, 0])
    assert.deepEqual(countsOf(other), [0, 1, 0, 0, 0, 0, 0, 0])
  })

  it('may be undefined, which is a type of its own', function () {
    const names = new Names()
    const number = names.add(undefined)
    assert.equal(names.add(undefined), number)
    assert.notEqual(names.add('undefined'), number)
    names.drop(number, 1)
    names.drop(number, 1)
    assert.equal(names.numbers.has(undefined), false)
    assert.equal(names.textOf(names.add(undefined)), undefined)
  })
})
