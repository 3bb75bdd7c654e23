'use strict'

// Traces of runners: messages on the tracing channel `fairlane:run` of node:diagnostics_channel, and spans of OpenTelemetry, whose API is
// an optional peer. It wraps a runner, and knows nothing of the queue.
//
//   start ─ runner returns ─ end … settled: (error) asyncStart ─ asyncEnd
//   span: until then, or until the signal of the attempt aborts, since its caller is told then

const { channelOf } = require('../platform/channels')
const { typeError, describe } = require('../arguments/errors')
const { isError, readAll, readFlag, readPart, readText } = require('../arguments/fields')
const { peerError } = require('../platform/peers')
const { promiseOf } = require('../platform/promised')
const { Signals } = require('../platform/signals')
const { callGuarded } = require('../platform/guard')

const RANGE = '^1.4'
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
const OPTION = 'FAIRLANE_ERR_OPTION'
const ERROR = 2 // SpanStatusCode of the API

const readers = {
  tracer: readTracer,
  link: (value = true) => readFlag(value, 'link', OPTION),
  name: (value = 'default') => readText(value, 'name', OPTION)
}

module.exports = { traced, traceAlarms }

/** As that of alarm-spans.js. */
function traceAlarms (metrics, options) {
  return require('./alarm-spans').traceAlarms(metrics, options)
}

/**
 * @param {Function} runner
 * @param {{ tracer?: object, link?: boolean, name?: string }} [options] tracer: of OpenTelemetry; link: whether the span of a run is linked
 *   to that of the push, and the root of a trace of its own, or else its child; name: of the queue, in spans
 * @returns {Function} the runner, with its members
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_PEER
 */
function traced (runner, options) {
  if (typeof runner !== 'function') throw typeError('FAIRLANE_ERR_RUNNER', 'traced: the runner must be a function')
  const { tracer, link, name } = readAll(options, readers, OPTION)
  const channels = Object.fromEntries(EVENTS.map(event => [event, channelOf(`tracing:fairlane:run:${event}`)]))
  const all = Object.values(channels)
  const spans = tracer === undefined ? undefined : new Spans(loadApi(), tracer, link, name)
  const run = (payload, done, context) => {
    const isCall = done === undefined // a function of queue.run(), which gets its context only
    const hasDone = typeof done === 'function' // under settleBy: 'promise' the context is there
    if (spans === undefined && !all.some(({ hasSubscribers }) => hasSubscribers)) {
      return hasDone ? runner(payload, done, context) : isCall ? runner(payload) : runner(payload, done)
    }
    if (isCall) return new Run(channels, callWith, runner, payload).begin(undefined, spans)
    return hasDone
      ? new Run(channels, runner, payload, context).begin(done, spans)
      : new Run(channels, runner, payload, done).begin(undefined, spans)
  }
  return Object.defineProperties(run, membersOf(runner))
}

/** A function that is a job is its own payload. */
function callWith (fn, context) {
  return fn(context)
}

/** What a runner has: how many parameters, its name, and what the caller has put there. */
function membersOf (runner) {
  const all = descriptorsOf(runner)
  const keys = Reflect.ownKeys(all).filter(key => key === 'length' || key === 'name' || all[key].enumerable)
  return Object.fromEntries(keys.map(key => [key, all[key]]))
}

function descriptorsOf (runner) {
  try {
    return Object.getOwnPropertyDescriptors(runner)
  } catch (cause) {
    throw typeError('FAIRLANE_ERR_RUNNER', 'traced: the runner cannot be read', { cause })
  }
}

/** One call of a runner. Its end is what comes first: done(), the promise, a throw, or the value if there is no done. */
class Run {
  constructor (channels, runner, payload, context) {
    this.channels = channels
    this.runner = runner
    this.context = context
    this.message = { payload, id: context.id, type: context.type, attempt: context.attempt }
    this.spans = undefined
    this.span = undefined // until it ends
    this.signal = undefined // that is listened to
    this.hasEnded = false
  }

  begin (done, spans) {
    if (spans === undefined) return this.start(done)
    this.spans = spans
    this.span = spans.open(this.message)
    const { signal } = this.context
    if (signal !== undefined && !signal.aborted) spans.signals.add(this.signal = signal, this)
    try {
      return spans.within(this.span, () => this.start(done))
    } catch (err) {
      this.ends(err, undefined, true) // unless the runner threw it, which is told
      throw err
    }
  }

