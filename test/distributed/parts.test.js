'use strict'

// Parts of a queue by themselves, where what they meet comes about by chance otherwise.

const assert = require('node:assert')
const { closedError } = require('../../lib/arguments/errors')
const { Notices } = require('../../lib/distributed/broker/notices')
const { end } = require('../../lib/distributed/closing')
const { Attempts } = require('../../lib/distributed/worker/attempts')
const { Keeper } = require('../../lib/distributed/worker/keeper')
const { Leases } = require('../../lib/distributed/worker/leases')
const { Results } = require('../../lib/distributed/calls/results')
const { Answer, Takes } = require('../../lib/distributed/broker/takes')
const { Endings } = require('../../lib/distributed/worker/endings')
const { HAS_ACTIVE, HAS_COMPLETED } = require('../../lib/distributed/broker/scripts')
const { Suspects } = require('../../lib/distributed/worker/suspects')
const { Worker } = require('../../lib/distributed/worker/worker')
const { turn } = require('../support/turns')
const { latch } = require('./rigged')

const place = { idOf: name => `a:${name}`, partition: {} }

describe('who waits for results', () => {
  it('is told once, whoever else tells of it, and nobody of jobs that he does not wait for', () => {
    const results = new Results({ broker: {}, records: {} }, { token: 'me', makeClosedError: closedError })
    const told = []
    const waiter = results.add(place, 'j', (err, result) => told.push([err, result]))
    results.told([['a:other', '1'], ['a:j', '2'], ['a:j', '3']])
    results.settle(waiter, new Error('late'))
    assert.deepEqual(told, [[null, 2]])
    assert.equal(results.size, 0)
    const others = [1, 2].map(n => results.add(place, 'k', (err, result) => told.push([n, err, result])))
    results.settle(others[0], null, 5)
    results.settle(others[0], null, 6)
    assert.deepEqual(told.slice(1), [[1, null, 5]])
    results.close()
    assert.equal(told[2][1].code, 'FAIRLANE_ERR_CLOSED')
  })
})

describe('records of jobs whose results are waited for', () => {
  it('are looked at when the broker is there', async () => {
    const broker = { isReady: false }
    const records = { readAll: async waiters => waiters.map(() => ({ finishedOn: '1', returnvalue: '5' })) }
    const results = new Results({ broker, records }, { token: 'me' })
    const told = []
    results.stored(results.add(place, 'j', (err, result) => told.push([err, result])))
    await results.lookAtAll()
    assert.deepEqual(told, [])
    broker.isReady = true
    await results.lookAtAll()
    results.close()
    assert.deepEqual(told, [[null, 5]])
  })
})

describe('notices of a turn', () => {
  it('go together to each inbox; one that cannot be sent is no error, since its record is looked at', async () => {
    const sent = []
    const broker = {
      async publish (channel, message) {
        sent.push([channel, message.map(([id]) => id)])
        throw new Error('READONLY')
      }
    }
    const notices = new Notices({ broker })
    const partition = { key: what => what }
    for (const [inbox, id] of [['x', 1], ['y', 2], ['x', 3]]) notices.send(partition, inbox, id, '1')
    await turn()
    notices.send(partition, 'x', 4, '1')
    await turn()
    assert.deepEqual(sent, [['inbox:x', [1, 3]], ['inbox:y', [2]], ['inbox:x', [4]]])
  })
})

describe('a waiter whose job turns out to be another one, by its key', () => {
  it('is told what came of that, with others that wait for it, unless it was settled before', () => {
    const results = new Results({ broker: {}, records: {} }, { token: 'me' })
    const told = []
    const add = (name, n) => results.add(place, name, (err, result) => told.push([n, err, result]))
    const [first, second, settled] = [add('j1', 1), add('j2', 2), add('j3', 3)]
    results.settle(settled, null, 'before')
    for (const waiter of [first, second, settled]) results.stored(waiter, 'j0', 0)
    results.told([['a:j0', '5']])
    assert.deepEqual(told, [[3, null, 'before'], [1, null, 5], [2, null, 5]])
    assert.equal(results.size, 0)
    results.close()
  })
})

