'use strict'

// What limits do in corners: rates that change, what is asked of whom, and what is left behind.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Throttled } = require('../../..')
const { internalsOf } = require('../../../lib/core/internals')
const { nextMark } = require('../../../lib/core/limits/cost-window')
const { Gate } = require('../../../lib/core/limits/gate')
const { Limit } = require('../../../lib/core/limits/limit')
const { Limits } = require('../../../lib/core/limits/limits')
const { fakeClock } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')

const rate = (limit, intervalMs = 100, others = {}) => ({ limit, intervalMs, ...others })
const RATES = { all: [rate(3)], byType: new Map(), ask: undefined }

/** Limits of types, and how often they have said that costs count. */
function made (rates) {
  const clock = fakeClock()
  const counted = { costs: 0 }
  const limits = new Limits(rates, clock, fn => fn(), () => counted.costs++)
  const limitOf = key => limits.limitOf({ limit: undefined }, key, String(key))
  return { limits, clock, counted, start: key => limits.count(key, limitOf(key), String(key)) }
}

describe('rates that change', function () {
  it('hold back the next job of a type that has used up less than it might until then', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', ratePerType: rate(2) })
    queue.pushType('a', 1)
    await pass(0)
    queue.setRates({ ratePerType: rate(1) })
    queue.pushType('a', 2)
    await pass(200)
    assert.deepEqual(times(), [0, 100])
  })

  it('are those of shared lanes, too', function () {
    const { limits, start } = made(RATES)
    for (let i = 0; i < 3; i++) start(0)
    assert.equal(limits.waitMs(0), 100)
    limits.setRates({ ...RATES, all: [rate(4)] })
    assert.equal(limits.waitMs(0), 0)
  })

  it('are asked for at once where types have started jobs, but not for shared lanes', function () {
    const { limits, start } = made(RATES)
    const asked = []
    for (const key of ['a', 'b', 0]) for (let i = 0; i < 3; i++) start(key)
    const ask = type => {
      asked.push(type)
      return type === 'a' ? [rate(4)] : undefined
    }
    limits.setRates({ all: undefined, byType: new Map(), ask })
    assert.deepEqual([asked.sort(), limits.waitMs('a'), limits.waitMs('b'), limits.waitMs(0)], [['a', 'b'], 0, 0, 100])
  })

  it('make other windows where one of several is of another interval', function () {
    const { limits, start } = made({ ...RATES, all: [rate(9, 50), rate(1)] })
    start('a')
    limits.setRates({ ...RATES, all: [rate(9, 50), rate(1, 70)] })
    assert.equal(limits.waitMs('a'), 0)
    start('a')
    assert.equal(limits.waitMs('a'), 70)
  })

  it('can be taken from a queue whose types have none', async function () {
    const { queue, pass, times } = startsOf(fairlane, {})
    queue.setRates({ ratePerType: null, rate: rate(1) })
    queue.push(1).push(2)
    await pass(150)
    assert.deepEqual(times(), [0, 100])
  })

  it('say what kind of scheduler they need', function () {
    const half = { queued () {}, next () {}, started () {}, ended () {}, paused () {} }
    const message = /^(setRates: )?ratePerType needs a scheduler that can pause types/
    for (const scheduler of [half, null]) {
      assert.throws(() => fairlane(() => {}, { scheduler, ratePerType: rate(1) }), { code: 'FAIRLANE_ERR_OPTION', message })
      assert.throws(() => fairlane(() => {}, { scheduler }).setRates({ ratePerType: rate(1) }), { code: 'FAIRLANE_ERR_SCHEDULER', message })
    }
  })
})

describe('what limits are given', function () {
  it('is named where it is wrong', function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', clock: fakeClock() })
    const wrong = [
      [/^maxAttempts must be /, () => fairlane(() => {}, { maxAttempts: 0 })],
      [/^rate must be /, () => fairlane(() => {}, { rate: 5 })],
      [/^rate must have at least one rate$/, () => fairlane(() => {}, { rate: [] })],
      [/^ratePerType must have at least one rate$/, () => fairlane(() => {}, { ratePerType: [] })],
      [/^ratePerType\['a'\] must have at least one rate$/, () => fairlane(() => {}, { ratePerType: new Map([['a', []]]) })],
      [/^rate must have at least one rate$/, () => queue.setRates({ rate: [] })],
      [/^ratePerType must have at least one rate$/, () => queue.setRates({ ratePerType: [] })],
      [/^setRates: the rates must be /, () => queue.setRates(5)],
      [/^a hold must be /, () => queue.hold(-1)]
    ]
    for (const [message, act] of wrong) assert.throws(act, { message })
  })

  it('is a time above 0 as priorityMs', function () {
    const message = /^priorityMs must be a time in ms above 0, up to 2147483648, not /
    for (const [priorityMs, name] of [[0, 'RangeError'], [-1, 'RangeError'], [NaN, 'RangeError'], [2 ** 31 + 1, 'RangeError'], ['1', 'TypeError'], [null, 'TypeError']]) {
      assert.throws(() => fairlane(() => {}, { priorityMs }), { name, code: 'FAIRLANE_ERR_OPTION', message })
    }
    for (const priorityMs of [0.5, 2 ** 31]) fairlane(() => {}, { priorityMs })
  })
})

