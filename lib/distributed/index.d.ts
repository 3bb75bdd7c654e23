// Written by hand. What `fairlane/distributed` exports.

import type { Metrics } from '../metrics/index'
import { EventEmitter } from 'eventemitter3'
import type { RunningJob, Schedule, ScheduleState } from '../durable/index'
import type {
  CloseOptions, Done, Explanation, FairlaneError, JobContext, LaneScheduler, MapOptions, MapSource, PlanOptions, QueueOptions, Rate, WindowScheduler
} from '../../index'

export { FairlaneError, Postponed, Throttled, backoff } from '../../index'

export type { Explanation, RunningJob, Schedule, ScheduleState }

/** Converts payloads to bytes and back. */
export interface DistributedSerializer<P = any> {
  encode (payload: P): Uint8Array
  decode (bytes: Buffer): P
}

/** One rate, or several that all apply, across all processes. `intervalMs` is at least 1000. */
export type FleetRates = Rate | readonly Rate[]

/** The same rates for each type, or rates by type. */
export type FleetRatesPerType = FleetRates | ReadonlyMap<unknown, FleetRates>

/** A client of ioredis, as returned by the function `connection`. */
export interface BrokerClient {
  defineCommand (name: string, definition: { lua: string, numberOfKeys?: number }): void
  disconnect (): void
}

/** Options of a queue in memory that a queue at a broker lacks, or that mean something else there. */
type NotAtBroker = 'maxWaiting' | 'observers' | 'asyncContext' | 'rate' | 'ratePerType'

export interface DistributedOptions<P = any> extends Omit<QueueOptions, NotAtBroker> {
  /** Metrics of the jobs that this process runs. A History is refused, since the broker keeps the records of jobs. Default: none. */
  observers?: Metrics | readonly Metrics[] | undefined

  /** Name of the queue at the broker: 1 to 100 letters, digits, `_` and `-`. */
  name: string

  /**
   * Where the broker is: a URL, the path of a socket, options of ioredis, the URLs of some nodes of a Redis Cluster, or a function that creates an
   * ioredis client for each purpose. The queue owns these clients and disconnects them when it has closed. All nodes of a Cluster are reached with the
   * user, password and TLS of the first URL.
   */
  connection: string | readonly string[] | { [option: string]: any } | ((purpose: 'calls' | 'messages') => BrokerClient)

  /**
   * How many partitions the types are spread over, from 1 to 1024. Each is on one node of a Redis Cluster. Give all processes the same number.
   *
   * @default 1; with a Cluster 16
   */
  partitions?: number | undefined

  /**
   * The AsyncLocalStorage context in which runners are called: where the queue was made, or with `'none'` whichever is current.
   *
   * @default 'queue'
   */
  asyncContext?: 'queue' | 'none' | undefined

  /**
   * Maximum number of attempts, counting those that ended with their process. Then the job becomes a dead letter. The option of the process that
   * runs the job applies.
   *
   * @default 5
   */
  maxAttempts?: number | undefined

  /**
   * Minimum time in ms from the end of a failed attempt to the next one: a time, or a function of the attempt's number and error. If the function
   * returns Infinity, the job becomes a dead letter at once. Default: 1 s, 2 s, 4 s, … up to 60 s.
   */
  backoffMs?: number | ((attempt: number, error: any) => number) | undefined

  /**
   * How payloads become bytes. `'structured'` takes what `structuredClone` takes; an object has `encode` and `decode`. The broker remembers which of the
   * three it was, and a process with another one is refused.
   *
   * @default 'json'
   */
  serialize?: 'json' | 'structured' | DistributedSerializer<P> | undefined

  /**
   * How many jobs of a type may run at once, across all processes. A runner that goes on after its job has ended counts until it ends. Default: what the
   * broker has; at first no limit.
   */
  globalTypeCap?: number | undefined

  /** The same for individual types. Default: what the broker has; at first none. */
  globalTypeCaps?: { [type: string]: number } | ReadonlyMap<unknown, number> | undefined

  /**
   * Maximum number of starts, or units of cost, per interval in the whole queue, across all processes. `intervalMs` is at least 1000. Every attempt
   * counts. Default: what the broker has; at first no limit.
   */
  rate?: FleetRates | undefined

