'use strict'

// Of the objects that callers give, only own properties count, each is read once, and one that cannot be read is wrong use like other.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Equal, Fair, Capped } = require('../../../schedulers')
const { durable } = require('../../../lib/durable')
const { PersistentQueue } = require('../../../lib/log')
const quickq = require('../../../lib/compat/quickq')
const asyncQueues = require('../../../lib/compat/async')
const { fakeClock } = require('../../../lib/testing')
const { revoked } = require('../../support/proxies')

const noop = () => {}
const signal = new AbortController().signal

// Every call that reads options: how it is called with them, its code, and legal options.
const queueOptions = {
  concurrency: 3,
  settleBy: 'promise',
  scheduler: 'equal',
  schedulerOptions: {},
  maxTypes: 5,
  maxWaiting: 5,
  maxWaitingPerType: 5,
  maxWaitMs: 5,
  timeoutMs: 5,
  onTimeout: 'release',
  signal,
  asyncContext: 'none',
  clock: fakeClock()
}
const logOptions = {
  capacity: 5,
  capacityBytes: 5,
  maxInflightOps: 5,
  ack: 'os',
  segmentBytes: 4096,
  repair: true,
  onProgress: noop
}
const caps = { maxTypeShare: 1, maxTypeCap: 5, typeCaps: { a: 1 } }
const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const typed = () => fairlane(noop, { scheduler: 'equal' })
const READERS = {
  fairlane: { call: options => fairlane(noop, options), code: OPTION, options: queueOptions },
  add: { call: options => typed().add(1, options).catch(noop), code: ARGUMENT, options: { type: 'a', unshift: true, signal, timeoutMs: 5, maxWaitMs: 5 } },
  map: { call: options => typed().map([], options), code: ARGUMENT, options: { type: 'a', ordered: false, maxPending: 5, settled: true } },
  clear: { call: options => typed().clear(options), code: ARGUMENT, options: { type: 'a', reason: 5 } },
  close: { call: options => typed().close(options), code: ARGUMENT, options: { drain: false, timeoutMs: 5 } },
  Equal: { call: options => new Equal(options), code: OPTION, options: { ...caps, concurrency: 5, weights: { a: 1 } } },
  Capped: { call: options => new Capped(options), code: OPTION, options: { ...caps, concurrency: 5, hard: true } },
  Fair: { call: options => new Fair(options), code: OPTION, options: { concurrency: 5, maxTypeShare: 1, maxScanLength: 5, hard: true } },
  'a scheduler by name': { call: schedulerOptions => fairlane(noop, { scheduler: 'equal', schedulerOptions }), code: OPTION, options: { ...caps, weights: { a: 1 } } },
  quickq: { call: options => quickq(noop, options), code: OPTION, options: { concurrency: 3, scheduler: 'capped', schedulerOptions: { maxTypeCap: 5 } } },
  // stopped by the last thing that they look at, before they touch the disk
  durable: { call: options => durable('no function', options), code: OPTION, options: { ...queueOptions, ...logOptions, path: 'p', serialize: { encode: noop, decode: noop }, maxAttempts: 3, backoffMs: 5 } },
  PersistentQueue: { call: options => PersistentQueue.open('', options), code: OPTION, options: logOptions }
}

/** Calls fn while all objects inherit a property. */
function whileInherited (name, value, fn) {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true }) // eslint-disable-line no-extend-native
  try {
    return fn()
  } finally {
    delete Object.prototype[name]
  }
}

/** What fn comes to: the code of what it throws. */
function codeOf (fn) {
  try {
    Promise.resolve(fn()).catch(noop)
  } catch (err) {
    return err.code ?? err
  }
}

