'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { fakeClock } = require('../../../lib/testing')
const { quiet, turn } = require('../../support/turns')

describe('close', function () {
  it('lets accepted jobs finish and refuses new ones', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const accepted = [queue.add(1), queue.add(2)]
    const closing = queue.close()
    const event = once(queue, 'close')
    assert.equal(queue.closed, true)
    await assert.rejects(queue.add(3), { code: 'FAIRLANE_ERR_CLOSED' })
    await assert.rejects(queue.ready(), { code: 'FAIRLANE_ERR_CLOSED' })
    await gate.until(1)
    gate.release()
    await gate.until(2)
    gate.release()
    assert.equal(await closing, 0)
    assert.deepEqual(await event, [0])
    assert.deepEqual(await Promise.all(accepted), [1, 2])
    assert.equal(queue.stats().rejected, 1)
  })

  it('resolves on an idle queue, and on a paused one, which can not be paused again', async function () {
    assert.equal(await fairlane(() => {}).close(), 0)
    const queue = fairlane(async () => {}).pause()
    queue.push(1)
    const closing = queue.close()
    queue.pause().concurrency = 0
    assert.equal(queue.paused, false)
    assert.equal(await closing, 0)
    assert.equal(queue.stats().done, 1)
  })

  it('resolves with a paused type', async function () {
    const queue = fairlane(async () => {}, { scheduler: 'equal' }).pauseType('a').pauseType('b')
    queue.pushType('a', 1).pushType('c', 1)
    const closing = queue.close()
    queue.pauseType('a')
    assert.equal(await closing, 0)
    const custom = { waiting () {}, start () {}, done () {}, select: () => 0 }
    assert.equal(await fairlane(async () => {}, { scheduler: custom }).pushType('a', 1).close(), 0)
  })

  it('resolves though a runner ignores its signal, and counts that as abandoned', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    const promises = [1, 2, 3].map((n) => queue.add(n))
    await gate.until(2)
    const { signal } = gate.started[0].context
    signal.addEventListener('abort', () => gate.started[0].done())
    assert.equal(await queue.close({ drain: false }), 1)
    for (const promise of promises) await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(gate.started[1].context.signal.aborted, true)
    assert.deepEqual([queue.running, queue.waiting, queue.stats().cancelled], [1, 0, 3])
    gate.started[1].done()
    await queue.onIdle()
    assert.equal(queue.stats().misuse, 0)
  })

  it('settles running jobs in the order of their starts, then waiting ones in theirs', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 100)
    const told = []
    for (let i = 0; i < 500; i++) queue.push(i, (error) => { if (error) told.push(i) })
    for (let n = 100, i = 0; n < 400; n++, i++) {
      await gate.until(n)
      gate.started[i % 3 === 0 ? i : n - 1].done() // each once, old ones and young ones
    }
    await gate.until(400)
    await queue.close({ drain: false })
    const started = told.filter((payload) => payload < 400)
    assert.deepEqual(started, [...started].sort((a, b) => a - b))
    assert.equal(told.length, 200)
    assert.deepEqual(told.slice(100), Array.from({ length: 100 }, (_, i) => 400 + i))
  })

  it('that is read first after it is aborted gives an aborted signal', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner)
    queue.push(1)
    await gate.until(1)
    await queue.close({ drain: false })
    assert.equal(gate.started[0].context.signal.aborted, true)
  })

  it('cancels the rest after timeoutMs', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, clock })
    const promises = [queue.add(1), queue.add(2)]
    await gate.until(1)
    const closing = queue.close({ timeoutMs: 100 })
    clock.advance(100)
    for (const promise of promises) await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(await closing, 1)
  })

  it('waits for jobs that a hard cap of 0 stops, until its time is over', async function () {
    const clock = fakeClock()
    const queue = fairlane(async () => {}, { clock, scheduler: 'equal', schedulerOptions: { typeCaps: { a: 0 } } })
    const stopped = queue.add(1, { type: 'a' })
    assert.equal(await queue.add(2, { type: 'b' }), undefined)
    let isClosed = false
    const closing = queue.close({ timeoutMs: 100 }).then(() => { isClosed = true })
    clock.advance(99)
    await quiet()
    assert.deepEqual([isClosed, queue.waiting], [false, 1])
    clock.advance(1)
    await assert.rejects(stopped, { code: 'FAIRLANE_ERR_CLOSED' })
    await closing
  })

  it('leaves no timer behind when it comes to its end inside a callback of the jobs that it gives up', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock, concurrency: 1 })
    queue.push(1, () => {
      queue.close({ drain: false, timeoutMs: 1 })
      clock.advance(1)
    })
    await gate.until(1)
    assert.equal(await queue.close({ drain: false, timeoutMs: 5 }), 1)
    assert.equal(clock.timerCount, 0)
  })

  it('without drain waits for runners up to timeoutMs', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { clock })
    queue.push(1)
    await gate.until(1)
    const closing = queue.close({ drain: false, timeoutMs: 100 })
    await turn()
    gate.release()
    assert.equal(await closing, 0)
    assert.equal(clock.timerCount, 0)
  })

  it('called again can only escalate', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, clock })
    const promise = queue.add(1)
    await gate.until(1)
    const first = queue.close()
    assert.equal(queue.close({ drain: false, timeoutMs: 1000 }), first)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(queue.close(), first)
    assert.equal(queue.close({ timeoutMs: 5 }), first)
    queue.close({ drain: false })
    queue.close({ drain: false })
    assert.equal(await first, 1)
    assert.equal(await queue.close({ drain: false }), 1)
  })

  it('inside a runner settles its job when that returns', async function () {
    const queue = fairlane(() => { queue.close({ drain: false }) })
    await assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(await queue.close(), 1)
  })

  it('whose time runs out inside a runner ends when the job of that has been told, too', async function () {
    const clock = fakeClock()
    const told = []
    const queue = fairlane(() => {
      queue.close({ drain: false, timeoutMs: 10 })
      clock.advance(10)
    }, { clock })
    queue.on('close', count => told.push(`close ${count}`))
    queue.push(1, ({ code }) => told.push(code))
    assert.equal(await queue.close(), 1)
    assert.deepEqual(told, ['FAIRLANE_ERR_CLOSED', 'close 1'])
  })

  it('is what Symbol.asyncDispose does', async function () {
    const queue = fairlane(async () => {}).push(1)
    await queue[Symbol.asyncDispose]()
    assert.deepEqual([queue.closed, queue.stats().done], [true, 1])
  })

  it('throws for wrong arguments', function () {
    const queue = fairlane(() => {})
    for (const options of [null, 1, { drian: true }, { drain: 1 }, { timeoutMs: -1 }, { timeoutMs: '1' }]) {
      assert.throws(() => queue.close(options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    assert.equal(queue.closed, false)
  })
})

describe('the signal of a queue', function () {
  it('closes it at once, with its reason as the cause', async function () {
    const controller = new AbortController()
    const queue = fairlane(() => {}, { signal: controller.signal })
    const promise = queue.add(1)
    controller.abort('over')
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLOSED', cause: 'over' })
    assert.equal(await queue.close(), 0)
  })

  it('is the cause of later refusals, also if the queue had been closed before', async function () {
    const refused = { code: 'FAIRLANE_ERR_CLOSED', cause: 'over' }
    for (const closesBefore of [false, true]) {
      const controller = new AbortController()
      const queue = fairlane(() => {}, { signal: controller.signal, maxWaiting: 0, concurrency: 1 })
      queue.push(1)
      const waited = queue.ready().catch(({ code, cause }) => [code, cause])
      if (closesBefore) queue.close()
      controller.abort('over')
      assert.deepEqual(await waited, ['FAIRLANE_ERR_CLOSED', closesBefore ? undefined : 'over'])
      await assert.rejects(queue.add(2), refused)
      await assert.rejects(queue.add(2, { timeoutMs: 5 }), refused)
      await assert.rejects(queue.ready(), refused)
      const error = await new Promise((resolve) => queue.push(3, resolve))
      assert.deepEqual([error.code, error.cause], ['FAIRLANE_ERR_CLOSED', 'over'])
    }
    const queue = fairlane(() => {}, { signal: AbortSignal.abort('early') })
    await assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_CLOSED', cause: 'early' })
  })

  it('that has not aborted is no cause of what close() refuses', async function () {
    const queue = fairlane(() => {}, { signal: new AbortController().signal })
    queue.close()
    const error = await queue.add(1).catch((error) => error)
    assert.deepEqual([error.code, Object.hasOwn(error, 'cause')], ['FAIRLANE_ERR_CLOSED', false])
  })

  it('that has aborted already makes a closed queue', function () {
    assert.equal(fairlane(() => {}, { signal: AbortSignal.abort() }).closed, true)
  })

  it('must be one', function () {
    assert.throws(() => fairlane(() => {}, { signal: 5 }), { code: 'FAIRLANE_ERR_OPTION' })
  })
})
