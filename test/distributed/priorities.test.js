'use strict'

const assert = require('node:assert')
const { Queue } = require('bullmq')
const { describeWithRedis } = require('../support/redis')
const gates = require('../support/gates')
const { expectReject, expectThrow } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')

describeWithRedis('priorities at a broker', function () {
  const at = atServer()
  const openRig = openRigged(at)

  /** In which order one slot runs all that waits. */
  async function orderOf (options) {
    const order = []
    const queue = await at.open(async n => { order.push(n) }, { concurrency: 1, prefetch: 0, ...options })
    await queue.onIdle()
    return order
  }

  it('have a job stand where it would had it been pushed earlier, by so much for each step', async () => {
    const queue = await at.open(null, { priorityMs: 60000 })
    for (const [n, priority] of [['a', undefined], ['b', 0], ['c', 3], ['d', 15], ['e', 3]]) await queue.push(n, { priority })
    await queue.unshift('first', { priority: 1 })
    assert.deepEqual(await orderOf(), ['first', 'd', 'c', 'e', 'a', 'b'])
  })

  it('never let a job wait for longer than they say', async () => {
    const queue = await at.open(null, { priorityMs: 1 })
    const id = await queue.push('old')
    await new Promise(resolve => setTimeout(resolve, 30)) // 15 steps of 1 ms
    await queue.push('new', { priority: 15 })
    assert.equal((await queue.get(id)).state, 'waiting')
    assert.deepEqual(await orderOf(), ['old', 'new'])
  })

  it('are those of the queue, also for what processes push that say nothing of them', async () => {
    const [one, other] = [await at.open(null, { priorityMs: 60000 }), await at.open(null)]
    for (let n = 0; n < 3; n++) await other.push(`plain ${n}`)
    await one.push('urgent', { priority: 1 })
    assert.deepEqual(await orderOf(), ['urgent', 'plain 0', 'plain 1', 'plain 2'])
  })

  it('hold for jobs that were delayed, from when these are due', async () => {
    const queue = await at.open(null, { priorityMs: 60000 })
    await queue.push('a')
    await queue.push('late', { delayMs: 1, priority: 2 })
    await queue.push('b', { delayMs: 2 })
    await queue.unshift('front', { delayMs: 1 })
    await new Promise(resolve => setTimeout(resolve, 10))
    assert.deepEqual(await orderOf(), ['front', 'late', 'a', 'b'])
  })

  it('are kept by a job that goes back', async () => {
    const gate = gates()
    const { queue: worker, rig } = await openRig(gate.runner, { priorityMs: 60000 })
    const { reached, open: letGo } = rig.delay('fairlaneTake')
    const queue = await at.open(null, { priorityMs: 60000 })
    await queue.push('a', { priority: 5 })
    await reached
    const closing = worker.close()
    letGo()
    await closing
    await queue.push('b', { priority: 4 })
    await queue.push('c', { priority: 6 })
    assert.deepEqual(await orderOf(), ['c', 'a', 'b'])
  })

  it('are seen by tools, as the state of jobs', async () => {
    const queue = await at.open(null, { priorityMs: 60000, maxWaitingPerType: 2 })
    await queue.pushType('a', 1, { priority: 7 })
    await queue.pushType('a', 2)
    await expectReject(queue.pushType('a', 3), 'FAIRLANE_ERR_TYPE_FULL')
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}`, skipMetasUpdate: true })
    const jobs = await tool.getJobs(['prioritized'], 0, -1, true)
    assert.deepEqual(jobs.map(({ data, priority }) => [data.payload, priority]), [[1, 7], [2, 0]])
    assert.equal(await jobs[0].getState(), 'prioritized')
    assert.deepEqual(await tool.getJobCounts('prioritized', 'wait'), { prioritized: 2, wait: 0 })
    await tool.close()
    assert.equal((await queue.counts('a')).waiting, 2)
  })

  it('need the option', async () => {
    const queue = await at.open(null)
    expectThrow(() => queue.push(1, { priority: 1 }), 'FAIRLANE_ERR_ARGUMENT')
    expectThrow(() => queue.add(1, { priority: 1 }), 'FAIRLANE_ERR_ARGUMENT')
  })
})
