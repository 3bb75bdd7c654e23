// Written by hand. What `fairlane/metrics/tracing` exports.

import type { Metrics } from './index'

/** The part of an OpenTelemetry tracer that is used. */
export interface SpanTracer {
  startSpan (name: string, options?: any, context?: any): any
}

export interface TracedOptions {
  /** Makes a span for each call of the runner. Needs the package `@opentelemetry/api`. Default: no spans. */
  tracer?: SpanTracer | undefined

  /**
   * Whether a span is the root of its own trace, linked to the span of the push; otherwise it is a child of that span. Both need the queue's option
   * `asyncContext: 'push'`.
   *
   * @default true
   */
  link?: boolean | undefined

  /**
   * Name of the queue in spans: the attribute `messaging.destination.name`.
   *
   * @default 'default'
   */
  name?: string | undefined
}

/** Published on `tracing:fairlane:run:start`, `end`, `asyncStart`, `asyncEnd` and `error`: one object per call of the runner. */
export interface RunMessage {
  payload: any
  /** On disk and at a broker. */
  id?: number | string | undefined
  type: string | undefined
  attempt: number
  /** Set once it is done. */
  result?: any
  /** Set once it has failed. */
  error?: any
}

export interface TraceAlarmsOptions {
  /** Makes the spans. */
  tracer: SpanTracer

  /**
   * Name of the queue in spans.
   *
   * @default 'default'
   */
  name?: string | undefined
}

/**
 * Shows the alarms of metrics as spans. A span begins when the queue stands still or a type starves, has an event for each alarm, and ends when no
 * alarm is left. Returns a function that stops it.
 *
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
export function traceAlarms (metrics: Metrics, options: TraceAlarmsOptions): () => void

/**
 * Wraps a runner: it publishes on the tracing channel `fairlane:run` of `node:diagnostics_channel`, and creates spans if there is a tracer.
 *
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_PEER
 */
export function traced<R extends (payload: any, ...rest: any[]) => any> (runner: R, options?: TracedOptions): R
