'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { History } = require('../../lib/history')
const { Ledger } = require('../../lib/ledger/ledger')
const { Metrics } = require('../../lib/metrics')
const { Buckets } = require('../../lib/metrics/buckets')
const { Labels } = require('../../lib/metrics/labels')
const { Meter } = require('../../lib/metrics/meter')
const { CANCELLED, FIRST_BUCKET, Places } = require('../../lib/metrics/places')
const { fakeClock } = require('../../lib/testing')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')

const PLANS = new Map([['a', 'gold'], ['b', 'free'], ['c', 'free']])

/** What is counted of each label, of these. */
function counts (metrics, ...names) {
  return metrics.snapshot().types.map(type => [type.type, ...names.map(name => type[name])])
}

describe('labelOf', function () {
  it('says under which label a type is counted, and is asked once while the type has jobs', async function () {
    const asked = []
    const metrics = new Metrics({ labelOf: type => { asked.push(type); return PLANS.get(type) } })
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: metrics })
    for (const type of ['a', 'b', 'c', 'b']) queue.pushType(type, 1)
    assert.deepEqual(asked, [])
    assert.deepEqual(counts(metrics, 'accepted', 'waiting'), [['gold', 1, 1], ['free', 3, 3]])
    await queue.onIdle()
    assert.deepEqual(asked, ['a', 'b', 'c'])
    assert.deepEqual(counts(metrics, 'accepted', 'done', 'waiting'), [['gold', 1, 1, 0], ['free', 3, 3, 0]])
  })

  it('counts jobs that were cancelled before it could be asked', async function () {
    const metrics = new Metrics({ labelOf: type => PLANS.get(type) })
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: metrics })
    queue.pushType('a', 1).pushType('a', 2).pushType('b', 1)
    queue.clear()
    await quiet()
    assert.deepEqual(counts(metrics, 'accepted', 'cancelled', 'waiting'), [['gold', 2, 2, 0], ['free', 1, 1, 0]])
  })

  it('is asked once for a type that has come again before it could be asked, and whose records are kept', async function () {
    const asked = []
    const metrics = new Metrics({ labelOf: type => { asked.push(type); return PLANS.get(type) } })
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: [new History(), metrics] })
    queue.pushType('a', 1)
    queue.clear()
    queue.pushType('a', 2)
    await queue.onIdle()
    assert.deepEqual(asked, ['a'])
    assert.deepEqual(counts(metrics, 'accepted', 'done', 'cancelled'), [['gold', 2, 1, 1]])
  })

  it('may call the queue, since nobody asks it in the middle of a change', async function () {
    const metrics = new Metrics({
      labelOf: type => {
        if (type === 'a') queue.pushType('b', 1)
        if (type === 'c') queue.clear()
        return PLANS.get(type)
      }
    })
    const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics })
    queue.pushType('a', 1)
    await queue.onIdle()
    queue.pushType('c', 1)
    await quiet()
    assert.deepEqual(counts(metrics, 'accepted', 'done', 'cancelled'), [['gold', 1, 1, 0], ['free', 2, 1, 1]])
  })

  it('is not asked for jobs without a type', async function () {
    const metrics = new Metrics({ labelOf: () => assert.fail('asked') })
    await fairlane((n, done) => done(), { observers: metrics }).add(1)
    assert.deepEqual(counts(metrics, 'done'), [['', 1]])
  })

  it('gives such labels only that fit, and other ones to nobody', async function () {
    const warnings = captureWarnings()
    try {
      for (const [labelOf, label, message] of [
        [() => 'x'.repeat(500), 'x'.repeat(128)],
        [() => { throw new Error('no plan') }, 'rest', "labelOf must return a string, but it threw Error: no plan. Such types are counted under 'rest'."],
        [() => undefined, 'rest', "labelOf must return a string, but it returned undefined. Such types are counted under 'rest'."]
      ]) {
        const metrics = new Metrics({ labelOf, otherType: 'rest' })
        const queue = fairlane((n, done) => done(), { scheduler: 'fair', observers: metrics })
        queue.pushType('a', 1).pushType('b', 1)
        await quiet()
        assert.deepEqual(counts(metrics, 'done'), [[label, 2]])
        assert.deepEqual(warnings.seen.splice(0).map(({ code, message }) => [code, message]), message === undefined ? [] : [['FAIRLANE_ERR_OPTION', message]])
      }
    } finally {
      warnings.release()
    }
  })

  it('loses no job of a type that starts, or whose number goes to another type, before it could be asked', async function () {
    const clock = fakeClock()
    const ledger = new Ledger({ keep: 0, keepMs: 0, isExact: false })
    ledger.begin(clock)
    const buckets = new Buckets([10])
    const places = new Places({ maxTypes: 9, otherType: 'other' }, buckets.count)
    const labels = new Labels(type => `plan ${type}`, 'other')
    const meter = new Meter(ledger, { places, buckets, labels })
    const number = meter.accepted(1, 'a')
    meter.started(1)
    meter.accepted(2, 'a')
    meter.cancelled(2, 'no')
    meter.accepted(3, 'c')
    meter.cancelled(3, 'no')
    meter.types.cells[number] = 0 // as if the first one had not started
    ledger.names.release(number)
    ledger.names.counts[0].fill(0, number, number + 8)
    assert.equal(meter.accepted(4, 'b'), number)
    meter.cancelled(4, 'no')
    await quiet()
    const cancelled = [...places.byLabel].map(([label, { at }]) => [label, places.cells[at + CANCELLED], places.cells[at + FIRST_BUCKET]])
    assert.deepEqual(cancelled, [['other', 1, 1], ['plan a', 0, 0], ['plan c', 1, 0], ['plan b', 1, 0]])
  })
})

describe('types with a weight or a cap of their own', function () {
  it('have their places before others come', async function () {
    const metrics = new Metrics({ maxTypes: 3 })
    const schedulerOptions = { weights: { gold: 5 }, typeCaps: { slow: 1, gold: 7 } }
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', schedulerOptions, observers: metrics })
    for (const type of ['a', 'b', 'c', 'slow', 'gold']) queue.pushType(type, 1)
    await queue.onIdle()
    assert.deepEqual(counts(metrics, 'done'), [['gold', 1], ['slow', 1], ['a', 1], ['other', 2]])
  })

  it('have them by their labels', function () {
    const metrics = new Metrics({ labelOf: type => `plan ${type}` })
    fairlane((n, done) => done(), { scheduler: 'capped', schedulerOptions: { typeCaps: { slow: 1 } }, observers: metrics })
    assert.deepEqual(counts(metrics, 'done'), [['plan slow', 0]])
  })
})
