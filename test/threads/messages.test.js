'use strict'

// The messages between a queue and its threads: what is counted in the memory that both share, and what becomes of an answer that is there
// while something else happens.

const assert = require('node:assert')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { REQUESTS, ANSWERS } = require('../../lib/threads/message')
const { start, endAll, gate } = require('./start')

describe('messages to threads', () => {
  let workers
  let countsOf // of each worker, in the order of their threads

  const note = worker => {
    workers.push(worker)
    worker.on('message', message => { if (message?.fairlane === 'begun') countsOf.set(worker, message.counts) })
  }

  before(() => process.on('worker', note))
  after(() => process.off('worker', note))
  beforeEach(() => {
    workers = []
    countsOf = new Map()
  })
  afterEach(endAll)

  const ready = async options => {
    const runner = start('jobs.js', { threads: 1, ...options })
    await runner.ready()
    return { runner, counts: workers.map(worker => countsOf.get(worker)) }
  }

  const settled = () => {
    const ends = []
    return { ends, done: (err, result) => ends.push(err ?? result) }
  }

  /** Blocks until a thread has given so many answers, which are not received meanwhile. */
  const answered = (counts, count) => { while (Atomics.load(counts, ANSWERS) < count); }

  const inContext = (controller) => ({ type: undefined, attempt: 1, signal: controller.signal })

  it('bring the next job in the turn of the answer to the one before', async () => {
    const { runner, counts: [counts] } = await ready()
    await new Promise(resolve => runner({ act: 'value' }, () => {
      assert.equal(Atomics.load(counts, REQUESTS), 1)
      runner({ act: 'value' }, resolve)
      assert.equal(Atomics.load(counts, REQUESTS), 2)
    }))
  })

  it('are answered together where several answers are there: one look at each thread, then others have their turn', async () => {
    const { runner, counts } = await ready({ threads: 2 })
    const order = []
    await new Promise(resolve => {
      for (const name of ['a', 'b']) {
        runner({ act: 'value' }, () => {
          order.push('job')
          queueMicrotask(() => {
            order.push('microtask')
            if (order.length === 4) resolve()
          })
        }, { type: name, attempt: 1, signal: undefined })
      }
      for (const each of counts) answered(each, 1)
    })
    assert.deepEqual(order, ['job', 'job', 'microtask', 'microtask'])
  })

  it('are not mistaken for a wake-up without one', async () => {
    const { runner, counts: [counts] } = await ready()
    const wakeTwice = count => {
      answered(counts, count) // an answer is counted when it has been sent
      for (let woken = 0; woken < 2; woken += Atomics.notify(counts, REQUESTS)) assert.equal(Atomics.load(counts, ANSWERS), count)
    }
    wakeTwice(0)
    assert.equal(await runner({ act: 'value', value: 1 }), 1)
    wakeTwice(1)
    assert.equal(await runner({ act: 'value', value: 2 }), 2)
    assert.deepEqual(runner.stats(), { started: 2, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('whose answer is there are stopped by nobody: the thread stays', async () => {
    const { runner, counts: [counts] } = await ready()
    const controller = new AbortController()
    const { ends, done } = settled()
    const thread = await runner({ act: 'thread' })
    runner({ act: 'value', value: 'done' }, done, inContext(controller))
    answered(counts, 2)
    controller.abort()
    assert.equal(await runner({ act: 'thread' }), thread)
    assert.deepEqual(ends, ['done'])
    assert.equal(runner.stats().stopped, 0)
  })

  it('have their answer though the thread fails behind it; the slot waits for another thread', async () => {
    const { runner, counts: [counts] } = await ready()
    const queue = fairlane(runner, { concurrency: 1 })
    const thread = await queue.add({ act: 'thread' })
    const job = queue.add({ act: 'value', value: 'done' })
    while (queue.running < 1) await new Promise(setImmediate)
    answered(counts, 2)
    workers[0].emit('error', new Error('it fails'))
    assert.equal(queue.running, 1)
    assert.equal(await job, 'done')
    assert.notEqual(await queue.add({ act: 'thread' }), thread)
    assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  describe('with a result that is nested too deep for the stack here', () => {
    const tooDeep = { name: 'RangeError', message: /call stack/ }
    const options = { resourceLimits: { stackSizeMb: 32 } }

    it('fail with that, and the thread stays', async () => {
      const { runner } = await ready(options)
      await assert.rejects(runner({ act: 'deep', depth: 30000 }), tooDeep)
      assert.equal(await runner({ act: 'value', value: 1 }), 1)
      assert.deepEqual(runner.stats(), { started: 2, stopped: 0, crashed: 0, running: 0, threads: 1 })
    })

    it('fail with that, too, where the thread fails behind it', async () => {
      const { runner, counts: [counts] } = await ready(options)
      const job = runner({ act: 'deep', depth: 30000 })
      answered(counts, 1)
      workers[0].emit('error', new Error('it fails'))
      await assert.rejects(job, tooDeep)
    })
  })

  it('are answered in the context of no job', async () => {
    const { runner, counts } = await ready({ threads: 2 })
    const storage = new AsyncLocalStorage()
    const stores = []
    await new Promise(resolve => {
      for (const name of ['a', 'b']) {
        storage.run(name, () => runner({ act: 'value' }, () => {
          stores.push(storage.getStore())
          if (stores.length === 2) resolve()
        }))
      }
      for (const each of counts) answered(each, 1)
    })
    assert.deepEqual(stores, [undefined, undefined])
  })

  it('of several jobs move what each of them names', async () => {
    const { runner } = await ready({ perThread: 2, transfer: ({ bytes }) => [bytes.buffer] })
    const payloads = [1, 2].map(size => new Uint8Array(size).fill(1))
    assert.deepEqual(await Promise.all(payloads.map(bytes => runner({ act: 'sum', bytes }))), [1, 2])
    assert.deepEqual(payloads.map(({ length }) => length), [0, 0])
  })

  it('are answered when what the job has printed is here, or fail with what keeps their thread from that', async () => {
    const { runner, counts: [counts] } = await ready({ env: undefined }) // it counts what is covered, and says so when it ends
    const { stdout } = workers[0]
    let text = ''
    stdout.unpipe()
    stdout.on('data', data => { text += data }).resume()
    await runner({ act: 'print', text: 'printed' })
    assert.equal(text, 'printed\n')
    const begun = gate()
    const job = runner({ act: 'print', text: 'here', gate: begun })
    while (Atomics.load(begun, 1) < 1);
    const before = performance.now()
    while (performance.now() - before < 20) assert.equal(Atomics.load(counts, ANSWERS), 1, 'nobody has received what it has printed')
    await job
    assert.equal(text, 'printed\nhere\n')
    await assert.rejects(runner({ act: 'breakOutput' }), { message: 'no output' })
    await assert.rejects(runner({ act: 'breakOutputLater' }), { message: 'no output' })
    await assert.rejects(runner({ act: 'function' }), ({ code, cause }) => code === 'FAIRLANE_ERR_CRASHED' && cause.name === 'DataCloneError')
  })
})
