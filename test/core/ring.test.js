'use strict'

const assert = require('node:assert/strict')
const { Ring } = require('../../lib/core/ring')
const { seeded, seedFromEnvironment } = require('../support/random')

const seed = seedFromEnvironment()

describe('the items of a ring', function () {
  it(`are found in the order in which they came, however many come and go (SEED=${seed})`, function () {
    const random = seeded(seed)
    const ring = new Ring()
    const items = new Set()
    for (let step = 0; step < 20000; step++) {
      const most = step % 4000 < 2000 ? 500 : 5
      if (items.size < most && random.chance(0.6)) {
        const item = makeItem()
        items.add(item)
        ring.add(item)
      } else if (items.size > 0) {
        const item = [...items][random.below(items.size)]
        ring.drop(item)
        items.delete(item)
      }
      if (step % 100 > 0) continue
      const listed = ring.list()
      assert.equal(listed.length, items.size)
      assert.ok([...items].every((item, i) => item === listed[i]))
    }
  })

  it('are let go of when they are dropped, and let go of each other', function () {
    const ring = new Ring()
    const items = Array.from({ length: 3 }, makeItem)
    for (const item of items) ring.add(item)
    for (const item of [items[1], items[0], items[2]]) ring.drop(item)
    for (const item of items) assert.equal(item.block, undefined)
    assert.deepEqual(ring.list(), [])
  })
})

function makeItem () {
  return { block: undefined, at: 0 }
}