describe('a limit that replaces another one', function () {
  it('counts no place that was given back', function () {
    for (const of of [undefined, 'cost']) {
      const before = new Limit([rate(5, 100, { of })])
      before.reserve(2)
      before.release(2)
      const limit = new Limit([rate(1, 100, { of })], before)
      assert.equal(limit.lacks(), false)
      limit.add(0, 1, nextMark())
      assert.equal(limit.lacks(), true)
    }
  })
})

describe('limits of types', function () {
  it('have costs counted where a rate of one type, or of all, is of cost', function () {
    const ofCost = [rate(3, 100, { of: 'cost' })]
    assert.equal(made({ ...RATES, all: ofCost }).counted.costs, 1)
    assert.equal(made({ ...RATES, byType: new Map([['a', [rate(1)]], ['b', ofCost]]) }).counted.costs, 1)
    assert.equal(made({ ...RATES, byType: new Map([['a', [rate(1)]]]) }).counted.costs, 0)
  })

  it('ask nobody what a job may cost at most', function () {
    let asked = 0
    const ask = () => {
      asked++
      return [rate(7, 100, { of: 'cost' })]
    }
    const { limits, start } = made({ all: undefined, byType: new Map(), ask })
    assert.deepEqual([limits.mostCost('a'), asked], [Infinity, 0])
    start('a')
    assert.deepEqual([limits.mostCost('a'), asked], [7, 1])
  })

  it('inherit nothing once they are there', function () {
    const { limits, start } = made(RATES)
    start(0)
    limits.inherit('a', 0)
    for (let i = 0; i < 2; i++) start('a')
    assert.equal(limits.waitMs('a'), 100)
    limits.inherit('a', 0)
    assert.equal(limits.waitMs('a'), 100)
  })

  it('count units where a window is of cost, and jobs where it is not, when they say how long many jobs take', function () {
    const jobs = new Limit([rate(10)])
    const units = new Limit([rate(10, 100, { of: 'cost' })])
    assert.deepEqual([jobs.waitMsOf(3, 0, 0, 5), units.waitMsOf(3, 0, 0, 5), units.waitMsOf(3, 0, 0, 1)], [0, 100, 0])
  })
})

describe('a hold', function () {
  it('of a type has one deadline, however often it is changed and however many jobs come', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal' })
    for (let i = 0; i < 10; i++) queue.holdType('a', 50).pushType('a', i)
    assert.equal(internalsOf(queue).tickets.deadlines.heap.size, 1)
    await pass(50)
    assert.deepEqual([times().length, internalsOf(queue).tickets.deadlines.heap.size], [10, 0])
  })

  it('leaves no lane of a type that has no jobs', function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', clock: fakeClock() }).holdType('a', 50)
    assert.equal(queue.stats().types, 0)
    assert.equal(internalsOf(queue).list.lanes.size, 0)
  })

  it('is forgotten with the jobs that are taken out', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', clock: fakeClock() }).holdType('a', 50)
    const controller = new AbortController()
    const job = queue.add(1, { type: 'a', signal: controller.signal })
    controller.abort()
    await assert.rejects(job, { code: 'FAIRLANE_ERR_ABORTED' })
    const { byLane, touched } = internalsOf(queue).list.holds
    assert.deepEqual([byLane.size, touched.size], [0, 0])
  })

  it('of the whole queue is not made shorter by what a runner was told', async function () {
    const { queue, pass, times } = startsOf(fairlane, { concurrency: 1 }, (payload, done) => {
      if (times().length > 1) return done()
      queue.hold(100)
      done(new Throttled(30))
    })
    queue.push(1)
    await pass(200)
    assert.deepEqual(times(), [0, 100])
  })

  it('of the whole queue says how long it is still', function () {
    const clock = fakeClock()
    const gate = new Gate(clock, () => ({ remove () {} }), () => {})
    clock.advance(1000)
    assert.equal(gate.holdMs(), 0)
    gate.hold(100)
    clock.advance(40)
    assert.equal(gate.holdMs(), 60)
    clock.advance(100)
    assert.equal(gate.holdMs(), 0)
  })
})
