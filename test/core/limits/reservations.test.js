'use strict'

// Places in limits that jobs have from their slot until they start, without a disk.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { internalsOf, limits: { ReservingLimiter } } = require('../../../lib/core/internals')
const { startsOf } = require('../../support/starts')

const RATE = { limit: 2, intervalMs: 100 }
const ALL = { all: [RATE], byType: new Map(), ask: undefined }

/** A queue in memory whose jobs take places, as a list of a queue on disk has it. Jobs do not end. */
function reserving (ratePerType, others = {}) {
  const made = startsOf(fairlane, { scheduler: 'equal' }, () => {})
  const { list, dispatch, tickets } = internalsOf(made.queue)
  const time = { clock: made.clock, deadlinesOf: () => tickets.deadlines }
  const limiter = new ReservingLimiter({ list, dispatch }, made.queue.scheduler, time, { ratePerType, ...others })
  const reserve = (key, type = key, of = type) => limiter.limits.count(key, limiter.limits.limitOf({ limit: undefined }, key, of), type)
  return { ...made, limiter, limits: limiter.limits, reserve }
}

describe('a place in limits', function () {
  it('holds back the next job of its type before it is counted', async function () {
    const { queue, pass, times } = reserving({ ...ALL, all: [{ limit: 1, intervalMs: 100 }] })
    for (let i = 0; i < 3; i++) {
      queue.pushType('a', i)
      await pass(10)
    }
    assert.deepEqual(times(), [0])
  })

  it('leaves nothing behind when its job starts, or gives its slot back', async function () {
    const { queue, pass, limiter } = reserving(ALL, { rate: [RATE] })
    for (const [job, end] of [['first', 'starts'], ['second', 'gaveBack']]) {
      queue.pushType('a', job)
      await pass(0)
      limiter.took(job)
      assert.deepEqual([limiter.reservations.size, limiter.limits.reserved.size, limiter.places.length], [1, 1, 0])
      limiter[end](job)
      assert.deepEqual([limiter.reservations.size, limiter.limits.reserved.size], [0, 0])
    }
    await pass(100)
    assert.deepEqual([limiter.heldMs('a'), limiter.limits.find('a').isEmpty(100)], [0, true])
  })

  it('is none for a job that nothing limits', function () {
    const { limiter } = reserving({ all: undefined, byType: new Map(), ask: undefined })
    limiter.took('job')
    assert.deepEqual([limiter.reservations.size, limiter.starts('job')], [0, undefined])
    limiter.gaveBack('job')
  })

  it('is found by the key of its limit, whichever others there are', function () {
    const { limits, reserve } = reserving(ALL)
    for (const key of ['a', 'b', 0]) reserve(key)
    assert.deepEqual(['a', 'b', 0, 'c', 1].map(key => limits.find(key) !== undefined), [true, true, true, false, false])
  })

  it('counts in the limit that its type gets, and those of other types do not', function () {
    const { limits, reserve } = reserving(ALL)
    for (const type of ['a', 'b', 'a']) reserve(0, type)
    limits.inherit('a', 0)
    limits.inherit('b', 0)
    assert.deepEqual([limits.find('a').lacks(), limits.find('b').lacks()], [true, false])
  })

  it('counts once in a limit that was there', function () {
    const { limits, reserve } = reserving(ALL)
    reserve(0)
    reserve('a')
    limits.inherit('a', 0)
    assert.equal(limits.waitMs('a'), 0)
  })

  it('is of the shared lane alone where its type has no rate', function () {
    const { limits, reserve } = reserving({ all: undefined, byType: new Map(), ask: type => type === 'b' ? [RATE] : undefined })
    reserve(0, 'a', 'b')
    limits.inherit('a', 0)
    assert.equal(limits.find('a'), undefined)
  })
})
