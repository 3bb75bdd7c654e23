'use strict'

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { until } = require('./until')

const LONG_MS = 20000 // timers that the test fires itself

describeWithRedis('what a queue knows of types', function () {
  const at = atServer()
  const { setTimeout, setInterval } = global
  const { now } = performance
  let timers, laterMs

  beforeEach(() => {
    timers = new Set()
    laterMs = 0
    performance.now = () => now.call(performance) + laterMs
    for (const [name, original] of Object.entries({ setTimeout, setInterval })) {
      global[name] = (fn, ms, ...args) => {
        const timer = original(fn, ms, ...args)
        if (ms >= LONG_MS) timers.add(fn)
        return timer
      }
    }
  })

  afterEach(() => {
    Object.assign(global, { setTimeout, setInterval })
    performance.now = now
  })

  const fire = () => { for (const fn of [...timers]) fn() }

  it('is forgotten when it has had nothing to do with them for a while', async () => {
    const worker = await at.open(async () => {}, { leaseMs: 1000 })
    const producer = await at.open(null, { maxWaitingPerType: 100 })
    await producer.pushType('a', 1)
    await producer.onIdle()
    await until(() => at.server.cli('exists', `{fairlane:${at.name}}:.ready`) === '0')
    await until(() => worker.stats('a').done === 1)
    assert.equal(producer.stats('a').accepted, 1)
    fire()
    assert.equal(worker.stats('a').done, 1) // not yet
    assert.equal(producer.stats('a').accepted, 1)
    laterMs = 70000
    await until(() => {
      fire()
      return worker.stats('a').done + producer.stats('a').accepted === 0
    })
    laterMs = 0
    await producer.pushType('a', 1)
    await until(() => worker.stats('a').done === 1)
  })

  it('is kept of types that have jobs', async () => {
    const worker = await at.open(async () => {})
    worker.pause()
    await worker.pushType('a', 1)
    await worker.pushType('a', 1, { delayMs: 25000 })
    await worker.pushType('b', 1, { delayMs: 3600000 })
    await worker.pushType('b', 1)
    laterMs = 70000
    fire()
    assert.equal(worker.stats('a').accepted, 2)
    laterMs = 0
    worker.resume()
    await until(() => worker.stats('a').done + worker.stats('b').done === 2)
    await until(() => at.server.cli('scard', `{fairlane:${at.name}}:.ready`) === '0')
    laterMs = 140000
    await until(() => {
      fire()
      return worker.stats('b').done === 0 // the keeper tells of what it has then
    })
    assert.equal(worker.stats('a').done, 1) // it waits for the second
    laterMs = 0
  })

  it('is looked up at the broker when the time has come', async () => {
    const worker = await at.open(async () => {})
    // somebody has announced a type, and no word of it came
    at.server.cli('sadd', `{fairlane:${at.name}}:.ready`, 'a')
    fire()
    await until(() => at.server.cli('exists', `{fairlane:${at.name}}:.ready`) === '0')
    assert.equal(worker.stats().done, 0)
  })
})
