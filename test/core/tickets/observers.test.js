'use strict'

// What a history has of jobs that wait for their time, or are tried again. mixtures.test.js has the rest.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Postponed, Throttled } = require('../../..')
const { History } = require('../../../lib/history')
const { Metrics } = require('../../../lib/metrics')
const { startsOf } = require('../../support/starts')

const WINDOW = { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }
const KINDS = { 'no scheduler': {}, lanes: { scheduler: 'equal' }, 'shared lanes': { scheduler: 'equal', maxTypes: 1 }, 'a window': { scheduler: WINDOW } }
const PRIORITIES = { 'no scheduler, with priorities': { priorityMs: 1000 }, 'lanes, with priorities': { scheduler: 'equal', priorityMs: 1000 } }

for (const [name, options] of Object.entries({ ...KINDS, ...PRIORITIES })) {
  describe(`a history of a queue with limits (${name})`, () => {
    const type = options.scheduler === undefined ? undefined : 'a'
    let history

    beforeEach(() => { history = new History() })

    const observed = (more, run) => startsOf(fairlane, { concurrency: 1, ...options, ...more, observers: history }, run)
    const versions = id => history.versions(id).map(({ state, at, attempt }) => `${state} ${attempt} at ${at}`)

    it('has a job as delayed until its time has come', async () => {
      const { queue, pass } = observed()
      queue.add(1, { type, delayMs: 10 })
      assert.deepEqual([history.counts().delayed, history.get(1).type], [1, type])
      await pass(10)
      assert.deepEqual(versions(1), ['waiting 0 at 0', 'delayed 0 at 0', 'waiting 0 at 10', 'running 1 at 10', 'done 1 at 10'])
      assert.deepEqual([history.get(1).acceptedAt, history.get(1).startedAt], [0, 10])
    })

    it('gives ids in the order of the adds, without holes', async () => {
      const { queue, starts, pass } = observed()
      queue.add('delayed', { type, delayMs: 5 })
      for (const payload of ['second', 'third']) queue.add(payload, { type })
      queue.add('unshifted', { type, unshift: true })
      queue.add('removed', { type, delayMs: 5 }).catch(() => {})
      queue.remove(({ payload }) => payload === 'removed')
      queue.add('last', { type, delayMs: 5 })
      await pass(5)
      assert.equal(starts.length, 5)
      assert.deepEqual([...history.list()].map(({ id, state }) => `${id} ${state}`), ['6 done', '5 cancelled', '4 done', '3 done', '2 done', '1 done'])
      assert.deepEqual([1, 6].map(id => history.get(id).startedAt), [5, 5])
      assert.deepEqual([2, 3, 4].map(id => history.get(id).startedAt), [0, 0, 0])
    })

    it('has each attempt of a job', async () => {
      const errors = [new Error('first'), new Error('second'), undefined]
      const { queue, pass } = observed({ maxAttempts: 3, backoffMs: 10 }, (payload, done) => done(errors.shift()))
      const added = queue.add(1, { type })
      await pass(20)
      await added
      assert.deepEqual(versions(1), [
        'waiting 0 at 0', 'running 1 at 0', 'delayed 1 at 0', 'waiting 1 at 10', 'running 2 at 10', 'delayed 2 at 10', 'waiting 2 at 20', 'running 3 at 20', 'done 3 at 20'
      ])
      assert.deepEqual(history.versions(1).map(({ error }) => error).filter(Boolean), ['Error: first', 'Error: second'])
    })

    it('has an attempt that timed out', async () => {
      const ends = []
      const runner = (payload, done) => { ends.push(done) }
      const { queue, pass } = observed({ concurrency: 2, maxAttempts: 2, timeoutMs: 5, backoffMs: 10 }, runner)
      const added = queue.add(1, { type })
      await pass(15)
      ends[1](null)
      await added
      ends[0](null)
      assert.deepEqual(versions(1), ['waiting 0 at 0', 'running 1 at 0', 'delayed 1 at 5', 'waiting 1 at 15', 'running 2 at 15', 'done 2 at 15'])
    })

    it('has a job as failed whose last attempt timed out', async () => {
      const { queue, pass } = observed({ timeoutMs: 5, maxAttempts: 1 }, () => {})
      queue.add(1, { type }).catch(() => {})
      await pass(5)
      assert.deepEqual(versions(1), ['waiting 0 at 0', 'running 1 at 0', 'failed 1 at 5'])
    })

    it('has a job as failed that has no further attempt', async () => {
      const { queue, pass } = observed({ maxAttempts: 9, backoffMs: attempt => attempt < 2 ? 1 : Infinity }, (payload, done) => done(new TypeError('no')))
      queue.add(1, { type }).catch(() => {})
      await pass(1)
      assert.deepEqual([history.get(1).state, history.get(1).attempts, history.get(1).error], ['failed', 2, 'TypeError: no'])
    })

    it('has no attempt that does not count', async () => {
      const errors = [new Throttled(10), new Postponed(10), undefined]
      const { queue, pass } = observed({}, (payload, done) => done(errors.shift()))
      queue.add(1, { type })
      await pass(20)
      assert.deepEqual(versions(1), [
        'waiting 0 at 0', 'delayed 0 at 0', 'waiting 0 at 0', 'delayed 0 at 10', 'waiting 0 at 20', 'running 1 at 20', 'done 1 at 20'
      ])
    })

    it('has delayed jobs as cancelled, with the reason', async () => {
      const { queue } = observed()
      const controller = new AbortController()
      queue.add(1, { type, delayMs: 5, signal: controller.signal }).catch(() => {})
      queue.add(2, { type, delayMs: 5 }).catch(() => {})
      controller.abort()
      queue.clear()
      assert.deepEqual([1, 2].map(id => history.get(id).error), ['FAIRLANE_ERR_ABORTED: The job was aborted', 'FAIRLANE_ERR_CLEARED: The queue was cleared'])
      assert.equal(history.counts().cancelled, 2)
    })

    it('has one record of a job that several share', async () => {
      const { queue, pass } = observed()
      queue.add(1, { type, key: 'k', delayMs: 5 })
      queue.add(2, { type, key: 'k', onDuplicate: 'replace' })
      queue.add(3, { type, key: 'k', onDuplicate: 'postpone', delayMs: 7 })
      await pass(7)
      assert.deepEqual([...history.list()].map(({ state, startedAt }) => [state, startedAt]), [['done', 7]])
    })

    it('goes on after many jobs have come and gone', async () => {
      const { queue, pass } = observed({ maxAttempts: 2, backoffMs: 1 }, (payload, done, { attempt }) => done(payload % 3 === 0 && attempt === 1 ? new Error('once') : null))
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 300; i++) queue.add(i, { type: type && `${type}${i % 4}`, unshift: i % 5 === 0, delayMs: i % 7 === 0 ? 3 : undefined }).catch(() => {})
        queue.remove(({ payload }) => payload % 4 === 1)
        await pass(10)
      }
      const { done, cancelled } = queue.stats()
      assert.deepEqual(history.counts(), { waiting: 0, running: 0, delayed: 0, done, failed: 0, cancelled })
      assert.equal(done + cancelled, 900)
      const first = [...history.list({ limit: 900 })].reverse()
      assert(first.every(({ state, attempts }, i) => state === ((i % 300) % 4 === 1 ? 'cancelled' : 'done') && (state !== 'done' || attempts === ((i % 300) % 3 === 0 ? 2 : 1))))
    })
  })
}

