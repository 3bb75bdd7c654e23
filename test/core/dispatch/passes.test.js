'use strict'

// How often jobs are looked for: a scheduler that needs the time is told when a pass begins, which shows in how often the clock is read.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { fakeClock } = require('../../../lib/testing')
const { turn } = require('../../support/turns')

/** A clock that counts how often it is read. */
function countingClock () {
  const clock = fakeClock()
  const counting = { ...clock, reads: 0 }
  counting.now = () => {
    counting.reads++
    return clock.now()
  }
  return counting
}

/** A scheduler of lanes that needs the time and gives none. */
const idleScheduler = { needsClock: true, mayStall: true, queued () {}, next () {}, started () {}, ended () {} }

describe('a pass over the jobs that may start', function () {
  it('is made once for all that are pushed in a turn, and begins with a look at the clock', async function () {
    const clock = countingClock()
    const queue = fairlane(() => {}, { clock, scheduler: idleScheduler })
    for (let i = 0; i < 100; i++) queue.pushType('a', i)
    const before = clock.reads
    await turn()
    assert.equal(clock.reads - before, 1)
  })

  it('is not made for jobs that are pushed while all slots are taken', async function () {
    const clock = countingClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, scheduler: 'equal', concurrency: 1 })
    queue.pushType('a', 1)
    await gate.until(1)
    const before = clock.reads
    for (let i = 0; i < 100; i++) queue.pushType('a', i)
    await turn()
    assert.equal(clock.reads, before)
  })

  it('is not made when jobs are cancelled while all slots are taken, or none is left', async function () {
    const clock = countingClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, scheduler: 'equal', concurrency: 2 })
    for (let i = 0; i < 4; i++) queue.pushType('a', i)
    await gate.until(2)
    assert.equal(queue.remove(({ payload }) => payload === 2), 1)
    const before = clock.reads
    await turn()
    assert.equal(clock.reads, before)
    gate.release()
    await gate.until(3)
    gate.release()
    queue.pauseType('b').pushType('b', 4)
    await turn()
    const later = clock.reads
    assert.equal(queue.clear(), 1)
    await turn()
    assert.equal(clock.reads, later)
  })

  it('is made once after jobs were cancelled, though others that may not start are left', async function () {
    const clock = countingClock()
    const queue = fairlane(() => {}, { clock, scheduler: idleScheduler })
    for (let i = 0; i < 2; i++) queue.pushType('a', i)
    await turn()
    const before = clock.reads
    assert.equal(queue.remove(({ payload }) => payload === 0), 1)
    for (let i = 0; i < 5; i++) await turn()
    assert.equal(clock.reads - before, 1)
  })
})
