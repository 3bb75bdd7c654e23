'use strict'

const assert = require('node:assert/strict')
const { systemClock } = require('../../lib/platform/clock')
const { Time } = require('../../lib/ledger/time')
const { fakeClock } = require('../../lib/testing')

describe('the time of a ledger', function () {
  it('is read again from the clock of the system when a timer says that it is old', async function () {
    const time = new Time(systemClock, false)
    const before = systemClock.now()
    const first = time.read()
    assert(first >= before - 1 / 1024 && first <= systemClock.now())
    assert.equal(time.isFresh, true)
    assert.equal(time.ms, first)
    while (time.isFresh) await new Promise(resolve => setTimeout(resolve, 1))
    assert(time.read() > first)
  })

  it('is never fresh if it is to be exact', function () {
    const time = new Time(systemClock, true)
    time.read()
    assert.equal(time.isFresh, false)
  })

  it('is that of another clock as it is, and shown so', function () {
    const clock = fakeClock(0.1)
    const time = new Time(clock, false)
    assert.equal(time.read(), 0.1)
    assert.equal(time.isFresh, false)
    assert.equal(time.originMs, 0)
    assert(Math.abs(new Time(systemClock, false).originMs + systemClock.now() - Date.now()) < 60000)
  })

  it('takes timers as browsers have them', function () {
    const { setTimeout } = systemClock
    let age
    systemClock.setTimeout = fn => {
      age = fn
      return 1
    }
    try {
      const time = new Time(systemClock, false)
      time.read()
      assert.equal(time.isFresh, true)
      age()
      assert.equal(time.isFresh, false)
    } finally {
      systemClock.setTimeout = setTimeout
    }
  })
})
