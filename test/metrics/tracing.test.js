'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const diagnostics = require('node:diagnostics_channel')
const Module = require('node:module')
const { context, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base')
const fairlane = require('../..')
const { traced } = require('../../lib/metrics/tracing')
const { revoked } = require('../support/proxies')
const { seeded, seedFromEnvironment } = require('../support/random')
const { quiet, turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
const RUN = diagnostics.tracingChannel('fairlane:run')

describe('a traced runner', function () {
  let subscribers

  afterEach(function () {
    if (subscribers !== undefined) RUN.unsubscribe(subscribers)
    subscribers = undefined
  })

  /** What is published: [event, message]. */
  function listen () {
    const seen = []
    subscribers = Object.fromEntries(EVENTS.map(event => [event, message => seen.push([event, message])]))
    RUN.subscribe(subscribers)
    return seen
  }

  const failure = new Error('no')
  const cases = [
    ['by done() at once', (n, done) => done(null, n), ['start', 'asyncStart', 'asyncEnd', 'end']],
    ['by done() later', (n, done) => { setImmediate(done, null, n) }, ['start', 'end', 'asyncStart', 'asyncEnd']],
    ['by a promise', async n => n, ['start', 'end', 'asyncStart', 'asyncEnd']],
    ['by done() before its promise', async (n, done) => { done(null, n); await turn() }, ['start', 'asyncStart', 'asyncEnd', 'end']],
    ['by done(), badly', (n, done) => { setImmediate(done, failure) }, ['start', 'end', 'error', 'asyncStart', 'asyncEnd']],
    ['by a promise, badly', async () => { throw failure }, ['start', 'end', 'error', 'asyncStart', 'asyncEnd']],
    ['by a throw', () => { throw failure }, ['start', 'error', 'end']]
  ]
  for (const [how, runner, events] of cases) {
    it(`publishes its start and its end, which comes ${how}`, async function () {
      const seen = listen()
      const queue = fairlane(traced(runner), { scheduler: 'fair' })
      const fails = events.includes('error')
      const added = queue.add(7, { type: 'a' })
      if (fails) await assert.rejects(added, failure)
      else assert.equal(await added, 7)
      await quiet()
      assert.deepEqual(seen.map(([event]) => event), events)
      assert.equal(new Set(seen.map(([, message]) => message)).size, 1)
      assert.deepEqual(seen[0][1], { payload: 7, id: undefined, type: 'a', attempt: 1, ...(fails ? { error: failure } : { result: 7 }) })
      assert.deepEqual([queue.stats().misuse, queue.running], [0, 0])
    })
  }

  it('may give its value without done, and is called as it is while nobody subscribes', async function () {
    const counts = []
    const runner = traced((...args) => {
      counts.push(args.length)
      return args[0] + args[1].attempt
    })
    assert.equal(await fairlane(runner, { settleBy: 'promise' }).add(1), 2)
    assert.equal(await fairlane(traced((n, done, { attempt }) => done(null, n + attempt))).add(1), 2)
    const seen = listen()
    assert.equal(await fairlane(runner, { settleBy: 'promise' }).add(2), 3)
    assert.deepEqual(seen.map(([event, { result, attempt }]) => [event, result, attempt]), [['start', 3, 1], ['end', 3, 1]])
    assert.deepEqual(counts, [2, 2])
  })

  it('tells of functions of run(), which are their own payloads', async function () {
    const fn = traced(async ({ type, attempt }) => `${type} ${attempt}`)
    const queue = fairlane(null, { scheduler: 'fair' })
    assert.equal(await queue.run(fn, { type: 'a' }), 'a 1')
    const seen = listen()
    assert.equal(await queue.run(fn, { type: 'b' }), 'b 1')
    assert.deepEqual(seen.map(([event, { type, attempt, result }]) => [event, type, attempt, result]), [
      ['start', 'b', 1, 'b 1'], ['end', 'b', 1, 'b 1'], ['asyncStart', 'b', 1, 'b 1'], ['asyncEnd', 'b', 1, 'b 1']
    ])
    assert.equal(typeof seen[0][1].payload, 'function')
    const failure = new Error('expected')
    await assert.rejects(queue.run(traced(() => { throw failure }), { type: 'b' }), failure)
    assert.equal(seen.at(-1)[1].error, failure)
  })

  it('that calls done twice is told of once, and counted by the queue', async function () {
    const seen = listen()
    const queue = fairlane(traced((n, done) => { setImmediate(() => { done(); done() }) }))
    queue.push(1)
    await queue.onIdle()
    await quiet()
    assert.deepEqual(seen.map(([event]) => event), ['start', 'end', 'asyncStart', 'asyncEnd'])
  })

  it('runs with the store that a subscriber binds', async function () {
    const storage = new AsyncLocalStorage()
    RUN.start.bindStore(storage, ({ type, payload }) => `${type} ${payload}`)
    try {
      const queue = fairlane(traced(async () => { await turn(); return storage.getStore() }), { scheduler: 'fair' })
      assert.deepEqual(await Promise.all([queue.add(1, { type: 'a' }), queue.add(2, { type: 'b' })]), ['a 1', 'b 2'])
      assert.equal(storage.getStore(), undefined)
    } finally {
      RUN.start.unbindStore(storage)
    }
  })

  it('keeps what the runner has: its parameters, its name, its members', function () {
    const runner = Object.assign(function send (payload, done) {}, { concurrency: 4, close () {} })
    const { length, name, concurrency, close } = traced(runner)
    assert.deepEqual({ length, name, concurrency, close }, { length: 2, name: 'send', concurrency: 4, close: runner.close })
  })

  it('is not made of what is no function, nor with wrong options', function () {
    for (const none of [{}, revoked(() => {})]) assert.throws(() => traced(none), { code: 'FAIRLANE_ERR_RUNNER' })
    for (const options of [null, { tracr: 1 }, { tracer: {} }, { tracer: null }, { tracer: revoked() }, { link: 1 }, { name: '' }]) {
      assert.throws(() => traced(() => {}, options), { code: 'FAIRLANE_ERR_OPTION' })
    }
  })

  it('says what is missing if the API of OpenTelemetry is, and needs it for a tracer only', function () {
    const { _load: load } = Module
    const failure = new Error('it is not there')
    Module._load = (name, ...rest) => { if (name === '@opentelemetry/api') throw failure; return load(name, ...rest) }
    try {
      traced(() => {})
      assert.throws(() => traced(() => {}, { tracer: { startSpan () {} } }), {
        code: 'FAIRLANE_ERR_PEER', message: /npm install @opentelemetry\/api@\^1\.4$/, cause: failure
      })
    } finally {
      Module._load = load
    }
  })
})

describe('a span of a runner', function () {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  const manager = new AsyncLocalStorageContextManager()

  before(function () { assert(context.setGlobalContextManager(manager.enable())) })
  after(function () { context.disable() })
  beforeEach(function () { exporter.reset() })

  /** Pushes inside of a span of its own. */
  function pushIn (name, push) {
    const span = tracer.startSpan(name)
    try {
      return context.with(trace.setSpan(context.active(), span), push)
    } finally {
      span.end()
    }
  }

  function spansBy () {
    return Object.fromEntries(exporter.getFinishedSpans().map(span => [span.name, span]))
  }

  it('is linked to that of the push, and the root of a trace of its own', async function () {
    const inside = []
    const runner = traced(async () => {
      await turn()
      inside.push(trace.getActiveSpan())
    }, { tracer, name: 'mails' })
    const queue = fairlane(runner, { scheduler: 'equal', asyncContext: 'push' })
    await pushIn('request', () => queue.add(1, { type: 'a' }))
    const { request, 'process a': run } = spansBy()
    assert.deepEqual(run.links.map(({ context }) => context), [request.spanContext()])
    assert.equal(run.parentSpanContext, undefined)
    assert.notEqual(run.spanContext().traceId, request.spanContext().traceId)
    assert.deepEqual(run.attributes, {
      'messaging.system': 'fairlane',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'mails',
      'fairlane.type': 'a',
      'fairlane.attempt': 1
    })
    assert.deepEqual(inside.map(span => span.spanContext()), [run.spanContext()])
    assert.equal(run.kind, 4) // of a consumer
  })

  it('is the child of that of the push, if that is asked', async function () {
    const queue = fairlane(traced(async () => {}, { tracer, link: false }), { asyncContext: 'push' })
    await pushIn('request', () => queue.add(1))
    const { request, process } = spansBy()
    assert.deepEqual(process.parentSpanContext, request.spanContext())
    assert.equal(process.spanContext().traceId, request.spanContext().traceId)
    assert.deepEqual(process.links, [])
  })

  it('is alone where the push was in none', async function () {
    await fairlane(traced(async () => {}, { tracer }), { asyncContext: 'push' }).add(1)
    const { process } = spansBy()
    assert.deepEqual([process.links, process.parentSpanContext], [[], undefined])
  })

  it('says what its run has failed with', async function () {
    for (const [runner, message] of [
      [async () => { throw new Error('no mail') }, 'no mail'], [(n, done) => { done(new Error('no mail')) }, 'no mail'],
      [() => { throw 'text' }, "'text'"], [async () => { throw undefined }, 'undefined'] // eslint-disable-line no-throw-literal
    ]) {
      exporter.reset()
      await assert.rejects(fairlane(traced(runner, { tracer })).add(1))
      const { process: { status, events } } = spansBy()
      assert.deepEqual([status, events.map(({ name, attributes }) => [name, attributes['exception.message']])], [{ code: 2, message }, [['exception', message]]])
    }
  })

  it('ends, and the job with its own error, whatever that is', async function () {
    const unreadable = Object.defineProperty(new Error('no mail'), 'message', { get () { throw new Error('a getter') } })
    for (const [reason, message] of [
      [new Proxy({}, { getPrototypeOf () { throw new Error('a trap') } }), 'an object'], [revoked(), 'a revoked Proxy'], [unreadable, 'an error that cannot be read']
    ]) {
      for (const runner of [async () => { throw reason }, (n, done) => { done(reason) }, () => { throw reason }]) {
        exporter.reset()
        // in a list, since assert would read it
        const given = await fairlane(traced(runner, { tracer })).add(1).then(() => undefined, err => [err])
        assert(given[0] === reason)
        const { process: { status } } = spansBy()
        assert.deepEqual(status, { code: 2, message })
      }
    }
  })

  it('that cannot be ended is an uncaught exception, and changes nothing for the job', async function () {
    const broken = new Error('a tracer')
    const failing = { startSpan: (...args) => Object.assign(tracer.startSpan(...args), { end () { throw broken } }) }
    for (const runner of [async n => n, (n, done) => { done(null, n) }]) {
      const uncaught = captureUncaught()
      try {
        assert.equal(await fairlane(traced(runner, { tracer: failing }), { timeoutMs: 5000 }).add(7), 7)
        await uncaught.until(1)
        assert.deepEqual(uncaught.seen, [broken])
      } finally {
        uncaught.release()
      }
    }
  })

  it('ends if the context of the run cannot be made', async function () {
    const broken = new Error('a context manager')
    manager.with = () => {
      delete manager.with
      throw broken
    }
    await assert.rejects(fairlane(traced(() => {}, { tracer })).add(1), broken)
    assert.equal(spansBy().process.status.message, 'a context manager')
  })

  describe('of an attempt that something has come over', function () {
    const { fakeClock } = require('../../lib/testing')
    const hang = () => new Promise(() => {})

    for (const [how, options, end] of [
      ['a timeout', { timeoutMs: 10 }, ({ clock }) => clock.advance(10)],
      ['a timeout that releases the slot', { timeoutMs: 10, onTimeout: 'release' }, ({ clock }) => clock.advance(10)],
      ['an abort', {}, ({ controller }) => controller.abort(new Error('no more'))],
      ['the end of the queue', {}, ({ queue }) => { queue.close({ drain: false, timeoutMs: 0 }) }]
    ]) {
      it(`ends when its caller is told, as a failed one: ${how}`, async function () {
        const clock = fakeClock()
        const controller = new AbortController()
        const queue = fairlane(traced(hang, { tracer }), { clock, ...options })
        const told = queue.add(1, { signal: controller.signal }).then(() => assert.fail('it is done'), err => err)
        await quiet()
        assert.deepEqual(exporter.getFinishedSpans(), [])
        end({ clock, controller, queue })
        const { message } = await told
        const { process: { status, events } } = spansBy()
        assert.deepEqual([status.code, events.length], [2, 1])
        assert(status.message === message || how === 'an abort', `${status.message}, not ${message}`)
      })
    }

    it('ends once, whatever its runner does then, and those beside it go on', async function () {
      for (const settleLater of [done => done(null, 1), done => done(new Error('late')), (done, reject) => reject(revoked())]) {
        exporter.reset()
        const clock = fakeClock()
        let late
        const runner = (payload, done) => {
          if (payload === 2) return hang()
          return new Promise((resolve, reject) => { late = () => settleLater(done, reject) })
        }
        const queue = fairlane(traced(runner, { tracer }), { clock })
        const told = queue.add(1, { timeoutMs: 10 }).catch(({ code }) => code)
        queue.add(2, { timeoutMs: 50 }).catch(() => {})
        await quiet()
        clock.advance(10)
        assert.equal(await told, 'FAIRLANE_ERR_TIMEOUT')
        late()
        await quiet()
        assert.equal(exporter.getFinishedSpans().length, 1)
        clock.advance(40)
        assert.equal(exporter.getFinishedSpans().length, 2)
      }
    })

    it('has many beside it that share a signal, and lets go of that', async function () {
      const queue = fairlane(traced(async n => { await turn(); return n }, { tracer }), { concurrency: 100 })
      await Promise.all(Array.from({ length: 300 }, (_, n) => queue.add(n)))
      assert.equal(exporter.getFinishedSpans().filter(({ status: { code } }) => code !== 2).length, 300)
    })

    it('is one of its own for each attempt', async function () {
      const clock = fakeClock()
      const queue = fairlane(traced(hang, { tracer }), { clock, timeoutMs: 10, maxAttempts: 2, backoffMs: 5, concurrency: 2 })
      const told = queue.add(1).catch(({ code }) => code)
      await quiet()
      clock.advance(10)
      await quiet()
      clock.advance(5)
      await quiet()
      clock.advance(10)
      assert.equal(await told, 'FAIRLANE_ERR_TIMEOUT')
      assert.deepEqual(exporter.getFinishedSpans().map(({ attributes, status }) => [attributes['fairlane.attempt'], status.code]), [[1, 2], [2, 2]])
    })

    it('needs no signal, and none that has aborted before', async function () {
      const aborted = AbortSignal.abort()
      assert.equal(await traced(async n => n, { tracer })(1, { type: undefined, attempt: 1, signal: aborted }), 1)
      assert.equal(spansBy().process.status.code, 0)
    })
  })

  it('has the id of the job, where jobs have ids', async function () {
    await traced(async () => {}, { tracer })(1, { id: 12, type: undefined, attempt: 3 })
    const { process: { attributes } } = spansBy()
    assert.deepEqual([attributes['messaging.message.id'], attributes['fairlane.attempt']], ['12', 3])
  })

  const seed = seedFromEnvironment()
  it(`is never linked to that of another tenant's push, nor runs in its context (SEED=${seed})`, async function () {
    const random = seeded(seed)
    const tenant = new AsyncLocalStorage()
    const wrong = []
    const runner = traced((payload, done) => {
      const check = () => {
        if (tenant.getStore() !== payload) wrong.push([payload, tenant.getStore()])
        if (trace.getActiveSpan().attributes['fairlane.type'] !== payload.split(' ')[0]) wrong.push(payload)
      }
      check()
      if (random.chance(0.3)) { check(); done() } else if (random.chance(0.5)) setImmediate(() => { check(); done() })
      else return turn().then(() => { check(); done() })
    }, { tracer })
    for (const scheduler of ['equal', 'capped', 'fair']) {
      exporter.reset()
      const queue = fairlane(runner, { scheduler, asyncContext: 'push', concurrency: 3 })
      for (let i = 0; i < 200; i++) {
        const type = `tenant${random.below(5)}`
        tenant.run(`${type} ${i}`, () => pushIn(`push ${type}`, () => queue.pushType(type, `${type} ${i}`)))
        if (random.chance(0.2)) await turn()
      }
      await queue.onIdle()
      const spans = exporter.getFinishedSpans()
      const pushes = new Map(spans.filter(({ name }) => name.startsWith('push')).map(span => [span.spanContext().spanId, span.name]))
      const runs = spans.filter(({ name }) => name.startsWith('process'))
      assert.equal(runs.length, 200)
      assert.equal(new Set(runs.map(({ links: [{ context }] }) => context.spanId)).size, 200)
      for (const { name, links: [{ context }] } of runs) assert.equal(pushes.get(context.spanId), name.replace('process', 'push'))
    }
    assert.deepEqual(wrong, [])
  })
})

describe('traceAlarms()', function () {
  const { Metrics } = require('../../lib/metrics')
  const { traceAlarms } = require('../../lib/metrics/tracing')
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')

  beforeEach(function () { exporter.reset() })

  it('shows what is wrong as a span with events, until all is well', function () {
    const metrics = new Metrics()
    traceAlarms(metrics, { tracer, name: 'mails' })
    metrics.emit('standstill', { waiting: 2, running: 1, sinceMs: 30000 })
    metrics.emit('starving', { type: 'a', waiting: 1, sinceMs: 40000 })
    metrics.emit('moving', {})
    assert.deepEqual(exporter.getFinishedSpans(), [])
    metrics.emit('fed', { type: 'a' })
    const [{ name, attributes, events, status, duration }] = exporter.getFinishedSpans()
    assert.deepEqual([name, attributes['messaging.destination.name'], status.code], ['queue mails', 'mails', 2])
    assert.deepEqual(events.map(({ name, attributes }) => [name, attributes['fairlane.type'], attributes['fairlane.waiting']]), [
      ['standstill', undefined, 2], ['starving', 'a', 1], ['moving', undefined, undefined], ['fed', 'a', undefined]
    ])
    assert(duration[0] >= 29)
    metrics.emit('moving')
    assert.equal(exporter.getFinishedSpans().length, 2)
  })

  it('ends with what it returns, and listens no more', function () {
    const metrics = new Metrics()
    const stop = traceAlarms(metrics, { tracer })
    metrics.emit('starving', { type: 'a', waiting: 1, sinceMs: 1 })
    stop()
    metrics.emit('starving', { type: 'b', waiting: 1, sinceMs: 1 })
    stop()
    assert.deepEqual(exporter.getFinishedSpans().map(({ name, events }) => [name, events.length]), [['queue default', 1]])
  })

  it('bears a tracer that throws', async function () {
    const metrics = new Metrics()
    const broken = new Error('a tracer')
    traceAlarms(metrics, { tracer: { startSpan () { throw broken } } })
    const uncaught = captureUncaught()
    try {
      metrics.emit('standstill', { waiting: 1, running: 0, sinceMs: 1 })
      await uncaught.until(1)
      assert.deepEqual(uncaught.seen, [broken])
    } finally {
      uncaught.release()
    }
  })

  it('refuses what is wrong', function () {
    for (const none of [undefined, null, {}, revoked()]) assert.throws(() => traceAlarms(none, { tracer }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    const metrics = new Metrics()
    for (const options of [undefined, null, {}, { tracer: {} }, { tracer, name: '' }, { tracer, link: true }]) {
      assert.throws(() => traceAlarms(metrics, options), { code: 'FAIRLANE_ERR_OPTION' })
    }
  })
})
