'use strict'

const assert = require('node:assert/strict')
const { Names } = require('../../lib/ledger/names')

describe('the types of a ledger', function () {
  it('have numbers that go back when no record is left, and chunks that go with their last type', function () {
    const names = new Names()
    const numbers = Array.from({ length: 5000 }, (_, i) => names.add(`type ${i}`, 1))
    assert.equal(new Set(numbers).size, 5000)
    numbers.forEach((number, i) => assert.equal(names.textOf(number), `type ${i}`))
    for (const number of numbers.slice(1024)) names.drop(number, 1)
    assert.equal(names.numbers.size, 1024)
    assert.equal(names.counts.filter(counts => counts !== undefined).length, 1)
    assert.equal(names.add('again', 2), 1024)
    names.drop(numbers[7], 1)
    assert.equal(names.add('in its place', 1), numbers[7])
  })

  it('are counted by state', function () {
    const names = new Names()
    const number = names.add('a', 1)
    assert.equal(names.add('a', 1), number)
    assert.equal(names.add('b', 1), 1)
    assert.equal(names.add('a', 4), number)
    names.move(number, 1, 5)
    const counts = [0, 0, 0, 0, 0, 0, 0, 0]
    names.addTo(counts, number)
    assert.deepEqual(counts, [0, 1, 0, 0, 1, 1, 0, 0])
  })

  it('may be undefined, which is a type of its own', function () {
    const names = new Names()
    const number = names.add(undefined, 1)
    assert.equal(names.add(undefined, 1), number)
    assert.notEqual(names.add('undefined', 1), number)
    names.drop(number, 1)
    names.drop(number, 1)
    assert.equal(names.numbers.has(undefined), false)
    assert.equal(names.textOf(names.add(undefined, 1)), undefined)
  })
})
