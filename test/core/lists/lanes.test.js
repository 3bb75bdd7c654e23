'use strict'

const assert = require('node:assert/strict')
const { Lanes } = require('../../../lib/core/lists/lanes')
const { fakeClock } = require('../../../lib/testing')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { taken, payloads } = require('../../support/lists')

/** Takes from the lane that the test asks for. */
class Steered {
  wanted = undefined
  seen = []
  lanes = new Map()
  queued (lane) {
    this.lanes.set(lane.type, lane)
    this.seen.push(['queued', lane.type, lane.size, lane.headSeq])
  }

  next () { return this.lanes.get(this.wanted) }
  started (lane) { this.seen.push(['started', lane.type, lane.size, lane.running]) }
  ended (lane) { this.seen.push(['ended', lane.type, lane.running]) }
  removed (lane) { this.seen.push(['removed', lane.type, lane.size, lane.headSeq]) }
  paused (lane) { this.seen.push(['paused', lane.type, lane.size]) }
  resumed (lane) { this.seen.push(['resumed', lane.type, lane.size]) }
  forget (lane) { return this.forgets !== false }
}

function make (options) {
  const scheduler = Object.assign(new Steered(), options)
  const clock = fakeClock(5)
  const read = { maxTypes: options?.maxTypes ?? Infinity, clock, maxWaitingPerType: { byType: new Map() } }
  const list = new Lanes(scheduler, read, type => ({ type }))
  list.blame = assert.fail
  return { list, scheduler, clock }
}

function take (list, scheduler, type) {
  scheduler.wanted = type
  return taken(list)
}

function drain (removed) {
  const found = []
  while (removed.take()) found.push(removed.payload)
  return found
}

