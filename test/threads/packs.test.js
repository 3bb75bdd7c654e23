'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { start, endAll, gate, letPass, arrived } = require('./start')

describe('threads that are given several jobs at a time', () => {
  afterEach(endAll)

  const packs = async options => {
    const runner = start('jobs.js', options)
    const queue = fairlane(runner, { concurrency: runner.concurrency })
    await runner.ready()
    return { runner, queue }
  }

  /** How many jobs were in the same message, by message: those of one are run in one turn of their thread, which are counted. */
  const messagesOf = async jobs => {
    const counts = new Map()
    for (const { thread, message } of await Promise.all(jobs)) {
      const key = `${thread} ${message}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return [...counts.values()].sort((a, b) => b - a)
  }

  it('have slots for all of them', async () => {
    const { runner } = await packs({ threads: 2, perThread: 8 })
    assert.equal(runner.concurrency, 16)
  })

  it('get those of one turn together, spread over the idle threads, at most so many in a message', async () => {
    const { runner } = await packs({ threads: 2, perThread: 8 })
    const where = () => runner({ act: 'message' }) // a queue may take several turns for it, on a slow machine
    assert.deepEqual(await messagesOf(Array.from({ length: 10 }, where)), [5, 5])
    assert.deepEqual(await messagesOf(Array.from({ length: 3 }, where)), [2, 1])
    assert.deepEqual(await messagesOf([where()]), [1])
    assert.deepEqual(await messagesOf(Array.from({ length: 32 }, where)), [8, 8, 8, 8])
  })

  it('give each job its own result', async () => {
    const { queue } = await packs({ threads: 2, perThread: 4 })
    const acts = ['value', 'later', 'fail', 'value', 'reject', 'failWith', 'value', 'later']
    const ends = await Promise.allSettled(acts.map((act, value) => queue.add({ act, value })))
    assert.deepEqual(ends.map(({ value, reason }) => value ?? reason.message ?? reason), [0, 1, 'it fails', 3, 'it rejects', 5, 6, 7])
    const { done, failed, misuse } = queue.stats()
    assert.deepEqual({ done, failed, misuse }, { done: 5, failed: 3, misuse: 0 })
  })

  it('have jobs wait in their slots while each has a message, which then share the next one', async () => {
    const { runner, queue } = await packs({ threads: 1, perThread: 4 })
    const held = gate()
    const first = queue.add({ act: 'pass', gate: held })
    await arrived(held, 1)
    const others = [1, 2, 3, 4].map(() => queue.add({ act: 'message' }))
    while (queue.running < 4) await new Promise(setImmediate)
    assert.deepEqual([queue.running, queue.waiting, runner.stats().running], [4, 1, 1])
    letPass(held)
    await first
    assert.deepEqual(await messagesOf(others), [4])
  })

  it('let jobs go on at the same time that wait for something', async () => {
    const { runner } = await packs({ threads: 1, perThread: 2 })
    assert.deepEqual(await Promise.all([runner({ act: 'meet' }), runner({ act: 'meet' })]), ['met', 'met'])
  })

  it('end with all their jobs when they end', async () => {
    const { runner } = await packs({ threads: 2, perThread: 4 })
    const jobs = Array.from({ length: 8 }, (_, value) => runner(value === 2 ? { act: 'exit' } : { act: 'value', value }))
    const ends = await Promise.allSettled(jobs)
    assert.deepEqual(ends.map(({ value, reason }) => value ?? reason.code), [...Array(4).fill('FAIRLANE_ERR_CRASHED'), 4, 5, 6, 7])
    assert.deepEqual(runner.stats(), { started: 8, stopped: 0, crashed: 4, running: 0, threads: 2 })
  })

  it('end with all their jobs when one of these is stopped', async () => {
    const { runner, queue } = await packs({ threads: 1, perThread: 3 })
    const controller = new AbortController()
    const begun = gate()
    const jobs = [
      runner({ act: 'value' }),
      runner({ act: 'loop', gate: begun }, { type: undefined, attempt: 1, signal: controller.signal }),
      runner({ act: 'value' })
    ]
    await arrived(begun, 1)
    controller.abort()
    const ends = await Promise.allSettled(jobs)
    assert.deepEqual(ends.map(({ reason }) => reason.code ?? reason), ['FAIRLANE_ERR_CRASHED', DOMException.ABORT_ERR, 'FAIRLANE_ERR_CRASHED'])
    assert.deepEqual(runner.stats(), { started: 3, stopped: 1, crashed: 2, running: 0, threads: 1 })
    assert.equal(await queue.add({ act: 'value', value: 'next' }), 'next')
  })

  it('end once for all the jobs that are stopped in them, and those that wait for a thread are not started', async () => {
    const { runner, queue } = await packs({ threads: 1, perThread: 3 })
    const controller = new AbortController()
    const { signal } = controller
    const begun = gate()
    const looping = queue.add({ act: 'loop', gate: begun }, { signal })
    await arrived(begun, 1)
    const waiting = [1, 2].map(() => queue.add({ act: 'loop', gate: begun }, { signal }))
    while (queue.running < 3) await new Promise(setImmediate)
    controller.abort()
    const ends = await Promise.allSettled([looping, ...waiting])
    assert.deepEqual(ends.map(({ reason }) => reason.code), Array(3).fill('FAIRLANE_ERR_ABORTED'))
    assert.equal(await queue.add({ act: 'value', value: 'next' }), 'next')
    assert.deepEqual(runner.stats(), { started: 2, stopped: 1, crashed: 0, running: 0, threads: 1 })
    assert.equal(Atomics.load(begun, 1), 1)
  })

  it('run no job again that may have begun: a result that cannot be looked at fails its own job only', async () => {
    const { runner } = await packs({ threads: 1, perThread: 4 })
    const begun = gate(99)
    const jobs = [1, 2].map(value => runner({ act: 'pass', gate: begun, value }))
    const hostile = ['hostileResult', 'hostileMove', 'hostileList'].map(act => runner({ act }))
    const ends = await Promise.allSettled([...jobs, ...hostile])
    assert.deepEqual(ends.map(({ value, reason }) => value ?? reason.message), [1, 2, 'has', 'get', 'flat'])
    assert.equal(Atomics.load(begun, 1), 2)
    assert.deepEqual(runner.stats(), { started: 5, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('run no job again if the thread fails between a result and its answer: all of the message fail with that', async () => {
    const { runner } = await packs({ threads: 1, perThread: 4 })
    const begun = gate(99)
    const jobs = [runner({ act: 'pass', gate: begun, value: 1 }), runner({ act: 'breakOutput' }), runner({ act: 'pass', gate: begun, value: 3 })]
    const ends = await Promise.allSettled(jobs)
    assert.deepEqual(ends.map(({ reason }) => reason?.message), Array(3).fill('no output'))
    assert.equal(Atomics.load(begun, 1), 2)
    assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('get a payload that cannot be cloned alone: it fails, and those that were to be sent with it do not', async () => {
    const { runner } = await packs({ threads: 1, perThread: 4 })
    const values = [0, 1, () => {}, 3, 4, 5]
    const ends = await Promise.allSettled(values.map(value => runner({ act: 'value', value })))
    assert.deepEqual(ends.map(({ value, reason }) => value ?? reason.name), [0, 1, 'DataCloneError', 3, 4, 5])
    assert.deepEqual(runner.stats(), { started: 5, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('do not get a job that is stopped while it waits to be sent alone', async () => {
    const { runner } = await packs({ threads: 1, perThread: 4 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const held = gate()
    const first = runner({ act: 'pass', gate: held, value: 'first' })
    const refused = assert.rejects(runner({ act: 'value', value: () => {} }), { name: 'DataCloneError' })
    const stopped = assert.rejects(runner({ act: 'value' }, { type: undefined, attempt: 1, signal: controller.signal }), reason)
    await arrived(held, 1)
    controller.abort(reason)
    await stopped
    letPass(held)
    assert.equal(await first, 'first')
    await refused
    assert.deepEqual(runner.stats(), { started: 1, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('are used by a queue with fewer slots', async () => {
    const { runner } = await packs({ threads: 1, perThread: 4 })
    const queue = fairlane(runner, { concurrency: 2 })
    assert.deepEqual(await Promise.all([1, 2, 3].map(value => queue.add({ act: 'value', value }))), [1, 2, 3])
  })
})