describe('calls that take jobs', () => {
  const place = { name: 'a', partition: { limits: 'l', generation: '' }, key: what => what, keysOf: names => names }
  const stale = generation => [0, 0, 0, 0, generation, 0, 1]
  const heeds = { noticed: async (partition, generation) => { partition.generation = generation } }

  it('bring jobs that start in the first half of their time, and up to three quarters of it where the answer is late or there is much', () => {
    const { now } = performance
    performance.now = () => 1000
    try {
      const startsBy = (sentAt, startMs) => new Answer([0, 0, 0, 0, 'g', startMs, 0, 0], sentAt).startBy - sentAt
      assert.deepEqual([startsBy(975, 100), startsBy(974, 100), startsBy(999, 2000), startsBy(999, 0)], [50, 75, 1500, Infinity])
    } finally {
      performance.now = now
    }
  })

  it('are made again by the limits that hold now, and given up while these change again and again', async () => {
    let count = 0
    const broker = { client: { fairlaneTake: async () => count++ < 4 ? stale(`g${count}`) : [0, 0, 0, 7, 'g4', 0, 0] } }
    const takes = new Takes({ broker, starts: heeds }, { token: 'me', leaseMs: 1000 })
    assert.equal(await takes.take(place), undefined)
    assert.equal((await takes.take(place)).dueInMs, 7)
    assert.equal(count, 5)
  })

  it('that fail behind the end of a job bring none', async () => {
    const takes = { notice: async () => {}, take: async () => { throw new Error('LOADING') } }
    const endings = new Endings({ broker: {}, overdue: {}, outcomes: {}, takes }, { resultTtlMs: 0 })
    assert.equal(await endings.fetched(place, new Answer(stale('g'), 0)), undefined)
  })
})

describe('the end of a queue', () => {
  it('comes though the last look at results fails', async () => {
    const calls = []
    const results = { lookAtAll: async () => { throw new Error('READONLY') }, close: () => calls.push('closed') }
    const broker = { pushTimeoutMs: 1000, disconnect: () => calls.push('disconnected') }
    const limits = { stop: () => {} }
    const queue = { stage: { close: async () => 3 }, whenIdle: () => {}, flush: async () => {} }
    const parts = { broker, limits, worker: null, results, forgetting: { stop: () => calls.push('stopped') }, scheduling: { stop () {} } }
    assert.equal(await end(parts, queue), 3)
    assert.deepEqual(calls, ['closed', 'stopped', 'disconnected'])
  })
})

describe('leases', () => {
  it('are renewed for the jobs that run; one that the broker refuses is lost, unless it ends or is another by now', async () => {
    const names = ['kept', 'gone', 'ends', 'replaced']
    const runners = ['runs', 'ran'].map(name => ({ name }))
    const supply = { jobs: new Map(names.map(name => [name, { name, isEnding: false, renewedAt: -1 }])), overdue: new Set(runners) }
    const all = [...supply.jobs.values()]
    supply.place = {
      backend: {
        extendLocks: async asked => {
          assert.deepEqual(asked, [...names, 'runs', 'ran'])
          all[2].isEnding = true
          supply.jobs.set('replaced', { name: 'replaced' })
          return [...names.slice(1), 'ran']
        }
      }
    }
    const lost = []
    supply.lose = ({ name }) => lost.push(name)
    const broker = { isReady: true, partitions: [] }
    const supplies = new Map([['a', supply], ['b', { jobs: new Map(), overdue: new Set() }]])
    const leases = new Leases({ broker, crew: { supplies }, starts: { renew () {} } }, { leaseMs: 1000, token: 'me' })
    await leases.renew()
    assert.deepEqual([lost, [...supply.overdue]], [['gone'], runners.slice(0, 1)])
    assert(all[0].renewedAt > 0)
    assert.equal(all[1].renewedAt, -1)
    broker.isReady = false
    await leases.renew()
  })
})

describe('what is done in intervals', () => {
  const { setTimeout } = global
  const WAYS = {
    'the renewal of leases': broker => new Leases({ broker, crew: {}, starts: { renew () {} } }, { leaseMs: 1000, token: 'me' }),
    'the walk of the keeper': broker => new Keeper({ broker, announcer: {} }, { leaseMs: 1000, resultTtlMs: 0, token: 'me' })
  }

  afterEach(() => { global.setTimeout = setTimeout })

  for (const [name, make] of Object.entries(WAYS)) {
    it(`is done again when it has ended, and not if it was stopped meanwhile: ${name}`, async () => {
      const timers = []
      global.setTimeout = fn => { timers.push(fn) }
      const part = make({ isReady: false })
      part.begin()
      timers[0]()
      await turn()
      assert.equal(timers.length, 2)
      timers[1]()
      part.stop()
      await turn()
      assert.equal(timers.length, 2)
    })
  }
})