describe('lanes', function () {
  it('show schedulers the state after each event', function () {
    const { list, scheduler } = make()
    list.push('a', 1)
    list.push('b', 2)
    list.push('a', 3)
    list.unshift('a', 4)
    assert.equal(take(list, scheduler, 'a'), 4)
    assert.equal(take(list, scheduler, 'a'), 1)
    list.ended(scheduler.lanes.get('a'), 'done')
    list.remove(payload => payload === 3)
    list.tellRemovals()
    list.pauseType('b')
    list.push('b', 5)
    list.resumeType('b')
    assert.deepEqual(scheduler.seen, [
      ['queued', 'a', 1, 0], ['queued', 'b', 1, 1], ['queued', 'a', 2, 0], ['queued', 'a', 3, -1],
      ['started', 'a', 2, 1], ['started', 'a', 1, 2], ['ended', 'a', 1], ['removed', 'a', 0, 2],
      ['paused', 'b', 1], ['resumed', 'b', 2]
    ])
    assert.equal(scheduler.lanes.get('b').headSeq, 1)
  })

  it('tell the scheduler of no job that is dropped from a lane that is paused', function () {
    const { list, scheduler } = make()
    const tickets = [1, 2, 3].map(payload => {
      const ticket = { block: undefined, at: 0 }
      list.pushTicket('a', payload, ticket)
      return ticket
    })
    list.drop(tickets[0])
    list.pauseType('a')
    list.drop(tickets[1])
    assert.equal(list.pausedCount, 1)
    list.resumeType('a')
    list.drop(tickets[2])
    assert.deepEqual(scheduler.seen.slice(3), [['removed', 'a', 2, 1], ['paused', 'a', 2], ['resumed', 'a', 1], ['removed', 'a', 0, 2]])
  })

  it('tell the scheduler once of a type that is paused twice, and count its jobs once', function () {
    const { list, scheduler } = make()
    list.push('a', 1)
    list.pauseType('a')
    list.pauseType('a')
    assert.equal(list.pausedCount, 1)
    assert.deepEqual(scheduler.seen.slice(1), [['paused', 'a', 1]])
  })

  it('do without optional methods of the scheduler', function () {
    const { list, scheduler } = make({ removed: undefined, forget: undefined, isNamed: undefined, maxTypes: 1 })
    for (const type of ['a', 'b', 'a', 'c']) list.push(type, type)
    assert.equal(list.removeType('b').size, 1)
    list.tellRemovals()
    take(list, scheduler, 'a')
    list.ended(list.origin, 'done')
    assert.equal(list.removeAll().size, 2)
    list.tellRemovals()
    assert.deepEqual([...list.all()], [])
  })

  it('have headSeq be the number of the oldest job whatever is taken, unshifted and removed', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const { list, scheduler } = make()
    let model = [] // { payload, number }
    let up = 0
    let down = 0
    for (let i = 0; i < 20000; i++) {
      const grows = (i >> 11) % 2 === 0
      if (random.chance(grows ? 0.6 : 0.3)) {
        model.push({ payload: i, number: up++ })
        list.push('a', i)
      } else if (random.chance(0.2)) {
        model.unshift({ payload: i, number: --down })
        list.unshift('a', i)
      } else if (random.chance(0.01)) {
        const rest = random.below(5)
        const test = payload => payload % 5 === rest
        assert.deepEqual(drain(list.remove(test)), model.map(({ payload }) => payload).filter(test))
        model = model.filter(({ payload }) => !test(payload))
      } else {
        assert.equal(take(list, scheduler, model.length > 0 ? 'a' : 'none'), model.shift()?.payload, `SEED=${seed}`)
      }
      assert.equal(list.size, model.length)
      if (model.length > 0) assert.equal(scheduler.lanes.get('a').headSeq, model[0].number, `SEED=${seed}`)
    }
    assert.deepEqual(payloads(list), model.map(({ payload }) => payload))
  })

  it('do not grow by jobs that are pushed and removed behind one that stays', function () {
    const { list, scheduler } = make()
    list.push('a', 'first')
    for (let i = 0; i < 100000; i++) {
      list.push('a', i)
      list.remove(payload => payload === i)
      list.tellRemovals()
    }
    const lane = scheduler.lanes.get('a')
    let length = 0
    for (let block = lane.head; block !== undefined; block = block[block.length - 1]) length += block.length
    assert.ok(length < 200, `${length} fields for one job`)
    assert.equal(take(list, scheduler, 'a'), 'first')
  })

  it('know the generation of each job', function () {
    const { list, scheduler } = make()
    const push = (type, payload) => list.push(type, payload)
    push('a', 0)
    list.barrier(1, 1)
    push('b', 1)
    list.unshift('a', 1)
    list.barrier(2, 2)
    list.unshift('b', 2)
    push('a', 2)
    list.barrier(3, 3)
    push('c', 3)
    list.forEach((payload, whenSettled, generation) => assert.equal(generation, payload))
    for (const type of ['a', 'b', 'c', 'b', 'a', 'a']) {
      const payload = take(list, scheduler, type)
      assert.equal(list.generation, payload)
    }
    list.barrier(4, 1)
    assert.equal(list.barriers.size(), 1, 'those of flushes that are over are dropped')
    push('a', 4)
    take(list, scheduler, 'a')
    assert.equal(list.generation, 4)
  })

  it('give back the start time where the scheduler needs a clock, else 0, and read it only then', function () {
    for (const needsClock of [true, false]) {
      const { list, scheduler, clock } = make({ needsClock })
      let reads = 0
      const { now } = clock
      clock.now = () => {
        reads++
        return now()
      }
      list.push('a', 1)
      list.push('a', 2)
      clock.advance(10)
      list.beginPass()
      take(list, scheduler, 'a')
      take(list, scheduler, 'a')
      assert.equal(list.origin.startedAt, needsClock ? 15 : undefined)
      let startedAt
      scheduler.ended = (lane, time) => { startedAt = time }
      list.ended(list.origin, 'done')
      assert.equal(startedAt, needsClock ? 15 : 0)
      assert.equal(reads, needsClock ? 2 : 0)
    }
  })

  it('forget a type once it is idle', function () {
    const { list, scheduler } = make()
    list.push('a', 1)
    list.push('b', 2)
    take(list, scheduler, 'a')
    const lane = list.origin
    assert.equal(list.countsOf('a'), lane)
    list.ended(lane, 'done')
    assert.equal(list.countsOf('a'), undefined)
    list.removeAll()
    list.tellRemovals()
    assert.equal(list.lanes.size, 0)
  })

  it('forget a type whose last job is dropped', function () {
    const { list } = make()
    const ticket = { block: undefined, at: 0 }
    list.push('a', 1, ticket)
    list.push('b', 2)
    list.drop(ticket)
    assert.deepEqual([...list.lanes.keys()], ['b'])
  })

  it('keep an idle type until the scheduler lets it go: some are asked for at each end, all when nothing is left', function () {
    const { list, scheduler } = make({ forgets: false })
    for (let i = 0; i < 10; i++) {
      list.push(`type ${i}`, i)
      take(list, scheduler, `type ${i}`)
    }
    const lanes = [...list.lanes.values()]
    list.push('last', 10)
    for (const lane of lanes.slice(0, 9)) list.ended(lane, 'done')
    assert.equal(list.lanes.size, 11)
    list.push('type 0', 11)
    scheduler.forgets = true
    list.ended(lanes[9], 'done')
    assert.ok(list.lanes.size <= 10)
    take(list, scheduler, 'last')
    scheduler.forgets = false
    list.pauseType('paused')
    list.resumeType('paused')
    list.pauseType('type 1')
    scheduler.forgets = true
    take(list, scheduler, 'type 0')
    list.ended(scheduler.lanes.get('type 0'), 'failed')
    list.ended(scheduler.lanes.get('last'), 'failed')
    assert.deepEqual([...list.lanes.keys()], ['type 1'])
    list.resumeType('type 1')
    assert.equal(list.lanes.size, 0)
    assert.equal(list.typesCount, 0)
  })

  it('ask again for idle types when a type is resumed, which may be the last event', function () {
    const { list, scheduler } = make({ forgets: false })
    list.push('a', 1)
    take(list, scheduler, 'a')
    list.ended(list.origin, 'done')
    list.pauseType('b')
    scheduler.forgets = true
    list.resumeType('b')
    assert.deepEqual([...list.lanes.keys()], [])
  })

  it('ask again for idle types when jobs were removed, which may be the last event', function () {
    const { list, scheduler } = make({ forgets: false })
    list.push('a', 1)
    take(list, scheduler, 'a')
    list.ended(list.origin, 'done')
    list.push('b', 2)
    scheduler.forgets = true
    assert.equal(list.removeType('b').size, 1)
    list.tellRemovals()
    assert.deepEqual([...list.lanes.keys()], [])
  })

  it('count the jobs of a type that are removed', function () {
    const { list } = make()
    for (const payload of [1, 2, 3]) list.push('a', payload)
    list.remove(payload => payload < 3)
    assert.equal(list.countsOf('a').cancelled, 2)
  })

  describe('beyond maxTypes', function () {
    it('are not for types of which the scheduler fails to say whether it names them', function () {
      const { list } = make({ maxTypes: 1, isNamed () { throw new Error('expected') } })
      list.blame = () => {}
      for (const type of ['own', 'b']) list.push(type, type)
      assert.deepEqual([...list.lanes.keys()], ['own'])
    })

    const many = Array.from({ length: 100 }, (_, i) => `type ${i}`)

    it('share a few lanes, in which each type keeps its order, its name, and its jobs', function () {
      const { list, scheduler } = make({ maxTypes: 16 })
      for (let i = 0; i < 500; i++) list.push(many[i % 100], i)
      assert.equal(list.lanes.size, 16)
      assert.equal([...list.all()].length, 18)
      assert.deepEqual(payloads(list), Array.from({ length: 500 }, (_, i) => i))
      list.forEach((payload, whenSettled, generation, type) => assert.equal(type, many[payload % 100]))

      const found = []
      list.forEachOf('type 99', payload => found.push(payload))
      assert.deepEqual(found, [99, 199, 299, 399, 499])
      assert.deepEqual(drain(list.removeType('type 99')), found)
      assert.deepEqual(drain(list.removeType('type 99')), [])

      const started = new Map(many.map(type => [type, []]))
      for (const { type: laneType } of [...list.all()]) {
        for (let payload; (payload = take(list, scheduler, laneType)) !== undefined;) {
          assert.equal(list.context.type, many[payload % 100])
          started.get(list.context.type).push(payload)
          list.ended(list.origin, 'done')
          if (list.size === 0 || scheduler.lanes.get(laneType).size === 0) break
        }
      }
      for (const [type, jobs] of started) {
        const first = many.indexOf(type)
        assert.deepEqual(jobs, type === 'type 99' ? [] : [0, 1, 2, 3, 4].map(n => first + 100 * n))
      }
      assert.deepEqual([...list.all()], [])
    })

    it('answer for all their types', function () {
      const { list } = make({ maxTypes: 1 })
      for (const type of ['own', 'b', 'c']) list.push(type, 1)
      assert.equal(list.countsOf('own').size, 1)
      assert.equal(list.countsOf('b').size, 2)
      assert.equal(list.countsOf('b'), list.countsOf('c'))
    })

    it('are left when there is room again, but not by a type that still waits in one', function () {
      const { list, scheduler } = make({ maxTypes: 1 })
      list.push('own', 1)
      list.push('b', 2)
      list.removeType('own')
      list.tellRemovals()
      list.push('b', 3)
      list.push('c', 4)
      assert.deepEqual([...list.lanes.keys()], ['c'])
      list.removeType('c')
      list.tellRemovals()
      const shared = list.countsOf('b').type
      take(list, scheduler, shared)
      take(list, scheduler, shared)
      list.push('b', 5)
      assert.deepEqual([...list.lanes.keys()], ['b'])
    })

    it('are not for types that the scheduler names; jobs that wait there move when it does', function () {
      const names = new Set(['named'])
      const { list, scheduler } = make({ maxTypes: 1, isNamed: type => names.has(type) })
      for (const type of ['own', 'named', 'b', 'c', 'b']) list.push(type, type)
      assert.deepEqual([...list.lanes.keys()], ['own', 'named'])
      names.add('b')
      scheduler.seen = []
      list.push('b', 'b')
      const shared = list.countsOf('c').type
      assert.deepEqual(scheduler.seen, [['removed', shared, 1, 3], ['removed', shared, 1, 3], ['queued', 'b', 2, 2], ['queued', 'b', 2, 2], ['queued', 'b', 3, 2]])
      assert.equal(list.typesCount, 4)
      assert.deepEqual(payloads(list), ['own', 'named', 'b', 'c', 'b', 'b'])
      names.add('c')
      list.unshift('c', 'c')
      assert.deepEqual([...list.all()].map(({ type }) => type), ['own', 'named', 'b', 'c'])
      assert.equal(list.typesCount, 4)
    })

    it('are left by those types alone that the scheduler names when it is configured', function () {
      const names = new Set()
      const { list } = make({ maxTypes: 1, isNamed: type => names.has(type) })
      for (const type of ['own', 'b', 'c']) list.push(type, type)
      names.add('b')
      list.configured()
      assert.deepEqual([...list.lanes.keys()], ['own', 'b'])
      assert.equal(list.countsOf('c').isShared, true)
    })

    describe('with jobs of a type that run when it gets a lane of its own', function () {
      let list, scheduler, clock, origins, shared

      /** Two such jobs began at 5 ms; it is 15 ms, and the scheduler has come to name the type. */
      beforeEach(function () {
        let isNamed = false
        const seen = []
        const methods = {
          needsClock: true,
          isNamed: type => isNamed && type === 'b',
          started: (lane, now) => seen.push(['started', lane.type, now]),
          ended: (lane, startedAt, now) => seen.push(['ended', lane.type, startedAt, now])
        }
        ;({ list, scheduler, clock } = make({ ...methods, maxTypes: 1 }))
        scheduler.seen = seen
        for (const type of ['own', 'b', 'b']) list.push(type, type)
        shared = list.countsOf('b').type
        origins = [1, 2].map(() => {
          take(list, scheduler, shared)
          return list.origin
        })
        clock.advance(10)
        list.beginPass()
        isNamed = true
        seen.length = 0
      })

      it('count them as its own: each is queued there, starts there, now, and ends where it was', function () {
        list.configured()
        const told = [['queued', 'b', 0, 0], ['started', 'b', 15], ['ended', shared, 5, 15]]
        assert.deepEqual(scheduler.seen, [...told, ...told])
        clock.advance(20)
        for (const origin of origins) list.ended(origin, 'done')
        assert.deepEqual(scheduler.seen.slice(6), [['ended', 'b', 15, 35], ['ended', 'b', 15, 35]])
      })

      it('count those of them as its own that were settled before', function () {
        list.interrupted(origins[0], 'failed')
        list.configured()
        const { accepted, running, failed } = list.statsOf('b')
        assert.deepEqual([accepted, running, failed], [1, 2, 0])
        list.ended(origins[0], 'settled')
        list.ended(origins[1], 'done')
        assert.equal(list.typesCount, 1)
      })

      it('take back what they told of a job that the scheduler has end meanwhile', function () {
        const { queued } = scheduler
        let isFirst = true
        scheduler.queued = lane => {
          queued.call(scheduler, lane)
          if (isFirst) list.ended(origins[0], 'done')
          isFirst = false
        }
        list.configured()
        assert.deepEqual(scheduler.seen, [
          ['queued', 'b', 0, 0], ['ended', shared, 5, 15], ['removed', 'b', 0, 0],
          ['queued', 'b', 0, 0], ['started', 'b', 15], ['ended', shared, 5, 15]
        ])
      })
    })

    it('are made smaller when most of their jobs have moved, but not while a test of remove looks along them', function () {
      for (const isInTest of [false, true]) {
        const { list } = make({ maxTypes: 1 })
        list.push('own', 'own')
        for (let i = 0; i < 110; i++) list.push(i % 10 === 0 ? 'few' : 'many', i)
        const shared = list.countsOf('few')
        const few = Array.from({ length: 11 }, (_, i) => 10 * i)
        if (isInTest) {
          const removed = list.remove(payload => {
            if (payload === 20) list.pauseType('many')
            return payload === 10 || payload === 30 || payload === 31
          })
          assert.deepEqual(drain(removed), [10, 30])
          few.splice(1, 3, 20)
        } else {
          list.pauseType('many')
          assert.equal(shared.removedCount, 0)
        }
        list.removeType('own')
        assert.deepEqual(payloads(list).filter(payload => payload % 10 === 0), few)
        assert.equal(shared.size, few.length)
      }
    })

    it('are not for a type that is paused: it gets a lane of its own, for its waiting jobs, too', function () {
      const { list, scheduler } = make({ maxTypes: 1 })
      for (const type of ['own', 'b', 'c']) list.push(type, type)
      list.pauseType('b')
      list.push('b', 'b')
      const { type: shared } = list.countsOf('c')
      assert.deepEqual(scheduler.seen.slice(-3), [['removed', shared, 1, 2], ['queued', 'b', 1, 1], ['paused', 'b', 1]])
      assert.equal(list.pausedCount, 2)
      assert.equal(drain(list.removeType('b')).length, 2)
      list.tellRemovals()
      assert.equal(list.pausedCount, 0)
      assert.equal(scheduler.seen.at(-1)[0], 'paused', 'a paused lane is not told of')
    })
  })

  describe('while a test of remove changes them', function () {
    it('remove what passed and still waits, once', function () {
      const { list } = make()
      for (let i = 0; i < 10; i++) list.push('ab'[i % 2], i)
      let inner
      const removed = list.remove(payload => {
        if (payload === 0) {
          inner = list.remove(payload => payload < 4)
          list.push('a', 20)
          list.unshift('a', 21)
        }
        return payload < 6
      })
      assert.deepEqual(drain(inner), [0, 1, 2, 3])
      assert.deepEqual(drain(removed), [4, 5])
      assert.deepEqual(payloads(list), [21, 6, 7, 8, 9, 20])
    })

    it('do not remove what was pushed after a clear in the test', function () {
      const { list } = make()
      for (let i = 0; i < 100; i++) list.push('a', i)
      const removed = list.remove(payload => {
        if (payload === 50) {
          assert.equal(list.removeAll().size, 100)
          for (let i = 0; i < 100; i++) list.push('a', 'new')
        }
        return true
      })
      assert.equal(removed.size, 0)
      assert.equal(list.size, 100)
    })

    it('do so where a new job takes the place of one that passed', function () {
      const { list } = make({ forgets: false })
      list.push('a', 'old')
      const removed = list.remove(() => {
        list.removeAll()
        list.push('a', 'new')
        return true
      })
      assert.equal(removed.size, 0)
      assert.deepEqual(payloads(list), ['new'])
    })

    it('do not test what the test has pushed', function () {
      const { list, scheduler } = make({ forgets: false })
      for (let i = 0; i < 5; i++) list.push('a', i)
      take(list, scheduler, 'a')
      const seen = []
      list.remove(payload => {
        seen.push(payload)
        if (seen.length > 1) return false
        list.removeAll()
        for (let i = 10; i < 14; i++) list.push('a', i)
        return false
      })
      assert.deepEqual(seen, [1])
      assert.equal(list.size, 4)
    })

    it('compact only when no test is running, and pass over the jobs of a type that it has leave a shared lane', function () {
      const { list } = make({ maxTypes: 1 })
      list.push('own', 0)
      for (let i = 0; i < 100; i++) list.push(i % 2 === 0 ? 'shared' : 'other', i)
      const removed = list.remove(payload => {
        if (payload === 1) {
          list.remove(payload => payload > 2)
          list.pauseType('shared')
        }
        return payload === 2 || payload === 1
      })
      assert.deepEqual(drain(removed), [1])
      assert.deepEqual(payloads(list), [0, 0, 2])
    })

    it('remove nothing if it throws', function () {
      const { list } = make()
      for (let i = 0; i < 10; i++) list.push('a', i)
      assert.throws(() => list.remove(payload => {
        if (payload === 5) throw new Error('mine')
        return true
      }), /mine/)
      assert.equal(list.size, 10)
      assert.equal(list.removeAll().size, 10)
    })
  })
})

