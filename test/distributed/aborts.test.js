'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { inSlowTime } = require('./later')
const { atServer } = require('./opened')
const { rigged } = require('./rigged')
const { until } = require('./until')

const KEY = { key: 'k', keyUntil: 'settled' }

describeWithRedis('the signal of an add, when it aborts', function () {
  const at = atServer()
  let gate, worker, controller

  beforeEach(async () => {
    gate = gates()
    worker = await at.open(gate.runner, { settleBy: 'callback', backoffMs: 1, leaseMs: 600000 })
    controller = new AbortController()
  })

  const adopt = (queue, n, options) => expectReject(
    queue.add(n, { type: 'a', signal: controller.signal, ...options }), 'FAIRLANE_ERR_ABORTED'
  )

  /** Waits until an abort that comes now has had its effect: what came before it has had its own. */
  async function abortsAreOver (queue) {
    const last = new AbortController()
    const result = expectReject(queue.add('last', { type: 'b', signal: last.signal }), 'FAIRLANE_ERR_ABORTED')
    await until(() => gate.payloads.includes('last'))
    const { signal } = gate.started.find(({ payload }) => payload === 'last').context
    const aborted = once(signal, 'abort')
    last.abort()
    await Promise.all([aborted, result])
  }

  for (const where of ['elsewhere', 'in the same process']) {
    it(`tells the runner of its job ${where}, which is not tried again`, async () => {
      const producer = where === 'elsewhere' ? await at.open(null) : worker
      const result = adopt(producer, 1)
      await gate.until(1)
      const { signal, id } = gate.started[0].context
      const cancelled = once(worker, 'cancelled')
      const aborted = once(signal, 'abort')
      controller.abort('why')
      assert.equal((await result).cause, 'why')
      await aborted
      assert.equal(signal.reason.code, 'FAIRLANE_ERR_ABORTED')
      assert.equal((await cancelled)[0].id, id)
      gate.release(1)
      await worker.onIdle()
      const { done, retried, cancelled: count } = worker.stats()
      assert.deepEqual([done, retried, count, gate.payloads.length], [0, 0, 1, 1])
    })
  }

  it('takes a job away that waits for its next attempt', async () => {
    const queue = await at.open(async () => { throw new Error('down') }, { backoffMs: 3600000, name: `${at.name}-other` })
    const retried = once(queue, 'retry')
    const result = adopt(queue, 1)
    await retried
    controller.abort()
    await result
    await until(async () => (await queue.counts()).delayed === 0)
  })

  it('takes a job away that is still on its way to the broker then', async () => {
    const rig = rigged(at.server.path)
    const queue = await at.open(null, { connection: rig.connection })
    const { reached, open: letGo } = rig.delay('fairlanePush')
    worker.pause()
    const result = adopt(queue, 1)
    await reached
    controller.abort()
    await result
    letGo()
    await queue.flush()
    await until(async () => (await queue.counts()).waiting === 0)
  })

  const WANTED = {
    'another add of its process': queue => [queue.add(2, { type: 'a', ...KEY })],
    'a push of its process': queue => [queue.pushType('a', 2, KEY).then(() => 1)],
    'a push of its process, though an add that came after that has aborted': queue => [
      queue.pushType('a', 2, KEY).then(() => 1), adopt(queue, 3, KEY).then(() => 1)
    ]
  }
  for (const [whom, want] of Object.entries(WANTED)) {
    it(`leaves a job alone that is wanted by ${whom}, by the same key`, async () => {
      const result = adopt(worker, 1, KEY)
      await gate.until(1)
      const others = want(worker)
      await worker.flush()
      controller.abort()
      await result
      await abortsAreOver(worker)
      assert.equal(gate.started[0].context.signal.aborted, false)
      gate.release(2)
      assert.deepEqual(await Promise.all(others), others.map(() => 1))
      await worker.onIdle()
      assert.equal(worker.stats().done, 1)
    })
  }

  it('leaves a job alone that somebody else has queued with the same key', async () => {
    const id = await worker.pushType('a', 1, KEY)
    await gate.until(1)
    const queue = await at.open(null)
    const result = adopt(queue, 2, KEY)
    await queue.flush()
    controller.abort()
    await result
    await abortsAreOver(queue)
    assert.equal(gate.started[0].context.signal.aborted, false)
    gate.release(2)
    await worker.onIdle()
    assert.deepEqual([worker.stats().done, await worker.get(id)], [1, undefined])
  })

  it('changes nothing for a job that has ended, or a queue that has closed', async () => {
    const result = worker.add(1, { type: 'a', signal: controller.signal })
    await gate.until(1)
    gate.release(1)
    assert.equal(await result, 1)
    const other = new AbortController()
    const open = expectReject(worker.add(2, { type: 'a', signal: other.signal }), 'FAIRLANE_ERR_CLOSED')
    await gate.until(2)
    gate.release(1)
    controller.abort()
    await Promise.all([worker.close({ timeoutMs: 0 }), open.catch(() => {})])
    other.abort()
  })
})

describeWithRedis('an add that shares a job which an abort in its process ends', function () {
  const at = atServer()
  inSlowTime() // no record is looked at for want of a notice

  for (const state of ['waits', 'runs']) {
    for (const when of ['before the process has left the job', 'while it leaves the job']) {
      it(`is told at once if it ${state}, and the add is stored ${when}`, async () => {
        const gate = gates()
        const worker = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 600000 })
        if (state === 'waits') worker.pause()
        const rig = rigged(at.server.path)
        const producer = await at.open(null, { connection: rig.connection })
        const controller = new AbortController()
        const first = expectReject(producer.add(1, { type: 'a', ...KEY, signal: controller.signal }), 'FAIRLANE_ERR_ABORTED')
        await producer.flush()
        if (state === 'runs') await gate.until(1)
        const isBefore = when.startsWith('before')
        const late = rig.delay(isBefore ? 'fairlaneLeave' : 'fairlaneAnnounce')
        const joins = () => expectReject(producer.add(2, { type: 'a', ...KEY }), 'FAIRLANE_ERR_ABORTED')
        let second
        if (isBefore) controller.abort()
        else second = joins()
        await late.reached
        if (isBefore) second = joins()
        else controller.abort()
        await first
        if (isBefore) await producer.flush()
        else await until(() => producer.stats().cancelled + worker.stats().cancelled === 1)
        late.open()
        await second
        if (state === 'runs') gate.release(1)
      })
    }
  }
})