describe('the keeper', () => {
  it('announces a type whose jobs have gone back, and no other, and takes places away of runners whose processes are gone', async () => {
    const announced = []
    const left = []
    const moved = new Map([['a', ['j']], ['b', []], ['c', ['o.1']], ['d', ['o.2', 'j', 'o.3']]])
    const client = {
      fairlaneLeavePlace: async (active, wait, stalled, meta, key, lock, token, name) => left.push([active, key, lock, token, name])
    }
    const broker = {
      client,
      placeOf: name => ({
        name, partition: { wake: 'wake' }, key: what => `${name}:${what}`, backend: { moveStalledJobsToWait: async () => moved.get(name) }
      })
    }
    const keeper = new Keeper(
      { broker, announcer: { announce: async ({ name }) => announced.push(name) } }, { leaseMs: 1000, resultTtlMs: 0, token: 'me' }
    )
    for (const name of moved.keys()) await keeper.tendTo(name, HAS_ACTIVE, 0)
    assert.deepEqual(announced, ['a', 'd'])
    assert.deepEqual(
      left, [['c', 1], ['d', 2], ['d', 3]].map(([type, n]) => [`${type}:active`, `${type}:o.${n}`, `${type}:o.${n}:lock`, '', `o.${n}`])
    )
  })

  it('walks while no other process does', async () => {
    const calls = []
    let walker = null
    const client = {
      set: async (key, token, ...how) => {
        calls.push(key === 'walked' ? [key] : ['set', key, token, ...how])
        return walker === null ? 'OK' : null
      },
      zremrangebyscore: async () => {},
      sscan: async () => {
        calls.push(['sscan'])
        return ['0', []]
      }
    }
    const broker = { isReady: true, client, partitions: [{ key: what => what, walked: 'walked' }] }
    const keeper = new Keeper({ broker, announcer: {} }, { leaseMs: 1000, resultTtlMs: 0, token: 'me' })
    await keeper.walkAll()
    walker = 'another'
    await keeper.walkAll()
    const asked = ['set', 'keeper', 'me', 'PX', 500, 'NX']
    assert.deepEqual(calls, [asked, ['sscan'], ['walked'], asked])
  })

  it('walks later when it cannot, and tells if that does not pass by itself', async () => {
    let walksCount = 0
    const walked = latch()
    const client = {
      async set () {
        if (walksCount++ < 2) throw new Error(walksCount === 1 ? 'ERR no' : 'LOADING Redis is loading the dataset in memory')
        walked.open()
        return null
      }
    }
    const told = []
    const broker = {
      isReady: true, client, partitions: [{ key: what => what }], troubles: { refused: (what, { message }) => told.push([what, message]) }
    }
    const keeper = new Keeper({ broker, announcer: {} }, { leaseMs: 10, resultTtlMs: 0, token: 'me' })
    keeper.begin()
    await walked.opened
    await keeper.stop()
    assert.equal(walksCount, 3)
    assert.deepEqual(told, [['the check of all types', 'ERR no']])
  })

  it('takes away results that were kept for long enough, and leaves names alone that are not its own', async () => {
    const cleaned = []
    const backend = { cleanJobsByState: async (state, before) => cleaned.push([state, before]) }
    const broker = { placeOf: name => name === 'a' ? { name, backend } : undefined }
    const keeper = new Keeper({ broker, announcer: {} }, { leaseMs: 1000, resultTtlMs: 2000, token: 'me' })
    for (const name of ['a', '%zz']) await keeper.tendTo(name, HAS_COMPLETED, 5000)
    await keeper.tendTo('a', 0, 5000)
    assert.deepEqual(cleaned, [['completed', 3000]])
  })
})

describe('a process that runs jobs', () => {
  it('has lost what runs when others have its places', () => {
    let told
    const broker = { onReady: [], onShaken: [], partitions: [] }
    const starts = { tell: hooks => { told = hooks } }
    const worker = new Worker({ broker, core: { scheduler: null }, starts }, {}, () => 0)
    const lost = []
    const job = { supply: { lose: one => lost.push(one) }, delivery: {} }
    worker.parts.attempts.running.add(job)
    assert.deepEqual(told.running(), [job.delivery])
    told.lost()
    assert.deepEqual(lost, [job])
  })
})

describe('a suspect', () => {
  it('begins when nothing runs beside it, and others wait for another time', async () => {
    const calls = []
    const stage = { hold: () => calls.push('held up'), letGo: () => calls.push('let go') }
    const suspects = new Suspects({ stage, taking: { holdUp: isHeldUp => calls.push(isHeldUp) } })
    const [first, second, other] = [{}, {}, {}]
    const entered = suspects.enter(first, 2)
    assert.equal(await suspects.enter(second, 2), false)
    suspects.left(other, 1)
    suspects.left(second, 1)
    suspects.left(other, 0)
    assert.equal(await entered, true)
    suspects.left(first, 0)
    assert.deepEqual(calls, ['held up', true, false, 'let go'])
    // it is given up before it has begun
    const again = suspects.enter(second, 1)
    suspects.left(second, 1)
    assert.equal(await again, false)
  })
})

