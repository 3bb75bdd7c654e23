'use strict'

const assert = require('node:assert/strict')
const diagnostics = require('node:diagnostics_channel')
const { durable, Postponed, Throttled } = require('../../lib/durable')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { Metrics, channels } = require('../../lib/metrics')
const { rounds } = require('../support/rounds')
const { seeded, seedFromEnvironment } = require('../support/random')
const { passingOf } = require('../support/starts')
const { quiet } = require('../support/turns')
const { Bench } = require('./bench')
const { systemError } = require('../log/disk')
const { ObservedRound } = require('./observed-rounds')

const base = seedFromEnvironment()
const ROUNDS = rounds(15)

describe('metrics of a queue on disk', () => {
  for (const options of [{ scheduler: 'equal' }, { scheduler: null }]) {
    it(`know for how long the next job has waited, and who goes on after a timeout: ${JSON.stringify(options)}`, async () => {
      const metrics = new Metrics()
      const bench = new Bench()
      const queue = await bench.open({ ...options, concurrency: 1, maxAttempts: 1, timeoutMs: 10, observers: metrics })
      await queue.pushType('a', 1)
      await bench.gate.until(1)
      for (const type of ['b', 'c']) {
        await queue.pushType(type, 1, { timeoutMs: Infinity })
        bench.clock.advance(10)
      }
      await quiet()
      const told = ({ type, running, overdue, oldestWaitMs, slotMs }) => [type, [running, overdue, oldestWaitMs, slotMs]]
      const numbers = () => Object.fromEntries(metrics.snapshot().types.map(told))
      assert.deepEqual(numbers(), { a: [1, 1, undefined, 20], b: [0, 0, 20, 0], c: [0, 0, 10, 0] })
      assert.deepEqual([queue.stats().running, queue.stats().overdue], [1, 1])
      const { types: [first] } = metrics.snapshot({ top: 1, by: 'overdue' })
      assert.deepEqual([first.type, first.overdue, first.running], ['a', 1, 1])
      if (options.scheduler !== null) {
        assert.deepEqual([queue.stats('a').running, queue.stats('a').overdue, (await queue.counts('a')).running], [1, 1, 1])
        assert.equal(metrics.snapshot({ by: 'oldestWait' }).types[0].oldestWaitMs, 20)
      } else {
        assert.equal(queue.stats('a').overdue, 0) // whose it is, only lists with a scheduler know
      }
      bench.gate.release(1)
      await bench.gate.until(2)
      assert.deepEqual(numbers().a, [0, 0, undefined, 20])
      await queue.close({ timeoutMs: 0 })
      assert.deepEqual(numbers().b.slice(0, 2), [1, 1])
    })
  }
})