  /**
   * Like `rate`, for each type: one rate, several, or a Map of these by type. Functions are refused, since other processes do not have them. Default:
   * what the broker has; at first no limit.
   */
  ratePerType?: FleetRatesPerType | undefined

  /**
   * How many jobs may run at once, across all processes. A runner that goes on after its job has ended counts until it ends or its lease expires.
   * Default: what the broker has; at first no limit.
   */
  globalConcurrency?: number | undefined

  /**
   * A process that sends no heartbeat for `leaseMs` loses its jobs to others. It sends three heartbeats per lease. Each process has its own `leaseMs`,
   * at least 1000.
   *
   * @default 30000
   */
  leaseMs?: number | undefined

  /**
   * How many jobs this process may take before it has slots for them. It never takes more than it started in the last 100 ms, and returns jobs that
   * have waited for a second. Default: ten per slot, at most 1000.
   */
  prefetch?: number | undefined

  /**
   * How long the result of a job is kept, in ms, for `add()` and `wait(id)`. With 0, waiting callers are told and nothing is kept. Allow some seconds:
   * a process that has missed the message looks for the result after 2 s.
   *
   * @default 60000
   */
  resultTtlMs?: number | undefined

  /**
   * Schedules by name. Each time pushes one job, however many processes there are. They are added to those at the broker, or replace those of the
   * same name; `setSchedule(name, null)` removes one. Default: what the broker has; at first none.
   */
  schedules?: { [name: string]: Schedule<P> } | ReadonlyMap<string, Schedule<P>> | undefined

  /**
   * How long a push, or another call, is retried while the broker is unreachable, in ms.
   *
   * @default 30000
   */
  pushTimeoutMs?: number | undefined
}

/** What a runner can know about its job. */
export interface DistributedContext extends JobContext {
  /** The id that `push` resolved with. */
  readonly id: string
  readonly type: string
  /** The number of the attempt, from 1. Attempts that ended with their process count. */
  readonly attempt: number
  /** Emits `progress` with this value. `get(id)` has the last one. */
  readonly progress: (value: any) => void
  /** For a job that a schedule pushed: the name of the schedule, and the scheduled time in ms since 1970. */
  readonly schedule: { readonly name: string, readonly time: number } | undefined
}

export type DistributedRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DistributedContext) => PromiseLike<R>
export type AnyDistributedRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DistributedContext) => unknown
export type DistributedPromiseRunner<P = any, R = any> = (payload: P, context: DistributedContext) => R | PromiseLike<R>

export interface DistributedPushOptions extends PlanOptions {
  /** Overrides the queue's. */
  timeoutMs?: number | undefined
  /** Overrides the queue's. */
  maxWaitMs?: number | undefined
}

export interface DistributedAddOptions extends DistributedPushOptions {
  type?: unknown
  unshift?: boolean | undefined
  /**
   * When it aborts, the job is cancelled, unless other calls share it by its key. The signal of its runner aborts, in whichever process it
   * runs.
   */
  signal?: AbortSignal | undefined
}

/** A job as it is at the broker. */
export interface DistributedJob<P = any> {
  readonly id: string
  readonly type: string
  readonly state: 'waiting' | 'delayed' | 'running' | 'done' | 'dead'
  /** How many attempts have ended, except those that do not count. */
  readonly attempts: number
  /** The error of the last attempt: its `name`, `message` and `code`. */
  readonly error: (Error & { code?: string }) | undefined
  /** When a delayed job is due, in ms since 1970. */
  readonly dueAt: number | undefined
  /** The last value its runner passed to `context.progress`, as JSON. */
  readonly progress: any
  readonly payload: P
}

/** A job that will not be tried again. */
export interface DistributedDeadLetter<P = any> {
  readonly id: string
  readonly type: string
  readonly attempts: number
  readonly error: Error & { code?: string }
  /** When it became a dead letter, in ms since 1970. */
  readonly at: number
  readonly payload: P
}

/** What this process has done with a type. */
export interface DistributedTypeStats {
  accepted: number
  rejected: number
  done: number
  failed: number
  cancelled: number
  retried: number
  /** Attempts that ended with `Throttled`. */
  throttled: number
  /** Pushes whose key was taken, which share the job that has it. */
  joined: number
  /** Jobs that other processes may have run, because this one sent no heartbeat for `leaseMs`. */
  lost: number
  /** Units of cost charged to jobs that this process ran, as corrected by `spent`; 0 if costs are not counted. */
  spent: number
  /** Slots of this process that are taken. */
  running: number
  /** Of these, the ones whose job has ended, by a timeout, a cancel or `close`, while the runner goes on. Without a scheduler they belong to no type. */
  overdue: number
  /** Jobs that this process has taken and that wait for a slot. */
  prefetched: number
  /** Its group, only with `groupOf`. Undefined if that failed for the type. */
  group?: string | undefined
}

