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

/** Makes bytes of payloads, and payloads of bytes. */
export interface Serializer<P = any> {
  encode (payload: P): Uint8Array
  decode (bytes: Buffer): P
}

export interface DurableOptions<P = any> extends QueueOptions, LogOptions {
  /** The folder, on a disk of this machine. It is made if it is not there. */
  path: string

  /**
   * How payloads become bytes. `'structured'` takes what `structuredClone` takes. A folder with jobs is opened with the same one only.
   *
   * @default 'structured'
   */
  serialize?: 'json' | 'structured' | Serializer<P> | undefined

  /**
   * How often a job is started before it becomes a dead letter.
   *
   * @default 5
   */
  maxAttempts?: number | undefined

  /**
   * The least time from the end of an attempt to the next one, in ms, by the number of the attempt. Default: 1000, twice as long each time,
   * at most 60000. If a function gives Infinity, the job becomes a dead letter at once.
   */
  backoffMs?: number | ((attempt: number, error: any) => number) | undefined

  /**
   * How many jobs start in a stretch of time at most, attempts included. Counted by this process, from when it opened the queue. Default:
   * no limit.
   */
  rate?: Rates | undefined

  /** Jobs that are pushed at certain times, by name: they are added to those that the folder has, or change them. Default: none. */
  schedules?: { readonly [name: string]: Schedule<P> } | ReadonlyMap<string, Schedule<P>> | undefined
}

/** Jobs that are pushed at certain times: by `cron`, or `everyMs`. */
export type Schedule<P = any> = ScheduledJob<P> & ({
  /** A cron expression that has a time at all, which the package `croner` reads: FAIRLANE_ERR_PEER without it. */
  cron: string
  /**
   * Of the expression, as `'Europe/Berlin'`.
   *
   * @default 'UTC'
   */
  timezone?: string | undefined
  everyMs?: undefined
} | {
  /** From 1 on. The times are multiples of it since 1970. */
  everyMs: number
  cron?: undefined
  timezone?: undefined
})

export interface ScheduledJob<P = any> {
  /** Needed with a scheduler. */
  type?: unknown
  payload?: P | undefined
  /**
   * What comes of times that were missed, since they passed while nobody had the queue open, or more than a minute before the queue could
   * see to them: a job for the last of them, or nothing.
   *
   * @default 'last'
   */
  catchUp?: 'last' | 'none' | undefined
  /**
   * Whether a job is pushed while the one before is not over. If not, the time is skipped for good.
   *
   * @default false
   */
  overlap?: boolean | undefined
  /**
   * Of the jobs, from 0 to 15. Needs a queue with `priorityMs`.
   *
   * @default 0
   */
  priority?: number | undefined
  /** What each of the jobs costs: a safe integer from 0. @default 1 */
  cost?: number | undefined
}

/** How far a schedule is. */
export interface ScheduleState {
  name: string
  /** Its next time, in ms since 1970. Undefined if there is none, or the queue has closed. */
  nextAt: number | undefined
  /** The last time whose job was pushed. */
  lastAt: number | undefined
  /** Only if it is paused. */
  paused?: true
}

/** What can be said of a job when it is pushed. It is kept on disk. */
export interface PushOptions extends PlanOptions {
  /** How long each attempt may take, in ms above 0, in the place of the queue's `timeoutMs`. */
  timeoutMs?: number | undefined

  /**
   * How long the job may wait for its first start, in ms above 0, in the place of the queue's `maxWaitMs`; counted from the end of its
   * delay.
   */
  maxWaitMs?: number | undefined
}

export interface DurableAddOptions extends PushOptions {
  /** The type of the job. Needed if the queue has a scheduler. */
  type?: unknown

  /** Whether the job is put at the head. */
  unshift?: boolean | undefined

  /** Ends the job, unless somebody else wants it who shares its key. */
  signal?: AbortSignal | undefined
}

export interface DurableCloseOptions {
  /**
   * Whether what waits is run first, but for jobs that wait for their time or their next attempt.
   *
   * @default false
   */
  drain?: boolean | undefined
  /** For how long what runs, or is run, may go on: then runners are told by their signals, and jobs that have not ended stay on disk. Default: as long as it takes. */
  timeoutMs?: number | undefined
}

