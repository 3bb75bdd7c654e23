// Written by hand. What `fairlane/metrics` exports.

import type { Observer } from '../../index'
import { EventEmitter } from 'eventemitter3'

export interface MetricsOptions {
  /**
   * Name of the queue: the label `queue`.
   *
   * @default 'default'
   */
  name?: string | undefined

  /**
   * How many types have a label of their own. Later types share one.
   *
   * @default 100
   */
  maxTypes?: number | undefined

  /**
   * The shared label of types beyond `maxTypes`.
   *
   * @default 'other'
   */
  otherType?: string | undefined

  /**
   * Returns the label of a type, for instance the tenant's plan. Types with the same label are counted together. If it throws or does not return a
   * string, the type is counted under `otherType`, with a warning. `'group'` stands for the group of the type, from `groupOf` in the queue's
   * `schedulerOptions`; a queue without groups is refused. Default: the type.
   */
  labelOf?: ((type: string) => string) | 'group' | undefined

  /**
   * The window of `fairness`, in ms: from 1 to 2147483647.
   *
   * @default 10000
   */
  windowMs?: number | undefined

  /**
   * After how many ms without a start a waiting type starves, and a standstill is reported: from 1 to 2147483647.
   *
   * @default 30000
   */
  starveMs?: number | undefined

  /** Bounds of the histograms in ms, ascending: 1 to 64 of them. Default: 16 bounds from 1 to 300000. */
  bucketsMs?: readonly number[] | undefined

  /** Whether times may be late by up to 2 ms, or one turn of the event loop: as for `History`. @default 'coarse' */
  clock?: 'coarse' | 'exact' | undefined
}

/** Times in ms. Quantiles are estimated from the buckets, and undefined without times. */
export interface Times {
  sum: number
  p50: number | undefined
  p99: number | undefined
  /** Count of each bucket. There is one bucket more than bounds. */
  buckets: number[]
}

/** Counts and times of the types of a label. */
export interface TypeMetrics {
  /** The label: by default the type, cut to 128 characters; empty for jobs without a type. */
  type: string
  /** Whether the label stands for a single type; otherwise several types may be counted here. */
  isType: boolean
  waiting: number
  /** Slots that are taken. */
  running: number
  /** Of these, the ones whose job has settled while the runner goes on. */
  overdue: number
  accepted: number
  done: number
  failed: number
  cancelled: number
  retried: number
  /** Attempts that failed with `Throttled`. */
  throttled: number
  /** Attempts that failed with `Postponed`. */
  postponed: number
  /** How long the next job has waited, in ms; of several types the longest. Undefined if none waits. */
  oldestWaitMs: number | undefined
  /** Slot time in ms, including slots that are still taken. */
  slotMs: number
  /** Units of cost charged to jobs whose runs have ended, as corrected by `spent`; 0 if costs are not counted. */
  spent: number
  /** Of jobs that have started. `p50` and `p99` include jobs that still wait. */
  waitMs: Times
  runMs: Times
}

/** A starving type, and how long no job of it has started. */
export interface StarvingType {
  /** The type, not its label; undefined for jobs without a type. */
  type: string | undefined
  sinceMs: number
}

export interface MetricsEvents {
  /** Once for each type that begins to starve. */
  starving: [news: StarvingType & { waiting: number }]
  /** A type no longer starves: a job of it has started, none waits, or it was paused or held. */
  fed: [news: { type: string | undefined }]
  /** Jobs wait, and for `starveMs` none has started or ended. Once for each standstill. */
  standstill: [news: { waiting: number, running: number, sinceMs: number }]
  /** A standstill is over. */
  moving: [news: {}]
}

/** Options of a snapshot of the top types. */
export interface TopOptions {
  /**
   * Number of types: from 1 to 1000.
   *
   * @default 50
   */
  top?: number | undefined

  /**
   * The ranking: by the `'share'` of slot time or the `'failed'` jobs in the window, or by the current `'waiting'` jobs, the wait of the next job
   * (`'oldestWait'`) or the `'overdue'` runners.
   *
   * @default 'share'
   */
  by?: 'share' | 'waiting' | 'oldestWait' | 'failed' | 'overdue' | undefined

  /**
   * Length of the window in ms: from 1000 to 900000. A longer window than in earlier calls is complete only once that much time has passed.
   *
   * @default 60000
   */
  windowMs?: number | undefined

  /**
   * Whether the result has a field `timeline`: what `timeline()` returns, at nearly no further cost.
   *
   * @default false
   */
  timeline?: boolean | undefined
}

/** What happened in a window. */
export interface WindowCounts {
  started: number
  done: number
  failed: number
  cancelled: number
  retried: number
  throttled: number
  postponed: number
  /** Slot time in ms. */
  slotMs: number
}

/** How many jobs and slots there are now. */
export interface LiveCounts {
  /** Without delayed ones. */
  waiting: number
  delayed: number
  /** Slots that are taken. */
  running: number
  /** Of these, the ones whose job has settled while the runner goes on. */
  overdue: number
  /** Dead letters. */
  dead: number
  /** In ms. Undefined if none waits, or if it is not known, at a broker. */
  oldestWaitMs: number | undefined
}

/** One of the top types. */
export interface TopType extends WindowCounts, LiveCounts {
  type: string
  /** False for jobs without a type, and if only the first 128 characters of the name are still known. */
  isType: boolean
  /** Only if the scheduler has groups. */
  group: string | undefined
  /** Share of the slot time of all types in the window, from 0 to 1. */
  share: number
  /** By how much these numbers may be too high; 0 for types that have jobs, and for most others. */
  excess: { slotMs: number, failed: number }
}

