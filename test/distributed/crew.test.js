'use strict'

// What a process expects of types that it has heard of, and how many jobs it takes ahead.

const assert = require('node:assert')
const { Crew } = require('../../lib/distributed/worker/crew')
const { Prefetch } = require('../../lib/distributed/worker/prefetch')
const { Taking } = require('../../lib/distributed/worker/taking')
const { Wakes } = require('../../lib/distributed/worker/wakes')
const { stoppedTime } = require('../support/time')
const { turns } = require('../support/turns')

describe('a process that runs jobs', () => {
  const { setTimeout } = global
  let timers, wakes, partition, expected, answers, calls

  beforeEach(() => {
    timers = []
    global.setTimeout = fn => timers.push(fn)
    partition = { ready: 'ready', isAway: false }
    expected = []
    answers = []
    calls = { smismember: [] }
    const broker = {
      client: {
        smismember: async (key, ...names) => {
          calls.smismember.push(names)
          const answer = answers.shift()
          if (answer instanceof Error) throw answer
          return answer
        }
      },
      placeOf: name => ({ type: name })
    }
    wakes = new Wakes({ broker, crew: { expectJobs: type => expected.push(type) }, scouts: { tell: () => {} } })
  })

  afterEach(() => { global.setTimeout = setTimeout })

  // so many workers that another one asks, but for one time in a billion
  const MANY = 2 ** 40

  it('looks once for all that it has heard of in a while, and again at what may still be ready', async () => {
    wakes.begin()
    wakes.hear(partition, [MANY, ['a', 'b']])
    wakes.hear(partition, [MANY, ['c']])
    assert.deepEqual([timers.length, expected], [1, []])
    for (const answer of [[0, 1, 1], new Error('ERR'), [0, 0]]) {
      answers.push(answer)
      timers.at(-1)()
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.deepEqual(calls.smismember, [['a', 'b', 'c'], ['b', 'c'], ['b', 'c']])
    assert.equal(timers.length, 3)
    wakes.hear(partition, [8, ['e']])
    assert.deepEqual(expected, ['e'])
  })

  it('expects jobs of many types that are ready some at a time', async () => {
    const time = stoppedTime()
    try {
      wakes.crew.expectJobs = type => {
        expected.push(type)
        time.pass(0.1)
      }
      const names = Array.from({ length: 100 }, (_, n) => `type-${n}`)
      for (const name of names) wakes.found(name)
      assert.deepEqual(expected, [])
      wakes.begin()
      assert(expected.length > 0 && expected.length < 60, `${expected.length} at once`)
      await turns(10)
      assert.deepEqual(expected, names)
    } finally {
      time.release()
    }
  })

  it('forgets types that are idle, and no others', () => {
    const broker = { place: type => ({ type, partition, usersCount: 0 }) }
    const crew = new Crew({ broker, taking: new Taking(), prefetch: new Prefetch({ slots: {} }), requests: { mayAsk: () => false } })
    crew.supplyOf('a')
    crew.expectJobs('b')
    crew.forget()
    assert.deepEqual([...crew.supplies.keys()], ['b'])
  })

  it('expects no jobs when it has stopped', () => {
    const taking = new Taking()
    taking.isStopped = true
    const crew = new Crew({ taking, prefetch: new Prefetch({ slots: {} }) })
    crew.expectJobs('a')
    assert.equal(crew.supplies.size, 0)
  })
})

describe('jobs that are taken ahead', () => {
  const { now } = performance
  const { setTimeout } = global
  let ms

  beforeEach(() => {
    ms = 1000
    performance.now = () => ms
  })

  afterEach(() => {
    performance.now = now
    global.setTimeout = setTimeout
  })

  it('are no more than were started lately: if jobs are long they would wait beside idle workers', () => {
    const prefetch = new Prefetch({ slots: {}, starts: { isBinding: false } }, () => 3)
    assert.equal(prefetch.hasRoom(), false)
    for (let count = 0; count < 2; count++) prefetch.started()
    prefetch.count = 1
    assert.equal(prefetch.hasRoom(), true)
    prefetch.comingCount = 1
    assert.equal(prefetch.hasRoom(), false)
    prefetch.comingCount = 0
    ms += 50
    assert.equal(prefetch.hasRoom(), true)
    ms += 50
    assert.equal(prefetch.hasRoom(), false)
    for (let count = 0; count < 5; count++) prefetch.started()
    prefetch.count = 2
    assert.equal(prefetch.hasRoom(), true)
    prefetch.count = 3
    assert.equal(prefetch.hasRoom(), false)
  })

  it('are fewer where they must start soon', () => {
    const prefetch = new Prefetch({ slots: {}, starts: { isBinding: false } }, () => 3)
    for (let count = 0; count < 8; count++) prefetch.started()
    prefetch.count = 1
    assert.equal(prefetch.hasRoom(true), true)
    prefetch.count = 2
    assert.deepEqual([prefetch.hasRoom(true), prefetch.hasRoom(false)], [false, true])
  })

  it('are none where a job would wait for permits in the line of all types', () => {
    const prefetch = new Prefetch({ slots: {}, starts: { isBinding: true } }, () => 3)
    prefetch.started()
    assert.equal(prefetch.hasRoom(false), false)
  })

  it('go back after a while, as long as there are any', () => {
    const timers = []
    global.setTimeout = fn => timers.push(fn)
    const times = []
    const prefetch = new Prefetch({ slots: {}, starts: { isBinding: false } }, () => 3)
    prefetch.whenStale(takenBefore => times.push(takenBefore))
    prefetch.add()
    prefetch.add()
    assert.equal(timers.length, 1)
    ms = 5000
    timers[0]()
    prefetch.count = 0
    timers[1]()
    assert.deepEqual([times, timers.length], [[4000, 4000], 2])
    prefetch.add()
    assert.equal(timers.length, 3)
  })
})