describe('a history of a durable queue', () => {
  let bench, history

  beforeEach(() => {
    bench = new Bench()
    history = new History()
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const statesOf = id => history.versions(id).map(({ state, attempt }) => `${state} ${attempt}`)

  it(`has of each job what happened to it, whatever is retried, deleted, closed and killed (SEED=${base})`, async () => {
    const random = seeded(base)
    for (let number = 0; number < ROUNDS; number++) {
      const seed = random.below(4294967296)
      await new ObservedRound(seed).play().catch(
        err => { throw new Error(`SEED=${base}, round ${number}: ${err.message}`, { cause: err }) }
      )
    }
  })

  it('shows each attempt of a job, the dead letter, and its life after that', async () => {
    const queue = await bench.open({ observers: history, maxAttempts: 2, backoffMs: 10 })
    await queue.pushType('t', 'a')
    for (let attempt = 0; attempt < 2; attempt++) {
      await bench.gate.until(attempt + 1)
      bench.gate.started[attempt].done(new TypeError('no'))
      bench.clock.advance(10)
      await quiet()
    }
    assert.deepEqual(statesOf(1), ['waiting 0', 'running 1', 'delayed 1', 'waiting 1', 'running 2', 'failed 2'])
    assert.deepEqual([history.get(1).type, history.get(1).error], ['t', 'TypeError: no'])
    assert.throws(() => history.remove(1), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await queue.retryDead(1)
    assert.deepEqual(statesOf(1).slice(6), ['waiting 0'])
    await bench.gate.until(3)
    bench.gate.started[2].done()
    await queue.onIdle()
    assert.deepEqual(statesOf(1).slice(6), ['waiting 0', 'running 1', 'done 1'])
  })

  it('begins with the jobs that are on disk, by when they were pushed and how often they were tried', async () => {
    await bench.open({ concurrency: 1 })
    await bench.queue.push('a')
    bench.clock.advance(7)
    await bench.queue.push('b')
    await bench.gate.until(1)
    bench.clock.advance(3)
    await bench.reopenAfterKill({ observers: history, concurrency: 1 })
    assert.deepEqual([history.get(1), history.get(2)].map(({ acceptedAt, attempts }) => [acceptedAt, attempts]), [[0, 1], [7, 0]])
    await bench.gate.until(1)
    assert.deepEqual([history.get(1).state, history.get(1).attempts, history.get(1).startedAt], ['running', 2, 10])
    const id = await bench.queue.push('c')
    assert.deepEqual([...history.list()].map(job => job.id), [id, 2, 1])
  })

  it('begins with the errors of jobs that have failed before, whether they are tried again or dead', async () => {
    await bench.open({ concurrency: 1, maxAttempts: 2, backoffMs: 100 })
    for (const maxAttempts of [1, 2, 3]) await bench.queue.push('a', { maxAttempts })
    for (const start of [1, 2, 3]) {
      await bench.gate.until(start)
      bench.gate.fail(new RangeError(`no ${start}`))
    }
    await quiet()
    bench.clock.advance(90)
    await bench.reopenAfterKill({ observers: history })
    assert.deepEqual([1, 2, 3].map(id => [history.get(id).state, history.get(id).attempts, history.get(id).error]), [
      ['failed', 1, 'RangeError: no 1'], ['delayed', 1, 'RangeError: no 2'], ['delayed', 1, 'RangeError: no 3']
    ])
    assert.deepEqual([...history.list({ state: 'failed' })].map(({ id }) => id), [1])
    assert.deepEqual(statesOf(2), ['waiting 1', 'delayed 1'])
    await bench.queue.close({ timeoutMs: 0 })
    bench.clock.advance(20)
    history = new History()
    await bench.open({ observers: history })
    assert.deepEqual([1, 2, 3].map(id => history.get(id).state), ['failed', 'waiting', 'waiting'])
  })

  it('has no attempt that does not count', async () => {
    const errors = [new Throttled(10), new Postponed(20), undefined]
    const runner = (payload, done) => { bench.clock.setTimeout(() => done(errors.shift()), 5) }
    const queue = await bench.open({ observers: history, runner, maxAttempts: 1 })
    await queue.push('a')
    await passingOf(bench.clock)(60)
    assert.deepEqual(statesOf(1), ['waiting 0', 'delayed 0', 'waiting 0', 'delayed 0', 'waiting 0', 'running 1', 'done 1'])
  })

  it('has as cancelled what had waited for too long when the queue was opened', async () => {
    await bench.open()
    bench.queue.pause()
    await bench.queue.push('a')
    bench.clock.advance(7)
    await bench.reopen({ observers: history, maxWaitMs: 5 })
    assert.equal(history.get(1).error, 'FAIRLANE_ERR_MAX_WAIT: The job waited longer than maxWaitMs')
    assert.deepEqual([history.get(1).state, history.counts().cancelled], ['cancelled', 1])
  })

  it('keeps a dead letter until that is deleted; then it is a failed job as any other', async () => {
    const queue = await bench.open({ observers: history, maxAttempts: 1 })
    await queue.push('a')
    await bench.gate.until(1)
    bench.gate.started[0].done(new Error('no'))
    await queue.onIdle()
    assert.throws(() => history.remove(1), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await queue.deleteDead(1)
    assert.equal(history.get(1).state, 'failed')
    assert.equal(history.remove(1), true)
    assert.equal(history.get(1), undefined)
  })

  it('tells of a start when the runner is called, not when the job gets a slot', async () => {
    const queue = await bench.open({ observers: history })
    const pushed = queue.push('a')
    assert.equal(history.get(1).state, 'waiting')
    queue.pause()
    await pushed
    await quiet()
    assert.deepEqual(statesOf(1), ['waiting 0'])
    queue.resume()
    await bench.gate.until(1)
    assert.deepEqual(statesOf(1), ['waiting 0', 'running 1'])
  })

  it('takes back the starts of jobs that a closing queue leaves on disk, but for those that end well meanwhile', async () => {
    const queue = await bench.open({ observers: history })
    await queue.push('a')
    await queue.push('b')
    await bench.gate.until(2)
    const closed = queue.close({ timeoutMs: 0 })
    bench.gate.release()
    await closed
    assert.deepEqual([statesOf(1).at(-1), statesOf(2).at(-1)], ['done 1', 'waiting 0'])
  })

  it('has no record of a job that could not be written', async () => {
    const queue = await bench.open({ observers: history })
    await queue.push('a')
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.push('b'), { code: 'FAIRLANE_ERR_IO' })
    await quiet()
    bench.disk.fault = () => undefined
    assert.deepEqual([...history.list()].map(({ id }) => id), [1])
  })

  it('has no record of a job that was cancelled before it had an id', async () => {
    const queue = await bench.open({ observers: history, maxInflightOps: 1 })
    queue.pause()
    const pushes = [queue.push('a'), queue.push('b')]
    assert.equal(queue.clear(), 2)
    await Promise.allSettled(pushes)
    assert.deepEqual([...history.list()].map(({ id, state }) => [id, state]), [[1, 'cancelled']])
  })

  it('is of one queue: no other one is opened with it', async () => {
    await bench.open({ observers: history })
    assert.throws(() => { durable(() => {}, { path: '/nowhere', observers: history }) }, { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('is of the first queue that is open if two are opened with it at once', async () => {
    const second = new Bench()
    const [first, other] = await Promise.allSettled([bench.open({ observers: history }), second.open({ observers: history })])
    assert.equal(first.status, 'fulfilled')
    assert.equal(other.reason.code, 'FAIRLANE_ERR_OPTION')
    assert.equal(second.disk.openCount, 0)
    await second.open({ observers: new History() })
    await second.queue.close({ drain: true })
  })

  it('is not used up by a queue that could not be opened', async () => {
    bench.disk.fault = () => systemError('EIO')
    await assert.rejects(bench.open({ observers: history }), { code: 'FAIRLANE_ERR_IO' })
    bench.disk.fault = () => undefined
    await bench.open({ observers: history })
    await bench.queue.push('a')
    assert.equal(history.counts().waiting + history.counts().running, 1)
  })

  it('is told of each push that is refused, by the code of its error', async () => {
    let ledger
    const observer = { [OBSERVE]: (...given) => (ledger = history[OBSERVE](...given)) }
    const queue = await bench.open({ observers: observer, capacity: 1 })
    await assert.rejects(queue.pushType('t'.repeat(70000), 1), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    await queue.push(1)
    await assert.rejects(queue.push(2), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    bench.queue.close({ timeoutMs: 0 })
    await assert.rejects(queue.push(3), { code: 'FAIRLANE_ERR_CLOSED' })
    assert.deepEqual([...ledger.refusedCounts], ['TOO_LARGE', 'QUEUE_FULL', 'CLOSED'].map(name => [`FAIRLANE_ERR_${name}`, 1]))
    assert.equal(queue.stats().rejected, 3)
  })

  it('observes the queue on disk, not the one in memory below it', async () => {
    const observer = { [OBSERVE]: (...given) => history[OBSERVE](...(observed = given)) }
    let observed
    await bench.open({ observers: observer })
    assert.equal(observed[0], bench.queue)
  })

  it('shares its ledger with other observers', async () => {
    const other = new History()
    await bench.open({ observers: [history, other] })
    await bench.queue.push('a')
    assert.deepEqual(history.get(1), other.get(1))
  })
})

describe('metrics of a durable queue', () => {
  it('count the run of each attempt, and as retries those that count, at each moment', async () => {
    const bench = new Bench()
    const metrics = new Metrics()
    const shown = () => metrics.snapshot().types[0]
    const seen = []
    const see = () => {
      const { running, waiting, delayed, retried, failed } = queue.stats()
      const all = shown()
      seen.push(retried)
      assert.deepEqual([all.running, all.waiting, all.retried, all.failed], [running, waiting - delayed, retried, failed])
    }
    const errors = [new Throttled(10), new Error('no'), new Postponed(10), new Error('is over')]
    const queue = await bench.open({
      observers: metrics,
      maxAttempts: 3,
      runner (payload, done) {
        see()
        bench.clock.setTimeout(() => done(errors.shift()), 3)
      },
      backoffMs (attempt, { message }) {
        see()
        return message === 'no' ? 10 : Infinity
      }
    })
    for (const event of ['retry', 'failed']) queue.on(event, see)
    await queue.push('a')
    await passingOf(bench.clock)(100)
    assert.deepEqual(seen, [0, 0, 0, 1, 1, 1, 1, 1])
    const { failed, slotMs, waitMs, runMs } = shown()
    const sum = counts => counts.reduce((total, count) => total + count, 0)
    assert.deepEqual([failed, slotMs, runMs.sum, sum(runMs.buckets), sum(waitMs.buckets)], [1, 12, 12, 4, 4])
    await queue.close({ drain: true })
  })
})

describe('channels of a durable queue', () => {
  it('publish what follows on an attempt that has failed when that is decided, with its times', async () => {
    const bench = new Bench()
    const seen = []
    const { queue, stop } = await listened(bench, seen)
    try {
      for (const payload of ['is over', 'is tried again', 'is cancelled']) {
        await queue.push(payload)
        await passingOf(bench.clock)(50)
      }
      assert.deepEqual(seen, [
        ['started', 1, 1, 0, undefined, undefined], ['settled', 1, 1, 0, 5, 'is over'],
        ['started', 2, 1, 0, undefined, undefined], ['retried', 2, 1, 0, 5, 'is tried again'],
        ['started', 2, 2, 0, undefined, undefined], ['settled', 2, 2, 0, 5, 'is tried again'],
        ['started', 3, 1, 0, undefined, undefined], ['settled', 3, 1, undefined, undefined, 'The job was removed']
      ])
    } finally {
      stop()
      await queue.close({ drain: true })
    }
  })

  /** A queue whose jobs fail after 5 ms, with their payloads as messages, and two attempts; what is published of it. */
  async function listened (bench, seen) {
    const names = ['started', 'settled', 'retried']
    const listener = ({ id, attempt, waitMs, runMs, error }, name) => seen.push([
      name.split(':').at(-1), id, attempt, waitMs, runMs, error?.message
    ])
    for (const name of names) diagnostics.subscribe(`fairlane:job:${name}`, listener)
    const queue = await bench.open({
      observers: channels(),
      maxAttempts: 2,
      runner (payload, done) { bench.clock.setTimeout(() => done(new Error(payload)), 5) },
      backoffMs (attempt, { message }) {
        if (message === 'is cancelled') queue.remove(() => true)
        return message === 'is tried again' ? 20 : Infinity
      }
    })
    return { queue, stop () { for (const name of names) diagnostics.unsubscribe(`fairlane:job:${name}`, listener) } }
  }
})
