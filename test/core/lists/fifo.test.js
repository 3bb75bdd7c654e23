'use strict'

const assert = require('node:assert/strict')
const { Fifo } = require('../../../lib/core/lists/fifo')
const { seeded } = require('../../support/random')

// A job is `[payload, whenSettled]` here; the list never calls whenSettled, so that anything may stand for it.
function take (list) {
  if (!list.take()) return undefined
  const job = [list.payload, list.whenSettled]
  list.payload = list.whenSettled = undefined
  return job
}

function takeAll (list) {
  const jobs = []
  for (let job = take(list); job !== undefined; job = take(list)) jobs.push(job)
  return jobs
}

function jobsOf (list) {
  const jobs = []
  list.forEach((payload, whenSettled) => jobs.push([payload, whenSettled]))
  return jobs
}

function filled (count) {
  const list = new Fifo()
  for (let i = 0; i < count; i++) list.push(undefined, i, `settled ${i}`)
  return list
}

function numbers (from, to) {
  return Array.from({ length: to - from }, (_, i) => [from + i, `settled ${from + i}`])
}

// Around every border that a block may have.
const SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 1055, 1056, 1057, 2079, 2080, 2081, 5000]

describe('the FIFO list', function () {
  it('knows its first job, whatever stands before that', () => {
    for (const markCount of [0, 1, 31, 32, 33, 1056, 1057, 2081]) {
      const list = new Fifo()
      for (let generation = 1; generation <= markCount; generation++) list.barrier(generation)
      list.push(undefined, 'first', 'settled')
      list.push(undefined, 'second', 'settled')
      assert.deepEqual(list.first(), { payload: 'first', whenSettled: 'settled' }, markCount)
    }
  })

  it('is empty at first', function () {
    const list = new Fifo()
    assert.equal(list.size, 0)
    assert.equal(list.take(), false)
    assert.equal(list.size, 0)
    assert.deepEqual(jobsOf(list), [])
  })

  for (const size of SIZES) {
    it(`gives ${size} pushed jobs in order`, function () {
      const list = filled(size)
      assert.equal(list.size, size)
      assert.deepEqual(jobsOf(list), numbers(0, size))
      assert.deepEqual(takeAll(list), numbers(0, size))
      assert.equal(list.size, 0)
      assert.equal(list.take(), false)
    })

    it(`gives ${size} unshifted jobs in reverse order`, function () {
      const list = new Fifo()
      for (let i = 0; i < size; i++) list.unshift(undefined, i, `settled ${i}`)
      assert.equal(list.size, size)
      assert.deepEqual(jobsOf(list), numbers(0, size).reverse())
      assert.deepEqual(takeAll(list), numbers(0, size).reverse())
    })

    it(`gives what was unshifted before ${size} pushed jobs first, and what was pushed behind them last`, function () {
      for (const taken of [0, 1, size >> 1, size]) {
        const list = filled(size)
        for (let i = 0; i < taken; i++) take(list)
        for (let i = 0; i < 3; i++) list.unshift(undefined, `head ${i}`, i)
        for (let i = 0; i < 3; i++) list.push(undefined, `tail ${i}`, i)
        const expected = [
          ['head 2', 2], ['head 1', 1], ['head 0', 0], ...numbers(Math.min(taken, size), size), ['tail 0', 0], ['tail 1', 1], ['tail 2', 2]
        ]
        assert.equal(list.size, expected.length)
        assert.deepEqual(takeAll(list), expected)
      }
    })

    it(`goes on after ${size} jobs came and went`, function () {
      const list = filled(size)
      for (let round = 0; round < 3; round++) {
        takeAll(list)
        for (let i = 0; i < 40; i++) {
          list.push(undefined, i, i)
          list.unshift(undefined, -i, -i)
        }
        assert.equal(list.size, 80)
        assert.equal(takeAll(list).length, 80)
        for (let i = 0; i < size; i++) list.push(undefined, i, `settled ${i}`)
        assert.deepEqual(jobsOf(list), numbers(0, size))
      }
    })

    it(`gives up all of ${size} jobs at once`, function () {
      const list = filled(size)
      const removed = list.removeAll()
      assert.equal(list.size, 0)
      assert.equal(list.take(), false)
      assert.equal(removed.size, size)
      list.push(undefined, 'new', 'settled')
      assert.deepEqual(takeAll(removed), numbers(0, size))
      assert.deepEqual(takeAll(list), [['new', 'settled']])
    })

    it(`removes single ones of ${size} jobs wherever they are`, function () {
      const tests = [
        (i) => i === 0, (i) => i === size - 1, (i) => i === size >> 1, (i) => i % 2 === 0, (i) => i % 100 !== 7, (i) => i < 40,
        () => true, () => false
      ]
      for (const test of tests) {
        const list = filled(size)
        const removed = list.remove(test)
        const expected = numbers(0, size).filter(([i]) => !test(i))
        assert.equal(list.size, expected.length)
        assert.equal(removed.size, size - expected.length)
        assert.deepEqual(jobsOf(list), expected)
        list.unshift(undefined, 'head', 'settled')
        list.push(undefined, 'tail', 'settled')
        assert.deepEqual(takeAll(list), [['head', 'settled'], ...expected, ['tail', 'settled']])
        assert.deepEqual(takeAll(removed), numbers(0, size).filter(([i]) => test(i)))
      }
    })
  }

  it('keeps any payload and any whenSettled, undefined and -1 too', function () {
    const values = [undefined, null, -1, 0, '', NaN, Symbol.iterator, () => {}]
    const list = new Fifo()
    const expected = []
    for (const payload of values) {
      for (const whenSettled of [undefined, () => {}]) {
        list.push(undefined, payload, whenSettled)
        expected.push([payload, whenSettled])
      }
    }
    assert.deepEqual(jobsOf(list), expected)
    list.remove((payload) => payload === -1)
    const left = expected.filter(([payload]) => payload !== -1)
    assert.equal(list.size, left.length)
    assert.deepEqual(takeAll(list), left)
  })

  it('takes no notice of the type', function () {
    const list = new Fifo()
    list.push('b', 1, undefined)
    list.push('a', 2, undefined)
    list.unshift('c', 0, undefined)
    assert.deepEqual(takeAll(list).map(([payload]) => payload), [0, 1, 2])
  })

  it('removes nothing where the test throws', function () {
    const list = filled(3000)
    const failure = new Error('expected')
    assert.throws(() => list.remove((payload) => {
      if (payload === 2500) throw failure
      return true
    }), failure)
    assert.deepEqual(jobsOf(list), numbers(0, 3000))
    assert.equal(list.remove((payload) => payload < 2999).size, 2999)
    assert.deepEqual(takeAll(list), numbers(2999, 3000))
  })

  it('stands pushes and unshifts inside the test of remove', function () {
    for (const size of SIZES.slice(1)) {
      const list = filled(size)
      let added = 0
      const removed = list.remove((payload) => {
        assert.equal(typeof payload, 'number', 'only jobs that waited when it was called')
        if (added < 1500) {
          list.push(undefined, `tail ${added}`, added)
          list.unshift(undefined, `head ${added}`, added)
          added++
        }
        return payload % 2 === 1
      })
      assert.deepEqual(takeAll(removed), numbers(0, size).filter(([i]) => i % 2 === 1))
      const expected = [
        ...Array.from({ length: added }, (_, i) => [`head ${added - 1 - i}`, added - 1 - i]),
        ...numbers(0, size).filter(([i]) => i % 2 === 0),
        ...Array.from({ length: added }, (_, i) => [`tail ${i}`, i])
      ]
      assert.equal(list.size, expected.length)
      assert.deepEqual(takeAll(list), expected)
    }
  })

  it('stands removeAll and remove inside the test of remove', function () {
    for (const size of [1, 100, 3000]) {
      const list = filled(size)
      let inner
      const removed = list.remove((payload) => {
        if (payload === 0) {
          inner = list.removeAll()
          list.push(undefined, 'new', 'settled')
        }
        return true
      })
      assert.equal(inner.size, size)
      assert.equal(removed.size, 0)
      assert.deepEqual(takeAll(list), [['new', 'settled']])

      const other = filled(size)
      let nested
      const rest = other.remove((payload) => {
        if (payload === 0) nested = other.remove((inside) => inside % 2 === 0)
        return payload % 3 === 0
      })
      assert.deepEqual(takeAll(nested), numbers(0, size).filter(([i]) => i % 2 === 0))
      assert.deepEqual(takeAll(rest), numbers(0, size).filter(([i]) => i % 3 === 0 && i % 2 !== 0))
      assert.deepEqual(takeAll(other), numbers(0, size).filter(([i]) => i % 3 !== 0 && i % 2 !== 0))
    }
  })

  it('knows how many barriers there were when all jobs before the last one are put together', function () {
    const list = filled(200)
    list.barrier(1)
    assert.equal(list.remove(payload => payload >= 10).size, 190)
    list.push(undefined, 'later', 'settled later')
    const generations = []
    list.forEach((payload, whenSettled, generation) => generations.push(generation))
    assert.deepEqual(generations, [...Array(10).fill(0), 1])
  })

  it('knows of each job after how many barriers it was put in', function () {
    const list = new Fifo()
    list.push(undefined, 'a', 0)
    list.barrier(1)
    list.push(undefined, 'b', 1)
    list.unshift(undefined, 'c', 1)
    list.barrier(2)
    list.barrier(3)
    list.unshift(undefined, 'd', 3)
    list.unshift(undefined, 'e', 3)
    list.push(undefined, 'f', 3)
    const visited = []
    list.forEach((payload, whenSettled, generation) => visited.push([payload, generation]))
    assert.deepEqual(visited, [['e', 3], ['d', 3], ['c', 1], ['a', 0], ['b', 1], ['f', 3]])
    const taken = []
    while (list.take()) taken.push([list.payload, list.generation])
    assert.deepEqual(taken, visited)
    list.push(undefined, 'g', 3)
    list.take()
    assert.equal(list.generation, 3)
  })

  it('behaves as an array under random operations', function () {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) compareWithArray(seed, 20000)
  })
})

