'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { adaptive } = require('../../lib/adaptive')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { quiet, turn } = require('../support/turns')
const { captureUncaught, captureWarnings } = require('../support/uncaught')
const { adapted, refusal } = require('./adapted')

const SERVICE_MS = 10
const CAPACITY = 20

/** The server of these tests: quick up to a load. */
function degrading (running) {
  return SERVICE_MS * Math.max(1, running / CAPACITY) ** 2
}

describe('adaptive()', () => {
  it('has a queue begin with the first limit', () => {
    for (const scheduler of ['equal', undefined]) {
      const control = adaptive({ most: 50, first: 7 })
      const queue = fairlane(() => {}, { observers: control, concurrency: 30, scheduler })
      assert.deepEqual([queue.concurrency, control.limit], [7, 7])
    }
  })

  it('tells a scheduler of it that has options of its own', () => {
    const control = adaptive({ most: 50, first: 4 })
    const { scheduler } = fairlane(() => {}, { observers: control, concurrency: 30, scheduler: 'equal', schedulerOptions: { maxTypeShare: 0.5 } })
    assert.equal(scheduler.caps.concurrency, 4)
  })

  it('begins with 10, or what of least and most is nearest to that', () => {
    assert.deepEqual([{ most: 50 }, { most: 5 }, { least: 20, most: 50 }].map(options => adaptive(options).limit), [10, 5, 20])
  })

  it('finds how many jobs may run, and tells of each change', async () => {
    const { queue, control, changes, keep } = adapted(degrading, { first: 4 })
    await keep('t', 6000)
    assert(control.limit >= 18 && control.limit <= 25, `${control.limit}`)
    assert.equal(queue.concurrency, control.limit)
    assert.deepEqual(changes[0], { limit: 6, before: 4, because: 'growth' })
    changes.slice(1).forEach((change, i) => assert.equal(change.before, changes[i].limit))
    assert.equal(changes.at(-1).limit, control.limit)
    const { slowdown, rounds, ...stats } = control.stats()
    assert.deepEqual(stats, { limit: control.limit, rejects: 0, classes: 1 })
    assert(slowdown > 0.8 && slowdown < 2, `${slowdown}`)
    assert(rounds > 40, `${rounds}`)
  })

  it('lowers the limit when the other side rejects jobs', async () => {
    const { control, changes, keep } = adapted(running => running > 12 ? refusal : SERVICE_MS)
    await keep('t', 5000)
    assert(control.limit >= 8 && control.limit <= 14, `${control.limit}`)
    assert(changes.some(({ because }) => because === 'rejects'))
    assert(control.stats().rejects > 0)
  })

  it('does not grow while the queue has fewer jobs than the limit', async () => {
    const { control, clock, push, run } = adapted(() => SERVICE_MS)
    for (let i = 0; i < 400; i++) {
      push(5)
      await run(SERVICE_MS)
    }
    assert.equal(clock.now(), 4000)
    assert.equal(control.limit, 10)
    assert(control.stats().rounds > 10)
  })

  it('never leaves its bounds', async () => {
    const high = adapted(() => SERVICE_MS, { most: 30 })
    await high.keep('t', 3000)
    assert.equal(high.control.limit, 30)
    const low = adapted(() => refusal, { least: 5 })
    await low.keep('t', 3000)
    assert.equal(low.control.limit, 5)
  })

  it('takes types for classes: jobs that are long by nature lower nothing', async () => {
    const { control, changes, keep, push } = adapted((running, type) => type === 'long' ? 100 * degrading(running) : degrading(running))
    await keep('t', 3000)
    const { limit } = control
    push(2000, 'long')
    await keep('t', 6000)
    assert(control.limit >= 0.7 * limit, `${limit} → ${control.limit}`)
    assert.equal(control.stats().classes, 2)
    assert(!changes.some(({ limit }) => limit < 5))
  })

  it('goes on with what it knows after the service has become slower for good', async () => {
    let slower = 1
    const { control, changes, keep } = adapted(running => slower * degrading(running))
    await keep('t', 3000)
    slower = 4
    await keep('t', 10000)
    assert(control.limit >= 16, `${control.limit}`)
    assert(changes.some(({ because, limit, before }) => because === 'restore' && limit >= 2 * before - 1))
  })

  describe('beside the user', () => {
    it('sets nothing while the queue is paused; from the resume on what it has learned counts', async () => {
      const { queue, control, changes, run, keep, push } = adapted(degrading, { first: 4 })
      push(1000)
      await run(95)
      queue.pause()
      await run(500)
      assert.deepEqual([queue.paused, queue.concurrency, queue.running, changes], [true, -1, 0, []])
      const rounds = control.stats().rounds
      queue.resume()
      assert.equal(queue.concurrency, control.limit)
      await keep('t', 300)
      assert(control.stats().rounds > rounds)
      assert(control.limit > 4)
      assert.equal(queue.concurrency, control.limit)
    })

    it('does not resume a queue that is paused when a round is over', async () => {
      const { queue, control, push, run } = adapted(() => 20, { first: 10 })
      push(1000)
      await run(139)
      queue.pause() // a round ends with the jobs that run
      await run(200)
      assert.deepEqual([queue.paused, queue.running], [true, 0])
      queue.resume(3)
      assert.equal(queue.concurrency, 3)
      await run(5)
      assert.equal(queue.concurrency, control.limit)
      assert(control.limit > 10, `${control.limit}`)
    })

    it('sets its own limit again after somebody has set the concurrency', async () => {
      const { queue, control, keep } = adapted(degrading)
      await keep('t', 1000)
      queue.concurrency = 3
      await keep('t', 1000)
      assert.equal(queue.concurrency, control.limit)
      assert(control.limit > 3)
    })

    it('goes on while a queue that is closed runs what it has', async () => {
      const { queue, control, push, run } = adapted(degrading, { first: 2 })
      push(3000)
      await run(50)
      const closed = queue.close()
      await run(20000)
      assert.equal(await closed, 0)
      assert(control.limit > 10, `${control.limit}`)
      assert.equal(queue.stats().done, 3000)
      control.stop()
      assert.equal(control.stats().limit, control.limit)
    })

    it('stops for good, and may be stopped twice', async () => {
      const { queue, control, changes, keep } = adapted(degrading)
      await keep('t', 350)
      const { limit } = control
      const told = changes.length
      control.stop()
      control.stop()
      await keep('t', 2000)
      assert.deepEqual([queue.concurrency, control.limit, changes.length], [limit, limit, told])
      queue.concurrency = 3
      await keep('t', 500)
      assert.equal(queue.concurrency, 3)
    })

    it('may be stopped before it has a queue, and in what it tells of a change', async () => {
      const stopped = adaptive({ most: 50, first: 5 })
      stopped.stop()
      assert.equal(fairlane(() => {}, { observers: stopped, concurrency: 8 }).concurrency, 8)
      const { control, changes, keep } = adapted(degrading)
      control.on('limit', () => control.stop())
      await keep('t', 2000)
      assert.equal(changes.length, 1)
    })

    it('may be stopped while it asks, and hears nothing of jobs that end then', async () => {
      let asked = 0
      const { queue, control, push, run, changes } = adapted(() => refusal, { isOverload: () => { asked++; control.stop(); return true } })
      push(200)
      await run(200)
      assert.deepEqual([asked, changes, queue.stats().failed], [1, [], 200])
    })

    it('takes jobs that are refused, and those that are not tried again after all', async () => {
      const { queue, control, run } = adapted(() => refusal, { first: 1 }, { maxWaiting: 1, maxAttempts: 3, backoffMs: () => Infinity })
      const ends = [1, 2, 3].map(() => queue.add('t', { type: 't' }).catch(err => err.code ?? err))
      await run(10)
      assert.deepEqual(await Promise.all(ends), [refusal, refusal, 'FAIRLANE_ERR_QUEUE_FULL'].map(err => err.code ?? err))
      assert.equal(control.stats().rejects, 2)
    })

    it('takes calls of the queue in what it tells', async () => {
      const { queue, control, keep } = adapted(degrading)
      control.on('limit', () => { queue.pause().resume() })
      await keep('t', 2000)
      assert.equal(queue.concurrency, control.limit)
      assert(control.limit > 10)
    })
  })

  describe('refuses', () => {
    const refused = options => assert.throws(() => adaptive(options), error => {
      return error.code === 'FAIRLANE_ERR_OPTION'
    })

    it('to do without most, and options that are none', () => {
      for (const options of [undefined, null, 5, 'most', [], {}, { least: 2 }]) refused(options)
      refused({ most: 5, max: 5 })
    })

    it('limits that are none', () => {
      for (const name of ['most', 'least', 'first']) {
        for (const value of [NaN, 0, -1, 1.5, Infinity, 2 ** 31, '5', '', null, {}, [5], true, 5n]) refused({ most: 10, [name]: value })
      }
      refused({ least: 11, most: 10 })
      refused({ least: 3, most: 10, first: 2 })
      refused({ most: 10, first: 11 })
    })

    it('functions that are none', () => {
      for (const name of ['classOf', 'isOverload']) for (const value of [null, 'type', {}, 5]) refused({ most: 10, [name]: value })
    })

    it('options that cannot be read', () => {
      refused(revoked())
      assert.throws(() => adaptive({ get most () { throw new Error('no') } }), { message: 'no' })
    })

    it('a second queue, and a second control of a queue', () => {
      const control = adaptive({ most: 10 })
      fairlane(() => {}, { observers: control })
      assert.throws(() => fairlane(() => {}, { observers: control }), { code: 'FAIRLANE_ERR_OPTION' })
      assert.throws(() => fairlane(() => {}, { observers: [adaptive({ most: 5 }), adaptive({ most: 6 })] }), { code: 'FAIRLANE_ERR_OPTION' })
      assert.throws(() => fairlane(() => {}, { observers: [control, control] }), { code: 'FAIRLANE_ERR_OPTION' })
    })
  })

  describe('asks the functions of its user', () => {
    let warnings
    beforeEach(() => { warnings = captureWarnings() })
    afterEach(() => warnings.release())

    it('for the class of each type once, while none of the queue\'s own work is under way', async () => {
      const asked = []
      const { queue, control, push, run } = adapted(() => 5, {
        classOf: type => {
          asked.push([type, queue.running > 0])
          return type.slice(0, 1)
        }
      })
      for (const type of ['a1', 'a2', 'b1']) push(60, type)
      await run(2000)
      assert.deepEqual(asked, [['a1', true], ['a2', true], ['b1', true]])
      assert.equal(control.stats().classes, 2)
      assert(control.stats().rounds > 0)
    })

    it('learns from types that have one job each', async () => {
      let n = 0
      const { control, push, run } = adapted(() => 5, { classOf: () => 'one' })
      for (let i = 0; i < 12000; i++) push(1, `type ${n++}`)
      await run(3000)
      assert.equal(control.stats().classes, 1)
      assert(control.limit > 10, `${control.limit}`)
    })

    it('takes types for their own classes where classOf throws or gives no string, and warns once', async () => {
      const { control, push, run } = adapted(() => 5, { classOf: type => { if (type === 'a') throw new Error('no'); return 5 } })
      push(100, 'a')
      push(100, 'b')
      await run(1000)
      assert.equal(control.stats().classes, 2)
      assert.deepEqual(warnings.seen.map(({ code, message }) => [code, message]), [
        ['FAIRLANE_ERR_OPTION', 'classOf must return a string, but it threw Error: no. Such a type is a class of its own.']
      ])
    })

    it('says so where classOf gives no string', async () => {
      const { push, run } = adapted(() => 5, { classOf: () => 5 })
      push(100, 'b')
      await run(100)
      assert.match(warnings.seen[0].message, /classOf must return a string, but it returned 5/)
    })

    it('takes errors for no overload that isOverload throws about, or says no boolean of', async () => {
      for (const isOverload of [() => { throw new Error('no') }, () => 'yes']) {
        const { control, keep } = adapted(() => refusal, { isOverload })
        await keep('t', 500)
        assert.deepEqual([control.limit, control.stats().rejects], [10, 0])
      }
      assert.deepEqual(warnings.seen.map(({ message }) => message), ['isOverload threw Error: no. Such errors do not count as overload.'])
    })

    it('whether an error says overload; by default its status does', async () => {
      const errors = [refusal, Object.assign(new Error(), { statusCode: 503 }), new Error('other'), 'text', Object.create(null)]
      const { control, push, run } = adapted(() => errors.shift() ?? 5)
      push(5)
      await run(50)
      assert.equal(control.stats().rejects, 2)
      const own = adapted(() => new Error('busy'), { isOverload: ({ message }) => message === 'busy' })
      own.push(3)
      await own.run(50)
      assert.equal(own.control.stats().rejects, 3)
    })
  })

  it('tells of changes in the context in which it was made', async () => {
    const storage = new AsyncLocalStorage()
    const contexts = new Set()
    const note = () => contexts.add(storage.getStore())
    await storage.run('mine', async () => {
      const isOverload = () => { note(); return false }
      const { control, push, run } = adapted(n => n % 5 === 0 ? new Error() : 5, { classOf: type => { note(); return type }, isOverload }, { asyncContext: 'push' })
      control.on('limit', note)
      storage.run('other', () => push(3000))
      await storage.run('other', () => run(1500))
    })
    assert.deepEqual([...contexts], ['mine'])
  })

  it('leaves what a listener throws to the process, and goes on', async () => {
    const uncaught = captureUncaught()
    const { control, keep } = adapted(degrading)
    control.on('limit', () => { throw new Error('listener') })
    await keep('t', 1000)
    uncaught.release()
    assert(uncaught.seen.length > 1)
    assert(control.limit > 10)
  })

  it('counts a job that timed out as one that took at least so long', async () => {
    const { control, changes, keep } = adapted(running => running > 20 ? null : 10, { first: 8 }, { timeoutMs: 200, onTimeout: 'release' })
    await keep('t', 6000)
    assert(changes.some(({ because }) => because === 'slowdown'))
    assert(control.limit < 40, `${control.limit}`)
  })

  it('takes no notice of jobs that are cancelled, with or without a slot', async () => {
    const gate = gates()
    const control = adaptive({ most: 10, isOverload: () => true })
    const queue = fairlane(gate.runner, { observers: control, scheduler: 'equal', concurrency: 3 })
    const aborting = new AbortController()
    const jobs = [1, 2, 3].map(n => queue.add(n, { type: 't', signal: aborting.signal, unshift: n === 2 }).catch(({ code }) => code))
    for (let i = 0; i < 20; i++) queue.pushType('t', i, () => {})
    const delayed = queue.add(5, { type: 't', delayMs: 10000, signal: aborting.signal }).catch(({ code }) => code)
    await gate.until(10)
    aborting.abort()
    queue.remove(({ payload }) => payload === 19)
    queue.clear()
    await quiet()
    gate.release(10)
    assert.deepEqual(await Promise.all([...jobs, delayed]), Array(4).fill('FAIRLANE_ERR_ABORTED'))
    assert.equal(control.stats().rejects, 0)
    await queue.onIdle()
  })

  it('is asked about each attempt of a job', async () => {
    const clock = fakeClock()
    const control = adaptive({ most: 10 })
    let attempts = 0
    const queue = fairlane(async () => { if (++attempts < 4) throw refusal }, { observers: control, maxAttempts: 4, backoffMs: 0, scheduler: 'equal', clock })
    const done = queue.add(1, { type: 't' })
    for (let i = 0; i < 4; i++) {
      await quiet()
      clock.advance(1)
    }
    await done
    assert.equal(control.stats().rejects, 3)
  })

  it('works where the clock of the queue goes back, or stands still', async () => {
    const times = fakeClock()
    let offset = 0
    const clock = { now: () => times.now() + offset, setTimeout: times.setTimeout, clearTimeout: times.clearTimeout }
    const control = adaptive({ most: 50 })
    const queue = fairlane((n, done) => { times.setTimeout(done, 5) }, { clock, observers: control, scheduler: 'equal' })
    for (let i = 0; i < 2000; i++) queue.pushType('t', i)
    await quiet()
    for (let i = 0; i < 300; i++) {
      if (i === 100) offset = -100000
      times.advance(5)
      await turn() // the queue starts the next jobs, however slow it is
    }
    assert(control.limit > 10 && control.limit <= 50)
    assert(Number.isFinite(control.stats().slowdown))
  })

  it('takes jobs that take no time', async () => {
    const { queue, control, push, run } = adapted(() => 0)
    push(500)
    await run(50)
    assert.deepEqual([queue.stats().done, control.limit], [500, 10])
  })

  it('works with jobs that know no types, as one class, with priorities, and with schedulers that pick from a window', async () => {
    for (const queueOptions of [
      { scheduler: undefined },
      { scheduler: undefined, priorityMs: 10 },
      { priorityMs: 10 },
      { scheduler: { waiting () {}, start () {}, done () {}, select: () => 0 } },
      { maxTypes: 1 }
    ]) {
      const { queue, control, push, run } = adapted(degrading, {}, queueOptions)
      for (let i = 0; i < 500; i++) push(1, `type ${i % 3}`)
      if (queue.scheduler === null) queue.unshift('t')
      await run(400)
      const hasTypes = queue.scheduler !== null
      assert.equal(control.stats().classes, hasTypes ? 3 : 1)
      assert(control.stats().rounds > 0)
      queue.remove(payload => payload === 'none')
      queue.clear()
      await run(100)
      assert.equal(queue.length, 0)
    }
  })

  it('knows nothing of how long jobs have waited, and takes those that cost units', async () => {
    for (const scheduler of ['equal', undefined]) {
      const { queue, control, run } = adapted(() => 5, { first: 1 }, { scheduler, rate: { limit: 100, intervalMs: 1000, of: 'cost' } })
      for (let i = 0; i < 5; i++) queue.add('t', { type: 't', cost: 3 })
      await run(2)
      assert.equal(queue.explain(scheduler && 't').oldestWaitMs, undefined)
      await run(100)
      assert.equal(control.stats().classes, 1)
      assert.equal(queue.stats().spent, 15)
      queue.setRates({ rate: { limit: 1e6, intervalMs: 1000, of: 'cost' } })
      for (let i = 0; i < 300; i++) queue.add('t', { type: 't', cost: 3 })
      await run(1000)
      assert(control.stats().rounds > 0)
    }
  })

  it('sees removed jobs of a queue without a scheduler go', async () => {
    const gate = gates()
    const queue = fairlane(gate.runner, { observers: adaptive({ most: 2 }) })
    for (let i = 0; i < 300; i++) queue.push(i)
    assert.equal(queue.remove(({ payload }) => payload % 2 === 1), 150)
    const aborting = new AbortController()
    const job = queue.add(1000, { signal: aborting.signal })
    aborting.abort()
    await assert.rejects(job, { code: 'FAIRLANE_ERR_ABORTED' })
    await gate.until(2)
    assert.deepEqual(gate.payloads, [0, 2])
    gate.release(2)
    await gate.until(4)
    assert.equal(queue.clear(), 146)
  })
})

function revoked () {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
