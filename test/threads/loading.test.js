'use strict'

const assert = require('node:assert')
const workerThreads = require('node:worker_threads')
const Piscina = require('piscina')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { Jobs } = require('../../lib/threads/jobs')
const { readFile, readOptions } = require('../../lib/threads/options')
const { node } = require('../support/child')
const { start, endAll, fileOf, gate, letPass, arrived } = require('./start')

describe('a module', () => {
  afterEach(endAll)

  const workers = []
  const note = worker => workers.push(worker)

  before(() => process.on('worker', note))
  after(() => process.off('worker', note))
  beforeEach(() => { workers.length = 0 })

  const loads = (workerData, options) => {
    const runner = start('loads.js', { workerData, ...options })
    return { runner, queue: fairlane(runner, { concurrency: runner.concurrency }) }
  }

  it('that all threads have loaded makes them ready, and not before', async () => {
    const loading = gate(1)
    const { runner } = loads({ how: 'wait', gate: loading })
    let isReady = false
    const ready = runner.ready().then(() => { isReady = true })
    await arrived(loading, 2)
    assert.equal(isReady, false)
    letPass(loading)
    await ready
    await runner.ready()
  })

  it('is waited for by the jobs that come before it is loaded', async () => {
    const loading = gate()
    const { queue } = loads({ how: 'wait', gate: loading })
    const jobs = [1, 2, 3].map(value => queue.add({ value }))
    await arrived(loading, 2)
    letPass(loading)
    assert.deepEqual(await Promise.all(jobs), [1, 2, 3])
  })

  it('that a thread loads in the place of another one makes them ready again, though the event loop stands still meanwhile', async () => {
    const loading = gate()
    const { runner } = loads({ how: 'no', gate: loading }, { threads: 1 })
    await runner.ready()
    const controller = new AbortController()
    const job = new Promise(resolve => {
      runner({ loop: true }, resolve, { type: undefined, attempt: 1, signal: controller.signal })
    })
    await new Promise(resolve => {
      setTimeout(() => {
        controller.abort()
        while (Atomics.load(loading, 1) < 2);
        Atomics.wait(gate(), 0, 0, 100) // what the thread says now is heard in this turn
        resolve()
      })
    })
    await job
    await runner.ready()
    assert.deepEqual(runner.stats(), { started: 1, stopped: 1, crashed: 0, running: 0, threads: 1 })
  })

  it('that is still loaded when the threads are closed: ready() rejects', async () => {
    const loading = gate()
    const { runner } = loads({ how: 'wait', gate: loading })
    const ready = assert.rejects(runner.ready(), { code: 'FAIRLANE_ERR_CLOSED' })
    await arrived(loading, 1)
    await runner.close()
    await ready
  })

  it('that throws when it is loaded fails ready() with what it threw, and each job with that as the cause', async () => {
    const { runner, queue } = loads({ how: 'throw', gate: gate() })
    await assert.rejects(runner.ready(), err => {
      assert(err instanceof RangeError)
      return err.message === 'it does not load' && err.code === 'LOAD'
    })
    await failsAll(queue, ({ code, message, cause }) => code === 'FAIRLANE_ERR_CRASHED' && cause.code === 'LOAD' && /^The thread ended before it/.test(message))
    await assert.rejects(runner.ready(), { code: 'LOAD' })
    assert.equal(runner.stats().crashed, 5)
  })

  it('that ends its thread when it is loaded fails them too', async () => {
    const { runner, queue } = loads({ how: 'exit', gate: gate() })
    await assert.rejects(runner.ready(), { code: 'FAIRLANE_ERR_CRASHED' })
    await failsAll(queue, ({ code, cause }) => code === 'FAIRLANE_ERR_CRASHED' && /exit.*5/.test(cause.message))
  })

  it('that throws in a later turn while it is loaded fails them too', async () => {
    const runner = start('later.mjs')
    await assert.rejects(runner.ready(), { message: 'later' })
    await failsAll(fairlane(runner, { concurrency: 2 }), ({ cause: { message } }) => message === 'later')
  })

  it('that does not exist fails them with the error of Node', async () => {
    const runner = start('nowhere.js')
    await assert.rejects(runner.ready(), { code: 'ERR_MODULE_NOT_FOUND' })
    await failsAll(fairlane(runner, { concurrency: 2 }), ({ cause: { code } }) => code === 'ERR_MODULE_NOT_FOUND')
  })

  it('that is never reached, since its thread ends before, fails ready() with what ended that', async () => {
    const runner = start('jobs.js', { execArgv: ['--require', fileOf('nowhere.js')] })
    await assert.rejects(runner.ready(), { code: 'MODULE_NOT_FOUND' })
    await failsAll(fairlane(runner, { concurrency: 2 }), ({ code }) => code === 'FAIRLANE_ERR_CRASHED')
  })

  it('whose export is no function fails them with FAIRLANE_ERR_RUNNER', async () => {
    for (const [file, name] of [['module.mjs', 'answer'], ['module.mjs', 'nothing'], ['../start.js', 'default']]) {
      const runner = start(file, { name, env: undefined })
      await assert.rejects(runner.ready(), err => {
        assert(err instanceof TypeError)
        return err.code === 'FAIRLANE_ERR_RUNNER' && err.message.includes(`'${name}'`)
      })
    }
  })

  it('that can be loaded later serves the jobs from then on', async () => {
    const open = gate()
    const { runner, queue } = loads({ how: 'throw', gate: open })
    await assert.rejects(runner.ready(), { code: 'LOAD' })
    letPass(open)
    assert.equal(await queue.add({ value: 'well' }), 'well')
    await runner.ready()
    assert.deepEqual(runner.stats().threads, 2)
  })

  describe('that never finishes loading', () => {
    const isLate = ({ code, message, cause }) => code === 'FAIRLANE_ERR_CRASHED' && cause.code === 'FAIRLANE_ERR_TIMEOUT' &&
      message === 'The thread ended before it had loaded the module: The module did not load within 20 ms (loadTimeoutMs)'

    for (const file of ['hangs.mjs', 'loads.js']) {
      it(`fails ready() and each job after loadTimeoutMs, and close() ends: ${file}`, async () => {
        const runner = start(file, { workerData: { how: 'loop', gate: gate() }, loadTimeoutMs: 20 })
        const queue = fairlane(runner, { concurrency: runner.concurrency })
        await assert.rejects(runner.ready(), { code: 'FAIRLANE_ERR_TIMEOUT' })
        await failsAll(queue, isLate)
        assert.equal(runner.stats().crashed, 5)
        assert.equal(await queue.close(), 0)
        await runner.close()
        assert.equal(runner.stats().threads, 0)
      })
    }

    it('in the place of a thread that has ended fails the job in that, and no other', async () => {
      const clock = fakeClock()
      const loading = gate()
      const own = ownJobs({ how: 'loop', gate: loading, from: 2, times: 1 }, clock)
      await own.ready()
      assert.equal(clock.timerCount, 0)
      const held = gate()
      const other = own.run({ held, value: 'goes on' })
      await arrived(held, 1)
      const crash = assert.rejects(own.run({ exit: true }), ({ cause }) => /exit.*6/.test(cause.message))
      await arrived(loading, 3)
      clock.advance(1000)
      await crash
      assert.equal(await own.run({ value: 'new' }), 'new')
      letPass(held)
      assert.equal(await other, 'goes on')
      await own.close()
      assert.equal(clock.timerCount, 0)
    })

    it('is given up by all threads at once, without another one that tries the same', async () => {
      const clock = fakeClock()
      const loading = gate()
      const own = ownJobs({ how: 'loop', gate: loading }, clock)
      const jobs = [1, 2].map(() => assert.rejects(own.run({}), { code: 'FAIRLANE_ERR_CRASHED' }))
      await arrived(loading, 2)
      clock.advance(1000)
      await Promise.all(jobs)
      await own.close()
      assert.equal(clock.timerCount, 0)
    })

    it('is given loadTimeoutMs, and no less', async () => {
      const clock = fakeClock()
      const loading = gate()
      const own = ownJobs({ how: 'wait', gate: loading }, clock)
      const job = own.run({ value: 'in time' })
      await arrived(loading, 2)
      clock.advance(999)
      letPass(loading)
      assert.equal(await job, 'in time')
      await own.ready()
      clock.advance(1000)
      assert.equal(await own.run({ value: 'later' }), 'later')
      await own.close()
    })

    it('is waited for without end if that is asked', async () => {
      const clock = fakeClock()
      const own = ownJobs({ how: 'wait', gate: gate() }, clock, Infinity)
      assert.equal(clock.timerCount, 0)
      await own.close()
    })

    it('lets a process end', async () => {
      const { code } = await node(['--eval', `require('./lib/threads').threads(${JSON.stringify(fileOf('hangs.mjs'))}, { threads: 1, loadTimeoutMs: 50 })`])
      assert.equal(code, 0)
    })

    /** Jobs without a queue, whose threads have a second of this clock to load the module. */
    function ownJobs (workerData, clock, loadTimeoutMs = 1000) {
      const { NODE_OPTIONS, ...env } = process.env
      const options = readOptions({ threads: 2, env, workerData, loadTimeoutMs })
      return new Jobs(Piscina, readFile(fileOf('loads.js')), options, clock)
    }
  })

  describe('that cannot be loaded in the place of a thread that has ended', () => {
    it('fails no job in another thread, and new jobs get new threads', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 2, times: 1 })
      await runner.ready()
      const held = gate()
      const other = queue.add({ held, value: 'goes on' })
      await arrived(held, 1)
      await assert.rejects(queue.add({ exit: true }), ({ code, cause }) => code === 'FAIRLANE_ERR_CRASHED' && /exit.*6/.test(cause.message))
      assert.equal(await queue.add({ value: 'new' }), 'new')
      assert.equal(runner.stats().threads, 3)
      letPass(held)
      assert.equal(await other, 'goes on')
      assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 1, running: 0, threads: 2 })
    })

    it('has new threads once, though others end that were there before', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 3, times: 1 }, { threads: 3 })
      await runner.ready()
      const [first, second] = [gate(), gate()]
      const crash = assert.rejects(queue.add({ held: first, exit: true }), { code: 'FAIRLANE_ERR_CRASHED' })
      const last = queue.add({ held: second, value: 'last' })
      await Promise.all([arrived(first, 1), arrived(second, 1)])
      await assert.rejects(queue.add({ exit: true }), { code: 'FAIRLANE_ERR_CRASHED' })
      assert.equal(await queue.add({ value: 'new' }), 'new')
      letPass(first)
      await crash
      await new Promise(setImmediate)
      assert.equal(await queue.add({ value: 'the same' }), 'the same')
      assert.equal(runner.stats().threads, 4)
      letPass(second)
      assert.equal(await last, 'last')
      assert.equal(runner.stats().threads, 3)
    })

    it('gives the slots of the next threads that end back at once', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 3, times: 1 }, { threads: 3 })
      await runner.ready()
      const held = gate()
      const others = [1, 2].map(() => assert.rejects(queue.add({ held, exit: true }), { code: 'FAIRLANE_ERR_CRASHED' }))
      await arrived(held, 2)
      await assert.rejects(queue.add({ exit: true }), { code: 'FAIRLANE_ERR_CRASHED' })
      letPass(held, 1)
      await Promise.race(others)
      assert.equal(queue.running, 1)
      await new Promise(setImmediate)
      letPass(held)
      await Promise.all(others)
      assert.deepEqual(await Promise.all([1, 2, 3].map(value => queue.add({ value }))), [1, 2, 3])
      assert.equal(runner.stats().threads, 3)
    })

    it('fails a job that had no thread yet, when there is none', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 1, times: 1 }, { threads: 1 })
      await runner.ready()
      await workers[0].terminate()
      await assert.rejects(queue.add({ value: 1 }), ({ code, message, cause }) => code === 'FAIRLANE_ERR_CRASHED' && cause.code === 'LOAD' && /^The thread ended before it/.test(message))
      assert.equal(await queue.add({ value: 2 }), 2)
    })

    it('fails a job that comes as the thread ends, and has none yet', async () => {
      const { runner } = loads({ how: 'throw', gate: gate(), from: 1, times: 1 }, { threads: 1 })
      await runner.ready()
      workers[0].emit('error', new Error('it fails'))
      await assert.rejects(runner({ value: 1 }), ({ code, cause }) => code === 'FAIRLANE_ERR_CRASHED' && cause.code === 'LOAD')
      assert.equal(await runner({ value: 2 }), 2)
    })

    it('leaves a job that comes as the last thread ends to new ones', async () => {
      const { runner } = loads({ how: 'throw', gate: gate(), from: 1, times: 1 }, { threads: 1 })
      await runner.ready()
      const job = new Promise(resolve => {
        process.once('worker', worker => worker.once('error', () => resolve(runner({ value: 'new' }))))
      })
      workers[0].emit('error', new Error('it fails'))
      assert.equal(await job, 'new')
      assert.equal(runner.stats().threads, 1)
    })

    it('leaves nobody ready until new ones are there: ready() rejects', async () => {
      const { runner } = loads({ how: 'throw', gate: gate(), from: 1, times: 1 }, { threads: 1 })
      await runner.ready()
      await workers[0].terminate()
      const ready = new Promise(resolve => workers[1].once('error', () => resolve(runner.ready())))
      await assert.rejects(ready, { code: 'LOAD' })
      await runner.ready()
    })

    it('ends with the others when all are closed, though a job is in it', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 2, times: 1 })
      await runner.ready()
      const held = gate()
      const other = assert.rejects(queue.add({ held }), { code: 'FAIRLANE_ERR_CRASHED' })
      await arrived(held, 1)
      await assert.rejects(queue.add({ exit: true }), { code: 'FAIRLANE_ERR_CRASHED' })
      assert.equal(await queue.add({ value: 'new' }), 'new')
      await runner.close()
      await other
      assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 2, running: 0, threads: 0 })
    })

    it('ends the threads that are left if no job is in them', async () => {
      const { runner, queue } = loads({ how: 'throw', gate: gate(), from: 2, times: 1 })
      await runner.ready()
      await assert.rejects(queue.add({ exit: true }), { code: 'FAIRLANE_ERR_CRASHED' })
      assert.equal(runner.stats().threads, 0)
      await runner.close()
    })
  })

  it('is loaded by new threads only if there can be any: otherwise the job fails', async () => {
    const { queue } = loads({ how: 'throw', gate: gate() }, { threads: 1 })
    await assert.rejects(queue.add({}), { code: 'FAIRLANE_ERR_CRASHED' })
    const { Worker } = workerThreads
    const failure = new Error('no more threads')
    workerThreads.Worker = class { constructor () { throw failure } }
    try {
      await assert.rejects(queue.add({}), { code: 'FAIRLANE_ERR_OPTION', cause: failure })
    } finally {
      workerThreads.Worker = Worker
    }
  })
})

async function failsAll (queue, test) {
  const ends = await Promise.allSettled(Array.from({ length: 5 }, () => queue.add({})))
  for (const { status, reason } of ends) {
    assert.equal(status, 'rejected')
    assert(test(reason), reason)
  }
  assert.equal(queue.running, 0)
  assert.equal(queue.stats().failed, 5)
}
