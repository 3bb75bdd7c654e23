'use strict'

// Alarms of metrics as a span of OpenTelemetry: it begins when a queue stands still or a type starves, tells each alarm as an event, and
// ends when all is well. So a span is there only while something is wrong, and it is exported when that is over.

const { typeError } = require('../arguments/errors')
const { hasMethods, readAll, readPart, readText } = require('../arguments/fields')
const { callGuarded } = require('../platform/guard')

const OPTION = 'FAIRLANE_ERR_OPTION'
const EVENTS = ['standstill', 'moving', 'starving', 'fed']
const ERROR = 2 // SpanStatusCode of the API

const readers = {
  tracer: value => readPart(value, ['startSpan'], 'tracer must be an OpenTelemetry tracer', OPTION),
  name: (value = 'default') => readText(value, 'name', OPTION)
}

module.exports = { traceAlarms }

/**
 * @param {object} metrics of fairlane/metrics, of any queue
 * @param {{ tracer: object, name?: string }} options tracer: of OpenTelemetry; name: of the queue, in spans
 * @returns {() => void} ends it, and the span that there may be
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
function traceAlarms (metrics, options) {
  if (!hasMethods(metrics, ['on', 'off', 'snapshot'])) throw typeError('FAIRLANE_ERR_ARGUMENT', 'traceAlarms needs Metrics')
  const { tracer, name } = readAll(options, readers, OPTION)
  const alarms = new Alarms(tracer, name)
  const listeners = EVENTS.map(event => [event, told => callGuarded(() => alarms.hear(event, told ?? {}))])
  for (const [event, listener] of listeners) metrics.on(event, listener)
  return () => {
    for (const [event, listener] of listeners) metrics.off(event, listener)
    alarms.end()
  }
}

class Alarms {
  constructor (tracer, name) {
    this.tracer = tracer
    this.name = name
    this.span = undefined // while something is wrong
    this.isStill = false
    this.starving = new Set() // types
  }

  /** The tracer is the caller's: what it throws becomes an uncaught exception. */
  hear (event, { type, waiting, running, sinceMs }) {
    if (event === 'standstill' || event === 'moving') this.isStill = event === 'standstill'
    else if (event === 'starving') this.starving.add(type)
    else this.starving.delete(type)
    this.span ??= this.open(sinceMs)
    const about = { 'fairlane.type': type, 'fairlane.waiting': waiting, 'fairlane.running': running, 'fairlane.since_ms': sinceMs }
    this.span.addEvent(event, Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)))
    if (!this.isStill && this.starving.size === 0) this.end()
  }

  end () {
    const { span } = this
    this.span = undefined
    span?.end()
  }

  // private from here on

  /** It began when that began which is told of now. */
  open (sinceMs = 0) {
    const span = this.tracer.startSpan(`queue ${this.name}`, {
      startTime: Date.now() - sinceMs,
      root: true,
      attributes: { 'messaging.system': 'fairlane', 'messaging.destination.name': this.name }
    })
    span.setStatus({ code: ERROR })
    return span
  }
}
