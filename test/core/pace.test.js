'use strict'

const assert = require('node:assert/strict')
const { Pace } = require('../../lib/core/pace')
const { stoppedTime } = require('../support/time')

describe('the pace of a pass', function () {
  let time, pace

  beforeEach(function () {
    time = stoppedTime(1000)
    pace = new Pace()
  })

  afterEach(function () { time.release() })

  /** Starts jobs that take so many ms each, as a pass does, until it is to yield. @returns {number} how many */
  function startUntilOver (ms) {
    for (let count = 0; count < 1e6; count++) {
      if (--pace.untilLook <= 0 && pace.isTimeUp()) return count
      time.pass(ms)
    }
    throw new Error('it goes on for ever')
  }

  /** @returns {number[]} how many starts lie between looks at the clock, for jobs that take so many ms each */
  function strides (ms, looks) {
    const between = []
    for (let count = 0; between.length < looks; count++) {
      const before = time.lookCount
      if (--pace.untilLook <= 0) assert.equal(pace.isTimeUp(), false)
      if (time.lookCount > before) {
        between.push(count)
        count = 0
      }
      time.pass(ms)
    }
    return between
  }

  it('is one millisecond, from its beginning', function () {
    pace.beginPass()
    assert.equal(startUntilOver(0.125), 8)
    time.pass(50)
    pace.beginPass()
    assert.equal(startUntilOver(0.25), 4)
  })

  it('starts one job at least, however long it takes', function () {
    pace.beginPass()
    assert.equal(startUntilOver(30), 1)
  })

  it('is counted from where the turn was measured, if it begins in the middle of that', function () {
    pace.beginPass()
    time.pass(100)
    pace.beginTurn()
    time.pass(0.5)
    pace.goOn()
    assert.equal(startUntilOver(0.25), 2)
  })

  it('looks at the clock after four times as many starts each time while jobs are quick, up to 32', function () {
    pace.beginPass()
    assert.deepEqual(strides(0, 6), [1, 4, 16, 32, 32, 32])
  })

  it('looks after each start once the last took more than an eighth of what is left', function () {
    pace.beginPass()
    strides(0, 2)
    time.pass(0.2)
    assert.deepEqual(strides(0, 3), [15, 1, 4])
    pace.sliceMs = 1.125
    pace.beginPass()
    time.pass(0.125)
    assert.deepEqual(strides(0, 2), [1, 4]) // an eighth, to the point
  })

  it('needs no look for starts that were allowed, unless more were allowed before', function () {
    pace.beginPass()
    pace.allow(100)
    pace.allow(10)
    time.lookCount = 0
    for (let count = 0; count < 100; count++) assert(--pace.untilLook > 0)
    assert.equal(--pace.untilLook, 0)
    assert.equal(time.lookCount, 0)
  })

  it('counts none of those for the starts after them', function () {
    pace.beginPass()
    pace.allow(100)
    pace.goOn()
    assert.equal(pace.untilLook, 1)
  })
})
