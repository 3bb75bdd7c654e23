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
   * `'group'`: the group of the type, which `groupOf` in `schedulerOptions` of the queue is asked for; FAIRLANE_ERR_OPTION where there is none.
   */
  labelOf?: ((type: string) => string) | 'group' | undefined

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
  /** Slots that are taken. */
  running: number
  /** Of these, the ones whose jobs have settled while their runners go on. */
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
  /** For how long the job has waited that is to start next, of several types the longest, in ms; undefined if none waits. */
  oldestWaitMs: number | undefined
  /** For how long slots were taken, those that still are included. */
  slotMs: number
  /** Units of cost that jobs were charged whose runs have ended, as corrected; 0 where none are counted. */
  spent: number
  /** Of the jobs that have started; `p50` and `p99` count those, too, that still wait. */
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
  /** Jobs have waited for `starveMs`, and none has started or ended. Once for each standstill. */
  standstill: [news: { waiting: number, running: number, sinceMs: number }]
  /** A standstill is over. */
  moving: [news: {}]
}

/** What snapshots of the types that come first are asked for. */
export interface TopOptions {
  /**
   * How many types: from 1 to 1000.
   *
   * @default 50
   */
  top?: number | undefined

  /**
   * What they are ranked by: slot time or failures in the window, or jobs that wait, the wait of the next job, or overdue runners now.
   *
   * @default 'share'
   */
  by?: 'share' | 'waiting' | 'oldestWait' | 'failed' | 'overdue' | undefined

  /**
   * How long the window is, in ms: from 1000 to 900000. Who asks for a longer one than before gets that when as much time has gone by.
   *
   * @default 60000
   */
  windowMs?: number | undefined
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
  /** For how long slots were taken. */
  slotMs: number
}

/** How many jobs and slots there are now. */
export interface LiveCounts {
  /** Without delayed ones. */
  waiting: number
  delayed: number
  /** Slots that are taken. */
  running: number
  /** Of these, the ones whose jobs have settled while their runners go on. */
  overdue: number
  /** Dead letters. */
  dead: number
  /** In ms; undefined if none waits, or if that is not known, at a broker. */
  oldestWaitMs: number | undefined
}

/** One of the types that come first. */
export interface TopType extends WindowCounts, LiveCounts {
  type: string
  /** False for jobs without a type, and for a name of which only the first 128 characters are known any more. */
  isType: boolean
  /** Where the scheduler has groups. */
  group: string | undefined
  /** Of the slot time of all types in the window, from 0 to 1. */
  share: number
  /** By how much these may be too high; 0 for all types that have jobs, and for most others. */
  excess: { slotMs: number, failed: number }
}

export interface TopSnapshot {
  name: string
  by: 'share' | 'waiting' | 'oldestWait' | 'failed' | 'overdue'
  /** The window that the numbers are of: at least what was asked for, and less only in the beginning. */
  windowMs: number
  /** Types that have jobs, or had in the window. */
  typesCount: number
  slots: number
  totals: WindowCounts & LiveCounts & {
    /** Jobs that have ended, each second of the window. */
    perSecond: number
    /** Of jobs that started in the window, and those that wait now. */
    waitMs: { p50: number | undefined, p95: number | undefined, p99: number | undefined }
  }
  /** For how long jobs have waited, and none has started or ended; 0: no standstill. */
  standstillMs: number
  fairness: number | undefined
  starving: StarvingType[]
  refused: Record<string, number>
  /** First the one that comes first. */
  types: TopType[]
}

/** What happened in a part of the last 15 minutes. */
export interface TimelineBucket {
  /** When it ended, in ms since 1970, or by the queue's own `clock`. */
  at: number
  /** How long it was. */
  ms: number
  started: number
  done: number
  failed: number
  /** undefined if none has started. */
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
   * Jain's index of the slot time, by weight, of the types that could have started jobs all through the last window: 1 is evenly; if one of n types
   * had all, it is 1/n. undefined if there were fewer than two such types.
   */
  fairness: number | undefined
  /** Those of the last look, which comes each `min(windowMs, starveMs / 3)` ms. */
  starving: StarvingType[]
  /** For how long jobs have waited, and none has started or ended; 0: no standstill. */
  standstillMs: number
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
 * Emits `starving` and `fed`, `standstill` and `moving`.
 */
export class Metrics extends EventEmitter<MetricsEvents> {
  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options?: MetricsOptions)

  /** What has been counted and timed, by label. O(types with jobs). */
  snapshot (): MetricsSnapshot

  /**
   * The types that come first, of all that have jobs or had in the window, and all types together. O(types with jobs).
   *
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  snapshot (options: TopOptions): TopSnapshot

  /** What happened in the last 15 minutes, the oldest first. */
  timeline (): TimelineBucket[]

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
