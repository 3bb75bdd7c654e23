// Written by hand. What `fairlane/durable` exports.

import { EventEmitter } from 'eventemitter3'
import type {
  Done, Explanation, FairlaneError, JobContext, LaneScheduler, MapOptions, MapSource, PlanOptions, QueueOptions, QueueStats, Rates, RatesPerType,
  TypeStats, WindowScheduler
} from '../../index'
import type { LogOptions, Recovered } from '../log/index'

export { FairlaneError, Postponed, Throttled, backoff } from '../../index'
export type { Explanation, Rate, Rates, RatesPerType } from '../../index'
export type { Acknowledge, LogOptions, Lost, Recovered } from '../log/index'

/** Converts payloads to bytes and back. */
export interface Serializer<P = any> {
  encode (payload: P): Uint8Array
  decode (bytes: Buffer): P
}

export interface DurableOptions<P = any> extends QueueOptions, LogOptions {
  /** The folder, on a local disk. It is created if it does not exist. */
  path: string

  /**
   * How payloads become bytes. `'structured'` takes what `structuredClone` takes. A folder with jobs can only be opened with the same serializer.
   *
   * @default 'structured'
   */
  serialize?: 'json' | 'structured' | Serializer<P> | undefined

  /**
   * Maximum number of attempts. Then the job becomes a dead letter.
   *
   * @default 5
   */
  maxAttempts?: number | undefined

  /**
   * Minimum time in ms from the end of a failed attempt to the next one: a time, or a function of the attempt's number and error. Default: 1000,
   * doubled each time, up to 60000. If the function returns Infinity, the job becomes a dead letter at once.
   */
  backoffMs?: number | ((attempt: number, error: any) => number) | undefined

  /**
   * Maximum number of starts per interval. Every attempt counts. Counting begins when the queue is opened. Default: no limit.
   */
  rate?: Rates | undefined

  /** Schedules by name. They are added to those in the folder, or replace those of the same name. Default: none. */
  schedules?: { readonly [name: string]: Schedule<P> } | ReadonlyMap<string, Schedule<P>> | undefined
}

/** Pushes jobs at the times of `cron` or `everyMs`. */
export type Schedule<P = any> = ScheduledJob<P> & ({
  /** A cron expression that matches some time. Needs the package `croner`: FAIRLANE_ERR_PEER without it. */
  cron: string
  /**
   * The time zone of the expression, such as `'Europe/Berlin'`.
   *
   * @default 'UTC'
   */
  timezone?: string | undefined
  everyMs?: undefined
} | {
  /** 1 or more. The times are its multiples since 1970. */
  everyMs: number
  cron?: undefined
  timezone?: undefined
})

export interface ScheduledJob<P = any> {
  /** Needed with a scheduler. */
  type?: unknown
  payload?: P | undefined
  /**
   * What happens with missed times, which passed while nobody had the queue open, or more than a minute before the queue could handle them:
   * a job for the last of them, or nothing.
   *
   * @default 'last'
   */
  catchUp?: 'last' | 'none' | undefined
  /**
   * Whether a job is pushed while the previous one has not ended. If not, the time is skipped for good.
   *
   * @default false
   */
  overlap?: boolean | undefined
  /**
   * Priority of the jobs, from 0 to 15. Needs a queue with `priorityMs`.
   *
   * @default 0
   */
  priority?: number | undefined
  /** What each job costs: a safe integer of 0 or more. @default 1 */
  cost?: number | undefined
}

/** The state of a schedule. */
export interface ScheduleState {
  name: string
  /** Its next time, in ms since 1970. Undefined if there is none, or the queue has closed. */
  nextAt: number | undefined
  /** The last time for which a job was pushed. */
  lastAt: number | undefined
  /** Only if it is paused. */
  paused?: true
}

/** Options of a push. They are kept on disk. */
export interface PushOptions extends PlanOptions {
  /** How long each attempt may run, in ms, above 0; Infinity: no limit. Default: the queue's. */
  timeoutMs?: number | undefined

