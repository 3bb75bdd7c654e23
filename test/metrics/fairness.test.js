'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { indexOf } = require('../../lib/metrics/fairness')
const { fakeClock } = require('../../lib/testing')
const { turns } = require('../support/turns')

const WINDOW_MS = 1000

/**
 * A queue that is backlogged with jobs of given types, whose payloads are how long they run.
 * @param {Record<string, number>} types ms of each job
 * @returns {Promise<{ index: number | undefined, metrics: Metrics, queue: object, run: (ms: number) => Promise<void> }>}
 */
async function backlogged (types, options, metricsOptions) {
  const clock = fakeClock()
  const metrics = new Metrics({ windowMs: WINDOW_MS, ...metricsOptions })
  const queue = fairlane((ms, done) => { clock.setTimeout(done, ms) }, { concurrency: 10, observers: metrics, clock, ...options })
  for (let i = 0; i < 20000; i++) for (const [type, ms] of Object.entries(types)) queue.pushType(type, ms)
  const run = async ms => {
    for (const end = clock.now() + ms; clock.now() < end;) {
      clock.advance(1)
      await turns(2)
    }
  }
  await turns(2)
  return { metrics, queue, run }
}

/** The index after some windows. */
async function indexAfter (count, ...given) {
  const { metrics, run } = await backlogged(...given)
  await run(count * WINDOW_MS)
  return metrics.snapshot().fairness
}

describe('the index of fairness', function () {
  it("is above 0.98 with 'equal', for jobs of 1 and of 50 ms, and below 0.8 with 'capped'", async function () {
    const types = { short: 1, long: 50 }
    assert((await indexAfter(2, types, { scheduler: 'equal' })) > 0.98)
    const capped = await indexAfter(2, types, { scheduler: 'capped' })
    assert(capped > 0 && capped < 0.8, String(capped))
  })

  it('is that of what types may expect of their groups', async function () {
    const schedulerOptions = { groupOf: type => type[0] }
    assert((await indexAfter(3, { a1: 5, a2: 5, b1: 5 }, { scheduler: 'equal', schedulerOptions })) > 0.97)
  })

  it('is that of shares by weight', async function () {
    const weights = { heavy: 3 }
    assert((await indexAfter(3, { heavy: 5, light: 5 }, { scheduler: 'equal', schedulerOptions: { weights } })) > 0.98)
    const index = await indexAfter(3, { heavy: 5, light: 5 }, { scheduler: 'equal', schedulerOptions: { weights: type => type === 'heavy' ? 3 : 1 } })
    assert(index > 0.98, String(index))
  })

  it('is that of Jain', function () {
    assert.equal(indexOf([5, 5, 5]), 1)
    assert.equal(indexOf([1, 0, 0, 0]), 0.25)
    assert(Math.abs(indexOf([1, 3]) - 16 / 20) < 1e-12)
    assert.equal(indexOf([1e-200, 1e-200]), 1)
    assert.equal(indexOf([1e200, 1e200]), 1)
    for (const shares of [[], [1], [0, 0]]) assert.equal(indexOf(shares), undefined)
  })

  it('is undefined for fewer than two types that wait all the time', async function () {
    assert.equal(await indexAfter(3, { one: 5 }, { scheduler: 'equal' }), undefined)
    const { metrics, queue, run } = await backlogged({ one: 5, two: 5 }, { scheduler: 'equal' })
    queue.clear({ type: 'two' })
    for (let i = 0; i < 6; i++) {
      await run(WINDOW_MS / 2)
      queue.pushType('two', 1) // it waits at the end of each window, but not all the time
    }
    assert.equal(metrics.snapshot().fairness, undefined)
  })

  it('is undefined before two looks, and when nothing waits any more', async function () {
    const { metrics, queue, run } = await backlogged({ one: 5, two: 5 }, { scheduler: 'equal' })
    await run(WINDOW_MS)
    assert.equal(metrics.snapshot().fairness, undefined)
    await run(WINDOW_MS)
    assert(metrics.snapshot().fairness > 0.98)
    queue.clear()
    await run(WINDOW_MS)
    assert.equal(metrics.snapshot().fairness, undefined)
  })

  it('leaves out types that are paused, and those at a cap of their own', async function () {
    const { metrics, queue, run } = await backlogged({ one: 5, two: 5, three: 5 }, { scheduler: 'equal' })
    queue.pauseType('three')
    await run(2 * WINDOW_MS)
    assert(metrics.snapshot().fairness > 0.98)
    queue.pause()
    await run(WINDOW_MS)
    assert.equal(metrics.snapshot().fairness, undefined)
    queue.resume().resumeType('three')
    await run(WINDOW_MS)
    assert.equal(metrics.snapshot().fairness, undefined) // paused when the window began
    await run(WINDOW_MS)
    assert(metrics.snapshot().fairness > 0.98)
    queue.scheduler.configure({ typeCaps: { three: 1 } })
    await run(2 * WINDOW_MS)
    assert(metrics.snapshot().fairness > 0.98)
  })

  it('is that of a window, though looks for starving types come more often', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ windowMs: 1000, starveMs: 900 })
    const queue = fairlane(() => {}, { concurrency: 2, scheduler: 'equal', observers: metrics, clock })
    for (let i = 0; i < 3; i++) queue.pushType('one', 1).pushType('two', 1)
    await turns(3)
    const seen = []
    for (let i = 0; i < 24; i++) {
      clock.advance(100)
      seen.push(metrics.snapshot().fairness)
    }
    assert.equal(seen.findIndex(index => index === 1), 12) // the first look, after 300 ms, begins a window
  })

  it('goes to Prometheus', async function () {
    const { metrics, run } = await backlogged({ one: 5, two: 5 }, { scheduler: 'equal' }, { name: 'mails' })
    const text = () => new TextDecoder().decode(metrics.toText())
    assert.match(text(), /# TYPE fairlane_fairness_ratio gauge\n# HELP/)
    await run(2 * WINDOW_MS)
    assert.match(text(), /fairlane_fairness_ratio\{queue="mails"\} (1|0\.9\d+)\n/)
  })
})
