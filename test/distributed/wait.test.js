'use strict'

const assert = require('node:assert')
const { setTimeout: later } = require('node:timers/promises')
const { Adding } = require('../../lib/distributed/calls/adding')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('wait() at a broker', function () {
  const at = atServer()
  const open = openRigged(at)

  it('gives the result of a job that was pushed, to whoever asks, before its end and after', async () => {
    const gate = gates()
    const worker = await at.open(gate.runner, { settleBy: 'callback' })
    const [producer, other] = [await at.open(null), await at.open(null)]
    worker.pause()
    const id = await producer.pushType('a', { n: 1 })
    const early = [producer.wait(id), other.wait(id), other.wait(id)]
    await until(() => at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'inboxes').split(',').length === 2)
    worker.resume()
    await gate.until(1)
    const running = worker.wait(id)
    await until(() => at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'inboxes').split(',').length === 3)
    gate.release()
    for (const result of [...early, running]) assert.deepEqual(await result, { n: 1 })
    assert.deepEqual(await other.wait(id), { n: 1 })
    assert.equal((await producer.get(id)).state, 'done') // somebody waited for it
    const unwatched = await producer.pushType('a', { n: 2 })
    await gate.until(2)
    gate.release()
    await producer.onIdle()
    assert.equal(await producer.get(unwatched), undefined)
    assert.deepEqual(await other.wait(unwatched), { n: 2 })
  })

  it('gives what a job failed with, or was cancelled with', async () => {
    const worker = await at.open(async () => { throw Object.assign(new TypeError('no'), { code: 'E_OWN' }) }, { maxAttempts: 1 })
    const failed = await worker.pushType('a', 1)
    const { name, message } = await expectReject(worker.wait(failed), 'E_OWN')
    assert.deepEqual([name, message], ['TypeError', 'no'])
    await worker.onIdle()
    await expectReject(worker.wait(failed), 'E_OWN')
    worker.pause()
    const waiting = await worker.pushType('a', 1)
    const result = expectReject(worker.wait(waiting), 'FAIRLANE_ERR_ABORTED')
    await worker.cancel(waiting)
    await result
    await expectReject(worker.wait(waiting), 'FAIRLANE_ERR_ABORTED')
    const late = await worker.pushType('b', 1, { maxWaitMs: 1 })
    await later(20)
    worker.resume()
    await expectReject(worker.wait(late), 'FAIRLANE_ERR_MAX_WAIT')
    await worker.onIdle()
    await expectReject(worker.wait(late), 'FAIRLANE_ERR_MAX_WAIT')
  })

  it('says so if there is no result: it is not kept, nobody knows the job, or it is no JSON', async () => {
    const worker = await at.open(async n => n === 'big' ? 5n : n, { resultTtlMs: 50 })
    for (const payload of ['small', 'big']) {
      const id = await worker.pushType('a', payload)
      await worker.onIdle()
      if (payload === 'small') await later(100)
      await expectReject(worker.wait(id), 'FAIRLANE_ERR_RESULT')
    }
    for (const id of ['a:nothing', 'nobody', '', '%zz:1']) await expectReject(worker.wait(id), 'FAIRLANE_ERR_RESULT')
    const none = await at.open(async n => n, { resultTtlMs: 0, name: `${at.name}-none` })
    const id = await none.pushType('a', 1)
    await none.onIdle()
    await expectReject(none.wait(id), 'FAIRLANE_ERR_RESULT')
    for (const call of [() => worker.wait(), () => worker.wait(5), () => worker.wait('a', 5), () => worker.wait('a', { signal: {} })]) {
      assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('ends by its signal, and with the queue; the job goes on', async () => {
    const queue = await at.open(null)
    const id = await queue.pushType('a', 1)
    const controller = new AbortController()
    const waiting = expectReject(queue.wait(id, { signal: controller.signal }), 'FAIRLANE_ERR_ABORTED')
    const delayed = await queue.pushType('b', 1, { delayMs: 3600000 })
    const closing = expectReject(queue.wait(delayed), 'FAIRLANE_ERR_CLOSED')
    controller.abort('why')
    assert.equal((await waiting).cause, 'why')
    await expectReject(queue.wait(id, { signal: controller.signal }), 'FAIRLANE_ERR_ABORTED')
    const used = new AbortController()
    assert.equal((await queue.counts('a')).waiting, 1)
    const worker = await at.open(async n => n)
    assert.equal(await worker.wait(id, { signal: used.signal }), 1)
    used.abort()
    await queue.close()
    await closing
    await expectReject(queue.wait(id), 'FAIRLANE_ERR_CLOSED')
  })

  it('looks for the result itself if no notice comes', async () => {
    const { queue, rig } = await open(async n => n, { settleBy: 'promise', concurrency: 1 })
    queue.pause()
    const ids = [await queue.pushType('a', 1), await queue.pushType('a', 2)]
    const results = ids.map(id => queue.wait(id))
    await until(() => ids.every(id => at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'inboxes') !== ''))
    for (const id of ids) at.server.cli('hdel', `{fairlane:${at.name}}:${id}`, 'inboxes')
    queue.resume()
    assert.deepEqual(await Promise.all(results), [1, 2])
    rig.refuse('fairlaneWait')
    await expectReject(queue.wait(ids[0]), 'FAIRLANE_ERR_BROKER')
  })
})

