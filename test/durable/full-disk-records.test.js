'use strict'

const assert = require('node:assert')
const { Postponed, Throttled } = require('../../lib/durable')
const { CLAIM, claimsOf } = require('../../lib/log/claims')
const { JobState } = require('../../lib/durable/run/job-state')
const { captureWarnings } = require('../support/uncaught')
const { turn } = require('../support/turns')
const { Bench } = require('./bench')
const { systemError } = require('../log/disk')

const IO = { code: 'FAIRLANE_ERR_IO' }
const OTHERS = 20
const TEXT = 'the text of an error '.repeat(20)

// What is written first when the disk is full: by the `end` of job `a`, which runs, or by what somebody does to it. Others wait for its
// slot. `left` are the texts of the dead letters in the end.
const FIRST = {
  'the end of a job': { end: done => done() },
  'a retry': { end: done => done(new Error(TEXT)) },
  'a dead letter': { maxAttempts: 1, end: done => done(new Error(TEXT)), left: [TEXT] },
  'the end of a job whose key stays taken': { push: { key: 'k', keyUntil: 1e6 }, end: done => done() },
  'the end of the job of a schedule': { schedules: { s: { everyMs: 1e9, payload: 'a' } }, end: done => done() },
  'an attempt that does not count': { end: done => done(new Throttled(1)) },
  'a job that is put off': { end: done => done(new Postponed(5)) },
  'a dead letter that is tried again': { maxAttempts: 1, isDead: true, act: queue => queue.retryDead(1) },
  'a dead letter that is deleted': { maxAttempts: 1, isDead: true, act: queue => queue.deleteDead(1) },
  'a job that is cancelled': { act: queue => queue.cancel(5) },
  'jobs that are taken out': { act: async queue => assert.equal(queue.remove(({ payload }) => payload === 'other 3'), 1) },
  'an attempt': { isPaused: true, act: async queue => queue.resume() }
}