export interface TopSnapshot {
  name: string
  by: 'share' | 'waiting' | 'oldestWait' | 'failed' | 'overdue'
  /** The actual window: at least what was requested, and less only at the beginning. */
  windowMs: number
  /** Types that have jobs, or had in the window. */
  typesCount: number
  slots: number
  totals: WindowCounts & LiveCounts & {
    /** Jobs that ended, per second of the window. */
    perSecond: number
    /** Of jobs that started in the window, and jobs that wait now. */
    waitMs: { p50: number | undefined, p95: number | undefined, p99: number | undefined }
  }
  /** Duration of the standstill: jobs wait, and none starts or ends; 0: none. */
  standstillMs: number
  fairness: number | undefined
  starving: StarvingType[]
  refused: Record<string, number>
  /** In the order of the ranking. */
  types: TopType[]
  /** Only if it was asked for. */
  timeline?: TimelineBucket[] | undefined
}

/** What happened in a part of the last 15 minutes. */
export interface TimelineBucket {
  /** Its end, in ms since 1970, or by the queue's own `clock`. */
  at: number
  /** Its length. */
  ms: number
  started: number
  done: number
  failed: number
  /** Undefined if no job started. */
  waitP50Ms: number | undefined
  waitP95Ms: number | undefined
  /** On average. */
  slotsHeld: number
  /** At its end. */
  waiting: number
}

export interface MetricsSnapshot {
  name: string
  boundsMs: number[]
  /**
   * Jain's index of the weighted slot time of the types that could have started jobs throughout the last window: 1 if it is even, 1/n if one of n types
   * had everything. Undefined if there were fewer than two such types.
   */
  fairness: number | undefined
  /** As of the last check, made every `min(windowMs, starveMs / 3)` ms. */
  starving: StarvingType[]
  /** Duration of the standstill: jobs wait, and none starts or ends; 0: none. */
  standstillMs: number
  types: TypeMetrics[]
  /** By the code of the error. */
  refused: Record<string, number>
}

/** The part of a `prom-client` registry that is used. */
export interface PrometheusRegistry {
  registerMetric (metric: any): unknown
  getSingleMetric (name: string): unknown
}

/** The part of an `@opentelemetry/api` meter that is used. */
export interface OpenTelemetryMeter {
  createObservableCounter (name: string, options?: any): any
  createObservableGauge (name: string, options?: any): any
  addBatchObservableCallback (callback: (result: any) => any, observables: any[]): void
}

export interface Metrics extends Observer {}

/**
 * Counts and times the jobs of one queue by type, as one of its `observers`.
 * Emits `starving` and `fed`, `standstill` and `moving`.
 */
export class Metrics extends EventEmitter<MetricsEvents> {
  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options?: MetricsOptions)

  /** Counts and times by label. O(types with jobs). */
  snapshot (): MetricsSnapshot

  /**
   * The top types, of all that have jobs or had some in the window, and totals of all types. O(types with jobs).
   *
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  snapshot (options: TopOptions): TopSnapshot

  /** What happened in the last 15 minutes, the oldest first. */
  timeline (): TimelineBucket[]

  /**
   * Adds these metrics to a `prom-client` registry, which may have those of other queues. Registering twice has no effect.
   *
   * @throws FAIRLANE_ERR_ARGUMENT if it is not a registry, or has another queue of the same name
   */
  register (registry: PrometheusRegistry): void

  /**
   * Adds these metrics to an OpenTelemetry meter, which may have those of other queues. Adding them twice has no effect.
   *
   * @throws FAIRLANE_ERR_ARGUMENT if it is not a meter, or has another queue of the same name
   */
  meter (meter: OpenTelemetryMeter): void

  /** All metrics in the Prometheus text format, in UTF-8. O(types with jobs). */
  toText (): Uint8Array
}

export interface ChannelsOptions {
  /** As for `Metrics`. @default 10000 */
  windowMs?: number | undefined
  /** As for `Metrics`. @default 30000 */
  starveMs?: number | undefined
  /** As for `Metrics`. @default 'coarse' */
  clock?: 'coarse' | 'exact' | undefined
}

/** Published on `fairlane:queue` while a queue is being created. */
export interface QueueMessage {
  /** It takes no calls before it has been created. */
  queue: object
  /** The path on disk, the name at a broker, otherwise undefined. */
  name: string | undefined
  /** Adds an observer. Must be called before the subscriber returns. @throws FAIRLANE_ERR_OPTION */
  observe (observer: Observer): void
}

/** Published on `fairlane:job:accepted`, `started`, `settled`, `retried` and `refused`. Times in ms. */
export interface JobMessage {
  queue: object
  /** Undefined for refused jobs. */
  id: number | undefined
  type: string | undefined
  /** Attempts that have begun. */
  attempt: number
  /** Undefined for refused jobs. */
  state: 'waiting' | 'running' | 'delayed' | 'done' | 'failed' | 'cancelled' | undefined
  /** How long the job waited before its last start, or until it was cancelled. */
  waitMs: number | undefined
  /** How long its runner ran, if it did. */
  runMs: number | undefined
  error: any
}

/** Published on `fairlane:starvation`. */
export interface StarvationMessage {
  queue: object
  event: 'starving' | 'fed'
  type: string | undefined
  /** Only with `'starving'`. */
  waiting?: number
  /** Only with `'starving'`. */
  sinceMs?: number
}

/**
 * An observer that publishes the transitions of each job on channels of `node:diagnostics_channel`.
 *
 * @throws FAIRLANE_ERR_OPTION
 */
export function channels (options?: ChannelsOptions): Observer
