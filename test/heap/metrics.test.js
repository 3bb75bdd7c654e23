'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { bytesUsed } = require('../support/memory')

const KB = 1024
const BURST = 10000
const TYPES = 10000

/** Jobs of a queue with metrics, which count types though it has no scheduler. @param {(n: number) => string} typeOf */
async function run (queue, count, typeOf) {
  for (let n = 0; n < count; n += BURST) {
    for (let i = n; i < n + BURST; i++) queue.pushType(typeOf(i), i)
    await queue.onIdle()
  }
}

describe('memory of metrics', function () {
  for (const labelOf of [undefined, type => `plan ${type.length}`]) {
    it(`does not grow in a million jobs of ten thousand types${labelOf === undefined ? '' : ', with labels'}, nor do the metrics`, async function () {
      const metrics = new Metrics({ labelOf })
      const queue = fairlane((n, done) => done(), { observers: metrics })
      await run(queue, 10 * TYPES, n => `type ${n % TYPES}`)
      const shown = metrics.toText().length
      const before = await bytesUsed()
      await run(queue, 1e6, n => `type ${n % TYPES}`)
      const more = await bytesUsed() - before
      const { types } = metrics.snapshot()
      assert(more <= 512 * KB, `${more / KB} KB`)
      assert(types.length <= 101)
      assert(metrics.toText().length < 1.2 * shown) // numbers get longer
      assert.equal(types.reduce((sum, { done }) => sum + done, 0), 10 * TYPES + 1e6)
    })
  }

  it('does not grow with types that were invented, nor by being read', async function () {
    const metrics = new Metrics({ name: 'heap' })
    const queue = fairlane((n, done) => done(), { observers: metrics })
    const observed = { observe () {} }
    let collect
    const addBatchObservableCallback = callback => { collect = callback }
    metrics.meter({ createObservableCounter () {}, createObservableGauge () {}, addBatchObservableCallback })
    let count = 0
    const round = async rounds => {
      for (let i = 0; i < rounds; i++) {
        await run(queue, BURST, () => `invented ${count++}`)
        metrics.toText()
        collect(observed)
      }
    }
    await round(10)
    const before = await bytesUsed()
    await round(40)
    const more = await bytesUsed() - before
    assert(more <= 512 * KB, `${more / KB} KB`)
    assert.equal(metrics.snapshot().types.reduce((sum, { done }) => sum + done, 0), 50 * BURST)
  })
})
