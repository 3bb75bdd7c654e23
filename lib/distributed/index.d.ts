// Written by hand. What `fairlane/distributed` exports.

import type { Metrics } from '../metrics/index'
import { EventEmitter } from 'eventemitter3'
import type { RunningJob, Schedule, ScheduleState } from '../durable/index'
import type {
  CloseOptions, Done, Explanation, FairlaneError, JobContext, LaneScheduler, MapOptions, MapSource, PlanOptions, QueueOptions, Rate, WindowScheduler
} from '../../index'

export { FairlaneError, Postponed, Throttled, backoff } from '../../index'

export type { Explanation, RunningJob, Schedule, ScheduleState }

/** Makes bytes of payloads, and payloads of bytes. */
export interface DistributedSerializer<P = any> {
  encode (payload: P): Uint8Array
  decode (bytes: Buffer): P
}

/** One rate, or several, all of which hold over all processes. `intervalMs` is at least 1000. */
export type FleetRates = Rate | readonly Rate[]

/** The same rates for each type, or rates by type. */
export type FleetRatesPerType = FleetRates | ReadonlyMap<unknown, FleetRates>

/** A client of ioredis, as the function `connection` gives it. */
export interface BrokerClient {
  defineCommand (name: string, definition: { lua: string, numberOfKeys?: number }): void
  disconnect (): void
}

/** Options of a queue in memory that a queue at a broker does not have, or has with another meaning. */
type NotAtBroker = 'maxWaiting' | 'observers' | 'asyncContext' | 'rate' | 'ratePerType'

export interface DistributedOptions<P = any> extends Omit<QueueOptions, NotAtBroker> {
  /** Metrics of the jobs that this process runs. The broker has the records of jobs, so there is no History. */
  observers?: Metrics | readonly Metrics[] | undefined

  /** Of the queue, among all at the broker: letters, digits, `_` and `-`. */
  name: string

  /**
   * Where the broker is: a URL or path of a socket, options of ioredis, the URLs of some nodes of a Redis Cluster, or a function that
   * makes a client for each purpose. A client that it makes is the queue's: it is disconnected when the queue has closed. All nodes of
   * a Cluster are reached with the user, the password and the TLS of the first URL.
   */
  connection: string | readonly string[] | { [option: string]: any } | ((purpose: 'calls' | 'messages') => BrokerClient)

  /**
   * Among how many parts the types are spread that can be on different nodes of a Redis Cluster. The same in all processes.
   *
   * @default 1; with a Cluster 16
   */
  partitions?: number | undefined

  /** `'none'`: runners are called in whatever context there is. */
  asyncContext?: 'queue' | 'none' | undefined

  /**
   * How often a job fails, or ends its process, before it becomes a dead letter. Those of the process that runs it count.
   *
   * @default 5
   */
  maxAttempts?: number | undefined

  /**
   * The least time from the end of an attempt to the next one, in ms, by the number of the attempt. Default: 1000, twice as long each
   * time, at most 60000.
   */
  backoffMs?: number | ((attempt: number, error: any) => number) | undefined

  /**
   * How payloads are kept. `'structured'` takes what `structuredClone` takes.
   *
   * @default 'json'
   */
  serialize?: 'json' | 'structured' | DistributedSerializer<P> | undefined

  /**
   * How many jobs of a type run at once, in all processes. A runner that goes on when its job has ended counts until it ends.
   *
   * @default Infinity
   */
  globalTypeCap?: number | undefined

  /** The same for single types. */
  globalTypeCaps?: { [type: string]: number } | ReadonlyMap<unknown, number> | undefined

  /**
   * How many jobs of the whole queue start in a stretch of time at most, in all processes, attempts included. Kept at the broker, as all that
   * limits all processes: an opening writes what differs from what the last opening gave, and leaves what is not given. Default: no limit.
   */
  rate?: FleetRates | undefined

  /** As `rate`, of each type. */
  ratePerType?: FleetRatesPerType | undefined

