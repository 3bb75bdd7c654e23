'use strict'

const assert = require('node:assert/strict')
const { Window } = require('../../../lib/core/lists/window')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { taken, payloads } = require('../../support/lists')

function make () {
  const scheduler = {
    at: 0,
    seen: [],
    types: undefined,
    waiting (type) { this.seen.push(['waiting', type]) },
    start (type) { this.seen.push(['start', type]) },
    done (type) { this.seen.push(['done', type]) },
    removed (type) { this.seen.push(['removed', type]) },
    select (types) {
      this.types = types
      return typeof this.at === 'function' ? this.at(types) : this.at
    }
  }
  const list = new Window(scheduler, type => ({ type }))
  list.blame = assert.fail
  return { list, scheduler }
}

function take (list, scheduler, at) {
  scheduler.at = at
  return taken(list)
}

describe('the window', function () {
  it('knows the number of the first job of a type, which is that of no job that was taken out', () => {
    const { list } = make()
    for (const type of ['a', 'b', 'b']) list.push(type, type, undefined)
    assert.deepEqual(['a', 'b', 'none'].map(type => list.numberOf(type)), [0, 1, undefined])
    let removedCount = 0
    list.remove((payload, type) => type === 'b' && removedCount++ === 0)
    list.tellRemovals()
    assert.deepEqual(['a', 'b', 'none'].map(type => list.numberOf(type)), [0, 2, undefined])
  })

  it('shows the waiting types in arrival order, with holes where jobs are gone, and never one at the head', function () {
    const { list, scheduler } = make()
    for (const [type, payload] of [['a', 1], ['b', 2], ['c', 3], ['d', 4], ['e', 5]]) list.push(type, payload)
    list.unshift('z', 0)
    const look = () => {
      const { types } = scheduler
      return [types.peek(), types.size(), ...Array.from({ length: types.size() }, (_, i) => types.peekAt(i))]
    }
    assert.equal(take(list, scheduler, 2), 2)
    assert.deepEqual(look(), ['z', 6, 'z', 'a', undefined, 'c', 'd', 'e'])
    assert.equal(take(list, scheduler, 1), 1)
    assert.equal(take(list, scheduler, 0), 0)
    assert.deepEqual(look(), ['c', 3, 'c', 'd', 'e'])
    assert.equal(scheduler.types.peekAt(3), undefined)
    assert.equal(take(list, scheduler, -1), undefined)
    assert.equal(list.size, 3)
  })

  it('tells the scheduler of each event', function () {
    const { list, scheduler } = make()
    list.push('a', 1)
    list.unshift('b', 2)
    list.push('a', 3)
    take(list, scheduler, 0)
    list.ended(list.origin, 'done')
    list.removeType('a')
    list.tellRemovals()
    assert.deepEqual(scheduler.seen, [['waiting', 'a'], ['waiting', 'b'], ['waiting', 'a'], ['start', 'b'], ['done', 'b'], ['removed', 'a'], ['removed', 'a']])
    delete scheduler.removed
    list.push('a', 4)
    assert.equal(list.removeAll().size, 1)
    list.tellRemovals()
  })

  it('gives the jobs that are asked for, against a naive model', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const { list, scheduler } = make()
    let model = []
    for (let i = 0; i < 20000; i++) {
      const grows = (i >> 11) % 2 === 0
      if (random.chance(grows ? 0.6 : 0.3)) {
        model.push(i)
        list.push(`type ${i % 3}`, i)
      } else if (random.chance(0.2)) {
        model.unshift(i)
        list.unshift(`type ${i % 3}`, i)
      } else if (random.chance(0.02)) {
        const rest = random.below(5)
        model = model.filter(payload => payload % 5 !== rest)
        list.remove((payload, type) => {
          assert.equal(type, `type ${payload % 3}`)
          return payload % 5 === rest
        })
      } else if (model.length > 0) {
        const payload = model[random.chance(0.5) ? 0 : random.below(model.length)]
        assert.equal(take(list, scheduler, () => list.indexOf(list.waitingJobs().find(job => job.payload === payload).number)), payload)
        model.splice(model.indexOf(payload), 1)
      }
      assert.equal(list.size, model.length)
      assert.ok(list.records.size() <= Math.max(2 * list.size, list.size + 64), `SEED=${seed}: holes outnumber the jobs`)
      if (i % 100 === 0) assert.deepEqual(payloads(list), model, `SEED=${seed}`)
    }
  })

  it('knows the generation of each job', function () {
    const { list, scheduler } = make()
    list.push('a', 0)
    list.barrier(1, 1)
    list.push('b', 1)
    list.unshift('a', 1)
    list.barrier(2, 2)
    list.push('c', 2)
    list.forEach((payload, whenSettled, generation) => assert.equal(generation, payload))
    for (const at of [2, 0, 0, 0]) {
      const payload = take(list, scheduler, at)
      assert.equal(list.generation, payload)
    }
  })

  it('survives a test of remove that pushes, unshifts, removes and clears', function () {
    const { list } = make()
    for (let i = 0; i < 10; i++) list.push('ab'[i % 2], i)
    const removed = list.remove(payload => {
      if (payload === 0) {
        assert.equal(list.remove(payload => payload === 1 || payload === 4).size, 2)
        list.push('a', 20)
        list.unshift('a', 21)
      }
      return payload < 6
    })
    assert.equal(removed.size, 4)
    assert.deepEqual(payloads(list), [21, 6, 7, 8, 9, 20])
    assert.equal(list.remove(() => list.removeAll().size >= 0).size, 0)
    assert.equal(list.size, 0)
    assert.throws(() => {
      list.push('a', 1)
      list.remove(() => { throw new Error('mine') })
    }, /mine/)
    assert.equal(list.size, 1)
  })

  it('forgets types and gives room back when it is empty', function () {
    const { list, scheduler } = make()
    const { records } = list
    for (let i = 0; i < 2000; i++) list.push(`type ${i}`, i)
    while (list.size > 0) {
      take(list, scheduler, 0)
      list.ended(list.origin, 'failed')
    }
    assert.equal(list.types.size, 0)
    assert.equal(list.countsOf('type 1'), undefined)
    assert.notEqual(list.records, records)
  })
})