export interface DistributedStats extends Omit<DistributedTypeStats, 'group'> {
  misuse: number
  overrun: number
  /** Groups with types that have jobs in this process; 0 without `groupOf`. */
  groups: number
}

/** How many jobs there are, across all processes. `waiting` includes delayed ones. */
export interface JobCounts {
  waiting: number
  delayed: number
  running: number
  /** Dead letters. */
  dead: number
}

/** How many jobs the queue has, across all processes. */
export interface QueueCounts extends JobCounts {
  /** Types that have any. */
  types: number
}

/** How many jobs of a type the queue has, and the limits of the type. */
export interface TypeCounts extends JobCounts {
  cap: number
  /** An array if it has several, null if it has none. */
  rate: FleetRates | null
  /** Whether it is paused in all processes. */
  paused: boolean
  /** How much longer it is held, in ms. */
  heldMs: number
}

/** The state of a process's connection to the broker. Times are in ms since 1970. */
export interface Health {
  /** Whether all partitions answered. */
  connected: boolean
  /** When the broker last answered a call of this process. */
  lastAnswerAt: number | undefined
  /** When leases were last checked, in the partition where that is longest ago. Undefined if in one of them they never were. */
  lastKeeperWalkAt: number | undefined
  /** The last error of the connection, or of a call that nobody waited for. */
  lastError: Error | undefined
  lastErrorAt: number | undefined
  partitions: Array<{
    /** The prefix of its keys. */
    prefix: string
    connected: boolean
    lastKeeperWalkAt: number | undefined
  }>
}

/** The limits of all processes together. */
export interface FleetLimits {
  rate: FleetRates | null
  ratePerType: FleetRates | ReadonlyMap<string, FleetRates> | null
  globalConcurrency: number
  globalTypeCap: number
  globalTypeCaps: { [type: string]: number }
  /** Whether all types are paused, by `pauseGlobal()`. */
  paused: boolean
}

/** What events say of a job. */
export interface DistributedJobEvent<P = any> {
  id: string
  type: string
  /** Undefined if it cannot be decoded. */
  payload: P
  /** The number of the attempt, from 1. For a job cancelled while it waits: how many attempts have ended. */
  attempt: number
}

/** Events of jobs that this process ran or cancelled. */
export interface DistributedEvents<P = any, R = any> {
  /** A job is done, and the broker has stored that. */
  done: (job: DistributedJobEvent<P> & { result: R }) => void
  /** A job has become a dead letter. */
  failed: (job: DistributedJobEvent<P> & { error: any }) => void
  /** An attempt has failed, and there will be another one in `delayMs`. */
  retry: (job: DistributedJobEvent<P> & { error: any, delayMs: number }) => void
  /** A job was cancelled: by `cancel()`, by the signal of its `add()`, or because it waited longer than `maxWaitMs`. */
  cancelled: (job: DistributedJobEvent<P> & { error: FairlaneError }) => void
  /** A runner has called `context.progress(value)`. */
  progress: (job: DistributedJobEvent<P> & { value: any }) => void
  /** This process has lost its lease on a job, which others may run. */
  lost: (job: DistributedJobEvent<P> & { error: FairlaneError }) => void
  /** The limits of all processes have changed, because any process called a method or opened the queue. */
  limits: (change: { before: FleetLimits, after: FleetLimits }) => void
  /** The broker refused something that nobody waits for. `type` is set if it concerns one. */
  error: (error: FairlaneError & { type?: string }) => void
  /** The queue has closed. `abandonedCount` runners had not ended. */
  close: (abandonedCount: number) => void
}

/** A queue at a broker, shared by many processes. */
export class DistributedQueue<P = any, R = any> extends EventEmitter<DistributedEvents<P, R>> {
  private constructor ()

  /** Slots of this process that a runner holds, even if its job has ended. */
  readonly running: number
  readonly paused: boolean
  readonly closed: boolean
  readonly scheduler: LaneScheduler | WindowScheduler | null
  get concurrency (): number
  set concurrency (value: number | string)