  /**
   * How many jobs run at once, in all processes. A runner that goes on when its job has ended counts until it ends, or its lease is over.
   *
   * @default Infinity
   */
  globalConcurrency?: number | undefined

  /**
   * A process that sends no heartbeat for so many ms loses its jobs to others. At least 1000. Each process has its own.
   *
   * @default 30000
   */
  leaseMs?: number | undefined

  /**
   * How many jobs this process may have taken that wait for slots. Default: ten for each slot, at most 1000. Never more than it started
   * in the last 100 ms.
   */
  prefetch?: number | undefined

  /**
   * How long the result of a job is kept, in ms.
   *
   * @default 60000
   */
  resultTtlMs?: number | undefined

  /**
   * Jobs that are pushed at certain times, each time once, whichever processes there are. They are added and changed by name;
   * `setSchedule(name, null)` removes one.
   */
  schedules?: { [name: string]: Schedule<P> } | ReadonlyMap<string, Schedule<P>> | undefined

  /**
   * How long a push is tried while the broker is away, in ms.
   *
   * @default 30000
   */
  pushTimeoutMs?: number | undefined
}

/** What a runner can know about its job. */
export interface DistributedContext extends JobContext {
  /** What `push` resolved to. */
  readonly id: string
  readonly type: string
  /** 1 for the first attempt. Attempts that ended with their process count. */
  readonly attempt: number
  /** Says how far the job is: listeners of `progress` are told, and the last value is in `get(id)`. */
  readonly progress: (value: any) => void
  /** Of a job that a schedule has pushed: the name of that, and the time for which it is, in ms since 1970. */
  readonly schedule: { readonly name: string, readonly time: number } | undefined
}

export type DistributedRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DistributedContext) => PromiseLike<R>
export type AnyDistributedRunner<P = any, R = any> = (payload: P, done: Done<R>, context: DistributedContext) => unknown
export type DistributedPromiseRunner<P = any, R = any> = (payload: P, context: DistributedContext) => R | PromiseLike<R>

export interface DistributedPushOptions extends PlanOptions {
  /** In the place of the queue's. */
  timeoutMs?: number | undefined
  /** In the place of the queue's. */
  maxWaitMs?: number | undefined
}

export interface DistributedAddOptions extends DistributedPushOptions {
  type?: unknown
  unshift?: boolean | undefined
  /**
   * Cancels the job when it aborts, unless somebody else wants it, by the same key. A runner of it is told by its signal, in whichever
   * process it runs.
   */
  signal?: AbortSignal | undefined
}

/** A job, as it is at the broker. */
export interface DistributedJob<P = any> {
  readonly id: string
  readonly type: string
  readonly state: 'waiting' | 'delayed' | 'running' | 'done' | 'dead'
  /** How many attempts have ended that count. */
  readonly attempts: number
  /** What the last attempt failed with: its `name`, `message` and `code`. */
  readonly error: (Error & { code?: string }) | undefined
  /** When a delayed job is due, in ms since 1970. */
  readonly dueAt: number | undefined
  /** What its runner has said last of how far it is, as JSON has it. */
  readonly progress: any
  readonly payload: P
}

/** A job that will not be tried again. */
export interface DistributedDeadLetter<P = any> {
  readonly id: string
  readonly type: string
  readonly attempts: number
  readonly error: Error & { code?: string }
  /** When it died, in ms since 1970. */
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
  /** Pushes whose key was taken: they share the job that has it. */
  joined: number
  /** Jobs that others may have run, since this process sent no heartbeat for `leaseMs`. */
  lost: number
  /** Units of cost that jobs were charged which this process has run, as corrected by `spent`; 0 where none are counted. */
  spent: number
  /** Slots of this process that are taken. */
  running: number
  /** Of these, the ones whose jobs have ended, by a timeout, a cancel or `close`, and whose runners go on. Without a scheduler they are of no type. */
  overdue: number
  /** Jobs that were taken and wait for a slot. */
  prefetched: number
  /** Its group, only with `groupOf`; undefined where that fails for the type. */
  group?: string | undefined
}