describe('a disk that is full when a job queue writes', () => {
  const { now } = performance
  let bench
  let warnings
  let end // what becomes of `a`, once

  beforeEach(() => {
    warnings = captureWarnings()
    bench = new Bench()
    performance.now = () => bench.clock.now()
  })

  afterEach(async () => {
    bench.disk.fault = () => undefined
    bench.disk.capacity = Infinity
    await bench.queue.close({ timeoutMs: 0 })
    performance.now = now
    warnings.release()
  })

  async function goOnUntil (isDone, what) {
    for (let i = 0; !isDone(); i++) {
      assert(i < 3000, `it does not come to that: ${what}`)
      if (i % 10 === 0) bench.clock.advance(1000)
      await turn()
    }
  }

  /** `a` has the slot, or is a dead letter, and the others wait. */
  async function prepare ({ schedules, maxAttempts = 3, push, isDead, isPaused }) {
    let running
    const runner = (payload, done) => {
      if (payload === 'a' && end !== undefined) running = done
      else done()
    }
    end = done => done(new Error('dead'))
    if (schedules !== undefined) bench.epoch = 1e12 - 1
    const queue = await bench.open({ runner, segmentBytes: 65536, concurrency: 1, backoffMs: 5, schedules, maxAttempts })
    if (isPaused) queue.pause()
    if (schedules === undefined) await queue.push('a', push)
    else bench.clock.advance(1)
    if (!isPaused) await goOnUntil(() => running !== undefined, 'a runs')
    if (isDead) {
      end(running)
      await goOnUntil(() => queue.stats().failed === 1, 'a is dead')
      queue.pause()
    }
    for (let i = 0; i < OTHERS; i++) await queue.push(`other ${i}`)
    await queue.flush()
    return () => running
  }

  for (const [what, kind] of Object.entries(FIRST)) {
    for (const isMixed of [false, true]) {
      it(`${what}${isMixed ? ', with a push' : ''} goes on`, async () => {
        const running = await prepare(kind)
        const { queue } = bench
        const outages = []
        queue.on('outage', err => outages.push(err.cause.code))
        queue.on('outageover', () => outages.push('over'))
        bench.disk.capacity = bench.disk.usedBytes
        const pushed = isMixed ? assert.rejects(queue.push('one more'), IO) : undefined
        const acted = kind.act?.(queue)
        const first = end
        end = undefined
        assert.notEqual(first, undefined)
        if (kind.act === undefined) kind.end(running())
        else if (!kind.isDead && !kind.isPaused) running()()
        if (kind.isDead) queue.resume()
        await pushed
        await goOnUntil(() => queue.length === 0, 'all jobs have settled')
        assert.equal(outages[0], 'ENOSPC')
        assert.deepEqual((await queue.deadLetters()).map(({ error }) => error.message), kind.left ?? [])
        const killed = new Bench()
        killed.disk = bench.disk.afterKill()
        await killed.open({ maxAttempts: kind.maxAttempts, runner: () => {} })
        assert.equal(killed.queue.recovered.jobs, (await killed.queue.deadLetters()).length)
        await killed.queue.close({ timeoutMs: 0 })
        bench.disk.capacity = Infinity
        bench.clock.advance(10000)
        assert.equal(outages.at(-1), 'over')
        await acted
        await queue.push('there is room')
        await queue.onIdle()
        const { schedules } = kind
        const again = await bench.reopenAfterKill({ runner: () => {}, schedules })
        assert.deepEqual((await again.deadLetters()).map(({ error }) => error.message), kind.left ?? [])
        assert.equal(again.recovered.jobs, (await again.deadLetters()).length)
        if (kind.push) assert.equal(await again.push('a', kind.push), 1)
        if (schedules) assert.equal((await again.listSchedules())[0].lastAt, 1e12)
      })
    }
  }

  it('a key that is free again goes on, with the push that finds it so', async () => {
    const queue = await bench.open({ runner: (payload, done) => done(), segmentBytes: 65536, concurrency: 1 })
    await queue.push('a', { key: 'k', keyUntil: 1000 })
    await queue.onIdle()
    queue.pause()
    for (let i = 0; i < OTHERS; i++) await queue.push(`other ${i}`)
    bench.clock.advance(1000)
    bench.disk.capacity = bench.disk.usedBytes
    await assert.rejects(queue.push('b', { key: 'k' }), IO)
    queue.resume()
    await goOnUntil(() => queue.length === 0, 'all jobs have settled')
    await queue.flush()
    assert.equal((await bench.reopenAfterKill()).recovered.jobs, 0)
  })

  it('numbers that are set aside goes on, and refuses pushes', async () => {
    await prepare({ isPaused: true })
    bench.disk = bench.disk.afterKill()
    for (const name of bench.disk.list('/queue')) if (name.startsWith('numbers')) bench.disk.remove(`/queue/${name}`)
    bench.disk.fault = (kind, path) => kind === 'create' && path.includes('numbers') ? systemError('ENOSPC') : undefined
    const queue = await bench.open({ runner: (payload, done) => done() })
    await assert.rejects(queue.push('refused'), IO)
    await goOnUntil(() => queue.length === 0, 'all jobs have settled')
    bench.disk.fault = () => undefined
    await queue.push('taken')
  })
})

describe('the claims on the reserve', () => {
  it('are the larger the more a record frees', () => {
    const { push, move, ack, trim } = claimsOf('jobs')
    const started = JobState.started(1, undefined).claim
    const retry = JobState.due(1, 1, 1, undefined).claim
    assert(push < started && started < retry && retry < move && move < ack && ack < trim)
    assert.deepEqual([JobState.waiting, JobState.interrupted, JobState.revived].map(state => state.claim), [retry, retry, started])
    assert.deepEqual([JobState.over, JobState.dead(1, 'text')].map(state => state.claim), [ack, ack])
  })

  it('are all the same in a queue of bytes but for segments that are written anew', () => {
    const { push, move, ack, trim } = claimsOf('bytes')
    assert.deepEqual([push, move, ack, trim], Array(4).fill(CLAIM.ALL))
  })
})
