'use strict'

const assert = require('node:assert/strict')
const { Ranking } = require('../lib/ranking')
const { seeded, seedFromEnvironment } = require('./support/random')

const byKey = (a, b) => a.key - b.key || a.order - b.order

function check (ranking, items, message) {
  const sorted = [...items].sort(byKey)
  assert.equal(ranking.size, items.size, message)
  for (const item of items) {
    assert.equal(ranking.items[item.position], item, message)
    assert.equal(ranking.keys[item.position], item.key, message)
  }
  if (items.size > 0) assert.equal(ranking.items[ranking.first()], sorted[0], message)
  assert.deepEqual([...ranking.ascending()].map(({ key }) => key), sorted.map(({ key }) => key), message)
  for (const passes of [() => true, () => false, ({ order }) => order % 3 === 0]) {
    assert.equal(ranking.leastWhere(passes)?.key, sorted.find(passes)?.key, message)
  }
}

describe('the ranking', function () {
  it('knows the least item, and the least that passes a test, with few items and with many, under random changes', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const ranking = new Ranking()
    const items = new Set()
    let order = 0
    for (let i = 0; i < 3000; i++) {
      const most = [5, 20, 60][Math.floor(i / 1000)]
      const [any] = items.size === 0 ? [] : [[...items][random.below(items.size)]]
      if (any === undefined || (items.size < most && random.chance(0.5))) {
        const item = { position: -1, key: random.below(30), order: order++ }
        items.add(item)
        ranking.insert(item, item.key)
      } else if (random.chance(0.4)) {
        items.delete(any)
        ranking.remove(any.position)
        assert.equal(any.position, -1)
      } else {
        any.key = random.below(30)
        any.order = order++
        ranking.update(any.position, any.key)
      }
      check(ranking, items, `SEED=${seed}, step ${i}`)
    }
  })

  it('looks only at items that fail the test, and at those next to them', function () {
    const ranking = new Ranking()
    for (let key = 0; key < 1000; key++) ranking.insert({ position: -1, key }, key)
    const seen = new Set()
    const least = ranking.leastWhere((item) => {
      seen.add(item)
      return item.key >= 3
    })
    assert.equal(least.key, 3)
    assert(seen.size <= 3 * 5, `${seen.size}`)
  })
})
