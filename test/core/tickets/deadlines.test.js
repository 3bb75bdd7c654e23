'use strict'

// What falls due, on a clock that writes down its timers.

const assert = require('node:assert/strict')
const { plainScope } = require('../../../lib/platform/context')
const { Deadlines } = require('../../../lib/core/tickets/deadlines')
const { captureUncaught } = require('../../support/uncaught')

const FAILURE = new Error('expected')

function make () {
  const clock = {
    time: 1000,
    timers: [], // { fn, ms, isCleared }
    isBroken: false,
    failure: undefined,
    isUnsure: false,
    now: () => clock.time,
    reach (time) { clock.time = time },
    setTimeout (fn, ms) {
      if (clock.isBroken) throw FAILURE
      const timer = { fn, ms, isCleared: false }
      clock.timers.push(timer)
      return timer
    },
    clearTimeout (timer) { timer.isCleared = true }
  }
  const due = []
  const telling = { slice: () => ({ isOver: () => false }) }
  const onDue = items => {
    assert.ok(items.length > 0)
    due.push(...items.map(({ name }) => name))
  }
  const deadlines = new Deadlines(clock, plainScope, onDue, telling)
  return { clock, due, deadlines }
}

const item = name => ({ name, position: -1, order: 0 })

describe('deadlines', function () {
  it('have one timer, for the first of them, which is set anew only for an earlier one', function () {
    const { clock, due, deadlines } = make()
    for (const ms of [100, 200, 50, 50, 70]) deadlines.add(item(ms), ms)
    assert.deepEqual(clock.timers.map(({ ms, isCleared }) => [ms, isCleared]), [[100, true], [50, false]])
    clock.time += 50
    clock.timers[1].fn()
    assert.deepEqual(due, [50, 50])
    assert.deepEqual(clock.timers.slice(2).map(({ ms }) => ms), [20])
  })

  it('of more than 2^31 - 1 ms take more than one timer', function () {
    const { clock, due, deadlines } = make()
    deadlines.add(item('late'), 2 ** 31 + 5)
    assert.equal(clock.timers[0].ms, 2 ** 31 - 1)
    clock.time += 2 ** 31 - 1
    clock.timers[0].fn()
    assert.deepEqual(due, [])
    assert.equal(clock.timers[1].ms, 6)
    clock.time += 6
    clock.timers[1].fn()
    assert.deepEqual(due, ['late'])
  })

  it('that never come are not kept', function () {
    const { clock, deadlines } = make()
    deadlines.add(item('never'), Infinity)
    deadlines.addAnyway(item('never'), Infinity)
    assert.equal(deadlines.heap.size, 0)
    assert.equal(clock.timers.length, 0)
  })

  it('do not come before their time though a timer does', function () {
    const { clock, due, deadlines } = make()
    deadlines.add(item('a'), 10)
    clock.time += 9
    clock.timers[0].fn()
    assert.deepEqual(due, [])
    assert.equal(clock.timers[1].ms, 1)
    clock.time += 1
    clock.timers[1].fn()
    assert.deepEqual(due, ['a'])
  })

  it('come with their timer where the clock is not sure of the time', function () {
    const { clock, due, deadlines } = make()
    clock.isUnsure = true
    deadlines.add(item('a'), 10)
    clock.time += 1
    clock.timers[0].fn()
    assert.deepEqual(due, ['a'])
    assert.equal(clock.time, 1010)
  })

  it('do not come with a timer that was cleared, by a clock that can not', function () {
    const { clock, due, deadlines } = make()
    for (const ms of [100, 50]) deadlines.add(item(ms), ms)
    clock.time += 50
    clock.timers[0].fn()
    assert.deepEqual(due, [])
    clock.timers[1].fn()
    assert.deepEqual(due, [50])
  })

  it('are taken out though the clock throws when a timer is cleared: that becomes an uncaught exception', async function () {
    const { clock, deadlines } = make()
    const uncaught = captureUncaught()
    clock.clearTimeout = () => { throw FAILURE }
    const only = item('a')
    deadlines.add(only, 10)
    deadlines.remove(only)
    await uncaught.until(1)
    uncaught.release()
    assert.deepEqual(uncaught.seen, [FAILURE])
    assert.equal(deadlines.heap.size, 0)
  })

  it('are not taken on while the clock sets no timer, and nothing is tried again for them', function () {
    const { clock, deadlines } = make()
    clock.isBroken = true
    assert.throws(() => deadlines.add(item('a'), 10), FAILURE)
    assert.equal(deadlines.heap.size, 0)
    assert.equal(deadlines.retryTimer, undefined)
  })

  it('that have to be are taken on all the same: it is tried again, once for all, until a timer is set or none is left', async function () {
    const { clock, due, deadlines } = make()
    const uncaught = captureUncaught()
    clock.isBroken = true
    const first = item('first')
    deadlines.addAnyway(first, 10)
    const { retryTimer } = deadlines
    assert.notEqual(retryTimer, undefined)
    deadlines.addAnyway(item('second'), 20)
    assert.equal(deadlines.retryTimer, retryTimer)
    await uncaught.until(2)
    clock.isBroken = false
    const third = item('third')
    deadlines.add(third, 5)
    assert.equal(deadlines.retryTimer, undefined)

    clock.isBroken = true
    deadlines.addAnyway(item('fourth'), 1)
    await uncaught.until(3)
    assert.notEqual(deadlines.retryTimer, undefined)
    for (const { items } = deadlines.heap; deadlines.heap.size > 0;) deadlines.remove(items[0])
    assert.equal(deadlines.retryTimer, undefined)

    clock.isBroken = false
    clock.failure = FAILURE
    deadlines.addAnyway(item('fifth'), 1)
    await uncaught.until(4)
    clock.time += 1
    clock.timers.at(-1).fn()
    assert.deepEqual(due, ['fifth'])
    uncaught.release()
    assert.deepEqual(uncaught.seen, Array(4).fill(FAILURE))
  })
})