  /** How long the job may wait for its first start after its delay, in ms, above 0; Infinity: no limit. Default: the queue's. */
  maxWaitMs?: number | undefined
}

export interface DurableAddOptions extends PushOptions {
  /** The type of the job. Required with a scheduler. */
  type?: unknown

  /** Whether the job is put at the head. */
  unshift?: boolean | undefined

  /** When it aborts, the job is cancelled, unless other calls share it by its key. */
  signal?: AbortSignal | undefined
}

export interface DurableCloseOptions {
  /**
   * Whether waiting jobs run first. Delayed jobs, and those that wait for their next attempt, stay on disk in any case.
   *
   * @default false
   */
  drain?: boolean | undefined
  /**
   * How long jobs may go on, in ms. Then the signals of their runners abort, and jobs that have not ended stay on disk; their attempt does not count.
   * Default: no limit.
   */
  timeoutMs?: number | undefined
}

/** What a runner can know about its job. */
export interface DeliveryContext extends JobContext {
  /** The id that `push` resolved with. */
  readonly id: number
  /** The type it was pushed with, also without a scheduler. */
  readonly type: string | undefined
  /** The number of the attempt, from 1, counted across restarts. */
  readonly attempt: number
  /** Emits `progress` with this value, which is not written to disk. Does nothing after the attempt has ended. */
  readonly progress: (value: unknown) => void
  /** For a job that a schedule pushed: the name of the schedule, and the scheduled time in ms since 1970. */
  readonly schedule: { readonly name: string, readonly time: number } | undefined
}

export type DurableRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DeliveryContext) => PromiseLike<R>
export type AnyDurableRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DeliveryContext) => unknown
export type DurablePromiseRunner<P = any, R = any> = (payload: P, context: DeliveryContext) => R | PromiseLike<R>

/** A waiting job. Its payload is read synchronously when it is accessed. */
export interface DurableJob<P = any> {
  /** Undefined if the job is not written yet because more than `maxInflightOps` pushes are in flight. */
  readonly id: number | undefined
  readonly type: string | undefined
  readonly payload: P
}

/** A job as it was when `get()` was called. */
export interface FoundJob<P = any> {
  readonly id: number
  readonly type: string | undefined
  readonly state: 'waiting' | 'delayed' | 'running' | 'dead'
  /** How many attempts have ended, except those that do not count. */
  readonly attempts: number
  /** When a delayed job is due, in ms since 1970. */
  readonly dueAt: number | undefined
  /** The error of the last attempt: its `name`, `message` and `code`. */
  readonly error: (Error & { code?: string }) | undefined
  readonly payload: P
}

/** A job whose runner is still running. */
export interface RunningJob<Id = number> {
  /** Undefined if it is overdue. */
  readonly id: Id | undefined
  readonly type: string | undefined
  /** From 1. Undefined if it is overdue. */
  readonly attempt: number | undefined
  /** At a broker: when a process took the job, in ms since 1970. On disk undefined. */
  readonly startedAt: number | undefined
  /** Whether the job has ended while its runner goes on. Never true on disk. */
  readonly overdue: boolean
}

/** A job that will not be tried again. */
export interface DeadLetter<P = any> extends DurableJob<P> {
  readonly id: number
  readonly attempts: number
  /** When it became a dead letter, in ms since 1970. Undefined if an earlier version wrote it. */
  readonly at: number | undefined
  /** The error of the last attempt: its `name`, `message` and `code`. */
  readonly error: Error & { code?: string }
}

/** What events say of a job. */
export interface JobEvent<P = any> {
  id: number
  type: string | undefined
  payload: P
  /** The number of the attempt. For a job cancelled while it waits: how many attempts have ended. */
  attempt: number
}

export interface JobDone<P = any, R = any> extends JobEvent<P> {
  result: R
}

export interface JobProgress<P = any> extends JobEvent<P> {
  /** The value passed to `context.progress`. */
  value: any
}

export interface JobFailed<P = any> extends JobEvent<P> {
  error: any
}

