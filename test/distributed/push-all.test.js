'use strict'

const assert = require('node:assert')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')

describeWithRedis('pushAll() at a broker', function () {
  const at = atServer()
  const open = openRigged(at)

  it('gives the ids of all jobs, in their order, with one call for each partition', async () => {
    const { queue, rig } = await open(null, { partitions: 4 })
    let callsCount = 0
    const used = new Set()
    rig.rig('fairlanePushAll', (call, count, key) => {
      callsCount++
      used.add(key)
      return call()
    })
    const jobs = Array.from({ length: 40 }, (_, n) => ({ type: `type-${n % 20}`, payload: n, delayMs: n === 3 ? 3600000 : undefined }))
    const ids = await queue.pushAll(jobs)
    assert.equal(callsCount, used.size)
    assert(callsCount <= 4)
    assert.equal(new Set(ids).size, 40)
    assert.deepEqual(await Promise.all(ids.map(async id => (await queue.get(id)).payload)), jobs.map(({ payload }) => payload))
    const { waiting, delayed } = await queue.counts()
    assert.deepEqual([waiting, delayed, queue.stats().accepted, queue.stats('type-3').accepted], [40, 1, 40, 2])
    assert.deepEqual(await queue.pushAll([]), [])
    const worker = await at.open(async n => n, { partitions: 4 })
    assert.deepEqual(await Promise.all(ids.slice(4, 8).map(id => worker.wait(id))), [4, 5, 6, 7])
  })

  it('takes jobs without a type', async () => {
    const worker = await at.open(async n => n * n)
    const ids = await worker.pushAll([{ payload: 2 }, { payload: 3 }])
    assert.deepEqual(await Promise.all(ids.map(id => worker.wait(id))), [4, 9])
  })

  it('has jobs share keys, those of the batch among each other too', async () => {
    const queue = await at.open(null, { priorityMs: 1000 })
    const job = (payload, more) => ({ type: 'a', payload, key: 'k', keyUntil: 'settled', ...more })
    const [first, second, third] = await queue.pushAll([job(1), job(2), job(3, { key: 'other', priority: 5, maxAttempts: 2, timeoutMs: 5 })])
    assert.deepEqual([first === second, first === third], [true, false])
    assert.deepEqual([queue.stats().accepted, queue.stats().joined], [2, 1])
    const opts = JSON.parse(at.server.cli('hget', `{fairlane:${at.name}}:${third}`, 'opts'))
    assert.deepEqual([opts.attempts, opts.timeoutMs], [2, 5])
  })

  it('takes in none if one is refused', async () => {
    const queue = await at.open(null, { maxWaitingPerType: { a: 5, b: 2 } })
    const batch = (type, count) => Array.from({ length: count }, (_, payload) => ({ type, payload }))
    const { type, limit } = await expectReject(queue.pushAll([...batch('a', 2), ...batch('b', 3)]), 'FAIRLANE_ERR_TYPE_FULL')
    assert.deepEqual([type, limit, queue.stats().rejected, (await queue.counts()).waiting], ['b', 2, 5, 0])
    const both = [queue.pushAll([...batch('a', 3), ...batch('b', 2)]), queue.pushAll(batch('a', 3))]
    await Promise.all([both[0], expectReject(both[1], 'FAIRLANE_ERR_TYPE_FULL')])
    await expectReject(queue.push(1, { delayMs: 1 }).then(() => queue.pushAll(batch('b', 1))), 'FAIRLANE_ERR_TYPE_FULL')
    const wrong = [
      5, [5], [null], [{ type: 'a', payload: 1, delay: 1 }], [{ type: 'a', payload: 1n }], [{ type: 'a', payload: 1, delayMs: -1 }],
      [{ type: 'a', payload: 1, priority: 1 }]
    ]
    for (const jobs of wrong) assert.throws(() => queue.pushAll(jobs), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => queue.pushAll([{ type: null, payload: 1 }]), { code: 'FAIRLANE_ERR_TYPE' })
    const typed = await at.open(async () => {}, { scheduler: 'fair' })
    assert.throws(() => typed.pushAll([{ payload: 1 }]), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    await queue.close()
    await expectReject(queue.pushAll(batch('a', 1)), 'FAIRLANE_ERR_CLOSED')
  })

  it('says what was stored if a partition fails', async () => {
    const { queue, rig } = await open(null, { partitions: 4 })
    const types = Array.from({ length: 20 }, (_, n) => `type-${n}`)
    rig.refuse('fairlanePushAll')
    const { ids } = await expectReject(queue.pushAll(types.map(type => ({ type, payload: type }))), 'FAIRLANE_ERR_BROKER')
    assert(ids.length > 0 && ids.length < 20)
    assert.deepEqual((await queue.types()).map(({ type }) => type).sort(), ids.map(id => id.split(':')[0]).sort())
    assert.deepEqual([queue.stats().accepted, queue.stats().rejected], [ids.length, 20 - ids.length])
  })

  it('stores nothing twice when its answer is lost, and is waited for by flush()', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { settleBy: 'callback' })
    const lost = rig.loseAnswer('fairlanePushAll')
    const pushed = queue.pushAll([{ type: 'a', payload: 1 }, { type: 'a', payload: 2, key: 'k', keyUntil: 'settled' }])
    await queue.flush()
    await lost
    const ids = await pushed
    assert.equal(new Set(ids).size, 2)
    await gate.until(2)
    gate.release()
    gate.release()
    await queue.onIdle()
    assert.equal(gate.payloads.length, 2)
  })

  it('stores them again if the broker was away before others were told', async () => {
    const { queue, rig } = await open(null)
    rig.once('fairlaneAnnounce', async call => {
      rig.calls.emit('close')
      return call()
    })
    const ids = await queue.pushAll([{ type: 'a', payload: 1 }])
    assert.deepEqual([ids.length, (await queue.counts()).waiting], [1, 1])
  })
})