// Each entry of the model is `[payload, whenSettled, generation]`.
function compareWithArray (seed, operations) {
  const random = seeded(seed)
  const list = new Fifo()
  let model = []
  let generation = 0
  let nextId = 0
  // Phases of growth and of shrinking, so that blocks are entered and left in all combinations.
  let growth = 0.5

  function add (method) {
    const id = nextId++
    const payload = random.chance(0.1) ? undefined : id
    list[method](undefined, payload, id)
    model[method]([payload, id, generation])
  }

  function takeOne () {
    const expected = model.shift()
    assert.equal(list.take(), expected !== undefined, where())
    if (expected === undefined) return
    assert.deepEqual([list.payload, list.whenSettled, list.generation], expected, where())
    list.payload = list.whenSettled = undefined
  }

  function assertTaken (removed, expected) {
    assert.equal(removed.size, expected.length, where())
    for (const job of expected) {
      assert.equal(removed.take(), true, where())
      assert.deepEqual([removed.payload, removed.whenSettled, removed.generation], job, where())
    }
    assert.equal(removed.take(), false, where())
  }

  function where () {
    return `seed ${seed}, after ${nextId} jobs, ${model.length} waiting`
  }

  for (let i = 0; i < operations; i++) {
    if (random.chance(0.002)) growth = random.pick([0.2, 0.45, 0.5, 0.55, 0.8])
    const kind = random.next()
    if (kind < 0.9) {
      const burst = random.chance(0.01) ? random.below(1500) : 1
      for (let n = 0; n < burst; n++) {
        if (!random.chance(growth)) takeOne()
        else add(random.chance(0.4) ? 'unshift' : 'push')
      }
    } else if (kind < 0.95) {
      list.barrier(++generation)
    } else if (kind < 0.998) {
      if (model.length > 3000 && random.chance(0.9)) continue
      const modulus = random.pick([1.1, 2, 3, 10, 1000])
      const picks = ([, id]) => (id * 7919) % 1000 < 1000 / modulus
      const chosen = new Set(model.filter(picks).map(([payload]) => payload))
      const isChosen = ([payload]) => payload !== undefined && chosen.has(payload)
      assertTaken(list.remove((payload) => payload !== undefined && chosen.has(payload)), model.filter(isChosen))
      model = model.filter((job) => !isChosen(job))
    } else {
      assertTaken(list.removeAll(), model)
      model = []
    }
    assert.equal(list.size, model.length, where())
    if (i % 500 === 0) {
      const visited = []
      list.forEach((...job) => visited.push(job))
      assert.deepEqual(visited, model, where())
    }
  }
  while (model.length > 0) takeOne()
  assert.equal(list.take(), false)
}