/** What a runner can know about its job. */
export interface DeliveryContext extends JobContext {
  /** What `push` resolved to. */
  readonly id: number
  /** The type that it was pushed with, also without a scheduler. */
  readonly type: string | undefined
  /** 1 for the first attempt. Counted across restarts. */
  readonly attempt: number
  /** Tells listeners of `progress` how far the job is. Nothing is written. Does nothing once the attempt has ended. */
  readonly progress: (value: unknown) => void
  /** Of a job that a schedule has pushed: the name of that, and the time for which it is, in ms since 1970. */
  readonly schedule: { readonly name: string, readonly time: number } | undefined
}

export type DurableRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DeliveryContext) => PromiseLike<R>
export type AnyDurableRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DeliveryContext) => unknown
export type DurablePromiseRunner<P = any, R = any> = (payload: P, context: DeliveryContext) => R | PromiseLike<R>

/** A job that waits. Its payload is read, blocking, when it is asked for. */
export interface DurableJob<P = any> {
  /** Undefined if more than `maxInflightOps` pushes are under way and this one is not written yet. */
  readonly id: number | undefined
  readonly type: string | undefined
  readonly payload: P
}

/** A job, as it was when `get()` was called. */
export interface FoundJob<P = any> {
  readonly id: number
  readonly type: string | undefined
  readonly state: 'waiting' | 'delayed' | 'running' | 'dead'
  /** How many attempts have ended that count. */
  readonly attempts: number
  /** When a delayed job is due, in ms since 1970. */
  readonly dueAt: number | undefined
  /** What the last attempt failed with: its `name`, `message` and `code`. */
  readonly error: (Error & { code?: string }) | undefined
  readonly payload: P
}

/** A job whose runner goes on. */
export interface RunningJob<Id = number> {
  /** Undefined if it is overdue. */
  readonly id: Id | undefined
  readonly type: string | undefined
  /** From 1. Undefined if it is overdue. */
  readonly attempt: number | undefined
  /** At a broker when a process has taken the job, in ms since 1970; on disk undefined. */
  readonly startedAt: number | undefined
  /** The job has ended, and its runner goes on; never true on disk. */
  readonly overdue: boolean
}

/** A job that will not be tried again. */
export interface DeadLetter<P = any> extends DurableJob<P> {
  readonly id: number
  readonly attempts: number
  /** When it died, in ms since 1970; undefined if an earlier version wrote it. */
  readonly at: number | undefined
  /** The error of the last attempt: its `name`, `message` and `code`. */
  readonly error: Error & { code?: string }
}

/** What is told of a job. */
export interface JobEvent<P = any> {
  id: number
  type: string | undefined
  payload: P
  /** The number of the attempt. Of a job that is cancelled while it waits: how many attempts have ended. */
  attempt: number
}

export interface JobDone<P = any, R = any> extends JobEvent<P> {
  result: R
}

export interface JobProgress<P = any> extends JobEvent<P> {
  /** What the runner gave. */
  value: any
}

export interface JobFailed<P = any> extends JobEvent<P> {
  error: any
}

export interface JobRetry<P = any> extends JobFailed<P> {
  delayMs: number
}

export interface JobCancelled<P = any> extends Omit<JobEvent<P>, 'id'> {
  /** Undefined if it was not written yet. */
  id: number | undefined
  error: FairlaneError
}

/** How many jobs there are. */
export interface JobCounts {
  /** Delayed ones are among them. */
  waiting: number
  delayed: number
  running: number
  /** Dead letters. */
  dead: number
}

/** What the queue has. */
export interface QueueCounts extends JobCounts {
  /** Types that have any. */
  types: number
}

/** What the queue has of a type, and what limits it. */
export interface TypeCounts extends JobCounts {
  /** How many may run at once, as far as the scheduler tells; else Infinity. */
  cap: number
  rate: Rates | null
  paused: boolean
  /** In how many ms one might start as far as rates and holds go. */
  heldMs: number
}

export interface DurableEvents<P = any, R = any> {
  /** A job is done, and will not come back once that is written. */
  done: (job: JobDone<P, R>) => void
  /** A job has become a dead letter. */
  failed: (job: JobFailed<P>) => void
  /** An attempt has failed, and there will be another one in `delayMs`. */
  retry: (job: JobRetry<P>) => void
  /** The runner of a job says how far it is, by `context.progress(value)`. */
  progress: (job: JobProgress<P>) => void
  /** A job was cancelled by `cancel()`, cleared or removed, or waited longer than `maxWaitMs`. */
  cancelled: (job: JobCancelled<P>) => void
  drain: () => void
  saturated: () => void
  unsaturated: () => void
  /**
   * The log cannot be written now. Jobs start only if that can be written. What becomes of jobs is kept in memory.
   * The queue tries again by itself.
   */
  outage: (error: FairlaneError) => void
  /** Everything is written, and the disk has room. */
  outageover: () => void
  /**
   * The queue has closed. `abandonedCount` runners had not ended. `error` is set if its log has failed, or if what became of jobs could not
   * be written.
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

/** A job queue on disk. Its methods do what those of a queue in memory do, durably. */
export class DurableQueue<P = any, R = any> extends EventEmitter<DurableEvents<P, R>> {
  private constructor ()

