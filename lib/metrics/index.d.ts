// Written by hand. What `fairlane/metrics` exports.

import type { Observer } from '../../index'
import { EventEmitter } from 'eventemitter3'

export interface MetricsOptions {
  /**
   * The label `queue`.
   *
   * @default 'default'
   */
  name?: string | undefined

  /**
   * How many types are shown apart. Types that come later share one label.
   *
   * @default 100
   */
  maxTypes?: number | undefined

  /**
   * The label of types beyond `maxTypes`.
   *
   * @default 'other'
   */
  otherType?: string | undefined

  /**
   * The label of a type, for instance the tenant's plan: types with the same label are counted together. Called in a microtask after the first job
   * of a type; again after all its jobs have ended. If it throws or gives no string, the type is counted under `otherType`, with a warning.
   */
  labelOf?: ((type: string) => string) | undefined

  /**
   * The window of `fairness`, in ms: from 1 to 2147483647.
   *
   * @default 10000
   */
  windowMs?: number | undefined

  /**
   * After how many ms without a start a type starves: from 1 to 2147483647.
   *
   * @default 30000
   */
  starveMs?: number | undefined

  /** The bounds of the histograms in ms, rising: 1 to 64. Default: 16, from 1 to 300000. */
  bucketsMs?: readonly number[] | undefined

  /**
   * `'coarse'`: times are late by 2 ms, or one turn of the event loop, at most. `'exact'`: the clock is read for each entry. A queue with a
   * `clock` of its own is always exact.
   *
   * @default 'coarse'
   */
  clock?: 'coarse' | 'exact' | undefined
}

/** Times in ms. Quantiles are undefined without times, and are taken from the buckets. */
export interface Times {
  sum: number
  p50: number | undefined
  p99: number | undefined
  /** How many are in each bucket, one more than there are bounds. */
  buckets: number[]
}

/** What is counted and timed of the types of a label. */
export interface TypeMetrics {
  /** The label: the text of the type, 128 characters at most; the empty text for jobs without a type. */
  type: string
  /** Whether the label is the text of one type; otherwise several types may be counted here. */
  isType: boolean
  waiting: number
  running: number
  accepted: number
  done: number
  failed: number
  cancelled: number
  retried: number
  /** For how long jobs have run, those that still run included. */
  slotMs: number
  waitMs: Times
  runMs: Times
}

/** A type that starves, and for how long no job of it has started. */
export interface StarvingType {
  /** The type, not its label; undefined for jobs without a type. */
  type: string | undefined
  sinceMs: number
}

export interface MetricsEvents {
  /** Once for each type that begins to starve. */
  starving: [news: StarvingType & { waiting: number }]
  /** It does not any more: a job of it has started, none waits, or somebody holds it back. */
  fed: [news: { type: string | undefined }]
}

export interface MetricsSnapshot {
  name: string
  boundsMs: number[]
  /**
   * Jain's index of the slot time, by weight, of the types that could have started jobs all through the last window: 1 is evenly; if one of n types
   * had all, it is 1/n. undefined if there were fewer than two such types.
   */
  fairness: number | undefined
  /** Those of the last look, which comes each `min(windowMs, starveMs / 3)` ms. */
  starving: StarvingType[]
  types: TypeMetrics[]
  /** By the code of the error. */
  refused: Record<string, number>
}

/** What is used of a registry of `prom-client`. */
export interface PrometheusRegistry {
  registerMetric (metric: any): unknown
  getSingleMetric (name: string): unknown
}

/** What is used of a meter of `@opentelemetry/api`. */
export interface OpenTelemetryMeter {
  createObservableCounter (name: string, options?: any): any
  createObservableGauge (name: string, options?: any): any
  addBatchObservableCallback (callback: (result: any) => any, observables: any[]): void
}

export interface Metrics extends Observer {}

/**
 * Counts and times of the jobs of one queue, by type, to be given to its option `observers`.
 * Emits `starving` and `fed`.
 */
export class Metrics extends EventEmitter<MetricsEvents> {
  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options?: MetricsOptions)

  /** What has been counted and timed. O(types with jobs). */
  snapshot (): MetricsSnapshot

  /**
   * Has a registry of `prom-client` show all, beside those of other queues. For the second time it does nothing.
   *
   * @throws FAIRLANE_ERR_ARGUMENT for what is no registry, and if it has another queue of the same name
   */
  register (registry: PrometheusRegistry): void

  /**
   * Has a meter of OpenTelemetry observe all, beside those of other queues. For the second time it does nothing.
   *
   * @throws FAIRLANE_ERR_ARGUMENT for what is no meter, and if it has another queue of the same name
   */
  meter (meter: OpenTelemetryMeter): void

  /** All in the text format of Prometheus, in UTF-8. O(types with jobs). */
  toText (): Uint8Array
}

export interface ChannelsOptions {
  /** As of Metrics. */
  windowMs?: number | undefined
  /** As of Metrics. */
  starveMs?: number | undefined
  /** As of Metrics. */
  clock?: 'coarse' | 'exact' | undefined
}

/** What is published on `fairlane:queue`, when a queue is being made. */
export interface QueueMessage {
  /** It takes no calls before it is made. */
  queue: object
  /** On disk the path, at a broker the name, otherwise undefined. */
  name: string | undefined
  /** Adds an observer. To be called before the subscriber returns. @throws FAIRLANE_ERR_OPTION */
  observe (observer: Observer): void
}

/** What is published on `fairlane:job:accepted`, `started`, `settled`, `retried` and `refused`. Times in ms. */
export interface JobMessage {
  queue: object
  /** undefined for refused jobs. */
  id: number | undefined
  type: string | undefined
  /** Attempts that have begun. */
  attempt: number
  /** undefined for refused jobs. */
  state: 'waiting' | 'running' | 'delayed' | 'done' | 'failed' | 'cancelled' | undefined
  /** For how long the job has waited before its last start, or until it was cancelled. */
  waitMs: number | undefined
  /** For how long its runner ran, if it did. */
  runMs: number | undefined
  error: any
}

/** What is published on `fairlane:starvation`. */
export interface StarvationMessage {
  queue: object
  event: 'starving' | 'fed'
  type: string | undefined
  /** Only if it is starving. */
  waiting?: number
  /** Only if it is starving. */
  sinceMs?: number
}

/**
 * An observer that publishes what becomes of each job on channels of `node:diagnostics_channel`.
 *
 * @throws FAIRLANE_ERR_OPTION
 */
export function channels (options?: ChannelsOptions): Observer