  /** Queues a job at the end. Resolves with its id when the broker has stored it. */
  push (payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `push`, at the head. */
  unshift (payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `push`, for a job with a type. */
  pushType (type: unknown, payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `pushType`, at the head of its type. */
  unshiftType (type: unknown, payload: P, options?: DistributedPushOptions): Promise<string>
  /**
   * Queues several jobs. Those of a partition are stored in one call, all or none. If this process refuses one of them, none is accepted. Rejects like
   * `push`; if the broker fails for some of them, the error has the `ids` of what was stored.
   */
  pushAll (jobs: ReadonlyArray<DistributedPushOptions & { payload: P, type?: unknown }>): Promise<string[]>
  /** Queues a job and resolves with its result. */
  add (payload: P, options?: DistributedAddOptions): Promise<R>
  /** Like `map` of a queue in memory: runs a job for each value of a source, as results are consumed. */
  map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
  map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
  map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>
  /** Resolves when every push up to now has been stored or rejected. */
  flush (): Promise<void>

  /** Starts no more jobs in this process. */
  pause (): this
  resume (concurrency?: number | string): this
  pauseType (type: unknown): this
  resumeType (type: unknown): this
  /** Whether a type is paused in this process by `pauseType`. */
  isTypePaused (type: unknown): boolean

  /** No process starts a job of the type, or any job without a type, until `resumeGlobal`. */
  pauseGlobal (type?: unknown): Promise<void>
  resumeGlobal (type?: unknown): Promise<void>
  /** Sets how many jobs of the type may run at once, across all processes; `Infinity`: no limit. */
  setGlobalCap (type: unknown, cap: number): Promise<void>
  /** The same, for all types together. */
  setGlobalConcurrency (n: number): Promise<void>
  /** Replaces the rates that are given, in all processes; null removes one. Holds stay. */
  setRates (rates: { rate?: FleetRates | null | undefined, ratePerType?: FleetRatesPerType | null | undefined }): Promise<void>
  /** No process starts a job for `ms`; 0 ends the hold. */
  hold (ms: number): Promise<void>
  /** No process starts a job of the type for `ms`; 0 ends the hold. */
  holdType (type: unknown, ms: number): Promise<void>
  /** Time in ms until rates and holds let a job start, of a type or of the whole queue; 0: now. */
  heldMs (type?: unknown): Promise<number>

  /**
   * Announces jobs of a type that another tool, such as a `Queue` of BullMQ, has added. If the type has no other jobs, workers do not find them
   * otherwise. They get the limits of the options. Resolves when workers have been told. O(1).
   */
  announce (type: unknown): Promise<void>

  /** What this process has done since it opened the queue; `running` and `prefetched` are current. */
  stats (): DistributedStats
  stats (type: unknown): DistributedTypeStats
  /** How many jobs the queue has, across all processes; with a type: its jobs, and its limits. O(types) without a type. */
  counts (): Promise<QueueCounts>
  counts (type: unknown): Promise<TypeCounts>
  /**
   * Why the next job of a type does not start now, as far as this process knows: another one may have a free slot. If the queue is closed or the broker is
   * unreachable, it says so, and the counts are undefined. O(1); O(types) with `ahead`. Throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE.
   */
  explain (type?: unknown, options?: { ahead?: boolean | undefined }): Promise<Explanation>
  /** The types that have jobs, those with the most first: at most `limit`, by default 200. O(types). */
  types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

  /**
   * Waits for the result of a job pushed by any process. The result is kept for `resultTtlMs` after the job's end. Rejects with the error of the job,
   * or FAIRLANE_ERR_RESULT. Aborting the signal ends the wait; the job goes on.
   */
  wait (id: string, options?: { signal?: AbortSignal | undefined }): Promise<R>
  get (id: string): Promise<DistributedJob<P> | undefined>
  /** Cancels a job: a waiting job is removed; a running one has its signal aborted, and is not tried again. False if there is no such job. */
  cancel (id: string): Promise<boolean>
  /**
   * The jobs that any process runs or has taken, the first taken first, at most `limit`, by default 1000. Runners that go on after their jobs have
   * ended are overdue. O(types), or O(1) with a type.
   */
  listRunning (options?: { type?: unknown, limit?: number | undefined }): Promise<Array<RunningJob<string>>>
  /**
   * The jobs that will not be tried again, the oldest first: at most `limit`, by default 1000. `after` is the id of the last one seen. Rejects with
   * FAIRLANE_ERR_ARGUMENT if that is gone and was not the last one of a page that this queue returned.
   */
  deadLetters (options?: { type?: unknown, limit?: number | undefined, after?: string | undefined }): Promise<Array<DistributedDeadLetter<P>>>
  /** Queues a dead letter again, with a full set of attempts. False if it does not exist. */
  retryDead (id: string): Promise<boolean>
  deleteDead (id: string): Promise<boolean>
  /** Removes all waiting and delayed jobs, or those of a type; with `dead` also the dead letters. Resolves with how many. */
  clear (options?: { type?: unknown, dead?: boolean | undefined, reason?: unknown }): Promise<number>

  /** Adds a schedule, or replaces the one of this name; null removes it. Jobs that it has pushed stay. */
  setSchedule (name: string, schedule: Schedule<P> | null): Promise<void>
  /** Pushes a job of a schedule now and resolves with its id. The schedule's times do not change. */
  runSchedule (name: string): Promise<string>
  /**
   * Stops a schedule from pushing jobs until `resumeSchedule` or `setSchedule`. Rejects with FAIRLANE_ERR_ARGUMENT if it does not exist.
   */
  pauseSchedule (name: string): Promise<void>
  /** Resumes a paused schedule. Times that passed in the meantime are skipped. */
  resumeSchedule (name: string): Promise<void>
  /** The schedules, each with its next time and the last time for which a job was pushed, in ms since 1970. */
  listSchedules (): Promise<ScheduleState[]>

  /** Resolves when no job waits, is delayed or runs, in any process. Polls the broker, O(types) each time: meant for tests and scripts. */
  onIdle (): Promise<void>
  /**
   * Refuses pushes, takes no more jobs, and waits for those that run here. After `timeoutMs` their signals abort. Resolves with the number of runners
   * that had not ended. Waiting jobs are left to other processes.
   */
  close (options?: { drain?: false | undefined, timeoutMs?: CloseOptions['timeoutMs'] }): Promise<number>
  /** The state of this process's connection to the broker. Takes 2 s at most. Never rejects. */
  health (): Promise<Health>
  /** Not at a broker: use `counts()`, whose `waiting` and `running` are its parts. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly length: never
  /** Not at a broker: use `counts()`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly waiting: never
  /** Not at a broker: use `onIdle()`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly drain: never
  /** Not at a broker: use `onIdle()`, or `flush()` for pushes to be stored. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly fflush: never
  /** Not at a broker: use `get(id)`, `counts()`, `types()` and `deadLetters()`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly jobs: never
  /** Not at a broker: use `counts()`, or `maxWaitingPerType`, whose error has `retryAfterMs`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly ready: never
  /** Not at a broker: use `cancel(id)` or `clear({ type })`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly remove: never
  /** Not at a broker: use `add()`, with the code in the runner. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly run: never
  /** Not at a broker: use `add()`, whose runner has the slot until it ends. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly acquire: never
  /** Not at a broker: use `counts()`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly diskBytes: never
  /** Not at a broker: use `counts()` and `health()`. Throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly recovered: never

  /** Like `close()`. */
  [Symbol.asyncDispose] (): Promise<void>
}

/**
 * Opens a queue at a broker. Rejects with FAIRLANE_ERR_PEER, FAIRLANE_ERR_BROKER, and what `fairlane()` throws.
 *
 * @param runner null in a process that only pushes
 */
export function distributed<P = any, R = any> (runner: null, options: DistributedOptions<P>): Promise<DistributedQueue<P, R>>
export function distributed<P, R> (
  runner: DistributedPromiseRunner<P, R>, options: DistributedOptions<P> & { settleBy: 'promise' }
): Promise<DistributedQueue<P, Awaited<R>>>
export function distributed<F extends DistributedRunner> (
  runner: F, options: DistributedOptions<Parameters<F> extends [] ? any : Parameters<F>[0]> & { settleBy?: 'either' | undefined }
): Promise<DistributedQueue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>>
export function distributed<P, R> (runner: AnyDistributedRunner<P, R>, options: DistributedOptions<P>): Promise<DistributedQueue<P, R>>
