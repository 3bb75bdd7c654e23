'use strict'

const assert = require('node:assert')
const { once, getEventListeners } = require('node:events')
const { rmSync } = require('node:fs')
const fairlane = require('../..')
const { durable } = require('../../lib/durable')
const { fakeClock } = require('../../lib/testing')
const { temporaryFolder } = require('../support/folders')
const { start, endAll, gate, letPass, arrived } = require('./start')

describe('the threads of jobs that do not end by themselves', () => {
  const workers = []
  const note = worker => workers.push(worker)

  before(() => process.on('worker', note))
  after(() => process.off('worker', note))
  beforeEach(() => { workers.length = 0 })
  afterEach(endAll)

  const two = (options, queueOptions) => {
    const runner = start('jobs.js', options)
    return { runner, queue: fairlane(runner, { concurrency: runner.concurrency, ...queueOptions }) }
  }

  // Each ends a job that computes for ever; the other thread has one that goes on.
  const STOPS = {
    'its time limit': async ({ clock, add }) => {
      const job = add({ timeoutMs: 50 })
      await job.begun
      clock.advance(50)
      await assert.rejects(job.end, { code: 'FAIRLANE_ERR_TIMEOUT' })
    },
    'its signal': async ({ add }) => {
      const controller = new AbortController()
      const job = add({ signal: controller.signal })
      await job.begun
      controller.abort()
      await assert.rejects(job.end, { code: 'FAIRLANE_ERR_ABORTED' })
    }
  }

  for (const [what, stop] of Object.entries(STOPS)) {
    it(`are gone after ${what}: the job is settled at once, and those of other threads go on`, async () => {
      const clock = fakeClock()
      const { runner, queue } = two({}, { clock })
      const other = gate()
      const gates = []
      const untouched = queue.add({ act: 'pass', gate: other, value: 'untouched' })
      await arrived(other, 1)
      const gone = Promise.race(workers.map(worker => once(worker, 'exit')))
      const add = options => {
        const begun = gate()
        gates.push(begun)
        return { end: queue.add({ act: 'loop', gate: begun }, options), begun: arrived(begun, 1) }
      }
      await stop({ clock, add })
      assert.equal(runner.stats().stopped, 1)
      assert.deepEqual([queue.running, queue.stats().done], [2, 0], 'the slot is kept until there is another thread')
      await gone
      assert.equal(await queue.add({ act: 'value', value: 'next' }), 'next')
      letPass(other)
      assert.equal(await untouched, 'untouched')
      assert.deepEqual(runner.stats(), { started: 3, stopped: 1, crashed: 0, running: 0, threads: 2 })
    })
  }

  it('let close({ drain: false }) resolve with 0, though all compute for ever', async () => {
    const { runner, queue } = two()
    const begun = gate()
    const jobs = [1, 2, 3].map(() => assert.rejects(queue.add({ act: 'loop', gate: begun }), { code: 'FAIRLANE_ERR_CLOSED' }))
    await arrived(begun, 2)
    assert.equal(await queue.close({ drain: false, timeoutMs: 60000 }), 0)
    await Promise.all(jobs)
    assert.deepEqual(runner.stats(), { started: 2, stopped: 2, crashed: 0, running: 0, threads: 2 })
  })

  it('end by the signal of the queue too', async () => {
    const controller = new AbortController()
    const { runner, queue } = two({}, { signal: controller.signal })
    const begun = gate()
    const job = assert.rejects(queue.add({ act: 'loop', gate: begun }), { code: 'FAIRLANE_ERR_CLOSED' })
    await arrived(begun, 1)
    controller.abort()
    await job
    assert.equal(runner.stats().stopped, 1)
  })

  it('are waited for by a close() that drains', async () => {
    const { queue } = two()
    const held = gate()
    const job = queue.add({ act: 'pass', gate: held, value: 'done' })
    await arrived(held, 1)
    const closing = queue.close()
    letPass(held)
    assert.equal(await job, 'done')
    assert.equal(await closing, 0)
  })

  it('are replaced before their slots are given to others: no time limit includes the start of a thread', async () => {
    const clock = fakeClock()
    const loading = gate(1)
    const runner = start('loads.js', { threads: 1, workerData: { how: 'wait', gate: loading } })
    const queue = fairlane(runner, { concurrency: 1, clock, timeoutMs: 10 })
    await runner.ready()
    const stopped = assert.rejects(queue.add({ loop: true }, { timeoutMs: 1 }), { code: 'FAIRLANE_ERR_TIMEOUT' })
    while (queue.running < 1) await new Promise(setImmediate)
    clock.advance(1)
    await stopped
    const next = queue.add({ value: 'in time' })
    await arrived(loading, 2)
    clock.advance(1000)
    assert.deepEqual([queue.waiting, queue.running, queue.stats().failed], [1, 1, 1])
    letPass(loading)
    assert.equal(await next, 'in time')
  })

  it('that crash are replaced in the same way, and then the job is told', async () => {
    const loading = gate(1)
    const runner = start('loads.js', { threads: 1, workerData: { how: 'wait', gate: loading } })
    const queue = fairlane(runner, { concurrency: 1 })
    let isTold = false
    const crash = assert.rejects(queue.add({ exit: true }).finally(() => { isTold = true }), { code: 'FAIRLANE_ERR_CRASHED' })
    await arrived(loading, 2)
    assert.deepEqual([isTold, queue.running], [false, 1])
    letPass(loading)
    await crash
    assert.equal(await queue.add({ value: 1 }), 1)
  })

  it('are heard though what they have said comes behind the news of their end', async () => {
    const { runner } = two({ threads: 1 })
    const held = gate()
    const crash = assert.rejects(runner({ act: 'pass', gate: held }), { code: 'FAIRLANE_ERR_CRASHED', cause: 'said before' })
    await arrived(held, 1)
    workers[0].emit('error', new Error('as Node tells it'))
    for (const [number, value] of [[0, 'said before'], [1, 'of another one']]) workers[0].emit('message', { fairlane: 'ending', number, parts: { value } })
    await crash
  })

  describe('that crash fail the job in them, and no other, with what ended them:', () => {
    const crash = async (job, options) => {
      const { runner, queue } = two(options)
      const other = gate()
      const untouched = queue.add({ act: 'pass', gate: other, value: 'untouched' })
      await arrived(other, 1)
      const err = await queue.add(typeof job === 'string' ? { act: job } : job).then(() => assert.fail('it did not fail'), err => err)
      assert.equal(err.code, 'FAIRLANE_ERR_CRASHED')
      assert(err instanceof fairlane.FairlaneError)
      assert(err.message.endsWith(`: ${err.cause.message ?? err.cause}`), err.message)
      assert.equal(await queue.add({ act: 'value', value: 'next' }), 'next')
      letPass(other)
      assert.equal(await untouched, 'untouched')
      assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 1, running: 0, threads: 2 })
      return err.cause
    }

    it('process.exit()', async () => {
      assert.match((await crash('exit')).message, /exit.*3/)
    })

    it('the end of their memory', async () => {
      assert.equal((await crash('memory', { resourceLimits: { maxOldGenerationSizeMb: 16 } })).code, 'ERR_WORKER_OUT_OF_MEMORY')
    })

    it('an uncaught exception: itself', async () => {
      const cause = await crash('uncaught')
      assert(cause instanceof RangeError)
      assert.deepEqual([cause.message, cause.code, cause.retryAfterMs, cause.cause.code], ['uncaught', 'OWN', 7, 'CAUSE'])
    })

    it('an uncaught value that is no error: itself', async () => {
      assert.equal(await crash({ act: 'uncaughtValue', value: 5 }), 5)
    })

    it('an uncaught exception without a reason', async () => {
      for (const value of [null, undefined]) {
        const cause = await crash({ act: 'uncaughtValue', value })
        assert.deepEqual([cause.code, cause.cause], ['FAIRLANE_ERR_RUNNER', value])
      }
    })

    it('a result that cannot be cloned', async () => {
      const cause = await crash('function')
      assert(cause instanceof DOMException)
      assert.equal(cause.name, 'DataCloneError')
    })

    it('what an earlier job has left behind, so the error does not say whose it was', async () => {
      const { runner, queue } = two({ threads: 1 })
      await queue.add({ act: 'leave' })
      const err = await queue.add({ act: 'never' }).then(() => assert.fail('it did not fail'), err => err)
      assert.deepEqual([err.code, err.cause.message], ['FAIRLANE_ERR_CRASHED', 'left behind'])
      assert.equal(err.message, 'The thread ended while the job ran, because of it or of what an earlier job left behind: left behind')
      assert.equal(runner.stats().crashed, 1)
    })

    it('somebody who has ended the thread', async () => {
      const { runner, queue } = two({ threads: 1 })
      const held = gate()
      const job = assert.rejects(queue.add({ act: 'pass', gate: held }), { code: 'FAIRLANE_ERR_CRASHED' })
      await arrived(held, 1)
      await workers[0].terminate()
      await job
      assert.equal(runner.stats().crashed, 1)
    })
  })

  it('may say whatever they like to the main thread: it goes on, and no other job is told of it', async () => {
    const { runner, queue } = two()
    const held = gate()
    const other = queue.add({ act: 'pass', gate: held, value: 'untouched' })
    await arrived(held, 1)
    const deep = {}
    let inner = deep
    for (let i = 0; i < 1000; i++) inner = inner.value = { className: 'Error', fields: [{ key: 'cause', value: undefined }] }
    const parts = [undefined, null, 5, [], {}, { className: 'Error' }, { className: 'Error', fields: 5 }, { className: 'Error', fields: [null] }, deep]
    const messages = [undefined, null, 'text', 5n, [], {}, { fairlane: 'loaded' }, { fairlane: 'else' }, ...parts.map(parts => ({ fairlane: 'ending', number: 0, parts }))]
    await queue.add({ act: 'forge', messages })
    await queue.add({ act: 'forge', messages: [{ fairlane: 'ending', number: 0, parts: { value: 'forged' } }] })
    const crash = await Promise.allSettled([queue.add({ act: 'exit' })])
    assert.match(crash[0].reason.cause.message, /exit.*3/)
    letPass(held)
    assert.equal(await other, 'untouched')
    assert.deepEqual(runner.stats(), { started: 4, stopped: 0, crashed: 1, running: 0, threads: 2 })
  })

  it('that end while they are idle are replaced, and the next job waits for that', async () => {
    const { runner, queue } = two({ threads: 1 })
    const first = await queue.add({ act: 'thread' })
    await workers[0].terminate()
    assert.notEqual(await queue.add({ act: 'thread' }), first)
    assert.deepEqual(runner.stats(), { started: 2, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('that end while they are idle, and a job is stopped before they are replaced: its slot comes back', async () => {
    const loading = gate(1)
    const runner = start('loads.js', { threads: 1, workerData: { how: 'wait', gate: loading } })
    const queue = fairlane(runner, { concurrency: 1 })
    assert.equal(await queue.add({ value: 1 }), 1)
    await workers[0].terminate()
    const controller = new AbortController()
    const job = assert.rejects(queue.add({ value: 2 }, { signal: controller.signal }), { code: 'FAIRLANE_ERR_ABORTED' })
    await arrived(loading, 2)
    assert.equal(queue.running, 1)
    controller.abort()
    await job
    letPass(loading)
    assert.equal(await queue.add({ value: 3 }), 3)
    assert.equal(queue.stats().misuse, 0)
  })

  it('are kept if the answer has come when a job is aborted', async () => {
    const { runner } = two({ threads: 1, perThread: 2 })
    const controller = new AbortController()
    const thread = await new Promise(resolve => {
      runner({ act: 'thread' }, () => controller.abort()) // the second job has ended too, in its thread, and was not told
      runner({ act: 'thread' }, (err, thread) => resolve(err ?? thread), { type: undefined, attempt: 1, signal: controller.signal })
    })
    assert.equal(await runner({ act: 'thread' }), thread)
    assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('are not confused with a payload that cannot be cloned, at the same time or later', async () => {
    const { runner } = two()
    const controller = new AbortController()
    const begun = gate()
    const looping = assert.rejects(runner({ act: 'loop', gate: begun }, { type: undefined, attempt: 1, signal: controller.signal }))
    await arrived(begun, 1)
    controller.abort()
    await assert.rejects(runner({ act: 'value', value: () => {} }), { name: 'DataCloneError' })
    await looping
    await assert.rejects(runner({ act: 'exit' }), { code: 'FAIRLANE_ERR_CRASHED' })
    await assert.rejects(runner({ act: 'value', value: () => {} }), { name: 'DataCloneError' })
    assert.deepEqual(runner.stats(), { started: 2, stopped: 1, crashed: 1, running: 0, threads: 2 })
  })

  it('have ended when close() has, those too that were ended before and exit later than others', async () => {
    const { runner, queue } = two()
    const controller = new AbortController()
    const begun = gate()
    const jobs = [1, 2].map(() => assert.rejects(queue.add({ act: 'native', gate: begun }, { signal: controller.signal })))
    await arrived(begun, 2)
    controller.abort()
    await runner.close()
    await new Promise(setImmediate)
    assert(workers.length >= 4)
    assert.deepEqual(workers.filter(({ threadId }) => threadId !== -1), [])
    assert.equal(runner.stats().threads, 0)
    await Promise.all(jobs)
  })

  it('are closed when no other thread has taken the place of one that has ended: its slot comes back all the same', async () => {
    const { runner, queue } = two()
    const begun = gate()
    const jobs = [1, 2].map(() => assert.rejects(queue.add({ act: 'loop', gate: begun }), { code: 'FAIRLANE_ERR_CLOSED' }))
    await arrived(begun, 2)
    const closing = queue.close({ drain: false, timeoutMs: 60000 })
    await runner.close()
    assert.equal(queue.running, 0)
    assert.equal(await closing, 0)
    await Promise.all(jobs)
    assert.deepEqual(runner.stats(), { started: 2, stopped: 2, crashed: 0, running: 0, threads: 0 })
  })

  it('listen once to a signal, however many jobs it can stop, and leave nothing on it', async () => {
    const runner = start('jobs.js')
    const signals = new Set()
    const queue = fairlane((payload, done, context) => {
      signals.add(context.signal)
      runner(payload, done, context)
    }, { concurrency: 20 })
    const held = gate()
    const jobs = Array.from({ length: 20 }, (_, value) => queue.add({ act: 'pass', gate: held, value }))
    await arrived(held, 2)
    const [signal] = signals
    assert.equal(signals.size, 1)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    letPass(held)
    await Promise.all(jobs)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await queue.close({ drain: false })
  })

  it('leave nothing on a signal that has stopped jobs, those that waited for a thread too', async () => {
    const { runner } = two({ threads: 1 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const begun = gate()
    const ends = [1, 2, 3].map(() => new Promise(resolve => {
      runner({ act: 'loop', gate: begun }, resolve, { type: undefined, attempt: 1, signal: controller.signal })
    }))
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
    await arrived(begun, 1)
    controller.abort(reason)
    assert.deepEqual(await Promise.all(ends), [reason, reason, reason])
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    assert.deepEqual(runner.stats(), { started: 1, stopped: 1, crashed: 0, running: 0, threads: 1 })
  })

  it('that a job on disk ends are replaced, and the job dies out as one does that ends the process', async () => {
    const path = temporaryFolder()
    const runner = start('jobs.js')
    const queue = await durable(runner, { path, concurrency: runner.concurrency, maxAttempts: 3, backoffMs: 0 })
    const attempts = []
    queue.on('retry', ({ attempt, error }) => attempts.push([attempt, error.code]))
    const failed = once(queue, 'failed')
    const id = await queue.push({ act: 'exit' })
    await queue.push({ act: 'value', value: 1 })
    const [{ error, attempt }] = await failed
    assert.deepEqual([error.code, attempt], ['FAIRLANE_ERR_CRASHED', 3])
    assert.deepEqual(attempts, [[1, 'FAIRLANE_ERR_CRASHED'], [2, 'FAIRLANE_ERR_CRASHED']])
    await queue.onIdle()
    assert.deepEqual((await queue.deadLetters()).map(({ id, attempts, error }) => [id, attempts, error.code]), [[id, 3, 'FAIRLANE_ERR_CRASHED']])
    const { done, failed: failedCount, dead, misuse } = queue.stats()
    assert.deepEqual({ done, failedCount, dead, misuse }, { done: 1, failedCount: 1, dead: 1, misuse: 0 })
    await queue.close()
    rmSync(path, { recursive: true })
  })
})