for (const [name, { call, code, options }] of Object.entries(READERS)) {
  describe(`the options of ${name}`, function () {
    const needed = { add: { type: 'a' }, map: { type: 'a' }, durable: { path: 'p' }, quickq: { scheduler: 'capped' } }[name] ?? {}

    it('are its own: inherited ones are not obeyed', function () {
      const expected = codeOf(() => call({ ...needed }))
      for (const option of Object.keys(options)) {
        for (const value of [Symbol('not an option'), options[option]]) {
          assert.equal(whileInherited(option, value, () => codeOf(() => call({ ...needed }))), expected, `${option} of Object.prototype`)
        }
        if (option in needed) continue
        const given = Object.assign(Object.create({ [option]: Symbol('not an option') }), needed)
        assert.equal(codeOf(() => call(given)), expected, `${option} of another prototype`)
      }
    })

    it('may be absent: then nothing is inherited either', function () {
      const expected = codeOf(() => call())
      for (const option of Object.keys(options)) {
        assert.equal(whileInherited(option, Symbol('not an option'), () => codeOf(() => call())), expected, option)
      }
    })

    it('are read once each, also those that are not enumerable', function () {
      for (const enumerable of [true, false]) {
        const reads = []
        const given = {}
        for (const [option, value] of Object.entries(options)) {
          Object.defineProperty(given, option, { get () { reads.push(option); return value }, enumerable })
        }
        const expected = { durable: 'FAIRLANE_ERR_RUNNER', PersistentQueue: ARGUMENT }[name]
        assert.equal(codeOf(() => call(given)), expected)
        assert.deepEqual(reads.sort(), Object.keys(options).sort())
      }
    })

    it('throw with a code if they cannot be read', function () {
      assert.equal(codeOf(() => call(revoked())), code)
      const trapped = new Proxy({}, { ownKeys () { throw new Error('mine') } })
      assert.throws(() => call(trapped), err => err.code === code && err.cause.message === 'mine')
      for (const option of Object.keys(options)) {
        const found = codeOf(() => call({ ...needed, [option]: revoked() }))
        const isAnyValue = option === 'reason' && found === undefined
        assert(isAnyValue || String(found).startsWith('FAIRLANE_ERR_'), `${option}: ${found}`)
      }
    })
  })
}

describe('numbers by type', function () {
  const READ = {
    maxWaitingPerType: value => fairlane(noop, { scheduler: 'equal', maxWaitingPerType: value }),
    typeCaps: typeCaps => new Equal({ typeCaps }),
    weights: weights => new Equal({ weights })
  }

  for (const [name, read] of Object.entries(READ)) {
    it(`are those of ${name} itself, each read once`, function () {
      let reads = 0
      read({ get a () { reads++; return 1 } })
      assert.equal(reads, 1)
      whileInherited('a', 'not a number', () => read({ b: 1 }))
      read(Object.create({ a: 'not a number' }))
      for (const wrong of [revoked(), revoked(new Map()), new Proxy(new Map([['a', 1]]), {}), new Map([[{ toString () { throw new Error('mine') } }, 1]])]) {
        assert.equal(codeOf(() => read(wrong)), OPTION)
      }
    })
  }
})

describe('what jobs inherit', function () {
  it('neither aborts nor limits nor unshifts them', async function () {
    const aborted = AbortSignal.abort()
    const inherited = { signal: aborted, timeoutMs: 1, maxWaitMs: 1, unshift: true, type: 'b' }
    for (const [name, value] of Object.entries(inherited)) {
      const clock = fakeClock()
      const order = []
      const queue = fairlane(n => { order.push(n) }, { settleBy: 'promise', clock, maxWaiting: 10, concurrency: 1 }).pause()
      const promises = whileInherited(name, value, () => [queue.add(1), queue.add(2, {})])
      queue.push(3)
      assert.equal(clock.timerCount, 0, name)
      queue.resume()
      await Promise.all(promises)
      await queue.onIdle()
      assert.deepEqual(order, [1, 2, 3], name)
    }
  })

  it('gives queues of async no scheduler', function () {
    for (const make of [asyncQueues.queue, asyncQueues.cargo, asyncQueues.cargoQueue]) {
      whileInherited('scheduler', 'fair', () => make(noop, 1).push(1, noop))
    }
  })
})