describe('metrics of a queue with limits', () => {
  const shown = metrics => metrics.snapshot().types[0]

  it('take no delay for a wait', async () => {
    const metrics = new Metrics()
    const { queue, pass } = startsOf(fairlane, { observers: metrics })
    queue.add(1, { delayMs: 50 })
    assert.equal(shown(metrics).waiting, 0)
    assert.match(new TextDecoder().decode(metrics.toText()), /fairlane_jobs\{state="delayed",queue="default",type=""\} 1/)
    assert(!new TextDecoder().decode(metrics.toText()).includes('state="dead"'))
    await pass(50)
    assert.deepEqual([shown(metrics).accepted, shown(metrics).done, shown(metrics).waitMs.sum], [1, 1, 0])
  })

  it('count the run of each attempt, and as retries those that count', async () => {
    const metrics = new Metrics()
    const errors = [new Throttled(10), new Postponed(10), new Error('no'), undefined]
    const clock = { finish: undefined }
    const runner = (payload, done) => { clock.finish = () => done(errors.shift()) }
    const { queue, pass } = startsOf(fairlane, { observers: metrics, maxAttempts: 2, backoffMs: 10 }, runner)
    queue.add(1)
    for (let attempt = 0; attempt < 4; attempt++) {
      await pass(3)
      clock.finish()
      await pass(10)
    }
    const { accepted, done, failed, retried, slotMs, runMs, waitMs } = shown(metrics)
    assert.deepEqual({ accepted, done, failed, retried }, { accepted: 1, done: 1, failed: 0, retried: 1 })
    assert.deepEqual([slotMs, runMs.sum, sum(runMs.buckets), sum(waitMs.buckets)], [12, 12, 4, 4])
  })

  it('count a job once that is not tried again after all', async () => {
    const metrics = new Metrics()
    const { queue, pass } = startsOf(fairlane, { observers: metrics, maxAttempts: 2, backoffMs: () => Infinity }, (payload, done) => done(new Error('no')))
    queue.add(1).catch(() => {})
    await pass(0)
    const { failed, retried, runMs } = shown(metrics)
    assert.deepEqual([failed, retried, sum(runMs.buckets)], [1, 0, 1])
  })

  it('count a retry when the queue does: not while it asks how long the job is to wait, nor for a job that is cancelled then', async () => {
    const metrics = new Metrics()
    const seen = []
    const see = () => seen.push([shown(metrics).retried, queue.stats().retried])
    const backoffs = {
      'is cancelled': () => queue.remove(({ payload }) => payload === 'is cancelled'),
      'is over': () => Infinity,
      'is tried again': () => 10
    }
    const { queue, pass } = startsOf(fairlane, {
      observers: metrics,
      concurrency: 1,
      maxAttempts: 2,
      backoffMs: (attempt, { message }) => {
        see()
        const ms = backoffs[message]()
        see()
        return ms
      }
    }, (payload, done) => done(new Error(payload)))
    queue.on('retry', see)
    for (const payload of Object.keys(backoffs)) queue.push(payload, see)
    await pass(10)
    assert.deepEqual(seen, [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [1, 1], [1, 1]])
    const { failed, cancelled, retried, slotMs, runMs } = shown(metrics)
    assert.deepEqual([failed, cancelled, retried, slotMs, sum(runMs.buckets)], [2, 1, 1, 0, 4])
  })

  const sum = counts => counts.reduce((total, count) => total + count, 0)
})

describe('a history of a queue with limits', () => {
  it('records types though a queue without a scheduler ignores them', () => {
    for (const options of [{}, { priorityMs: 1 }]) {
      const history = new History()
      const queue = fairlane(() => {}, { ...options, observers: history }).pause()
      queue.pushType('a', 1).unshiftType('b', 2)
      queue.add(3, { type: 'c', delayMs: 1000 }).catch(() => {})
      assert.deepEqual([1, 2, 3].map(id => history.get(id).type), ['a', 'b', 'c'])
      assert.deepEqual([...queue.jobs()].map(({ type }) => type), [undefined, undefined, undefined])
      queue.clear()
    }
  })
})
