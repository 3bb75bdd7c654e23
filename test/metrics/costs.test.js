'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Throttled } = require('../..')
const { Metrics } = require('../../lib/metrics')
const { channels } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { parse } = require('../support/exposition')
const gates = require('../support/gates')
const { turns } = require('../support/turns')

const shown = (metrics, type) => metrics.snapshot().types.find(each => each.type === type)

describe('metrics of a queue that counts costs', function () {
  it('count what jobs were charged, as corrected, when their runs have ended: so nothing falls', async function () {
    const metrics = new Metrics({ name: 'calls' })
    const gate = gates()
    const clock = fakeClock()
    const queue = fairlane(gate.runner, {
      scheduler: 'equal',
      observers: [metrics, channels()],
      clock,
      maxAttempts: 2,
      backoffMs: 0,
      timeoutMs: 100,
      ratePerType: { limit: 1000, intervalMs: 1000000, of: 'cost' }
    })
    for (const cost of [5, 6, 7, 8]) queue.add(cost, { type: 'a', cost }).catch(() => {})
    await gate.until(4)
    const [done, failed, throttled, late] = gate.started
    assert.equal(shown(metrics, 'a').spent, 0)
    done.context.spent(2)
    done.done()
    assert.equal(shown(metrics, 'a').spent, 2)
    failed.context.spent(10)
    failed.done(new Error('again'))
    assert.equal(shown(metrics, 'a').spent, 12)
    throttled.done(new Throttled(1000))
    late.context.spent(1)
    assert.equal(shown(metrics, 'a').spent, 19)
    clock.advance(100)
    assert.equal(shown(metrics, 'a').spent, 20) // its time was up
    queue.clear()
    const families = parse(metrics.toText())
    assert.deepEqual(families.get('fairlane_cost_total').samples.map(({ labels, value }) => [labels.queue, labels.type, value]), [['calls', 'a', 20]])
    assert.equal(families.get('fairlane_cost_total').type, 'counter')
    await turns(2)
  })

  it('are shown to OpenTelemetry', async function () {
    const metrics = new Metrics({ name: 'calls' })
    const queue = fairlane(async n => n, { observers: metrics })
    const observed = () => {
      const told = []
      const make = name => ({ name })
      let callback
      metrics.meter({
        createObservableCounter: make, createObservableGauge: make, addBatchObservableCallback (called) { callback = called }
      })
      callback({ observe: ({ name }, value, { type }) => told.push([name, value, type]) })
      return told.filter(([name]) => name === 'fairlane.cost')
    }
    assert.deepEqual(observed(), [])
    await queue.add(1, { cost: 4 })
    assert.deepEqual(observed(), [['fairlane.cost', 4, '']])
  })

  it('say nothing of costs where none are counted', async function () {
    const metrics = new Metrics()
    const queue = fairlane(async n => n, { observers: metrics })
    await queue.add(1)
    assert.deepEqual([parse(metrics.toText()).get('fairlane_cost_total').samples, shown(metrics, '').spent], [[], 0])
  })
})
