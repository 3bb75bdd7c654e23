'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { OBSERVE } = require('../../lib/core/internals')
const { distributed } = require('../../lib/distributed')
const { observe } = require('../../lib/distributed/worker/observed')
const { History } = require('../../lib/history')
const { Metrics, channels } = require('../../lib/metrics')
const { Postponed } = require('../../lib/job/postponing')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { withoutTime } = require('../support/time')
const { atServer } = require('./opened')
const { expectReject } = require('./expectations')
const { until } = require('./until')

describe('observers of a distributed queue', function () {
  const given = { name: 'q', connection: '/nowhere' }

  it('are metrics, of a process that runs jobs', async function () {
    for (const observers of [new History(), channels(), [new Metrics(), new History()], {}, 1]) {
      await expectReject(distributed(() => {}, { ...given, observers }), 'FAIRLANE_ERR_OPTION')
    }
    const metrics = new Metrics()
    await expectReject(distributed(null, { ...given, observers: metrics }), 'FAIRLANE_ERR_OPTION')
    fairlane(() => {}, { observers: metrics })
  })

  it('are told for how long jobs have waited at the broker', async function () {
    const metrics = new Metrics({ bucketsMs: [10, 10000, 20000] })
    const clock = fakeClock()
    const queue = { scheduler: null, concurrency: 1 }
    const observed = observe(queue, [metrics], clock)
    const place = { type: 'a' }
    const job = (waitedMs, attempt, takenAt) => ({ number: 0, attempt, place, takenAt, waitedMs })
    await withoutTime(() => {
      for (const one of [
        job(15000, 1, 0), job(5000, 1, 0), job(-5000, 1, 0), job(15000, 2, performance.now())
      ]) {
        observed.begins(one)
        clock.advance(12)
        observed.ends({ job: one, kind: 'done', details: {} })
      }
    })
    const { types: [{ waitMs, runMs, done, accepted }] } = metrics.snapshot()
    assert.deepEqual([waitMs.buckets, runMs.buckets, runMs.sum, done, accepted], [[2, 1, 1, 0], [0, 4, 0, 0], 48, 4, 4])
  })

  it('count what came to an end that was not begun, and forget what goes elsewhere', function () {
    const metrics = new Metrics()
    const observed = observe({ scheduler: null, concurrency: 1 }, [metrics], fakeClock())
    const job = () => ({ number: 0, attempt: 0, place: { type: 'a' }, takenAt: 0, waitedMs: 0 })
    observed.ends({ job: job(), kind: 'cancelled', details: { error: new Error('no') } })
    observed.ends({ job: job(), kind: 'dead', details: { error: new Error('no') } })
    observed.ends({ job: job(), kind: 'returned', details: {} })
    observed.lost(job(), new Error('no'))
    const running = job()
    observed.begins(running)
    observed.lost(running, new Error('no'))
    const { types: [{ cancelled, failed, running: now, waiting, done, retried, accepted }] } = metrics.snapshot()
    assert.deepEqual(
      { cancelled, failed, now, waiting, done, retried, accepted },
      { cancelled: 1, failed: 1, now: 0, waiting: 0, done: 0, retried: 0, accepted: 2 }
    )
  })

  it('are told of no runner that goes on in the place of a job that they do not know', function () {
    const observed = observe({ scheduler: null, concurrency: 1 }, [new Metrics()], fakeClock())
    const { outlives } = observed.watcher()
    const job = { number: 0, attempt: 1, place: { type: 'a' }, takenAt: 0, waitedMs: 0 }
    assert.deepEqual([outlives({ payload: {} }), outlives({ payload: { job } })], [undefined, undefined])
    observed.begins(job)
    assert.notEqual(outlives({ payload: { job } }), undefined)
  })

  it('observe no second queue', function () {
    const metrics = new Metrics()
    fairlane(() => {}, { observers: metrics })
    assert.throws(() => observe({}, [metrics], fakeClock()), { code: 'FAIRLANE_ERR_OPTION' })
    assert.equal(metrics[OBSERVE], undefined)
    assert.equal(observe({}, [], fakeClock()), undefined)
  })
})

describeWithRedis('metrics of a distributed queue', function () {
  const at = atServer()

  it('count what becomes of the jobs that the process runs, as its stats do', async function () {
    const metrics = new Metrics({ name: 'mails' })
    const seen = []
    let isPutOff = false
    const queue = await at.open(async (payload, { attempt }) => {
      seen.push(metrics.snapshot().types.reduce((sum, { running }) => sum + running, 0))
      if (payload === 'fails' || (payload === 'fails once' && attempt === 1)) throw new Error('no')
      if (payload === 'is put off' && !isPutOff) {
        isPutOff = true
        throw new Postponed(1)
      }
    }, { scheduler: 'equal', concurrency: 1, maxAttempts: 2, backoffMs: 0, observers: metrics, maxWaitingPerType: { c: 0 } })
    const payloads = ['is done', 'fails', 'fails once', 'is put off']
    for (const payload of payloads) await queue.pushType(payload === 'fails' ? 'b' : 'a', payload)
    await expectReject(queue.pushType('c', 1), 'FAIRLANE_ERR_TYPE_FULL')
    await until(() => queue.stats().done === 3 && queue.stats().failed === 1)
    const { done, failed, cancelled, retried } = queue.stats()
    const { types, refused } = metrics.snapshot()
    const sum = name => types.reduce((total, type) => total + type[name], 0)
    assert.deepEqual(
      { done: sum('done'), failed: sum('failed'), cancelled: sum('cancelled'), retried: sum('retried') },
      { done, failed, cancelled, retried }
    )
    assert.deepEqual([sum('running'), sum('waiting'), refused], [0, 0, { FAIRLANE_ERR_TYPE_FULL: 1 }])
    assert.deepEqual(types.map(({ type, runMs }) => [type, runMs.buckets.reduce((total, count) => total + count, 0)]), [['a', 5], ['b', 2]])
    assert.deepEqual(seen, [1, 1, 1, 1, 1, 1, 1])
    assert.match(new TextDecoder().decode(metrics.toText()), /fairlane_slots\{queue="mails"\} 1\n/)
  })

  it('count runners that go on when their jobs have ended, until they end, too', async function () {
    const metrics = new Metrics({ name: 'mails' })
    const gate = gates()
    const queue = await at.open(gate.runner, {
      scheduler: 'equal', settleBy: 'callback', timeoutMs: 20, maxAttempts: 1, observers: metrics
    })
    await expectReject(queue.add(1, { type: 'a' }), 'FAIRLANE_ERR_TIMEOUT')
    const held = () => metrics.snapshot().types.map(({ running, overdue }) => [running, overdue])
    assert.deepEqual(held(), [[1, 1]])
    gate.release(1)
    await until(() => queue.running === 0)
    assert.deepEqual(held(), [[0, 0]])
  })
})
