'use strict'

const assert = require('node:assert')
const { captureUncaught } = require('../support/uncaught')
const { quiet } = require('../support/turns')
const { Bench } = require('./bench')

describe('progress of a durable job', () => {
  let bench, told

  async function open (options) {
    const queue = await bench.open(options)
    queue.on('progress', about => told.push(about))
    return queue
  }

  beforeEach(() => {
    bench = new Bench()
    told = []
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('is told to listeners, and nothing of it is written', async () => {
    const queue = await open()
    await queue.pushType('a', 1)
    await bench.gate.until(1)
    const bytes = queue.diskBytes()
    const value = { percent: 50 }
    const [{ context }] = bench.gate.started
    assert.equal(context.progress(value), undefined)
    assert.deepEqual(told, [{ id: 1, type: 'a', payload: 1, attempt: 1, value }])
    assert.equal(told[0].value, value)
    await quiet()
    assert.equal(queue.diskBytes(), bytes)
  })

  it('may be said in the call of the runner, by a function that was taken off its context, and before anybody listens', async () => {
    const queue = await open({ runner: (payload, done, { progress }) => { progress('half'); done(null, progress('over')) } })
    queue.removeAllListeners('progress')
    await queue.push(1)
    await queue.onIdle()
    queue.on('progress', about => told.push(about))
    await queue.push(2)
    await queue.onIdle()
    assert.deepEqual(told, ['half', 'over'].map(value => ({ id: 2, type: undefined, payload: 2, attempt: 1, value })))
  })

  it('is nothing once the attempt has ended, by its runner, its time, or a call', async () => {
    const queue = await open({ timeoutMs: 10, maxAttempts: 2, backoffMs: 5 })
    for (const payload of ['ends', 'is late', 'is cancelled']) await queue.push(payload)
    await bench.gate.until(3)
    bench.gate.open[0].done()
    await queue.cancel(3)
    bench.clock.advance(10)
    for (const { context } of bench.gate.started) context.progress('late')
    assert.deepEqual(told, [])
    bench.clock.advance(5)
    await bench.gate.until(4)
    bench.gate.started[3].context.progress('again')
    assert.deepEqual(told, [{ id: 2, type: undefined, payload: 'is late', attempt: 2, value: 'again' }])
    bench.gate.release(4)
  })

  it('is nothing in the call of the runner after done', async () => {
    const queue = await open({ runner: (payload, done, { progress }) => { done(); progress('late') } })
    await queue.push(1)
    await queue.onIdle()
    assert.deepEqual(told, [])
  })

  it('makes what a listener throws an uncaught exception, and lets listeners call the queue', async () => {
    const uncaught = captureUncaught()
    try {
      const queue = await open()
      queue.on('progress', () => { queue.clear() })
      queue.on('progress', () => { throw new Error('mine') })
      await queue.push(1)
      await bench.gate.until(1)
      queue.pause()
      await queue.push(2)
      bench.gate.started[0].context.progress(1)
      await uncaught.until(1)
      assert.deepEqual([uncaught.seen[0].message, queue.waiting, told.length], ['mine', 0, 1])
      bench.gate.release()
      await quiet()
      assert.deepEqual(bench.idsOf('done'), [1])
    } finally {
      uncaught.release()
    }
  })

  it('stands in a context that is frozen, as others are', async () => {
    const queue = await open()
    await queue.push(1)
    await bench.gate.until(1)
    const [{ context }] = bench.gate.started
    assert(Object.isFrozen(context))
    assert.deepEqual(Object.keys(context), ['id', 'type', 'attempt'])
  })
})