export interface JobRetry<P = any> extends JobFailed<P> {
  delayMs: number
}

export interface JobCancelled<P = any> extends Omit<JobEvent<P>, 'id'> {
  /** Undefined if the job was not written yet. */
  id: number | undefined
  error: FairlaneError
}

/** How many jobs there are. */
export interface JobCounts {
  /** Delayed ones included. */
  waiting: number
  delayed: number
  running: number
  /** Dead letters. */
  dead: number
}

/** How many jobs the queue has. */
export interface QueueCounts extends JobCounts {
  /** Types that have any. */
  types: number
}

/** How many jobs of a type the queue has, and the limits of the type. */
export interface TypeCounts extends JobCounts {
  /** How many may run at once, if the scheduler says so; else Infinity. */
  cap: number
  rate: Rates | null
  paused: boolean
  /** Time in ms until rates and holds let a job of the type start; 0: now. */
  heldMs: number
}

export interface DurableEvents<P = any, R = any> {
  /** A job is done. Once that is written, it will not run again. */
  done: (job: JobDone<P, R>) => void
  /** A job has become a dead letter. */
  failed: (job: JobFailed<P>) => void
  /** An attempt has failed, and there will be another one in `delayMs`. */
  retry: (job: JobRetry<P>) => void
  /** A runner has called `context.progress(value)`. */
  progress: (job: JobProgress<P>) => void
  /** A job was cancelled, cleared or removed, or it waited longer than `maxWaitMs`. */
  cancelled: (job: JobCancelled<P>) => void
  drain: () => void
  saturated: () => void
  unsaturated: () => void
  /**
   * The log cannot be written at the moment. A job starts only if its start can be written. Outcomes of jobs are kept in memory. The queue keeps
   * retrying by itself.
   */
  outage: (error: FairlaneError) => void
  /** The outage is over: everything is written, and the disk has room. */
  outageover: () => void
  /**
   * The queue has closed. `abandonedCount` runners had not ended. `error` is set if the log failed, or if outcomes of jobs could not be written.
   */
  close: (abandonedCount: number, error?: FairlaneError) => void
}

/**
 * Totals since the queue was opened, except `waiting`, `delayed`, `running`, `overdue`, `dead`, `overrun`, `types` and `heldTypes`, which are
 * current.
 */
export interface DurableStats extends QueueStats {
  /** Dead letters. */
  dead: number
}

/** A job queue on disk. Its methods do the same as those of a queue in memory, durably. */
export class DurableQueue<P = any, R = any> extends EventEmitter<DurableEvents<P, R>> {
  private constructor ()

  /** `length`: jobs that have not settled. `running`: slots that are taken. */
  readonly length: number
  readonly running: number
  /** Jobs that are not running, including delayed ones. */
  readonly waiting: number
  readonly paused: boolean
  /** True once `close()` was called, the option `signal` has aborted, or the log has failed. */
  readonly closed: boolean
  readonly scheduler: LaneScheduler | WindowScheduler | null
  readonly recovered: Recovered
  get concurrency (): number
  set concurrency (value: number | string)
  get drain (): (() => void) | null
  set drain (value: (() => void) | null | undefined)

  /** Queues a job at the end. Resolves with its id when the job is safe. */
  push (payload: P, options?: PushOptions): Promise<number>
  /** Like `push`, at the head. */
  unshift (payload: P, options?: PushOptions): Promise<number>
  /** Like `push`, for a job with a type, which is converted to a string and kept. */
  pushType (type: unknown, payload: P, options?: PushOptions): Promise<number>
  /** Like `pushType`, at the head. */
  unshiftType (type: unknown, payload: P, options?: PushOptions): Promise<number>

  /**
   * Queues several jobs: either all are accepted or none, even after a crash. Resolves with their ids when all are safe. Jobs with keys behave
   * as if pushed one after the other.
   */
  pushAll (jobs: ReadonlyArray<PushOptions & { payload: P, type?: unknown }>): Promise<number[]>

