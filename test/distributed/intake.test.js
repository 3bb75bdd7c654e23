'use strict'

// Pushes, without a broker: when they are sent, and what becomes of those that cannot be.

const assert = require('node:assert')
const { Intake } = require('../../lib/distributed/calls/intake')
const { Pace } = require('../../lib/distributed/broker/pace')
const { stoppedTime } = require('../support/time')
const { turn } = require('../support/turns')

const STORED = { waiting: 1, answers: [] }
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

describe('what map() asks', () => {
  const place = { type: 'a', usersCount: 0 }
  const paused = []
  const broker = { isReady: false, pause: async ms => { paused.push(ms) } }
  const intake = new Intake({ broker, announcer: {}, pushes: {} }, { maxWaitingPerType: { all: 1, byType: new Map() } })

  it('is whether a job would be taken in, or refused by add(), and for how long to wait', async () => {
    const open = intake.mapping(place, () => false)
    assert.equal(open.accepts(), true)
    await open.ready()
    const come = intake.expect(place, 1)
    assert.equal(open.accepts(), false)
    assert.equal(intake.mapping(place, () => true).accepts(), true) // add() says that the queue is closed
    await open.ready()
    come()
    assert.equal(open.accepts(), true)
    assert.deepEqual([paused[0], paused[1] > 0 && paused[1] <= 1000], [0, true])
  })
})

describe('jobs that are pushed together', () => {
  it('are stored with one call, and so when it is made again, by the number of that push', async () => {
    const calls = []
    const broker = {
      pushTimeoutMs: 1000,
      async until (deadline, call) {
        await call()
        return call()
      }
    }
    const pushes = {
      next: () => 7,
      push: async (place, jobs, number) => {
        calls.push([number, ...jobs.map(({ data }) => data)])
        return jobs.map(({ name }) => [name, 0])
      }
    }
    const intake = new Intake({ broker, announcer: { announce: async () => 1 }, pushes }, UNLIMITED)
    const all = ['1', '2', '3'].map(data => intake.push({ type: 'a', usersCount: 0 }, { jobName: data, data }))
    assert.deepEqual(await Promise.all(all), [['1', 0], ['2', 0], ['3', 0]])
    assert.deepEqual(calls, [[7, '1', '2', '3'], [7, '1', '2', '3']])
  })
})

describe('pushes of many types in one turn', () => {
  it('begin a hundred at a time, each with all that was pushed of its type', async () => {
    const batches = []
    const broker = { pushTimeoutMs: 1000, until: async () => STORED }
    const intake = new Intake({ broker, announcer: {}, pushes: { next: () => 1 } }, UNLIMITED)
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
        if (++calls > 1) return STORED
        time.pass(awayMs)
        throw away
      }
    }
    return new Intake({ broker, announcer: {}, pushes: { next: () => 1 } }, UNLIMITED)
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
