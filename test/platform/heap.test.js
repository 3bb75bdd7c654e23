'use strict'

const assert = require('node:assert/strict')
const { Heap } = require('../../lib/platform/heap')
const { seeded, seedFromEnvironment } = require('../support/random')

function check (heap) {
  const { items, keys, size } = heap
  assert.equal(items.length, size)
  for (let i = 0; i < size; i++) {
    assert.equal(items[i].position, i)
    assert.equal(items[i].key, keys[i])
    const parent = (i - 1) >> 2
    if (i > 0) assert.ok(keys[parent] < keys[i] || (keys[parent] === keys[i] && !(items[i].order < items[parent].order)), `at ${i}`)
  }
}

describe('the heap', function () {
  it('has the least item on top and each at its position, under random changes', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const heap = new Heap()
    for (let i = 0; i < 6000; i++) {
      const step = random.below(4)
      if (step === 0 || (i < 3000 && step === 1) || heap.size === 0) {
        const item = { position: -1, key: random.below(100), order: i }
        heap.insert(item, item.key)
      } else if (step === 1) {
        const item = heap.items[random.below(heap.size)]
        heap.remove(item.position)
        assert.equal(item.position, -1)
      } else {
        const item = heap.items[random.below(heap.size)]
        item.key = random.below(100)
        heap.update(item.position, item.key)
      }
      if (i % 10 === 0) check(heap)
    }
    const sorted = []
    while (heap.size > 0) {
      sorted.push([heap.keys[0], heap.items[0].order])
      heap.remove(0)
      check(heap)
    }
    assert.deepEqual(sorted, sorted.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]), `SEED=${seed}`)
  })

  it('keeps the order of items with equal keys, of which there are few, under random changes', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    for (let round = 0; round < 30; round++) {
      const heap = new Heap()
      for (let i = 0; i < 300; i++) {
        if (heap.size === 0 || random.chance(i < 150 ? 0.8 : 0.3)) {
          const item = { position: -1, key: random.below(3), order: random.below(1e9) }
          heap.insert(item, item.key)
        } else {
          heap.remove(random.below(heap.size))
        }
        check(heap)
      }
    }
  })

  it('moves items without an order down when their keys grow, and leaves them when these do not', function () {
    const heap = new Heap()
    const items = [1, 2, 3].map(key => ({ position: -1, key }))
    for (const item of items) heap.insert(item, item.key)
    items[0].key = 9
    heap.update(0, 9)
    check(heap)
    assert.deepEqual(heap.items[0], items[1])
    heap.update(0, 2)
    assert.equal(heap.items[0], items[1])
  })

  it('finds the least that passes, and asks of no more than those under the ones that do not', function () {
    const heap = new Heap()
    assert.equal(heap.find(assert.fail), undefined)
    for (let key = 0; key < 100; key++) heap.insert({ position: -1, key }, key)
    let asked = 0
    const isFrom = least => ({ key }) => {
      asked++
      return key >= least
    }
    assert.equal(heap.find(isFrom(0)).key, 0)
    assert.equal(asked, 1)
    assert.equal(heap.find(isFrom(3)).key, 3)
    assert.ok(asked <= 1 + 1 + 4 * 3, `${asked} asked`)
    heap.insert({ position: -1, key: Infinity }, Infinity)
    assert.equal(heap.find(isFrom(100)).key, Infinity)
    assert.equal(heap.find(isFrom(NaN)), undefined)
  })

  it('takes items of equal keys that have no order', function () {
    const heap = new Heap()
    for (let i = 0; i < 3; i++) heap.insert({ position: -1, key: 1 }, 1)
    check(heap)
    heap.update(0, 1)
    assert.equal(heap.size, 3)
  })

  it('is in order after an item was taken out whose order had changed', function () {
    const heap = new Heap()
    const items = Array.from({ length: 3 }, (_, order) => ({ position: -1, key: 0, order }))
    for (const item of items) heap.insert(item, 0)
    items[0].order = 9
    heap.remove(0)
    check(heap)
    assert.equal(heap.items[0], items[1])
  })

  it('moves an item whose order has grown behind its equals', function () {
    const heap = new Heap()
    const items = Array.from({ length: 10 }, (_, order) => ({ position: -1, key: 1, order }))
    for (const item of items) heap.insert(item, 1)
    const seen = []
    for (let i = 10; i < 30; i++) {
      const item = heap.items[0]
      seen.push(items.indexOf(item))
      item.order = i
      heap.update(0, 1)
      check(heap)
    }
    assert.deepEqual(seen, [...items.keys(), ...items.keys()])
  })

  it('gives its room back', function () {
    const heap = new Heap()
    for (let i = 0; i < 10000; i++) heap.insert({ position: -1 }, i)
    assert.equal(heap.keys.length, 16384)
    while (heap.size > 0) heap.remove(heap.size - 1)
    assert.equal(heap.keys.length, 16)
  })
})
