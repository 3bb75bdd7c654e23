// Written by hand. What `fairlane/metrics` exports.

import type { Observer } from '../../index'

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

export interface MetricsSnapshot {
  name: string
  boundsMs: number[]
  types: TypeMetrics[]
  /** By the code of the error. */
  refused: Record<string, number>
}

/** What is used of a registry of `prom-client`. */
export interface PrometheusRegistry {
  registerMetric (metric: any): unknown
  getSingleMetric (name: string): unknown
}

export interface Metrics extends Observer {}

/** Counts and times of the jobs of one queue, by type, to be given to its option `observers`. */
export class Metrics {
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

  /** All in the text format of Prometheus, in UTF-8. O(types with jobs). */
  toText (): Uint8Array
}
