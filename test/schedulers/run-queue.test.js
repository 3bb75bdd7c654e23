'use strict'

const assert = require('node:assert/strict')
const { RunQueue, Ranked } = require('../../schedulers/run-queue')
const { seeded, seedFromEnvironment } = require('../support/random')

function itemWith (fields) {
  return Object.assign(new Ranked(), fields)
}

function sorted (items) {
  return [...items].sort((a, b) => a.key - b.key || a.order - b.order)
}

/** The items of its list, after checks of their links and their order. */
function runOf (ranking) {
  const run = []
  for (let item = ranking.head; item !== undefined; item = item.after) {
    assert.equal(item.before, run.at(-1))
    run.push(item)
  }
  assert.equal(ranking.tail, run.at(-1))
  assert.deepEqual(run, sorted(run))
  return run
}

/** Empties it from the front. */
function drain (ranking) {
  const drained = []
  while (!ranking.isEmpty) {
    drained.push(ranking.first)
    ranking.remove(ranking.first)
  }
  assert.equal(ranking.first, undefined)
  return drained
}

describe('a ranking', function () {
  // what a key is drawn from: in order, almost, and not at all
  const draws = {
    'in order': (random, i) => i,
    'almost in order': (random, i) => i + random.below(12),
    'in any order': random => random.below(300),
    equal: () => 7
  }
  for (const [name, draw] of Object.entries(draws)) {
    it(`has the least item in front, under random changes of keys ${name}`, function () {
      const seed = seedFromEnvironment()
      const random = seeded(seed)
      const ranking = new RunQueue()
      const items = []
      for (let i = 0; i < 4000; i++) {
        const step = random.below(4)
        if (items.length === 0 || (items.length < 300 && step < 2)) {
          const item = itemWith({ order: i })
          items.push(item)
          ranking.insert(item, draw(random, i))
        } else if (step === 2) {
          const [item] = items.splice(random.below(items.length), 1)
          ranking.remove(item)
          assert.deepEqual([item.position, item.before, item.after], [-1, undefined, undefined])
        } else {
          const item = random.below(2) === 0 ? ranking.first : items[random.below(items.length)]
          if (random.below(2) === 0) item.order = i
          ranking.update(item, random.below(9) === 0 ? item.key : Math.max(draw(random, i), 0))
        }
        assert.equal(ranking.first, sorted(items)[0], `SEED=${seed}`)
        if (i % 50 === 0) assert.equal(runOf(ranking).length + ranking.heap.size, items.length)
      }
      assert.deepEqual(new Set(ranking), new Set(items))
      assert.deepEqual(drain(ranking), sorted(items), `SEED=${seed}`)
    })
  }

  it('finds the first item that passes, and tells all in order, from list and heap alike', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    for (let round = 0; round < 200; round++) {
      const ranking = new RunQueue()
      const items = Array.from({ length: random.below(40) }, () => itemWith({ passes: random.below(3) === 0 }))
      const keys = items.map((item, i) => random.below(2) * 1000 + i).sort(() => random.below(3) - 1)
      for (const [i, item] of items.entries()) ranking.insert(item, keys[i])
      const inOrder = sorted(items)
      assert.deepEqual([...ranking.inOrder()], inOrder, `SEED=${seed}`)
      assert.equal(ranking.find(item => item.passes), inOrder.find(item => item.passes), `SEED=${seed}`)
    }
  })

  it('finds the least item that passes, whichever fail, and whether list or heap are empty', function () {
    const random = seeded(seedFromEnvironment())
    const found = { none: 0, inRun: 0, inHeap: 0 }
    for (let round = 0; round < 300; round++) {
      const ranking = new RunQueue()
      const items = []
      const keys = Array.from({ length: 60 }, (_, i) => i + random.next() / 2)
      while (keys.length > 0) {
        const item = itemWith({ order: keys.length })
        items.push(item)
        ranking.insert(item, keys.splice(random.chance(0.5) ? 0 : random.below(keys.length), 1)[0])
      }
      // what is left is now in both, now in one of them
      const isLeft = random.pick([() => random.chance(0.3), item => item.position >= 0, item => item.position < 0])
      for (const item of [...items]) {
        if (isLeft(item)) continue
        items.splice(items.indexOf(item), 1)
        ranking.remove(item)
      }
      const chance = random.pick([0, 0.05, 0.5])
      const passing = new Set(items.filter(() => random.chance(chance)))
      const [least] = sorted(passing)
      assert.equal(ranking.find(item => passing.has(item), undefined), least)
      found[least === undefined ? 'none' : least.position < 0 ? 'inRun' : 'inHeap']++
    }
    assert.ok(Object.values(found).every(count => count > 10), JSON.stringify(found))
  })

  it('takes an item of its heap into its list when that is empty', function () {
    const ranking = new RunQueue()
    const items = Array.from({ length: 40 }, (_, i) => itemWith({ order: i }))
    items.forEach((item, i) => ranking.insert(item, 100 - i))
    const run = runOf(ranking)
    for (const item of run) ranking.remove(item)
    const [item] = items.filter(item => !run.includes(item))
    assert.equal(ranking.head, undefined)
    ranking.update(item, 7)
    assert.deepEqual(runOf(ranking), [item])
    assert.equal(ranking.first, item)
  })

  it('asks few more than fail when it looks for one that passes', function () {
    const ranking = new RunQueue()
    const items = Array.from({ length: 10000 }, () => new Ranked())
    for (const [i, item] of items.entries()) ranking.insert(item, i % 2 === 0 ? i : 20000 - i)
    assert.ok(ranking.head !== undefined && ranking.heap.size > 1000)
    let count = 0
    assert.equal(ranking.find(item => { count++; return item.key >= 20 }), items[20])
    assert.ok(count < 50, `${count} were asked`)
  })

  it('asks none of its list that come after what the heap has', function () {
    const ranking = new RunQueue()
    for (let i = 0; i < 1000; i++) ranking.insert(itemWith({ passes: false }), 1000 + i)
    const passing = [itemWith({ passes: true }), itemWith({ passes: true })]
    ranking.insert(passing[1], 5)
    let count = 0
    const find = () => ranking.find(item => { count++; return item.passes })
    assert.equal(find(), passing[1])
    assert.equal(count, 1)
    ranking.insert(passing[0], 1)
    ranking.insert(itemWith({ passes: false }), 0)
    assert.equal(find(), passing[0])
    assert.ok(count < 10, `${count} were asked`)
    for (const item of passing) ranking.remove(item)
    assert.equal(find(), undefined)
  })

  it('keeps an almost sorted sequence out of its heap', function () {
    const ranking = new RunQueue()
    for (let i = 0; i < 1000; i += 9) {
      for (let j = 8; j >= 0; j--) ranking.insert(new Ranked(), i + j)
    }
    assert.equal(ranking.heap.size, 0)
    assert.equal(runOf(ranking).length, 1008)
  })

  it('takes back into its list what comes in order again', function () {
    const ranking = new RunQueue()
    const items = Array.from({ length: 100 }, () => new Ranked())
    for (const [i, item] of items.entries()) ranking.insert(item, 100 - i)
    assert.ok(ranking.heap.size > 50)
    for (let i = 101; i < 201; i++) ranking.update(ranking.first, i)
    assert.equal(ranking.heap.size, 0)
  })

  it('is as patient with the next item that is far ahead', function () {
    const ranking = new RunQueue()
    const pass = count => {
      for (let i = 0; i < count; i++) {
        const item = new Ranked()
        ranking.insert(item, i)
        ranking.remove(item)
      }
    }
    for (const key of [1e6, 2e6]) ranking.insert(new Ranked(), key)
    pass(65)
    assert.deepEqual([ranking.heap.size, runOf(ranking).length], [1, 1])
    pass(64)
    assert.equal(ranking.heap.size, 1)
    pass(1)
    assert.equal(ranking.heap.size, 2)
  })

  it('is patient anew when an item goes to its end', function () {
    const ranking = new RunQueue()
    const items = [new Ranked(), new Ranked()]
    for (const [i, item] of items.entries()) ranking.insert(item, 1e6 + i)
    for (let i = 0; i < 200; i++) {
      const item = new Ranked()
      ranking.insert(item, i)
      ranking.remove(item)
      if (i % 50 === 0) ranking.update(items[i % 100 / 50], 2e6 + i)
    }
    assert.equal(ranking.heap.size, 0)
  })

  it('is patient anew when an item of its heap goes to its end', function () {
    const ranking = new RunQueue()
    ranking.insert(new Ranked(), 1e6)
    for (let key = 20; key > 10; key--) ranking.insert(new Ranked(), key)
    const stray = new Ranked()
    ranking.insert(stray, 1)
    assert.ok([...ranking.heap.items].includes(stray))
    for (let i = 0; i < 100; i++) {
      if (i === 50) ranking.update(stray, 2e6)
      const item = new Ranked()
      ranking.insert(item, 0)
      ranking.remove(item)
    }
    assert.equal(ranking.tail, stray)
  })

  it('lets go of items that are far ahead of all others', function () {
    const ranking = new RunQueue()
    const strays = Array.from({ length: 50 }, () => new Ranked())
    for (const [i, stray] of strays.entries()) ranking.insert(stray, 1e6 + i)
    for (let i = 0; i < 10000; i++) {
      const item = new Ranked()
      ranking.insert(item, i)
      ranking.remove(item)
    }
    assert.equal(ranking.head, undefined)
    assert.deepEqual([...ranking.inOrder()], strays)
  })

  it('takes items in turn without its heap', function () {
    const ranking = new RunQueue()
    const items = Array.from({ length: 100 }, () => new Ranked())
    for (const [i, item] of items.entries()) ranking.insert(item, i)
    for (let i = 100; i < 1000; i++) {
      assert.equal(ranking.first, items[i % 100])
      ranking.update(ranking.first, i)
    }
    assert.equal(ranking.heap.size, 0)
  })
})