export interface DistributedStats extends Omit<DistributedTypeStats, 'group'> {
  misuse: number
  overrun: number
  /** Groups of `groupOf` with types that have jobs in this process; 0 without. */
  groups: number
}

/** How many jobs there are, wherever. Delayed ones are among those that wait. */
export interface JobCounts {
  waiting: number
  delayed: number
  running: number
  /** Dead letters. */
  dead: number
}

/** What the queue has, in all processes. */
export interface QueueCounts extends JobCounts {
  /** Types that have any. */
  types: number
}

/** What the queue has of a type, and what limits it. */
export interface TypeCounts extends JobCounts {
  cap: number
  /** One rate, several in an array, null for none. */
  rate: FleetRates | null
  /** No process starts a job of it. */
  paused: boolean
  /** For how many ms it is held yet. */
  heldMs: number
}

/** How a process gets on with the broker. Times are in ms since 1970. */
export interface Health {
  /** All partitions have answered. */
  connected: boolean
  /** When the broker last answered a call of this process. */
  lastAnswerAt: number | undefined
  /** When the keeper had last looked after leases, in the partition where that was longest ago; undefined: in one of them never. */
  lastKeeperWalkAt: number | undefined
  /** What the connection, or a call that nobody waited for, failed with last. */
  lastError: Error | undefined
  lastErrorAt: number | undefined
  partitions: Array<{
    /** What its keys begin with. */
    prefix: string
    connected: boolean
    lastKeeperWalkAt: number | undefined
  }>
}

/** What limits all processes. */
export interface FleetLimits {
  rate: FleetRates | null
  ratePerType: FleetRates | ReadonlyMap<string, FleetRates> | null
  globalConcurrency: number
  globalTypeCap: number
  globalTypeCaps: { [type: string]: number }
  /** Of all types, by `pauseGlobal()`. */
  paused: boolean
}

/** What is told of a job. */
export interface DistributedJobEvent<P = any> {
  id: string
  type: string
  /** Undefined if it cannot be decoded. */
  payload: P
  /** The number of the attempt, from 1. Of a job that is cancelled while it waits: how many attempts have ended. */
  attempt: number
}

/** Of jobs that this process ran or cancelled. */
export interface DistributedEvents<P = any, R = any> {
  /** The broker has the end of a job. */
  done: (job: DistributedJobEvent<P> & { result: R }) => void
  /** A job has become a dead letter. */
  failed: (job: DistributedJobEvent<P> & { error: any }) => void
  /** An attempt has failed, and there will be another one in `delayMs`. */
  retry: (job: DistributedJobEvent<P> & { error: any, delayMs: number }) => void
  /** A job was cancelled: by `cancel()`, by the signal of its `add()`, or since it waited longer than `maxWaitMs`. */
  cancelled: (job: DistributedJobEvent<P> & { error: FairlaneError }) => void
  /** A runner has called `context.progress(value)`. */
  progress: (job: DistributedJobEvent<P> & { value: any }) => void
  /** This process has lost its hold on a job, which others may run. */
  lost: (job: DistributedJobEvent<P> & { error: FairlaneError }) => void
  /** Something else limits all processes from now on, by a call or an opening of any of them. */
  limits: (change: { before: FleetLimits, after: FleetLimits }) => void
  /** The broker refuses what nobody waits for. `type` is there if it concerns one. */
  error: (error: FairlaneError & { type?: string }) => void
  /** The queue has closed. `abandonedCount` runners had not ended. */
  close: (abandonedCount: number) => void
}

/** A queue of many processes, at a broker. */
export class DistributedQueue<P = any, R = any> extends EventEmitter<DistributedEvents<P, R>> {
  private constructor ()

