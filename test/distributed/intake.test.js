'use strict'

// Pushes, without a broker: when they are sent, and what becomes of those that cannot be.

const assert = require('node:assert')
const { isPassing } = require('../../lib/distributed/broker/failures')
const { Intake } = require('../../lib/distributed/calls/intake')
const { Pace } = require('../../lib/distributed/broker/pace')
const { stoppedTime } = require('../support/time')
const { turn } = require('../support/turns')

const UNLIMITED = { maxWaitingPerType: { all: Infinity, byType: new Map() } }

describe('a pace', () => {
  it('makes so many calls in a turn, and the others in later ones, in their order', async () => {
    const pace = new Pace(2)
    const made = []
    const all = [1, 2, 3, 4, 5].map(n => pace.run(async () => {
      made.push(n)
      if (n === 4) throw new Error('no')
      return n
    }))
    const refused = assert.rejects(all[3], /no/)
    const byTurn = []
    for (let n = 0; n < 4; n++) {
      byTurn.push(made.splice(0))
      await turn()
    }
    assert.deepEqual(byTurn, [[1, 2], [3, 4], [5], []])
    await refused
    assert.deepEqual(await Promise.all([all[0], all[1], all[2], all[4]]), [1, 2, 3, 5])
    pace.run(async () => made.push('in a turn of its own'))
    assert.equal(made.length, 1)
    await turn()
  })
})

describe('jobs that are pushed together', () => {
  for (const isCluster of [false, true]) {
    const how = isCluster ? 'but one by one when slots of a Redis Cluster move, in their order' : 'and so when it is made again'
    it(`are stored with one call, ${how}`, async () => {
      const calls = []
      const broker = {
        isCluster,
        pushTimeoutMs: 1000,
        async until (deadline, call) {
          await call(false)
          return call(true)
        }
      }
      const backend = {
        addJob: async ({ data }) => calls.push(data),
        async addJobs (jobs) {
          const all = jobs.map(({ job: { data } }) => data)
          calls.push(all)
          return all
        }
      }
      const intake = new Intake({ broker, announcer: { announce: async () => 1 }, settings: { isPrepared: () => true } }, UNLIMITED)
      await Promise.all(['1', '2', '3'].map(data => intake.push({ type: 'a', usersCount: 0, backend }, { jobName: data, data })))
      assert.deepEqual(calls, [['1', '2', '3'], ...isCluster ? ['1', '2', '3'] : [['1', '2', '3']]])
    })
  }
})

describe('jobs that were pushed together, and have no answers', () => {
  for (const answers of [[], ['1', undefined]]) {
    it(`are not stored: ${JSON.stringify(answers)}`, async () => {
      const stored = []
      const broker = {
        isCluster: true,
        pushTimeoutMs: 1000,
        async until (deadline, call) {
          await assert.rejects(call(false), err => isPassing(err))
          return call(true)
        }
      }
      const backend = { addJob: async ({ data }) => stored.push(data), addJobs: async () => answers }
      const intake = new Intake({ broker, announcer: { announce: async () => 1 }, settings: { isPrepared: () => true } }, UNLIMITED)
      await Promise.all(['1', '2'].map(data => intake.push({ type: 'a', usersCount: 0, backend }, { jobName: data, data })))
      assert.deepEqual(stored, ['1', '2'])
    })
  }
})

describe('pushes of many types in one turn', () => {
  it('begin a hundred at a time, each with all that was pushed of its type', async () => {
    const batches = []
    const broker = { pushTimeoutMs: 1000, until: async () => 1 }
    const intake = new Intake({ broker, announcer: {}, settings: {} }, UNLIMITED)
    const { store } = intake
    intake.store = (outlet, batch) => {
      batches.push(batch.length)
      return store.call(intake, outlet, batch)
    }
    const places = Array.from({ length: 250 }, (_, n) => ({ type: `type-${n}`, usersCount: 0 }))
    const all = [1, 2].flatMap(n => places.map(place => intake.push(place, { jobName: `j-${n}`, data: '1' })))
    const byTurn = []
    for (let n = 0; n < 4; n++) {
      await Promise.resolve()
      byTurn.push(batches.splice(0))
      await turn()
    }
    await Promise.all(all)
    assert.deepEqual(byTurn.map(({ length }) => length), [100, 100, 50, 0])
    assert.deepEqual(new Set(byTurn.flat()), new Set([2]))
  })
})

describe('pushes that wait for a broker which is away', () => {
  const away = Object.assign(new Error('The broker cannot be reached'), { code: 'FAIRLANE_ERR_BROKER' })
  let time
  let calls

  beforeEach(() => {
    time = stoppedTime(1000)
    calls = 0
  })

  afterEach(() => time.release())

  /** @param {number} awayMs how long the first call is tried */
  function intakeOf (awayMs) {
    const broker = {
      pushTimeoutMs: 50,
      async until () {
        if (++calls > 1) return 1
        time.pass(awayMs)
        throw away
      }
    }
    return new Intake({ broker, announcer: {}, settings: {} }, UNLIMITED)
  }

  const push = intake => intake.push({ type: 'a', usersCount: 0 }, { jobName: 'j', data: '1' })

  it('are refused together when the time of all is up', async () => {
    const intake = intakeOf(50)
    const pushes = [push(intake), push(intake)]
    for (const pushed of pushes) await assert.rejects(pushed, { code: 'FAIRLANE_ERR_BROKER' })
    assert.deepEqual([calls, intake.pendingCount], [1, 0])
  })

  it('are tried again where they have some time left', async () => {
    const intake = intakeOf(45)
    const early = push(intake)
    time.pass(10)
    const late = push(intake)
    await assert.rejects(early, { code: 'FAIRLANE_ERR_BROKER' })
    await late
    assert.deepEqual([calls, intake.pendingCount], [2, 0])
  })
})
