'use strict'

// A control beside other observers, and of queues whose jobs are kept elsewhere.

const assert = require('node:assert/strict')
const { distributed } = require('../../lib/distributed')
const { durable } = require('../../lib/durable')
const { adaptive } = require('../../lib/adaptive')
const { Told } = require('../../lib/adaptive/told')
const { History } = require('../../lib/history')
const { Ledger } = require('../../lib/ledger/ledger')
const { Unrecorded } = require('../../lib/ledger/unrecorded')
const { Metrics, channels } = require('../../lib/metrics')
const { temporaryFolder } = require('../support/folders')
const { adapted, refusal } = require('./adapted')

describe('a control beside other observers', () => {
  const others = {
    history: () => [new History()],
    metrics: () => [new Metrics()],
    all: () => [new Metrics(), new History(), channels()]
  }
  for (const [name, make] of Object.entries(others)) {
    it(`learns the same, and they record the same: ${name}`, async () => {
      const serve = running => running > 16 ? refusal : 10 * Math.max(1, running / 20) ** 2
      const observers = make()
      const alone = adapted(serve)
      const beside = adapted(serve, {}, { observers })
      for (const { keep } of [alone, beside]) await keep('t', 3000)
      assert.deepEqual(beside.changes, alone.changes)
      assert(alone.changes.some(({ because }) => because === 'rejects'))
      const { done, failed } = beside.queue.stats()
      for (const one of observers) {
        if (one instanceof History) assert.deepEqual(one.counts('t'), { ...one.counts('t'), done, failed, running: beside.queue.running })
        else if (one instanceof Metrics) assert.deepEqual(one.snapshot().types.map(({ done, failed }) => [done, failed]), [[done, failed]])
      }
    })
  }

  it('takes jobs that time out, are tried again, cancelled and removed, and those of a queue without a scheduler', async () => {
    for (const scheduler of ['equal', undefined]) {
      const { queue, control, push, run } = adapted(running => running % 3 === 0 ? null : 5, {}, {
        observers: [new History()], scheduler, timeoutMs: 50, onTimeout: 'release', maxAttempts: 2, backoffMs: 1
      })
      push(300)
      const aborting = new AbortController()
      const job = queue.add('t', { type: scheduler && 't', signal: aborting.signal, unshift: true }).catch(({ code }) => code)
      await run(1)
      aborting.abort()
      assert.equal(await job, 'FAIRLANE_ERR_ABORTED')
      await run(500)
      queue.clear()
      await run(200)
      assert.equal(control.stats().classes, 1)
      assert(control.stats().rounds > 0)
    }
  })
})

describe('a control of a queue on disk', () => {
  it('sets its concurrency, from the first limit on, by the jobs that run', async () => {
    for (const observers of [[], [new History()]]) {
      const control = adaptive({ most: 40, first: 3, isOverload: ({ message }) => message === 'too much' })
      let most = 0
      const queue = await durable(async () => {
        most = Math.max(most, queue?.running ?? 0)
        await new Promise(resolve => setTimeout(resolve, 2))
        if (queue.running > 8) throw new Error('too much')
      }, { path: temporaryFolder(), observers: [control, ...observers], concurrency: 20, maxAttempts: 1, scheduler: 'equal' })
      assert.deepEqual([queue.concurrency, control.limit], [3, 3])
      const changes = []
      const rejects = new Promise(resolve => control.on('limit', change => {
        changes.push(change)
        if (change.because === 'rejects') resolve()
      }))
      const push = () => queue.pushAll(Array.from({ length: 2000 }, (_, n) => ({ type: 't', payload: n })))
      queue.drain = push
      await push()
      await rejects
      queue.drain = null
      assert.equal(queue.concurrency, control.limit)
      const { limit, before } = changes.find(({ because }) => because === 'growth') // not the first, on a machine that stands still
      assert.equal(limit, before + 1)
      assert.equal(control.stats().classes, 1)
      await queue.close()
      assert(most <= 40)
    }
  })

  it('begins with its limit where jobs wait on disk already', async () => {
    const path = temporaryFolder()
    const before = await durable(async () => {}, { path })
    before.pause()
    for (let n = 0; n < 20; n++) await before.push(n)
    await before.close()
    let most = 0
    const queue = await durable(async n => {
      if (n === 0) assert.equal(queue.explain().oldestWaitMs, undefined)
      most = Math.max(most, queue?.running ?? 1)
      await new Promise(resolve => setImmediate(resolve))
    }, { path, observers: adaptive({ most: 2 }) })
    await queue.onIdle()
    assert(most > 0 && most <= 2, `${most}`)
    await queue.close()
  })
})

describe('a control of a queue at a broker', () => {
  it('is refused: a process sees a part of the load only', () => {
    const options = { name: 'q', connection: '/nowhere', observers: adaptive({ most: 5 }) }
    return assert.rejects(async () => distributed(async () => {}, options), { code: 'FAIRLANE_ERR_OPTION' })
  })
})

describe('what stands in the place of a ledger', () => {
  const methods = Object.getOwnPropertyNames(Ledger.prototype)

  it('has the methods by which a ledger is told, and keeps nothing', () => {
    const names = Object.getOwnPropertyNames(Unrecorded.prototype).filter(name => name !== 'constructor' && name !== 'records')
    assert.deepEqual(names.filter(name => !methods.includes(name)), [])
    const unrecorded = new Unrecorded()
    for (const name of names) assert.equal(unrecorded[name](1), undefined)
    assert.deepEqual(Object.keys(unrecorded), [])
  })

  it('hands on all that it is told', () => {
    const told = []
    const methodsOf = Object.getOwnPropertyNames(Unrecorded.prototype)
    const ledger = Object.fromEntries(methodsOf.map(name => [name, (...args) => { told.push([name, ...args]) }]))
    const runs = { started: type => ({ type }), done () {}, failed () {} }
    const between = new Told({ ...ledger, nextId: 5, records: {} }, runs)
    const names = Object.keys(ledger).filter(name => name !== 'constructor' && name !== 'records')
    for (const name of names) between[name](1, 2, 3)
    assert.deepEqual(told.map(([name]) => name), names)
    assert(told.every(([, id]) => id === 1))
    assert.equal(between.nextId, 5)
    assert.deepEqual([between.startedUsually(1), between.endedUsually(1)], [undefined, undefined])
  })

  it('tells of runs: each that has begun ends once', () => {
    const told = []
    const runs = { started: type => `run of ${type}`, done: run => told.push(['done', run]), failed: (run, err) => told.push(['failed', run, err]) }
    const between = new Told(undefined, runs)
    const ends = {
      ended: (id) => between.ended(id, false),
      failed: id => between.ended(id, true, 'err'),
      undecided: id => between.undecided(id, 'err'),
      postponed: id => between.postponed(id, 'err'),
      dead: id => between.dead(id, 'err'),
      cancelled: id => between.cancelled(id, 'err'),
      uncounted: id => between.uncounted(id)
    }
    const expected = { ended: [['done', 'run of t']], cancelled: [], uncounted: [] }
    for (const [name, end] of Object.entries(ends)) {
      between.started(7, 't')
      end(7)
      assert.deepEqual(told.splice(0), expected[name] ?? [['failed', 'run of t', 'err']], name)
      assert.equal(between.byId.size, 0)
    }
  })
})