  /** Slots of this process in which a runner runs, be its job over or not. */
  readonly running: number
  readonly paused: boolean
  readonly closed: boolean
  readonly scheduler: LaneScheduler | WindowScheduler | null
  get concurrency (): number
  set concurrency (value: number | string)

  /** Queues a job at the end. Resolves with its id when the broker has it. */
  push (payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `push`, at the head. */
  unshift (payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `push`, for a job with a type. */
  pushType (type: unknown, payload: P, options?: DistributedPushOptions): Promise<string>
  /** Like `pushType`, at the head of its type. */
  unshiftType (type: unknown, payload: P, options?: DistributedPushOptions): Promise<string>
  /**
   * Queues several jobs: those of a partition are stored with one call, all or none. If one is refused by what this process knows, none is
   * taken in. Rejects as `push`, with the `ids` of what was stored if the broker fails for a part of them.
   */
  pushAll (jobs: ReadonlyArray<DistributedPushOptions & { payload: P, type?: unknown }>): Promise<string[]>
  /** Queues a job and resolves with its result. */
  add (payload: P, options?: DistributedAddOptions): Promise<R>
  /** As that of a queue in memory: runs a job for each value of a source, as its results are asked for. */
  map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
  map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
  map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>
  /** Resolves when every push up to now is stored or was rejected. */
  flush (): Promise<void>

  /** Starts no more jobs in this process. */
  pause (): this
  resume (concurrency?: number | string): this
  pauseType (type: unknown): this
  resumeType (type: unknown): this
  /** Whether no job of a type starts in this process until `resumeType`. */
  isTypePaused (type: unknown): boolean

  /** No process starts a job of the type, or any job without a type, until `resumeGlobal`. */
  pauseGlobal (type?: unknown): Promise<void>
  resumeGlobal (type?: unknown): Promise<void>
  /** At most so many jobs of the type run at once, in all processes; `Infinity` for as many as there are slots. */
  setGlobalCap (type: unknown, cap: number): Promise<void>
  /** The same of all types together. */
  setGlobalConcurrency (n: number): Promise<void>
  /** Replaces the rates that are given, in all processes; null: there is none from now on. Holds stay. */
  setRates (rates: { rate?: FleetRates | null | undefined, ratePerType?: FleetRatesPerType | null | undefined }): Promise<void>
  /** No process starts a job for so many ms; 0 ends that. */
  hold (ms: number): Promise<void>
  /** No process starts a job of the type for so many ms; 0 ends that. */
  holdType (type: unknown, ms: number): Promise<void>
  /** In how many ms a job might start as far as rates and holds go; 0: now. Of a type, or of the whole queue. */
  heldMs (type?: unknown): Promise<number>

  /**
   * Tells that another tool, as a `Queue` of BullMQ, has added jobs of a type. Where the type has no other jobs, nobody finds them
   * before that. They get the limits that the options say. Resolves when workers are told. O(1).
   */
  announce (type: unknown): Promise<void>

  /** What this process has done since it opened the queue; `running` and `prefetched` are current. */
  stats (): DistributedStats
  stats (type: unknown): DistributedTypeStats
  /** What the queue has, wherever; of a type with what limits it. O(types) without a type. */
  counts (): Promise<QueueCounts>
  counts (type: unknown): Promise<TypeCounts>
  /**
   * Why the next job of a type does not start now, as far as this process can know: another one may have a slot for it. A closed queue, and one whose broker
   * is away, say so, and their counts are undefined. O(1), and with `ahead` O(types). Throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE.
   */
  explain (type?: unknown, options?: { ahead?: boolean | undefined }): Promise<Explanation>
  /** The types that have jobs, the largest first; 200 of them, if `limit` says nothing else. O(types). */
  types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

  /**
   * The result of a job that was pushed, by whichever process, as long as it is kept: for `resultTtlMs` from its end on. Rejects with what the
   * job failed with, or FAIRLANE_ERR_RESULT. An abort of the signal ends the wait; the job goes on.
   */
  wait (id: string, options?: { signal?: AbortSignal | undefined }): Promise<R>
  get (id: string): Promise<DistributedJob<P> | undefined>
  /** Takes a job away that waits; one that runs is told by its signal, and not tried again. False if there is neither. */
  cancel (id: string): Promise<boolean>
  /**
   * The jobs that run in whatever process, and those that a process has taken, those first that were taken first; runners that go on after their
   * jobs have ended are overdue. 1000 of them, if `limit` says nothing else. O(types), and O(1) of a type.
   */
  listRunning (options?: { type?: unknown, limit?: number | undefined }): Promise<Array<RunningJob<string>>>
  /**
   * The jobs that will not be tried again, the oldest first; 1000 of them, if `limit` says nothing else. `after` is the id of the last one
   * that was seen. Rejects with FAIRLANE_ERR_ARGUMENT if that is gone, and was not the last one of a page of this queue.
   */
  deadLetters (options?: { type?: unknown, limit?: number | undefined, after?: string | undefined }): Promise<Array<DistributedDeadLetter<P>>>
  /** Queues a dead letter again, with all its attempts. False if there is no such one. */
  retryDead (id: string): Promise<boolean>
  deleteDead (id: string): Promise<boolean>
  /** Takes all waiting and delayed jobs away, or those of a type; with `dead` the dead letters, too. Resolves with how many. */
  clear (options?: { type?: unknown, dead?: boolean | undefined, reason?: unknown }): Promise<number>

  /** Adds a schedule, or changes that of its name; null removes it. Jobs that it has pushed stay. */
  setSchedule (name: string, schedule: Schedule<P> | null): Promise<void>
  /** Pushes a job of a schedule now, and resolves with its id. Its times stay as they are. */
  runSchedule (name: string): Promise<string>
  /**
   * A schedule pushes nothing at its times, until `resumeSchedule` or `setSchedule`. Rejects with FAIRLANE_ERR_ARGUMENT if there is none of this
   * name.
   */
  pauseSchedule (name: string): Promise<void>
  /** It does again. Times that have passed meanwhile are over. */
  resumeSchedule (name: string): Promise<void>
  /** The schedules, with the next time of each and the last one whose job was pushed, in ms since 1970. */
  listSchedules (): Promise<ScheduleState[]>

  /** Resolves when nothing waits, is delayed or runs, in any process. Asks the broker again and again, O(types): for tests and scripts. */
  onIdle (): Promise<void>
  /**
   * Refuses pushes, takes no more jobs, and waits for those that run here, until `timeoutMs`: then their signals abort. Resolves with how
   * many runners had not ended. What waits is the other processes'.
   */
  close (options?: { drain?: false | undefined, timeoutMs?: CloseOptions['timeoutMs'] }): Promise<number>
  /** How this process gets on with the broker, which it asks for 2 s at most. Never rejects. */
  health (): Promise<Health>
  /** Not at a broker: use `counts()`, whose `waiting` and `running` are its parts. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly length: never
  /** Not at a broker: use `counts()`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly waiting: never
  /** Not at a broker: use `onIdle()`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly drain: never
  /** Not at a broker: use `onIdle()`, or `flush()` for pushes to be stored. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly fflush: never
  /** Not at a broker: use `get(id)`, `counts()`, `types()` and `deadLetters()`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly jobs: never
  /** Not at a broker: use `counts()`, or `maxWaitingPerType`, whose error has `retryAfterMs`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly ready: never
  /** Not at a broker: use `cancel(id)` or `clear({ type })`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly remove: never
  /** Not at a broker: use `add()`, and code in the runner. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly run: never
  /** Not at a broker: use `add()`, whose runner has the slot until it ends. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly acquire: never
  /** Not at a broker: use `counts()`. It throws FAIRLANE_ERR_UNSUPPORTED. */
  readonly diskBytes: never
  /** Not at a broker: use `counts()` and `health()`. It throws FAIRLANE_ERR_UNSUPPORTED. */
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
