'use strict'

// What a job queue on disk says of all its jobs: counts(), types(), stats(type), pages of dead letters, clear({ dead }); map() and wait().

const assert = require('node:assert')
const { names: notOnDisk } = require('../../lib/durable/unsupported')
const { quiet } = require('../support/turns')
const { Bench, EPOCH } = require('./bench')
const { systemError } = require('../log/disk')

const code = name => ({ code: `FAIRLANE_ERR_${name}` })

describe('what a durable queue says of its jobs', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const dies = async (...payloads) => {
    for (const payload of payloads) {
      const id = await bench.queue.pushType(payload[0], payload)
      await bench.gate.until(bench.gate.started.length + (bench.gate.open.length > 0 ? 0 : 1))
      bench.gate.open.shift().done(new Error(payload))
      await quiet()
      assert.equal(bench.idsOf('failed').at(-1), id)
    }
  }

  for (const scheduler of [null, 'equal']) {
    it(`counts jobs by their types, here and after a restart (scheduler: ${scheduler})`, async () => {
      const options = { scheduler, concurrency: 1, maxAttempts: 1 }
      let queue = await bench.open(options)
      await dies('a dead')
      for (const type of ['a', 'b', 'b']) await queue.pushType(type, type)
      await queue.pushType('b', 'delayed', { delayMs: 1000 })
      await bench.gate.until(2)
      const counted = { waiting: 3, delayed: 1, running: 1, dead: 1, types: 2 }
      assert.deepEqual(await queue.counts(), counted)
      const [b, a] = [{ type: 'b', waiting: 3, delayed: 1, running: 0, dead: 0 }, { type: 'a', waiting: 0, delayed: 0, running: 1, dead: 1 }]
      assert.deepEqual(await queue.types(), [b, a])
      assert.deepEqual(await queue.types({ limit: 1 }), [b])
      const { type, ...rest } = b
      assert.deepEqual(await queue.counts('b'), { ...rest, cap: Infinity, rate: null, paused: false, heldMs: 0 })
      const { accepted, failed, running } = queue.stats('a')
      assert.deepEqual([accepted, failed, running], [2, 1, 1])
      queue = await bench.reopenAfterKill(options)
      queue.pause()
      await quiet()
      const { dead, types, delayed } = await queue.counts()
      // the job that ran was the last attempt of it
      assert.deepEqual([dead, types, delayed], [2, 2, 1])
      assert.equal(queue.clear({ type: 'a', dead: true }), 2)
      assert.equal(queue.clear({ type: 'b' }), 3)
      assert.deepEqual([await queue.types(), (await queue.counts()).types], [[], 0])
      assert.equal((await bench.reopenAfterKill(options)).recovered.jobs, 0)
    })
  }

  it('lists and clears jobs of a type without a scheduler, also those that are not written yet', async () => {
    const queue = await bench.open({ concurrency: 1, ack: 'disk', maxInflightOps: 2 })
    queue.pause()
    const pushes = ['a', 'b', 'a', 'b'].map((type, i) => queue.pushType(type, i).catch(({ code }) => code))
    pushes.push(queue.push('no type'), queue.pushType('a', 'delayed', { delayMs: 10 }).catch(({ code }) => code))
    assert.deepEqual([...queue.jobs('a')].map(({ payload }) => payload), [0, 2, 'delayed'])
    assert.equal(queue.clear({ type: 'a' }), 3)
    await Promise.all(pushes)
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), [1, 3, 'no type'])
    assert.deepEqual(await queue.types(), [{ type: 'b', waiting: 2, delayed: 0, running: 0, dead: 0 }])
    assert.equal(queue.waiting, 3)
  })

  it('gives jobs without a type the type that is empty, where there is a scheduler', async () => {
    let queue = await bench.open({ backoffMs: 1000 })
    const ids = await queue.pushAll([{ payload: 1 }, { payload: 2, delayMs: 1000 }, { payload: 3, type: 'a', delayMs: 1000 }])
    assert.deepEqual((await queue.types()).map(({ type }) => type), ['a'])
    queue = await bench.reopenAfterKill({ scheduler: 'equal' })
    queue.pause()
    await quiet()
    const { waiting, delayed } = await queue.counts('')
    assert.deepEqual([waiting, delayed, (await queue.counts()).types], [2, 1, 2])
    assert.deepEqual([...queue.jobs('')].map(({ id }) => id), ids.slice(0, 2))
    assert.equal(queue.clear({ type: '' }), 2)
    assert.deepEqual(await queue.types(), [{ type: 'a', waiting: 1, delayed: 1, running: 0, dead: 0 }])
  })

  it('counts what was refused, joined and could not be written by types, and begins anew when one has no jobs', async () => {
    const queue = await bench.open({ scheduler: 'equal', maxWaitingPerType: 1, concurrency: 1, backoffMs: 10 })
    queue.pause()
    await queue.pushType('a', 1, { key: 'k' })
    await queue.pushType('a', 2, { key: 'k' })
    await assert.rejects(queue.pushType('a', 3), code('TYPE_FULL'))
    await assert.rejects(queue.add(4, { type: 'a', signal: AbortSignal.abort() }), code('ABORTED'))
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.pushType('b', 5), code('IO'))
    bench.disk.fault = () => undefined
    await quiet()
    assert.deepEqual((await queue.types()).map(({ type }) => type), ['a'])
    queue.resume()
    await bench.clock.advance(1000)
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('again'))
    const zeros = { done: 0, failed: 0, cancelled: 0, throttled: 0, running: 0, overdue: 0, spent: 0 }
    assert.deepEqual(queue.stats('a'), { accepted: 1, rejected: 2, joined: 1, retried: 1, ...zeros, waiting: 1, delayed: 1, types: 1 })
    bench.clock.advance(10)
    await bench.gate.until(2)
    bench.gate.release(1)
    assert.deepEqual(queue.stats('a'), { accepted: 0, rejected: 0, joined: 0, retried: 0, ...zeros, waiting: 0, delayed: 0, types: 0 })
    assert.equal(queue.stats().rejected, 2)
  })

  it('tells the cap, the rate, a pause and a hold of a type', async () => {
    const rates = [{ limit: 2, intervalMs: 1000 }, { limit: 9, intervalMs: 60000 }]
    const queue = await bench.open({
      scheduler: 'equal', schedulerOptions: { typeCaps: { a: 3 } }, ratePerType: new Map([['a', rates[0]], ['b', rates]])
    })
    queue.pauseType('b').holdType('a', 500)
    const some = async type => {
      const { cap, rate, paused, heldMs } = await queue.counts(type)
      return [cap, rate, paused, heldMs]
    }
    assert.deepEqual(await some('a'), [3, rates[0], false, 500])
    assert.deepEqual(await some('b'), [Infinity, rates, true, 0])
    assert.deepEqual(await some('c'), [Infinity, null, false, 0])
    const plain = await bench.reopen()
    plain.hold(50)
    assert.deepEqual((await plain.counts('a')).heldMs, 50)
  })

  it('gives dead letters in pages, with the time of their death, which stays', async () => {
    let queue = await bench.open({ maxAttempts: 1, concurrency: 1, scheduler: 'equal' })
    for (const payload of ['a1', 'b1', 'a2', 'a3']) {
      bench.clock.advance(10)
      await dies(payload)
    }
    for (const reopen of [false, true]) {
      if (reopen) queue = await bench.reopenAfterKill({ scheduler: 'equal' })
      const seen = async which => (await queue.deadLetters(which)).map(({ id, at }) => [id, at - EPOCH])
      assert.deepEqual(await seen(), [[1, 10], [2, 20], [3, 30], [4, 40]])
      assert.deepEqual(await seen({ limit: 2 }), [[1, 10], [2, 20]])
      assert.deepEqual(await seen({ limit: 2, after: 2 }), [[3, 30], [4, 40]])
      assert.deepEqual(await seen({ type: 'a', after: 1, limit: 1 }), [[3, 30]])
      assert.deepEqual(await seen({ after: 4 }), [])
    }
    for (const wrong of [{ limit: 0 }, { after: 'a' }, { before: 1 }]) assert.throws(() => queue.deadLetters(wrong), code('ARGUMENT'))
    assert.equal(queue.clear({ dead: true }), 4)
    assert.deepEqual(await queue.deadLetters(), [])
    await queue.close()
    assert.equal(queue.clear({ dead: true }), 0)
    await assert.rejects(queue.deadLetters(), code('CLOSED'))
  })

  it('maps a source, below its capacity', async () => {
    const queue = await bench.open({ runner: async payload => payload * 2, capacity: 2 })
    const results = []
    for await (const value of queue.map([1, 2, 3, 4, 5], { type: 't' })) results.push(value)
    assert.deepEqual(results, [2, 4, 6, 8, 10])
    queue.pause()
    queue.resume(2)
    for await (const value of queue.map([6])) results.push(value)
    assert.equal(results.at(-1), 12)
    const typed = await bench.reopen({ runner: async payload => payload, scheduler: 'equal', maxWaitingPerType: 1 })
    assert.throws(() => typed.map([1]), code('TYPE_REQUIRED'))
    typed.concurrency = 3
    const ordered = []
    for await (const value of typed.map(new Set([1, 2]), { type: 't', ordered: false })) ordered.push(value)
    assert.deepEqual(ordered.sort(), [1, 2])
  })

  it('gives the results of jobs that end from now on, to all who wait', async () => {
    const queue = await bench.open({ concurrency: 1, maxAttempts: 1 })
    const [first, second, third] = await queue.pushAll(['first', 'second', 'third'].map(payload => ({ payload })))
    await bench.gate.until(1)
    const controller = new AbortController()
    const waits = [queue.wait(first), queue.wait(first, { signal: new AbortController().signal })]
    const left = queue.wait(second, { signal: controller.signal })
    controller.abort('enough')
    await assert.rejects(left, ({ code, cause }) => code === 'FAIRLANE_ERR_ABORTED' && cause === 'enough')
    await assert.rejects(queue.wait(second, { signal: controller.signal }), code('ABORTED'))
    bench.gate.open.shift().done(null, 'result')
    assert.deepEqual(await Promise.all(waits), ['result', 'result'])
    await assert.rejects(queue.wait(first), code('RESULT'))
    await assert.rejects(queue.wait(77), code('RESULT'))
    const fails = assert.rejects(queue.wait(second), /no/)
    await bench.gate.until(2)
    bench.gate.open.shift().done(new Error('no'))
    await fails
    await assert.rejects(queue.wait(second), code('RESULT'))
    const closes = assert.rejects(queue.wait(third), code('CLOSED'))
    await bench.gate.until(3)
    await queue.close({ timeoutMs: 0 })
    await closes
    await assert.rejects(queue.wait(third), code('CLOSED'))
    for (const wrong of [['a'], [1, { sign: 1 }], [1, { signal: 1 }]]) assert.throws(() => queue.wait(...wrong), code('ARGUMENT'))
  })

  it('refuses what only other queues have, and says what to use', async () => {
    const queue = await bench.open()
    for (const name of notOnDisk) {
      assert.throws(() => queue[name](), { ...code('UNSUPPORTED'), message: new RegExp(`${name}\\(\\) is not available on disk.* (memory|broker) .*use`, 'i') })
    }
    assert(!Object.keys(queue).some(name => notOnDisk.includes(name)))
  })

  it('refuses a callback where there is none, and names add()', async () => {
    const queue = await bench.open()
    for (const method of ['push', 'unshift']) assert.throws(() => queue[method](1, () => {}), { ...code('ARGUMENT'), message: /add\(\)/ })
    for (const method of ['pushType', 'unshiftType']) assert.throws(() => queue[method]('a', 1, () => {}), { ...code('ARGUMENT'), message: /add\(\)/ })
    assert.equal(queue.length, 0)
  })

  it('retries a dead letter with its key, unless another job has that', async () => {
    let queue = await bench.open({ maxAttempts: 1, concurrency: 1 })
    const said = { key: 'k', keyUntil: 'settled' }
    await queue.push(1, said)
    await bench.gate.until(1)
    bench.gate.open.shift().done(new Error('no'))
    await quiet()
    assert.equal(await queue.push(2, said), 2)
    assert.equal(await queue.retryDead(1), false)
    await bench.gate.until(2)
    bench.gate.release(1)
    queue.pause()
    assert.equal(await queue.retryDead(1), true)
    assert.equal(await queue.push(3, { ...said, onDuplicate: 'replace' }), 1)
    queue = await bench.reopenAfterKill({ maxAttempts: 1 })
    assert.equal(await queue.push(4, said), 1)
    await bench.gate.until(1)
    assert.equal(bench.gate.payloads[0], 1)
    bench.gate.open.shift().done(new Error('no'))
    await quiet()
    assert.notEqual(await queue.push(5, said), 1)
  })
})