describe('attempts', () => {
  let attempts, ends, interrupted

  beforeEach(() => {
    ends = []
    interrupted = []
    const stage = { interrupt: (ticket, { code }) => interrupted.push([ticket, code]) }
    const parts = { stage, suspects: { left: () => {} }, outcomes: { lost: ({ name }) => ends.push(`lost ${name}`) } }
    attempts = new Attempts(parts, { runner: () => {}, leaseMs: 1000, maxAttempts: 3, maxWaitMs: Infinity })
  })

  const jobOf = (more) => ({
    place: { running: 0 }, supply: { end: ({ kind }) => ends.push(kind), withdraw: () => ends.push('withdrawn') }, isEnding: false, ...more
  })

  it('of a job that is cancelled end: before they begin, while they run, and not when they end already', () => {
    attempts.cancelled(jobOf())
    assert.deepEqual(ends.splice(0), ['withdrawn', 'cancelled'])
    attempts.cancelled(jobOf({ delivery: { ticket: 1 } }))
    assert.deepEqual(ends.splice(0), ['cancelled'])
    attempts.cancelled(jobOf({ isEnding: true }))
    assert.deepEqual([ends, interrupted], [[], [[1, 'FAIRLANE_ERR_ABORTED']]])
  })

  it('of a job that is lost are interrupted if they have begun', () => {
    const lost = { code: 'FAIRLANE_ERR_LEASE' }
    attempts.lost(jobOf({ name: 'prefetched' }), lost)
    const job = jobOf({ name: 'runs', delivery: { ticket: 2 } })
    attempts.lost(job, lost)
    attempts.lost(job, lost)
    attempts.lost(jobOf({ name: 'ends', isEnding: true }), lost)
    assert.deepEqual([ends, interrupted], [['lost runs', 'lost ends'], [[2, 'FAIRLANE_ERR_LEASE']]])
  })

  it('of a job whose pass is over, or that has none and needs one by now, wait for another slot', () => {
    attempts.stage.list = { gate: {} }
    for (const pass of [{ begin: () => false }, undefined]) {
      const kept = []
      const supply = { keep: job => kept.push(job) }
      const job = jobOf({ startBy: Infinity, supply })
      attempts.stage.chooseAgain = type => kept.push(type)
      const delivery = { job: { pass }, isSettled: false, giveBack: () => kept.push('slot') }
      job.delivery = delivery
      assert.equal(attempts.mayBegin(delivery, job), false)
      assert.deepEqual(kept, [job, job.place.type, 'slot']) // others wait behind it
      assert.equal(job.delivery, undefined)
    }
  })

  it('fail where the payload cannot be read, for good, or the clock throws', () => {
    const failed = []
    const [fault, late] = [new Error('bytes'), new Error('clock')]
    attempts.stage.list = { gate: null }
    attempts.stage.limit = () => { throw late }
    const run = decode => {
      attempts.serialize = { decode }
      const delivery = { job: {}, isFinal: false, fail: err => failed.push([err, delivery.isFinal]) }
      attempts.run(delivery, jobOf({ startBy: Infinity, own: {}, parsed: () => ({}) }))
    }
    run(() => { throw fault })
    run(() => 1)
    assert.deepEqual([failed, attempts.running.size], [[[fault, true], [late, false]], 0])
  })

  it('of a suspect whose time to start is over begin if the broker lets them, and are given up otherwise', async () => {
    const became = []
    attempts.suspects = { enter: async () => true, left: () => {} }
    attempts.records = { markAlone: async () => { became.push('marked') } }
    attempts.run = () => became.push('runs')
    const supply = { giveBack: () => became.push('goes back') }
    for (const mayStart of [async () => true, async () => false, async () => { throw new Error('READONLY') }]) {
      attempts.takes = { mayStart }
      const delivery = { isSettled: false, giveBack: () => became.push('slot') }
      await attempts.runAlone(delivery, jobOf({ delivery, supply, startBy: -Infinity }))
      became.push('.')
    }
    assert.deepEqual(became.join(' '), 'marked runs . slot goes back . slot goes back .')
  })

  it('that run are known, and are lost when their places are', () => {
    const supply = { lose: job => ends.push(job.name) }
    for (const name of ['a', 'b']) attempts.running.add(jobOf({ name, supply, delivery: name }))
    assert.deepEqual(attempts.deliveries(), ['a', 'b'])
    attempts.loseAll()
    assert.deepEqual(ends, ['a', 'b'])
  })

  it('of a queue that closes may end well until it has closed, once', () => {
    const wells = []
    const delivery = { hasBegun: true, onceWell: well => wells.push(well) }
    for (let n = 0; n < 3; n++) attempts.abandon(delivery, jobOf({ inbox: undefined }))
    wells[0]()
    wells[0]()
    assert.deepEqual(ends.splice(0), ['done'])
    attempts.abandoned.delete([...attempts.abandoned][0]) // it is lost meanwhile
    wells[1]()
    attempts.end()
    wells[2]()
    assert.deepEqual(ends, ['returned'])
  })
})
