'use strict'

// What functions in threads say that their jobs cost.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { start, counted, endAll, fileOf, gate, letPass, arrived } = require('./start')

const HOUR_MS = 3600000

describe('the costs of jobs in threads', () => {
  afterEach(endAll)

  function open (threadsOptions, options) {
    const runner = start('jobs.js', threadsOptions)
    const ratePerType = { limit: 1000, intervalMs: HOUR_MS, of: 'cost' }
    return fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal', ratePerType, ...options })
  }

  for (const perThread of [1, 16]) {
    it(`are what the function has said last, with ${perThread} in a message`, async () => {
      const queue = open({ perThread })
      const jobs = Array.from({ length: 40 }, (_, n) => queue.add({ act: 'spend', totals: [50, 80, n] }, { type: `${n}`, cost: 60 }))
      await Promise.all(jobs)
      assert.equal(queue.stats().spent, 39 * 40 / 2)
    })
  }

  it('count while the job runs, so that others may start', async () => {
    const queue = open()
    const held = gate()
    const first = queue.add({ act: 'spend', totals: [700, 200], gate: held }, { type: 'a', cost: 600 })
    assert.equal(await queue.add({ act: 'value', value: 'second' }, { type: 'a', cost: 800 }), 'second')
    assert.equal(queue.stats().spent, 200 + 800)
    letPass(held)
    await first
  })

  it('that are none throw in the function', async () => {
    const queue = open()
    for (const total of [-1, 0.5, NaN, Infinity, 2 ** 53, '1', undefined, null]) {
      assert.equal(await queue.add({ act: 'spendWrongly', total }, { type: 'a', cost: 0 }), 'FAIRLANE_ERR_ARGUMENT', String(total))
    }
    await assert.rejects(queue.add({ act: 'spend', totals: [-5] }, { type: 'a', cost: 7 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.equal(queue.stats().spent, 7)
  })

  it('are nothing to a job that has ended, nor to the one that runs then', async () => {
    const queue = open({ threads: 1 })
    await queue.add({ act: 'spend', totals: [5] }, { type: 'a', cost: 10 })
    await queue.add({ act: 'spendLate', total: 50 }, { type: 'a', cost: 10 })
    assert.equal(queue.stats().spent, 15)
  })

  it('are known of a job whose thread ends, and charged to its next attempt', async () => {
    const queue = open({ threads: 1 }, { maxAttempts: 2, backoffMs: 1 })
    await assert.rejects(queue.add({ act: 'spend', totals: [50, 30], andThen: 'exit' }, { type: 'a', cost: 10 }), { code: 'FAIRLANE_ERR_CRASHED' })
    assert.equal(queue.stats().spent, 30 + 30)
  })

  it('come before answers that are there when another one is received', async () => {
    const queue = open({ threads: 4 })
    const held = gate()
    const jobs = Array.from({ length: 4 }, (_, n) => queue.add({ act: 'spend', totals: [9], gate: held }, { type: `${n}` }))
    await arrived(held, 4)
    for (const type of ['0', '1', '2', '3']) assert.equal(queue.stats(type).running, 1)
    for (let n = 0; n < 200; n++) jobs.push(queue.add({ act: 'spend', totals: [3, 2] }, { type: 'b', cost: 0 }))
    letPass(held)
    await Promise.all(jobs)
    assert.equal(queue.stats().spent, 4 * 9 + 200 * 2)
  })

  it('are said by none that has its answer, whichever job the thread has then', async () => {
    await counted(fileOf('jobs.js'), {}, { act: 'exit' }, async runner => {
      const queue = fairlane(runner, { concurrency: 1, rate: { limit: 1000, intervalMs: HOUR_MS, of: 'cost' } })
      await queue.add({ act: 'spend', totals: [5, 6] })
      await queue.add({ act: 'spendLate', total: 900 })
      assert.equal(await queue.add({ act: 'spendWrongly', total: -1 }), 'FAIRLANE_ERR_ARGUMENT')
      assert.equal(queue.stats().spent, 6 + 1 + 1)
    })
  })

  it('are counted by nobody where the queue counts none', async () => {
    const runner = start('jobs.js')
    const queue = fairlane(runner, { concurrency: 1 })
    assert.equal(await queue.add({ act: 'spend', totals: [5] }), 5)
    assert.equal(await new Promise((resolve, reject) => runner({ act: 'spend', totals: [6] }, (err, value) => err ? reject(err) : resolve(value))), 6)
    assert.equal(queue.stats().spent, 0)
  })
})
