'use strict'

const assert = require('node:assert')
const { Admission } = require('../../lib/log/admission')
const { Writing } = require('../../lib/durable/push/writing')
const { NONE } = require('../../lib/durable/push/job-options')
const { JobState } = require('../../lib/durable/run/job-state')
const { Outage } = require('../../lib/durable/life/outage')
const { Retries } = require('../../lib/durable/run/retries')
const { Unwritten } = require('../../lib/log/unwritten')
const { once } = require('../support/attempts')
const { turns } = require('../support/turns')

const EMPTY = Buffer.alloc(0)
const keys = { written () {}, lost () {} }
const results = { written () {} }

/** Of a store, for so many pushes under way. */
function makeAdmission (store, maxInflightOps) {
  store.live = { jobsCount: 0 }
  store.payloadBytes = 0
  return new Admission(store, { capacity: Infinity, capacityBytes: Infinity, maxInflightOps }, { stampBytes: 0, refusal: () => undefined })
}

const outageOf = store => new Outage({ report: {}, stage: { deadlines: { remove () {} } }, store })

describe('the parts of a durable queue', () => {
  it('writing: refuses buffered pushes that the store refuses when it is their turn', async () => {
    const full = new Error('full')
    const store = {
      nextSeq: 1,
      refusal: () => full,
      push () {
        this.nextSeq++
        return { promise: Promise.resolve() }
      }
    }
    const reverted = []
    const admission = makeAdmission(store, 1)
    const reverts = { revert: job => reverted.push(job) }
    const writing = new Writing({ store, admission, keys, report: {}, results, retries: { written: () => false }, reverts })
    const first = writing.write('t', Buffer.from('a'), EMPTY, false, NONE)
    const second = writing.write('t', Buffer.from('b'), EMPTY, false, NONE)
    assert.deepEqual([first.job, admission.bufferedCount, admission.bufferedBytes], [1, 1, 2])
    admission.settled({ pushesCount: 1 })
    await assert.rejects(second.promise, full)
    assert.equal(await first.promise, 1)
    writing.cancel(second.job, new Error('again'))
    assert.deepEqual([reverted, admission.bufferedCount, admission.bufferedBytes], [[second.job], 0, 0])
  })

  it('writing: writes no more than may be under way', async () => {
    const store = {
      nextSeq: 1,
      refusal: () => undefined,
      push () {
        this.nextSeq++
        return { promise: Promise.resolve() }
      }
    }
    const admission = makeAdmission(store, 2)
    const writing = new Writing({ store, admission, keys, report: {}, results, retries: { written: () => false } })
    const pushes = ['a', 'b', 'c', 'd'].map(text => writing.write(undefined, Buffer.from(text), EMPTY, false, NONE))
    admission.settled({ pushesCount: 1 })
    assert.deepEqual([store.nextSeq, admission.bufferedCount], [4, 1])
    admission.settled({ pushesCount: 2 })
    assert.deepEqual(await Promise.all(pushes.map(({ promise }) => promise)), [1, 2, 3, 4])
  })

  it('admission: takes no longer for a held push when many are held', async () => {
    const costOf = count => {
      const admission = makeAdmission({}, 1)
      let written = 0
      admission.inflightCount = 1
      for (let i = 0; i < count; i++) {
        admission.buffer(1, 1, () => {
          written++
          admission.inflightCount++
        })
      }
      const before = process.cpuUsage()
      while (admission.bufferedCount > 0) admission.settled({ pushesCount: 1 })
      const { user, system } = process.cpuUsage(before)
      assert.deepEqual([written, admission.bufferedBytes, admission.inflightCount], [count, 0, 1])
      return user + system
    }
    const bestOf = count => Math.min(...[1, 2, 3, 4, 5].map(() => costOf(count)))
    bestOf(20000)
    // four times as many: 14 times as long where each looked for its place anew
    await once(() => assert(bestOf(80000) < 9 * bestOf(20000)))
  })

  it('admission: calls those who wait for held pushes when these were written or dropped, and refuses all of them at once', () => {
    const admission = makeAdmission({}, 1)
    const calls = []
    admission.afterBuffered(() => calls.push('nothing held'))
    admission.inflightCount = 1
    admission.buffer(1, 1, error => calls.push(['a', error]))
    const dropped = admission.buffer(1, 1, error => calls.push(['b', error]))
    admission.afterBuffered(() => calls.push('after b'))
    admission.drop(dropped)
    assert.deepEqual(calls, ['nothing held'])
    admission.settled({ pushesCount: 1 })
    assert.deepEqual(calls, ['nothing held', ['a', undefined], 'after b'])
    admission.inflightCount = 2
    const full = new Error('full')
    for (const name of ['c', 'd']) admission.buffer(1, 1, error => calls.push([name, error]))
    admission.refusal = () => full
    admission.settled({ pushesCount: 1 })
    assert.deepEqual(calls.slice(3), [['c', full], ['d', full]])
  })

  it('outage: does nothing in a queue that is over before it was met', async () => {
    const outage = outageOf({ fullness () {} })
    outage.begin(new Error('EIO'))
    outage.stop(new Error('failed'))
    await null
    assert.deepEqual([outage.isDue, outage.isOn, outage.isHolding], [false, false, false])
  })

  it('outage: has nobody wait for what is not written any more', async () => {
    const outage = outageOf({ log: {}, unwritten: { size: 1 }, fullness () {} })
    const failed = new Error('failed')
    const waiting = assert.rejects(outage.safe(undefined), failed)
    outage.stop(failed)
    await waiting
    await assert.rejects(outage.safe(undefined), failed)
  })

  it('outage: has who waits for a group that failed wait for the next try, or for a turn if none is known yet', async () => {
    const failing = () => ({ promise: Promise.reject(new Error('full')) })
    let flushesCount = 0
    const store = { log: { flush: async () => { flushesCount++ } }, unwritten: { size: 0 }, fullness () {} }
    const outage = outageOf(store)
    await outage.safe(failing())
    assert.equal(flushesCount, 1)
    outage.isOn = true
    const waiting = outage.safe(failing())
    await turns(2)
    assert.equal(flushesCount, 1)
    outage.giveUp() // tells who waits, as the next try does
    await waiting
    assert.equal(flushesCount, 2)
  })

  it('unwritten: knows whether jobs have ended that would run again', () => {
    const states = new Map([[1, JobState.due(1, 0, 0, '')], [2, JobState.overAt(1)], [3, JobState.dead(1, '')]])
    const unwritten = new Unwritten({ states, table: { find: seq => states.has(seq) } })
    assert.equal(unwritten.hasEnds, false)
    unwritten.add(1)
    assert.equal(unwritten.hasEnds, false)
    unwritten.add(2)
    assert.equal(unwritten.hasEnds, true)
    unwritten.forget(2)
    assert.equal(unwritten.hasEnds, false)
    unwritten.add(3)
    assert.equal(unwritten.hasEnds, true)
    unwritten.forget(3)
    unwritten.add(4) // it is not alive any more
    assert.equal(unwritten.hasEnds, true)
  })

  it('retries: places no job that was removed when it fell due together with another', () => {
    const placed = []
    const items = []
    const placeDue = seq => {
      placed.push(seq)
      retries.remove(retries.list())
    }
    const deadlines = { addAnyway: item => items.push(item), remove () {} }
    const retries = new Retries({ report: {}, stage: { deadlines, countDelayed () {} }, types: { delay () {} }, waiting: { placeDue } })
    retries.add(1, 'a', 10)
    retries.add(2, 'a', 10)
    for (const item of items) item.whenDue()
    assert.deepEqual(placed, [1])
  })
})