describe('lanes of types that are paused before they have jobs', function () {
  it('are opened by their first job, of which the scheduler learns when the type is resumed', function () {
    const { list, scheduler } = make()
    list.pauseType('a')
    list.pauseType('a')
    assert.equal(list.lanes.size, 0)
    assert.deepEqual(scheduler.seen, [])
    list.push('a', 1)
    assert.deepEqual(scheduler.seen, [['paused', 'a', 0]])
    assert.deepEqual([list.size, list.pausedCount, list.lanes.get('a').isPaused], [1, 1, true])
    list.resumeType('a')
    assert.deepEqual(scheduler.seen.slice(1), [['resumed', 'a', 1]])
    assert.deepEqual([list.pausedCount, list.pausedTypes.size], [0, 0])
  })

  it('are not paused once all types are resumed, or the type is', function () {
    for (const resume of [list => list.resumeAllTypes(), list => list.resumeType('a')]) {
      const { list, scheduler } = make()
      list.pauseType('a')
      resume(list)
      list.push('a', 1)
      assert.deepEqual(scheduler.seen, [['queued', 'a', 1, 0]])
    }
  })

  it('are their own beyond maxTypes, also where the type has jobs in a lane that it shares', function () {
    const { list } = make({ maxTypes: 1 })
    list.push('own', 1)
    list.pauseType('a')
    list.push('a', 2)
    assert.deepEqual([...list.lanes.keys()], ['own', 'a'])
    list.push('b', 3)
    assert.equal(list.lanes.has('b'), false)
    list.pauseType('b')
    assert.deepEqual([list.lanes.get('b').size, list.lanes.get('b').isPaused, list.pausedTypes.size], [1, true, 0])
  })

  it('stay though the scheduler has them resumed when it is told', function () {
    const { list, scheduler } = make({ paused (lane) { list.resumeType(lane.type) } })
    list.pauseType('a')
    list.push('a', 1)
    assert.deepEqual([list.size, list.lanes.get('a').size, list.lanes.get('a').isPaused], [1, 1, false])
    assert.equal(take(list, scheduler, 'a'), 1)
  })

  it('ask nobody about jobs that come while those to be removed are looked for', function () {
    const { list, scheduler } = make()
    list.push('a', 1)
    list.push('b', 2)
    const asked = []
    list.remove(payload => {
      if (payload === 1) {
        list.push('b', 3)
        list.unshift('b', 4)
      }
      asked.push(payload)
      return false
    })
    assert.deepEqual(asked, [1, 2])
    assert.deepEqual([take(list, scheduler, 'b'), take(list, scheduler, 'b'), take(list, scheduler, 'b')], [4, 2, 3])
  })

  it('start the oldest job where the scheduler names none', function () {
    const { list } = make({ next: () => ({}) })
    list.blame = () => {}
    for (const type of ['a', 'b', 'c']) list.push(type, type)
    list.unshift('b', 'first')
    assert.deepEqual([taken(list), taken(list), taken(list), taken(list)], ['first', 'a', 'b', 'c'])
  })

  it('ask the scheduler to forget idle types only, and take a throw for yes', function () {
    const asked = []
    const { list, scheduler } = make({
      forget: ({ type, size, running }) => {
        asked.push([type, size, running])
        throw new Error('forget')
      }
    })
    const blamed = []
    list.blameThrow = method => blamed.push(method)
    list.push('a', 1)
    list.push('a', 2)
    take(list, scheduler, 'a')
    list.ended(scheduler.lanes.get('a'), 'done')
    assert.deepEqual(asked, [])
    take(list, scheduler, 'a')
    list.ended(scheduler.lanes.get('a'), 'done')
    assert.deepEqual([asked, blamed, list.lanes.size], [[['a', 0, 0]], ['forget'], 0])
  })

  it('keep nothing of the types of a shared lane whose jobs have ended', function () {
    const { list, scheduler } = make({ maxTypes: 1 })
    list.push('own', 0)
    for (const type of ['a', 'b', 'c']) list.push(type, type)
    const shared = [...list.all()].find(({ isShared }) => isShared)
    const origins = []
    for (let i = 0; i < 3; i++) {
      scheduler.wanted = shared.type
      list.take()
      origins.push(list.origin)
    }
    assert.deepEqual([shared.typeCounts.size, shared.typeStarts.size], [0, 3])
    for (const origin of origins) list.ended(origin, 'done')
    assert.deepEqual([shared.typeCounts.size, shared.typeStarts.size], [0, 0])
  })
})
