// Written by hand. What `fairlane/metrics/tracing` exports.

import type { Metrics } from './index'

/** What is used of a tracer of OpenTelemetry. */
export interface SpanTracer {
  startSpan (name: string, options?: any, context?: any): any
}

export interface TracedOptions {
  /** Makes a span for each call of the runner. Needs `@opentelemetry/api`. */
  tracer?: SpanTracer | undefined

  /**
   * true: the span is the root of a trace of its own, and linked to the span of the push. false: it is a child of the span of the push. Either needs
   * the queue's option `asyncContext: 'push'`.
   *
   * @default true
   */
  link?: boolean | undefined

  /**
   * What the queue is called in spans.
   *
   * @default 'default'
   */
  name?: string | undefined
}

/** What is published on `tracing:fairlane:run:start`, `end`, `asyncStart`, `asyncEnd` and `error`: one object for each call of the runner. */
export interface RunMessage {
  payload: any
  /** On disk and at a broker. */
  id?: number | string | undefined
  type: string | undefined
  attempt: number
  /** Once it has ended well. */
  result?: any
  /** Once it has failed. */
  error?: any
}

export interface TraceAlarmsOptions {
  /** Makes the spans. */
  tracer: SpanTracer

  /**
   * What the queue is called in spans.
   *
   * @default 'default'
   */
  name?: string | undefined
}

/**
 * Shows alarms of metrics as spans: one begins when the queue stands still or a type starves, has an event for each alarm, and ends when all is well.
 * Returns a function that ends it.
 *
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
export function traceAlarms (metrics: Metrics, options: TraceAlarmsOptions): () => void

/**
 * Makes a runner of a runner: it publishes on the tracing channel `fairlane:run` of `node:diagnostics_channel`, and makes spans if there is a tracer.
 *
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_PEER
 */
export function traced<R extends (payload: any, ...rest: any[]) => any> (runner: R, options?: TracedOptions): R