  /**
   * Queues a job and returns a promise of its result. The job is on disk and outlives the process; the promise does not. Rejects with the error of
   * the last attempt, with FAIRLANE_ERR_CLOSED if the queue closes first, and with FAIRLANE_ERR_RESULT if the job that has the key has ended.
   */
  add (payload: P, options?: DurableAddOptions): Promise<R>

  /**
   * Runs a job for each value of a source. Takes values only as results are consumed. Throws what `add` throws.
   * A `break` or the first failure cancels the jobs it has queued.
   */
  map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
  map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
  map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>

  /**
   * Waits for the result of a job that ends while this process has the queue open. Rejects with the error of its last attempt, with
   * FAIRLANE_ERR_RESULT if it has already ended or the id is unknown, and with FAIRLANE_ERR_ABORTED if the signal aborts, which does not affect
   * the job.
   */
  wait (id: number, options?: { signal?: AbortSignal | undefined }): Promise<R>

  pause (): this
  resume (concurrency?: number | string): this
  pauseType (type: unknown): this
  resumeType (type: unknown): this
  isTypePaused (type: unknown): boolean

  /**
   * Starts no job of a type for `ms`. A later call replaces the hold; 0 ends it. Other types go on. Jobs that have a slot but are not safe yet go
   * back to waiting. A hold is not written to disk: it ends with the process.
   *
   * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  holdType (type: unknown, ms: number): this
  /** Like `holdType`, for all jobs. Throws FAIRLANE_ERR_ARGUMENT. */
  hold (ms: number): this
  /**
   * Time in ms until rates and holds let a job start, of a type or of the whole queue; 0: now. Throws FAIRLANE_ERR_SCHEDULER,
   * FAIRLANE_ERR_TYPE.
   */
  heldMs (type?: unknown): number
  /**
   * Replaces the rates that are given; null removes one. Past starts still count in windows of the same `intervalMs`. Throws
   * FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER.
   */
  setRates (rates: { rate?: Rates | null | undefined, ratePerType?: RatesPerType | null | undefined }): this

  /** Waits until all jobs accepted before the call are done, dead or cancelled, or the queue has closed. */
  fflush (callback: () => void): this
  fflush (callback?: undefined): Promise<void>
  /** Resolves when no job waits, is delayed, or runs; or at the end of `close()`. */
  onIdle (): Promise<void>
  /** Resolves when a push (of that type) would be accepted, also by `capacity` and `capacityBytes`; rejects when the queue closes. */
  ready (type?: unknown): Promise<void>

  jobs (type?: unknown): IterableIterator<DurableJob<P>>
  /**
   * Cancels the waiting jobs for which `test` returns a truthy value. Payloads, and without a scheduler types, are read from disk when `test`
   * accesses them.
   */
  remove (test: (job: DurableJob<P>) => unknown): number
  /** Cancels all waiting jobs, or those of a type; with `dead` also deletes dead letters. Returns the total. */
  clear (options?: { type?: unknown, reason?: unknown, dead?: boolean | undefined }): number

  /** How many jobs the queue has. O(1). */
  counts (): Promise<QueueCounts>
  /** How many jobs of a type the queue has, also without a scheduler, and the limits of the type. O(slots). */
  counts (type: unknown): Promise<TypeCounts>
  /**
   * Why the next job of a type does not start now. Without a scheduler the type may be omitted. O(log types + slots); O(types) with `ahead`. The first
   * call for a type with delayed jobs is O(delayed jobs). Throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE.
   */
  explain (type?: unknown, options?: { ahead?: boolean | undefined }): Explanation
  /** The types that have jobs or dead letters, those with the most first. O(types × log types). */
  types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

  /** Looks a job up; undefined if it has ended. Rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO. O(log waiting + slots). */
  get (id: number): Promise<FoundJob<P> | undefined>
  /**
   * Cancels a job: a waiting job is removed; a running one has its signal aborted, and is not tried again. Resolves when that is safe, with false if
   * there is no such job. O(waiting), once for all calls of a turn.
   */
  cancel (id: number): Promise<boolean>