describe('a revoked Proxy', function () {
  it('is a legal payload in memory', async function () {
    const payload = revoked()
    const payloads = []
    const queue = fairlane(payload => { payloads.push(payload) }, { settleBy: 'promise', scheduler: 'equal', maxTypes: 1 })
    queue.on('failed', noop).pause()
    queue.pushType('a', payload).unshiftType('b', payload)
    const added = queue.add(payload, { type: 'c', timeoutMs: 1000 })
    assert.equal(queue.remove(job => job.payload !== payload), 0)
    assert.deepEqual([...queue.jobs()].map(job => job.payload === payload), [true, true, true])
    queue.resume()
    await added
    await queue.onIdle()
    assert.equal(payloads.length, 3)
    assert(payloads.every(given => given === payload))
  })

  it('is a task of a queue of async', async function () {
    const task = revoked()
    const isSame = await new Promise(resolve => asyncQueues.queue((given, done) => { done(); resolve(given === task) }).push(task, noop))
    assert.equal(isSame, true)
  })

  it('fails the job whose runner returns it', async function () {
    for (const settleBy of ['either', 'promise']) {
      await assert.rejects(fairlane(() => revoked(), { settleBy }).add(1), TypeError)
    }
  })

  it('is wrong use as any other argument', function () {
    const queue = fairlane(noop, { scheduler: 'equal' })
    const calls = {
      FAIRLANE_ERR_TYPE: [() => queue.pushType(revoked(), 1), () => queue.add(1, { type: revoked() }), () => queue.ready(revoked())],
      FAIRLANE_ERR_CALLBACK: [() => queue.pushType('a', 1, revoked()), () => queue.fflush(revoked())],
      FAIRLANE_ERR_ARGUMENT: [() => queue.map(revoked(), { type: 'a' }), () => queue.remove(revoked())],
      FAIRLANE_ERR_CONCURRENCY: [() => queue.resume(revoked())],
      FAIRLANE_ERR_RUNNER: [() => fairlane(revoked())]
    }
    for (const [code, all] of Object.entries(calls)) {
      for (const call of all) assert.equal(codeOf(call), code, String(call))
    }
    assert.equal(queue.stats().accepted, 0)
  })
})

describe('the source of map', function () {
  it('is asked for its iterator once', async function () {
    let reads = 0
    const source = { get [Symbol.iterator] () { reads++; return [][Symbol.iterator].bind([1, 2]) } }
    const results = []
    for await (const result of fairlane(async n => n).map(source)) results.push(result)
    assert.deepEqual([results, reads], [[1, 2], 1])
  })
})

describe('the message about an unknown option', function () {
  it('names a known one that is near: a third of its letters differ at most, or are swapped', function () {
    const near = { concurency: 'concurrency', settleby: 'settleBy', maxWaitng: 'maxWaiting', sginal: 'signal', clok: 'clock', maxTypez: 'maxTypes', priority: 'priorityMs' }
    for (const [name, known] of Object.entries(near)) {
      assert.throws(() => fairlane(noop, { [name]: 1 }), { message: `unknown option '${name}'; did you mean '${known}'?` })
    }
    for (const name of ['foo', 'important', 'retries', 'clk', 'x', '', 'limit']) {
      assert.throws(() => fairlane(noop, { [name]: 1 }), { message: `unknown option '${name}'` })
    }
    assert.throws(() => typed().close({ force: true }), { message: "unknown option 'force'" })
  })

  it('says of an option of the scheduler where it belongs', function () {
    const names = new Set(['Equal', 'Capped', 'Fair'].flatMap(name => Object.keys(READERS[name].options)))
    names.delete('concurrency')
    for (const name of names) {
      const message = `unknown option '${name}'; it belongs in schedulerOptions`
      assert.throws(() => fairlane(noop, { scheduler: 'equal', [name]: 1 }), { code: OPTION, message })
      assert.throws(() => durable(noop, { path: 'p', [name]: 1 }), { code: OPTION, message })
    }
  })
})