describe('an add whose results cannot be heard of', () => {
  it('rejects, and counts among those that wait no more', async () => {
    let expected = 0
    const results = {
      inbox: 'me',
      add: (place, name, settle) => settle,
      settle: (settle, err) => settle(err),
      open: async () => { throw new Error('no') }
    }
    const intake = { refusal () {}, expect: () => { expected++; return () => { expected-- } } }
    const parts = { broker: { place: () => ({}) }, intake, results, stage: {} }
    const adding = new Adding(parts, { token: 'me', serialize: { encode: () => '{}' }, isClosed: () => false })
    await assert.rejects(adding.add('a', 1, false, {}), { message: 'no' })
    assert.equal(expected, 0)
  })
})

describeWithRedis('jobs that are cleared', function () {
  const at = atServer()

  it('have their callers told at once, in every process, and listeners where that was done', async () => {
    const [queue, other] = [await at.open(null), await at.open(null)]
    const told = []
    queue.on('cancelled', ({ type, payload, attempt, error: { code, cause } }) => told.push([type, payload, attempt, code, cause]))
    const own = expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_CLEARED')
    const others = expectReject(other.add(2, { type: 'a', delayMs: 3600000 }), 'FAIRLANE_ERR_CLEARED')
    const id = await other.pushType('b', { n: 3 })
    const waiting = expectReject(other.wait(id), 'FAIRLANE_ERR_CLEARED')
    await Promise.all([queue.flush(), other.flush()])
    await until(() => at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'inboxes') !== '')
    await other.pushType('c', 4) // nobody waits for it
    assert.equal(await queue.clear({ reason: 'why' }), 4)
    assert.equal((await own).cause, 'why')
    await Promise.all([others, waiting])
    assert.deepEqual(told.sort(), [
      ['a', 1, 0, 'FAIRLANE_ERR_CLEARED', 'why'], ['a', 2, 0, 'FAIRLANE_ERR_CLEARED', 'why'], ['b', { n: 3 }, 0, 'FAIRLANE_ERR_CLEARED', 'why'],
      ['c', 4, 0, 'FAIRLANE_ERR_CLEARED', 'why']
    ])
    assert.deepEqual([queue.stats().cancelled, queue.stats('a').cancelled, other.stats().cancelled], [4, 2, 0])
    const unheard = expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_CLEARED')
    await queue.flush()
    assert.equal(await other.clear(), 1)
    await unheard
  })

  it('may be many, and free their keys', async () => {
    const queue = await at.open(null)
    const jobs = Array.from({ length: 2500 }, (_, n) => queue.pushType('a', n, n % 2 ? { key: `k${n}`, keyUntil: 'settled' } : { delayMs: (n % 4) * 100000 }))
    const [, first] = await Promise.all(jobs)
    assert.equal(await queue.clear(), 2500)
    assert.equal((await queue.counts()).waiting, 0)
    assert.equal(at.server.cli('hlen', `{fairlane:${at.name}}:a:.keys`), '0')
    assert.notEqual(await queue.pushType('a', 1, { key: 'k1', keyUntil: 'settled' }), first)
  })
})