  /**
   * The jobs whose runners are still running, the longest-running first, all or of a type: at most `limit`, by default 1000. O(slots). Rejects with
   * FAIRLANE_ERR_CLOSED.
   */
  listRunning (options?: { type?: unknown, limit?: number | undefined }): Promise<RunningJob[]>

  /**
   * Adds a schedule, or replaces the one of this name; null removes it. Resolves when that is safe. Throws FAIRLANE_ERR_ARGUMENT,
   * FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER.
   */
  setSchedule (name: string, schedule: Schedule<P> | null): Promise<void>
  /** Pushes a job of a schedule now and resolves with its id. The schedule's times do not change. Rejects with FAIRLANE_ERR_ARGUMENT if it does not exist. */
  runSchedule (name: string): Promise<number>
  /**
   * Stops a schedule from pushing jobs until `resumeSchedule` or `setSchedule`. Rejects with FAIRLANE_ERR_ARGUMENT if it does not exist.
   */
  pauseSchedule (name: string): Promise<void>
  /** Resumes a paused schedule. Times that passed in the meantime are skipped. */
  resumeSchedule (name: string): Promise<void>
  /** The schedules, with their next and last times. */
  listSchedules (): Promise<ScheduleState[]>

  /**
   * The jobs that will not be tried again, the oldest first, all or of a type: at most `limit`, by default 1000, starting after the one with the id
   * `after`. O(dead letters). Rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO.
   */
  deadLetters (options?: { type?: unknown, limit?: number | undefined, after?: number | undefined }): Promise<Array<DeadLetter<P>>>
  /** Queues a dead letter again. False if it does not exist, or if its key is kept until `'settled'` and another job has it. */
  retryDead (id: number): Promise<boolean>
  /** Deletes a dead letter. False if it does not exist. */
  deleteDead (id: number): Promise<boolean>

  stats (): DurableStats
  /** Counts of a type, since it last had no jobs. O(slots). */
  stats (type: unknown): Omit<TypeStats, 'misuse' | 'overrun'>
  /** In memory only. These throw FAIRLANE_ERR_UNSUPPORTED; the message says what to use instead. */
  readonly run: never
  readonly acquire: never
  /** At a broker only, like the following ones. */
  readonly announce: never
  readonly health: never
  readonly pauseGlobal: never
  readonly resumeGlobal: never
  readonly setGlobalConcurrency: never
  readonly setGlobalCap: never

  /** Bytes of all segments. */
  diskBytes (): number
  /** Resolves when everything up to now is on disk. */
  flush (): Promise<void>

  /**
   * Refuses new jobs, waits for running ones, and releases the folder to other processes. Waiting jobs stay on disk, unless `drain` is true.
   * Resolves with the number of runners that had not ended. Rejects with FAIRLANE_ERR_IO if the log failed, or if outcomes of jobs could not be
   * written.
   */
  close (options?: DurableCloseOptions): Promise<number>
  /** Like `close()`. */
  [Symbol.asyncDispose] (): Promise<void>
}

/**
 * Opens a job queue on disk. Throws what `fairlane()` throws. Rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_VERSION,
 * FAIRLANE_ERR_SERIALIZER, FAIRLANE_ERR_IO.
 */
export function durable<P, R> (
  runner: DurablePromiseRunner<P, R>, options: DurableOptions<P> & { settleBy: 'promise' }
): Promise<DurableQueue<P, Awaited<R>>>
export function durable<F extends DurableRunner> (
  runner: F, options: DurableOptions<Parameters<F> extends [] ? any : Parameters<F>[0]> & { settleBy?: 'either' | undefined }
): Promise<DurableQueue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>>
export function durable<P, R> (
  runner: DurableRunner<P, R>, options: DurableOptions<P> & { settleBy?: 'either' | undefined }
): Promise<DurableQueue<P, R>>
export function durable<P, R> (runner: AnyDurableRunner<P, R>, options: DurableOptions<P>): Promise<DurableQueue<P, R>>