  /** Jobs that have not settled, and slots that are taken. */
  readonly length: number
  readonly running: number
  /** Jobs that are not running, including those that are to start later. */
  readonly waiting: number
  readonly paused: boolean
  /** True from the first `close()` on, from the abort of the option `signal`, or when the log has failed. */
  readonly closed: boolean
  readonly scheduler: LaneScheduler | WindowScheduler | null
  readonly recovered: Recovered
  get concurrency (): number
  set concurrency (value: number | string)
  get drain (): (() => void) | null
  set drain (value: (() => void) | null | undefined)

  /** Queues a job at the end. Resolves with its id when it is safe. */
  push (payload: P, options?: PushOptions): Promise<number>
  /** Like `push`, at the head. */
  unshift (payload: P, options?: PushOptions): Promise<number>
  /** Like `push`, for a job with a type, which is converted to a string and kept. */
  pushType (type: unknown, payload: P, options?: PushOptions): Promise<number>
  /** Like `pushType`, at the head. */
  unshiftType (type: unknown, payload: P, options?: PushOptions): Promise<number>

  /**
   * Queues several jobs: all of them are taken in or none, also after a crash. Resolves with their ids when all are safe. Those with
   * keys do what they would one after the other.
   */
  pushAll (jobs: ReadonlyArray<PushOptions & { payload: P, type?: unknown }>): Promise<number[]>

  /**
   * Queues a job, for a promise of its result, which this process gives while it lives. The job is on disk and outlives that. Rejects with
   * what the last attempt failed with; with FAIRLANE_ERR_CLOSED when the queue closes before, and FAIRLANE_ERR_RESULT if the job of that
   * key has ended.
   */
  add (payload: P, options?: DurableAddOptions): Promise<R>

  /**
   * Runs a job for each value of a source. Takes values only as results are asked for. Throws what `add` throws.
   * A break or the first failure cancels the jobs that it has queued.
   */
  map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
  map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
  map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>

  /**
   * The result of a job that was pushed and ends while this process has the queue open. Rejects with what its last attempt failed with, with
   * FAIRLANE_ERR_RESULT if it has ended before or there is none of this id, and with FAIRLANE_ERR_ABORTED if the signal aborts: nothing
   * becomes of the job by that.
   */
  wait (id: number, options?: { signal?: AbortSignal | undefined }): Promise<R>

  pause (): this
  resume (concurrency?: number | string): this
  pauseType (type: unknown): this
  resumeType (type: unknown): this
  isTypePaused (type: unknown): boolean

  /**
   * Starts no job of a type for so many ms. Another call replaces the time; 0 ends it. The other types go on. Jobs that have a slot and are
   * not safe yet wait again. Nothing is written: a hold ends with the process.
   *
   * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
   * @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT
   */
  holdType (type: unknown, ms: number): this
  /** Like `holdType`, of all jobs. Throws FAIRLANE_ERR_ARGUMENT. */
  hold (ms: number): this
  /**
   * In how many ms a job might start as far as rates and holds go; 0 if one may start now. Of a type, or of the whole queue. Throws
   * FAIRLANE_ERR_SCHEDULER, FAIRLANE_ERR_TYPE.
   */
  heldMs (type?: unknown): number
  /**
   * Replaces the rates that are given; null: there is none from now on. What has started stays counted in windows of the same `intervalMs`.
   * Throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_SCHEDULER.
   */
  setRates (rates: { rate?: Rates | null | undefined, ratePerType?: RatesPerType | null | undefined }): this

  /** Waits until all jobs accepted before the call are done, dead or cancelled, or the queue has closed. */
  fflush (callback: () => void): this
  fflush (callback?: undefined): Promise<void>
  /** Resolves when nothing waits, nothing is to be tried later, and nothing runs; or at the end of `close()`. */
  onIdle (): Promise<void>
  /** Resolves when a push (of that type) would be accepted, also by `capacity` and `capacityBytes`; rejects when the queue closes. */
  ready (type?: unknown): Promise<void>