  // private from here on

  start (done) {
    const { channels: { start, end }, context, message, runner } = this
    return start.runStores(message, () => {
      try {
        if (done === undefined) return this.follow(runner(message.payload, context), true)
        return this.follow(runner(message.payload, this.through(done), context), false)
      } catch (err) {
        this.ends(err, undefined, true)
        throw err
      } finally {
        end.publish(message)
      }
    })
  }

  follow (returned, isEnd) {
    const promise = promiseOf(returned)
    if (promise === undefined) {
      if (isEnd) this.ends(undefined, returned, false)
      return returned
    }
    const { asyncStart, asyncEnd } = this.channels
    const settle = (err, result, isFailure) => {
      if (!this.ends(err, result, isFailure)) return
      asyncStart.publish(this.message)
      asyncEnd.publish(this.message)
    }
    return promise.then(value => {
      settle(undefined, value, false)
      return value
    }, reason => {
      settle(reason, undefined, true)
      throw reason
    })
  }

  /** The queue's done, told of. */
  through (done) {
    const { asyncStart, asyncEnd } = this.channels
    return (err, result) => {
      if (!this.ends(err, result, Boolean(err))) return done(err, result)
      return asyncStart.runStores(this.message, () => {
        try {
          return done(err, result)
        } finally {
          asyncEnd.publish(this.message)
        }
      })
    }
  }

  /** @returns {boolean} false if it has ended before */
  ends (error, result, isFailure) {
    if (this.hasEnded) return false
    this.hasEnded = true
    if (isFailure) {
      this.message.error = error
      this.channels.error.publish(this.message)
    } else {
      this.message.result = result
    }
    this.endSpan(error, isFailure)
    return true
  }

  /** Of the call, or since something has come over its job. */
  endSpan (error, isFailure) {
    const { signal, span, spans } = this
    if (span === undefined) return
    this.span = this.signal = undefined
    if (signal !== undefined) spans.signals.remove(signal, this)
    callGuarded(() => endSpan(span, error, isFailure))
  }
}

/** Makes the spans of runs. */
class Spans {
  constructor (api, tracer, link, name) {
    this.api = api
    this.tracer = tracer
    this.link = link
    this.name = name
    this.signals = new Signals((signal, runs) => { for (const run of runs) run.endSpan(signal.reason, true) })
  }

  open ({ id, type, attempt }) {
    const { context, trace, SpanKind, isSpanContextValid } = this.api
    const attributes = {
      'messaging.system': 'fairlane',
      'messaging.operation.type': 'process',
      'messaging.destination.name': this.name,
      'fairlane.attempt': attempt
    }
    if (type !== undefined) attributes['fairlane.type'] = type
    if (id !== undefined) attributes['messaging.message.id'] = String(id)
    const ofPush = trace.getSpanContext(context.active())
    const links = this.link && ofPush !== undefined && isSpanContextValid(ofPush) ? [{ context: ofPush }] : []
    const name = type === undefined ? 'process' : `process ${type}`
    return this.tracer.startSpan(name, { kind: SpanKind.CONSUMER, root: this.link, links, attributes }, context.active())
  }

  within (span, fn) {
    const { context, trace } = this.api
    return context.with(trace.setSpan(context.active(), span), fn)
  }
}

function endSpan (span, error, isFailure) {
  try {
    if (isFailure) tell(span, error)
  } finally {
    span.end()
  }
}

/** What a runner fails with may be anything: reading it may throw, here and in the span. */
function tell (span, error) {
  try {
    const hasMessage = isError(error)
    const exception = hasMessage ? error : describe(error)
    const message = hasMessage ? String(error.message) : exception
    span.recordException(exception)
    span.setStatus({ code: ERROR, message })
  } catch {
    span.setStatus({ code: ERROR, message: 'an error that cannot be read' })
  }
}

function readTracer (value) {
  return value === undefined ? undefined : readPart(value, ['startSpan'], 'tracer must be an OpenTelemetry tracer', OPTION)
}

function loadApi () {
  try {
    return require('@opentelemetry/api')
  } catch (cause) {
    throw peerError('A tracer', '@opentelemetry/api', RANGE, 'which is not installed', { cause })
  }
}
