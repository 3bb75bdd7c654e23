'use strict'

const assert = require('node:assert')
const { Limits } = require('../../../lib/core/limits/limits')
const { fakeClock } = require('../../../lib/testing')
const { stoppedTime } = require('../../support/time')
const { quiet } = require('../../support/turns')

const RATES = { all: [{ limit: 1, intervalMs: 100 }], byType: new Map(), ask: undefined }

describe('limits of types', function () {
  it('are forgotten when their windows are empty, and not before', function () {
    const { limits, clock, start } = made(RATES)
    for (let i = 0; i < 100; i++) start(`early ${i}`)
    clock.advance(99)
    start('late')
    assert.equal(limits.waitMs('early 1'), 1)
    clock.advance(100)
    start('another')
    clock.advance(100)
    start('the last')
    assert.equal(limits.young.size + limits.old.size <= 2, true)
    assert.equal(clock.timerCount, 0)
  })

  it('are forgotten by a timer where there are many, which keeps no process alive', function () {
    const { limits, clock, start, unrefs } = made(RATES)
    for (let i = 0; i < 5000; i++) start(`type ${i}`)
    assert.equal(clock.timerCount, 1)
    clock.advance(50)
    for (let i = 0; i < 5000; i++) start(`type ${i + 2000}`)
    assert.equal(limits.waitMs('type 6999'), 100)
    clock.advance(200)
    assert.deepEqual([limits.young.size, limits.old.size, clock.timerCount], [0, 0, 0])
    assert(unrefs.count > 0)
  })

  it('of a type are one, though it is counted again and again', function () {
    const { limits, clock, start } = made({ ...RATES, all: [{ limit: 3, intervalMs: 100 }] })
    for (let i = 0; i < 50; i++) {
      start('a')
      start(`other ${i}`)
      clock.advance(40)
      const { a } = { a: [limits.young, limits.old].filter(map => map.has('a')) }
      assert.equal(a.length, 1)
    }
  })

  it('forget what users held when that is over, at the latest when there are twice as many', function () {
    const { limits, clock } = made(RATES)
    for (let i = 0; i < 1024; i++) limits.hold(`type ${i}`, 10)
    clock.advance(10)
    limits.hold('longer', 10)
    assert.deepEqual([...limits.held.keys()], ['longer'])
    for (let i = 0; i < 1023; i++) limits.hold(`type ${i}`, 5)
    clock.advance(5)
    limits.hold('another', 10)
    assert.deepEqual([...limits.held.keys()], ['longer', 'another'])
    limits.hold('another', 0)
    assert.equal(limits.isNamed('another'), false)
  })

  it('forget by a timer what users held, where it is much', function () {
    const { limits, clock, unrefs } = made(RATES)
    for (let i = 0; i < 5000; i++) limits.hold(`type ${i}`, 10)
    for (let i = 0; i < 2000; i++) limits.hold(`longer ${i}`, 30)
    clock.advance(25)
    assert.deepEqual([limits.held.size, limits.waitMs('type 1'), limits.waitMs('longer 1')], [2000, 0, 5])
    clock.advance(25)
    assert.deepEqual([limits.held.size, clock.timerCount, limits.isNamed('longer 1')], [0, 0, false])
    assert(unrefs.count > 0)
  })

  it('forget what users held in slices', async function () {
    const { limits, clock } = made(RATES)
    for (let i = 0; i < 50000; i++) limits.hold(`type ${i}`, 1000)
    limits.hold('longer', 1e9)
    await quiet() // what it has begun to look through is over
    const time = stoppedTime()
    try {
      const { now } = performance
      performance.now = () => {
        time.pass(1) // each look at it takes a ms
        return now()
      }
      clock.advance(1000)
      assert(limits.held.size > 12500 && limits.held.size < 50000, `${limits.held.size} are left after the first slice`)
      await quiet()
      assert.deepEqual([...limits.held.keys()], ['longer'])
      performance.now = now
    } finally {
      time.release()
    }
  })

  it('set no timer that the clock cannot set', function () {
    const { limits, clock, start } = made({ ...RATES, all: [{ limit: 1, intervalMs: 1e12 }] })
    for (let i = 0; i < 1100; i++) start(`type ${i}`)
    clock.advance(2 ** 31 - 1)
    assert.equal(limits.young.size + limits.old.size, 1100)
    assert.equal(clock.timerCount, 1)
  })

  it('say when so many jobs may have started: by the rates of their type, and what its lane has started', function () {
    const { limits, clock } = made({ all: undefined, byType: new Map([['a', [{ limit: 1, intervalMs: 100 }]]]), ask: undefined })
    assert.deepEqual([limits.waitMsOf(0, 'a', 3), limits.waitMsOf(0, 'b', 3)], [200, 0])
    limits.hold('a', 50)
    assert.deepEqual([limits.waitMsOf(0, 'a', 3), limits.waitMsOf('a', 'a', 1)], [250, 50])
    limits.count(0, limits.limitOf({ limit: undefined }, 0, 'a'))
    clock.advance(10)
    assert.equal(limits.waitMsOf(0, 'a', 2), 190)
  })

  it('that are shared are kept by rates that are asked for, though nobody knows whose they were', function () {
    const { limits, clock } = made(RATES)
    const lane = { limit: undefined }
    limits.count(0, limits.limitOf(lane, 0, 'a'))
    limits.setRates({ all: undefined, byType: new Map(), ask: () => undefined })
    assert.equal(limits.waitMs(0), 100)
    clock.advance(100)
    assert.equal(limits.limitOf(lane, 0, 'a'), limits.none)
  })

  it('stay the same where new rates are of the same windows, else what has started counts in those of the same interval', function () {
    const { limits, start } = made(RATES)
    const rate = (limit, intervalMs = 100) => ({ limit, intervalMs })
    const limit = () => limits.limitOf({ limit: undefined }, 'a', 'a')
    const change = all => limits.setRates({ ...RATES, all })
    start('a')
    const first = limit()
    for (const [all, waitMs] of [[[rate(2)], 0], [[rate(1)], 100], [[rate(70)], 0]]) {
      change(all)
      assert.deepEqual([limits.waitMs('a'), limit() === first], [waitMs, true])
    }
    for (const [all, waitMs] of [[[rate(1), rate(5, 50)], 100], [[rate(1, 50), rate(1)], 100], [[rate(1, 30)], 0], [[rate(1)], 0]]) {
      const before = limit()
      change(all)
      assert.deepEqual([limits.waitMs('a'), limit() === before], [waitMs, false], JSON.stringify(all))
    }
  })

  it('are inherited from the lane that types shared, unless there is nothing left to count', function () {
    const { limits, clock } = made(RATES)
    limits.inherit('a', 0)
    assert.equal(limits.isNamed('a'), false)
    limits.count(0, limits.limitOf({ limit: undefined }, 0, 'a'))
    limits.inherit('a', 0)
    limits.inherit('a', 0)
    assert.equal(limits.waitMs('a'), 100)
    clock.advance(100)
    limits.inherit('b', 0)
    assert.equal(limits.isNamed('b'), false)
  })
})

function made (rates) {
  const clock = fakeClock()
  const unrefs = { count: 0 }
  const watched = {
    ...clock,
    setTimeout (...args) {
      return Object.assign(clock.setTimeout(...args), { unref () { unrefs.count++ } })
    }
  }
  const limits = new Limits(rates, watched, fn => fn())
  return { limits, clock, unrefs, start: type => limits.count(type, limits.limitOf({ limit: undefined }, type, type)) }
}
