'use strict'

const assert = require('node:assert')
const { Limits } = require('../../lib/flow/limits')
const { fakeClock } = require('../../lib/testing')

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

  it('set no timer that the clock cannot set', function () {
    const { limits, clock, start } = made({ ...RATES, all: [{ limit: 1, intervalMs: 1e12 }] })
    for (let i = 0; i < 1100; i++) start(`type ${i}`)
    clock.advance(2 ** 31 - 1)
    assert.equal(limits.young.size + limits.old.size, 1100)
    assert.equal(clock.timerCount, 1)
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