  jobs (type?: unknown): IterableIterator<DurableJob<P>>
  /**
   * Cancels the waiting jobs for which `test` returns a truthy value. Payloads, and types without a scheduler, are read when it asks for
   * them.
   */
  remove (test: (job: DurableJob<P>) => unknown): number
  /** Cancels all waiting jobs, or those of a type; with `dead` it deletes dead letters, too. Returns how many these are in all. */
  clear (options?: { type?: unknown, reason?: unknown, dead?: boolean | undefined }): number

  /** What the queue has. O(1). */
  counts (): Promise<QueueCounts>
  /** What the queue has of a type, also without a scheduler, and what limits it. O(slots). */
  counts (type: unknown): Promise<TypeCounts>
  /**
   * Why the next job of a type does not start now; without a scheduler the type may be left out. O(log types + slots), and with `ahead` O(types). The
   * first time it is asked of a type with delayed jobs, O(delayed jobs). Throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE.
   */
  explain (type?: unknown, options?: { ahead?: boolean | undefined }): Explanation
  /** The types that have jobs or dead letters, those with most first. O(types × log types). */
  types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

  /** Looks a job up; undefined if it has ended. Rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO. O(log waiting + slots). */
  get (id: number): Promise<FoundJob<P> | undefined>
  /**
   * Cancels a job: one that waits is gone; one that runs is told by its signal, and not tried again. Resolves when that is safe; false if
   * there is no such job. O(waiting), once for all calls of a turn.
   */
  cancel (id: number): Promise<boolean>

  /**
   * The jobs whose runners go on, those first that have run longest: those of a type, so many at most (1000 if nothing is said). O(slots).
   * Rejects with FAIRLANE_ERR_CLOSED.
   */
  listRunning (options?: { type?: unknown, limit?: number | undefined }): Promise<RunningJob[]>

  /**
   * Adds a schedule, or changes that of its name; null removes it. Resolves when that is safe. Throws FAIRLANE_ERR_ARGUMENT,
   * FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER.
   */
  setSchedule (name: string, schedule: Schedule<P> | null): Promise<void>
  /** Pushes a job of a schedule now; its times stay as they are. Resolves with its id; rejects with FAIRLANE_ERR_ARGUMENT if there is none. */
  runSchedule (name: string): Promise<number>
  /**
   * A schedule pushes nothing at its times, until `resumeSchedule` or `setSchedule`. Rejects with FAIRLANE_ERR_ARGUMENT if there is none of this
   * name.
   */
  pauseSchedule (name: string): Promise<void>
  /** It does again. Times that have passed meanwhile are over. */
  resumeSchedule (name: string): Promise<void>
  /** The schedules, with their next and last times. */
  listSchedules (): Promise<ScheduleState[]>

  /**
   * The jobs that will not be tried again, the oldest first: those of a type, so many at most (1000 if nothing is said), behind the one with
   * the id `after`. O(dead letters). Rejects with FAIRLANE_ERR_CLOSED, FAIRLANE_ERR_IO.
   */
  deadLetters (options?: { type?: unknown, limit?: number | undefined, after?: number | undefined }): Promise<Array<DeadLetter<P>>>
  /** Queues a dead letter again. False if there is no such one, or another job has its key, which is taken until it has `'settled'`. */
  retryDead (id: number): Promise<boolean>
  /** Deletes a dead letter. False if there is no such one. */
  deleteDead (id: number): Promise<boolean>

  stats (): DurableStats
  /** Of a type, since it had no jobs; O(slots). */
  stats (type: unknown): Omit<TypeStats, 'misuse' | 'overrun'>
  /** In memory only. These throw FAIRLANE_ERR_UNSUPPORTED, whose message says what to use. */
  readonly run: never
  readonly acquire: never
  /** At a broker only, as are those that follow. */
  readonly announce: never
  readonly health: never
  readonly pauseGlobal: never
  readonly resumeGlobal: never
  readonly setGlobalConcurrency: never
  readonly setGlobalCap: never

  /** Bytes of all segments. */
  diskBytes (): number
  /** Resolves when all that was done up to now is on the disk. */
  flush (): Promise<void>

  /**
   * Refuses new jobs, waits for those that run, and lets another process open the queue. What waits stays on disk, unless `drain` is true.
   * Resolves with the number of runners that had not ended. Rejects with FAIRLANE_ERR_IO if the log has failed, or if what became of jobs
   * could not be written.
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
