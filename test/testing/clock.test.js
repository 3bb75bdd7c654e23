'use strict'

const assert = require('node:assert/strict')
const { fakeClock } = require('fairlane/testing')

describe('fakeClock', function () {
  it('stands still until it is told to go', function () {
    const clock = fakeClock(1000)
    assert.equal(clock.now(), 1000)
    clock.advance(5)
    assert.equal(clock.now(), 1005)
    assert.equal(fakeClock().now(), 0)
  })

  it('calls timers at their times, in order, those of the same time in the order in which they were set', function () {
    const clock = fakeClock()
    const calls = []
    const note = name => calls.push([name, clock.now()])
    clock.setTimeout(note, 20, 'late')
    clock.setTimeout(note, 10, 'first')
    clock.setTimeout(note, 10, 'second')
    clock.setTimeout(() => clock.setTimeout(note, 5, 'nested'), 10)
    clock.setTimeout(note, -5, 'at once')
    clock.setTimeout(note, undefined, 'at once, too')
    assert.equal(clock.timerCount, 6)
    clock.advance(19)
    assert.deepEqual(calls, [['at once', 0], ['at once, too', 0], ['first', 10], ['second', 10], ['nested', 15]])
    assert.equal(clock.now(), 19)
    assert.equal(clock.next(), true)
    assert.deepEqual(calls.at(-1), ['late', 20])
    assert.equal(clock.next(), false)
  })

  it('never goes back, whatever its timers and callers do', function () {
    const clock = fakeClock()
    const calls = []
    clock.setTimeout(() => clock.advance(100), 5)
    clock.setTimeout(() => calls.push(clock.now()), 8)
    clock.setTimeout(() => calls.push(clock.now()), 50)
    clock.advance(10)
    assert.deepEqual(calls, [8, 50])
    assert.equal(clock.now(), 105)
    for (const ms of [-5, NaN, Infinity, undefined]) assert.throws(() => clock.advance(ms), RangeError)
    assert.equal(clock.now(), 105)
    clock.setTimeout(() => calls.push(clock.now()), NaN)
    clock.advance(0)
    assert.deepEqual(calls, [8, 50, 105])
  })

  it('does not call cleared timers, and takes anything that is none', function () {
    const clock = fakeClock()
    const timer = clock.setTimeout(assert.fail, 5)
    for (const value of [timer, timer, undefined, null, {}]) clock.clearTimeout(value)
    clock.advance(10)
    assert.equal(clock.timerCount, 0)
  })
})
