/// <reference lib="esnext.disposable" />

// Written by hand. `P` is the payload of a job, `R` its result.
// test/types checks this file; test/arguments holds the codes equal to lib/arguments/codes.js and docs/reference/api.md.

import type { EventEmitter } from 'eventemitter3'
import type { FairOptions } from './schedulers/fair'
import type { CappedOptions } from './schedulers/capped'
import type { EqualOptions } from './schedulers/equal'

declare const fairlane: fairlane.Fairlane
declare const observes: unique symbol

declare namespace fairlane {
  /** Codes of thrown errors and of errors passed to callbacks. Match on these, never on messages. */
  type ErrorCode =
    | 'FAIRLANE_ERR_RUNNER'
    | 'FAIRLANE_ERR_OPTION'
    | 'FAIRLANE_ERR_CONCURRENCY'
    | 'FAIRLANE_ERR_SCHEDULER'
    | 'FAIRLANE_ERR_TYPE_REQUIRED'
    | 'FAIRLANE_ERR_TYPE'
    | 'FAIRLANE_ERR_CALLBACK'
    | 'FAIRLANE_ERR_ARGUMENT'
    | 'FAIRLANE_ERR_QUEUE_FULL'
    | 'FAIRLANE_ERR_TYPE_FULL'
    | 'FAIRLANE_ERR_TIMEOUT'
    | 'FAIRLANE_ERR_MAX_WAIT'
    | 'FAIRLANE_ERR_ABORTED'
    | 'FAIRLANE_ERR_CLEARED'
    | 'FAIRLANE_ERR_CLOSED'
    | 'FAIRLANE_ERR_CRASHED'
    | 'FAIRLANE_ERR_LOCKED'
    | 'FAIRLANE_ERR_CORRUPT'
    | 'FAIRLANE_ERR_VERSION'
    | 'FAIRLANE_ERR_SERIALIZER'
    | 'FAIRLANE_ERR_IO'
    | 'FAIRLANE_ERR_TOO_LARGE'
    | 'FAIRLANE_ERR_PEER'
    | 'FAIRLANE_ERR_BROKER'
    | 'FAIRLANE_ERR_LEASE'
    | 'FAIRLANE_ERR_RESULT'
    | 'FAIRLANE_ERR_RESPONSE'
    | 'FAIRLANE_ERR_SLOT_LOST'
    | 'FAIRLANE_ERR_UNSUPPORTED'

  /** Codes of warnings, which arrive on `process.on('warning')`. */
  type WarningCode =
    | 'FAIRLANE_WARN_SETTLED_TWICE'
    | 'FAIRLANE_WARN_STALLED'
    | 'FAIRLANE_WARN_VALUE_IGNORED'
    | 'FAIRLANE_WARN_OUTAGE'
    | 'FAIRLANE_WARN_DAMAGE'
    | 'FAIRLANE_WARN_RETRY_AFTER'
    | 'FAIRLANE_WARN_ADMISSION'
    | 'FAIRLANE_WARN_SLOT_LOST'
    | 'FAIRLANE_WARN_GROUP'
    | 'FAIRLANE_WARN_BROKER'

  /** An error of the queue at run time. Wrong use throws a `TypeError` or a `RangeError` with a `code` instead. */
  interface FairlaneError extends Error {
    readonly code: ErrorCode
    /**
     * The reason given to `clear`, the reason of a signal, the falsy value that a runner threw, what ended a thread, or the error of the file system or
     * of the broker.
     */
    cause?: unknown
    /**
     * The type of the job. This and the next three are set only for FAIRLANE_ERR_QUEUE_FULL and FAIRLANE_ERR_TYPE_FULL. A `PersistentQueue` sets
     * only `waiting` and `limit`.
     */
    type?: string | undefined
    /** How many jobs waited, in total or of the type. If the capacity of a queue on disk is the limit: how many jobs, or bytes, it held. */
    waiting?: number
    /** How many may wait. */
    limit?: number
    /** Estimated time in ms until there is room, from the recent rate of completions, plus up to 20 % of random jitter. */
    retryAfterMs?: number
    /** Path of the damaged file (FAIRLANE_ERR_CORRUPT) or of the file of another version (FAIRLANE_ERR_VERSION). */
    file?: string
    /** Byte offset at which the damage begins. Only with FAIRLANE_ERR_CORRUPT. */
    offset?: number
    /** The pid, in its own container, of the process that has the queue open. Only with FAIRLANE_ERR_LOCKED, and if it is known. */
    pid?: number
  }

  interface FairlaneErrorConstructor {
    readonly prototype: FairlaneError
    new (code: ErrorCode, message: string, options?: { cause?: unknown }): FairlaneError
  }

  /**
   * Called once, when the job has settled.
   *
   * @param error the runner's error, or a `FairlaneError`; falsy if the job is done
   * @param result the runner's result
   */
  type Callback<R = any> = (error: any, result?: R) => void

  /**
   * Settles the job. A truthy `error` means that it has failed, otherwise it is done. Only the first call counts.
   * It may be called at once or later.
   */
  type Done<R = any> = (error?: any, result?: R) => void

  /**
   * What a runner can know about its job. Frozen. Jobs of a queue or type share one context, unless a job has a signal or a `timeoutMs`, `progress` had
   * a listener when it started, or the queue counts costs.
   */
  interface JobContext {
    /** The id of the job, on disk and at a broker. Jobs in memory have none. */
    readonly id: number | string | undefined
    /** Whose job it is: a tenant, a user, an API key. Undefined on a queue without a scheduler. */
    readonly type: string | undefined
    /** Aborts if the job settles while its runner runs. Created when it is first read. */
    readonly signal: AbortSignal
    /** The number of the attempt, from 1. */
    readonly attempt: number
    /** Emits `progress` with this value. Does nothing after the attempt has ended, or on a context that jobs share. */
    readonly progress: (value: any) => void
    /**
     * Reports the total cost of the job so far, in the units of `cost`. The difference from what it was charged is charged, or refunded, at once. Does
     * nothing after the attempt has ended, or if the queue counts no costs.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if it is not a safe integer of 0 or more
     */
    readonly spent: (total: number) => void
    /** For a job that a schedule pushed, on disk or at a broker: the name of the schedule, and the scheduled time in ms since 1970. */
    readonly schedule: { readonly name: string, readonly time: number } | undefined
  }

  /**
   * Runs one job. It settles the job by `done`, by a synchronous throw, or by returning a promise or thenable: the first of
   * these wins. Any other return value is ignored.
   */
  type Runner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => unknown

  /** A runner that returns a promise. The type of the results is inferred from it. */
  type AsyncRunner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => PromiseLike<R>

  /** A runner for `settleBy: 'promise'`. It gets no `done`, so `context` is its second argument. Its return value is the result. */
  type PromiseRunner<P = any, R = any> = (payload: P, context: JobContext) => R | PromiseLike<R>

  /** How a runner settles its jobs. */
  type SettleBy = 'either' | 'callback' | 'promise'

  interface QueueOptions {
    /**
     * How many jobs may run at once: a positive integer, a string of one, or Infinity.
     *
     * @default 10
     */
    concurrency?: number | string | undefined

    /**
     * How the runner settles its job. `'either'`: the first of `done`, a throw and a returned thenable settles the job.
     * `'callback'`: the runner's return value is ignored.
     * `'promise'`: the runner is called with payload and context, and its return value settles the job.
     *
     * @default 'either'
     */
    settleBy?: SettleBy | undefined

    /**
     * Chooses the type whose job starts next: the name of a scheduler, or your own scheduler object.
     *
     * @default null
     */
    scheduler?: SchedulerName | LaneScheduler | WindowScheduler | null | undefined

    /**
     * Options of the scheduler, which validates them. The object is neither kept nor changed. For your own scheduler, which needs a method `configure`,
     * write them as `{ … } as object`: this type lists only the options of fairlane's schedulers, so that misspelt names are found.
     */
    schedulerOptions?: FairOptions | CappedOptions | EqualOptions | undefined

    /**
     * How many types get a lane of their own. Further types share a few lanes. Types named in `typeCaps`, `weights` or
     * `maxWaitingPerType` always get their own. Needs a lane scheduler.
     *
     * @default Infinity
     */
    maxTypes?: number | undefined

    /**
     * How many jobs may wait beyond those that fill free slots. With a scheduler, each type may hold up to four times the free room.
     *
     * @default Infinity
     */
    maxWaiting?: number | undefined

    /**
     * How many jobs of a type may wait: one number for all types, or numbers by type. Needs a scheduler.
     *
     * @default Infinity
     */
    maxWaitingPerType?: number | Readonly<Record<string, number>> | ReadonlyMap<string, number> | undefined

    /**
     * A job that waits longer is cancelled. In ms, above 0.
     *
     * @default Infinity
     */
    maxWaitMs?: number | undefined

    /**
     * A job that runs longer fails. In ms, above 0.
     *
     * @default Infinity
     */
    timeoutMs?: number | undefined

    /**
     * Whether a runner whose job has timed out keeps its slot until it ends (`'hold'`) or frees it at once (`'release'`).
     *
     * @default 'hold'
     */
    onTimeout?: 'hold' | 'release' | undefined

    /** When it aborts, the queue closes at once, like `close({ drain: false })`. Default: none. */
    signal?: AbortSignal | undefined

    /**
     * The AsyncLocalStorage context in which runner and callback run. `'queue'`: where the queue was made. `'push'`: that of the push. `'none'`: whichever
     * one `done` was called in; this saves 15 to 30 ns a job, but values that one tenant's job sets may leak to the next. Functions of `run` run in
     * the context of their caller, except with `'none'`.
     *
     * @default 'queue'
     */
    asyncContext?: 'queue' | 'push' | 'none' | undefined

    /** The source of time. Default: the system clock. */
    clock?: Clock | undefined

    /**
     * Maximum number of attempts. Infinity: no limit.
     *
     * @default 1
     */
    maxAttempts?: number | undefined

    /**
     * How long a job waits after a failed attempt, in ms: a time, or a function of the attempt's number and error. If the function returns Infinity,
     * the job has failed. Default: 1 s, 2 s, 4 s, … up to 60 s.
     */
    backoffMs?: number | ((attempt: number, error: any) => number) | undefined

    /**
     * What one step of `priority` is worth, in ms: a job of priority p is ordered as if it had been pushed p × `priorityMs` earlier. At most 2^31.
     * Needs a lane scheduler, or none. Default: no priorities.
     */
    priorityMs?: number | undefined

    /** Maximum number of starts per interval in the whole queue. Every attempt counts. Default: no limit. */
    rate?: Rates | undefined

    /** Like `rate`, for each type. Needs a lane scheduler. Default: no limit. */
    ratePerType?: RatesPerType | undefined

    /** One or more observers of `fairlane/history`, `fairlane/metrics` or `fairlane/adaptive`. Each observes one queue only. Default: none. */
    observers?: Observer | readonly Observer[] | undefined
  }

  /** In any window of `intervalMs`, at most `limit` jobs start, or jobs that cost at most `limit` units. */
  interface Rate {
    /** A positive integer. */
    limit: number
    /** Above 0. */
    intervalMs: number
    /**
     * What is counted: starts, or the units that jobs cost. A queue counts costs once it has its first rate of cost.
     *
     * @default 'jobs'
     */
    of?: 'jobs' | 'cost' | undefined
  }

  /** One rate, or several that all apply. */
  type Rates = Rate | readonly Rate[]

  /** The same rates for each type, rates by type, or a function, called again once nothing is counted for a type any more. */
  type RatesPerType = Rates | ReadonlyMap<string, Rates> | ((type: string) => Rates | undefined)

  /** An observer for the option `observers`. Only `fairlane/history`, `fairlane/metrics` and `fairlane/adaptive` make them. */
  interface Observer {
    readonly [observes]: true
  }

  /** The names of the schedulers that come with fairlane. */
  type SchedulerName = 'fair' | 'capped' | 'equal'

  /** A source of time, in ms. */
  interface Clock {
    now (): number
    setTimeout (fn: (...args: any[]) => void, ms?: number, ...args: any[]): any
    clearTimeout (timer: any): void
  }

  /** What a lane scheduler sees of a type. Only `state` is its own. */
  interface Lane<S = any> {
    /** The type. A shared lane has a generated name. */
    readonly type: string
    /** Whether types beyond `maxTypes` share it. */
    readonly isShared: boolean
    /** Waiting jobs. */
    readonly size: number
    /** Running jobs. */
    readonly running: number
    /** The arrival number of the oldest waiting job. Unshifted jobs have numbers below all others. */
    readonly headSeq: number
    readonly isPaused: boolean
    state: S
  }

  /** Chooses a lane. For schedulers whose cost must not grow with the backlog. If it throws, the queue warns; no job is lost. */
  interface LaneScheduler {
    /** A job was queued, in a lane that is not paused. */
    queued (lane: Lane): void
    /** Returns the lane whose oldest job is to start, or undefined if none may start now. */
    next (now: number): Lane | undefined
    /** `cost`: what the job is charged; 1 without `needsCost`. */
    started (lane: Lane, now: number, cost: number): void
    /** `cost`: what the job was charged in the end. */
    ended (lane: Lane, startedAt: number, now: number, cost: number): void
    /** With `needsCost`: the runner of a job has called `spent`, which changed its charge by `difference` units. */
    charged? (lane: Lane, difference: number, startedAt: number): void
    configure? (options?: any): unknown
    /** A waiting job was cancelled, in a lane that is not paused. Called once per job, after all of them were taken out. */
    removed? (lane: Lane): void
    /** Until `resumed`, `next` must not return the lane. Without both methods, types cannot be paused. */
    paused? (lane: Lane): void
    resumed? (lane: Lane): void
    /** Whether the lane, which is idle and empty, may be forgotten now. Without this method: yes. */
    forget? (lane: Lane): boolean
    /** Whether the type must have a lane of its own, whatever `maxTypes` says. Without this method: no. */
    isNamed? (type: string): boolean
    /** How many jobs of a type may run at once. Only `fairlane/board` calls this. */
    capOf? (type: string): number
    /** The share of a type, relative to others. Only `fairlane/board` calls this. */
    weightOf? (type: string): number
    /** The group of a type, for `stats(type)`. `lane` is the type's current lane, if it has one. */
    groupOf? (type: string, lane?: Lane): string | undefined
    /** How many groups there are, for `stats()`. */
    readonly groupCount?: number
    /** For `explain`: how many jobs of a type's group run, and may run. */
    groupStats? (type: string, lane?: Lane): { group: string | undefined, running: number, cap: number }
    /** Whether `now` and `startedAt` are needed. If not, they are 0, and no clock is read. */
    readonly needsClock?: boolean
    /** Whether the queue must count what jobs cost, for `cost`. */
    readonly needsCost?: boolean
    /** Whether it may be intended that jobs wait and none runs. If not, the queue warns once. */
    readonly mayStall?: boolean
  }

  /** The types of the waiting jobs in arrival order. */
  interface WaitingTypes {
    peek (): string | undefined
    /** Undefined for a job that has already left. */
    peekAt (index: number): string | undefined
    /** The length of the whole window, including jobs that have already left. */
    size (): number
  }

  /** Chooses a job by its place among the waiting ones: quickq's protocol. If it throws, the queue warns; no job is lost. */
  interface WindowScheduler {
    waiting (type: string): void
    start (type: string): void
    done (type: string): void
    /** Returns the index of the job to start, or a negative number if none may start now. */
    select (types: WaitingTypes): number
    configure? (options?: any): unknown
    /** A waiting job was cancelled. */
    removed? (type: string): void
    readonly mayStall?: boolean
  }

  /** A job that has not started. */
  interface WaitingJob<P = any> {
    /** Whose job it is: a tenant, a user, an API key. Undefined on a queue without a scheduler. */
    readonly type: string | undefined
    readonly payload: P
  }

  /** Options of a job on every engine. */
  interface PlanOptions {
    /**
     * The job enters the queue after this time in ms, at the end, or at the head if it was unshifted. `maxWaitMs` counts from then.
     *
     * @default 0
     */
    delayMs?: number | undefined
    /** Maximum number of attempts. Default: the queue's. */
    maxAttempts?: number | undefined
    /**
     * An integer from 0 to 15. Among the jobs of its type, the job is ordered as if it had been pushed `priority × priorityMs` earlier. Needs a queue
     * with `priorityMs`.
     *
     * @default 0
     */
    priority?: number | undefined
    /**
     * What the job costs, in your own units, such as tokens or rows: a safe integer of 0 or more. Rates of cost count it, and a scheduler may share by it.
     * Give an upper estimate, and have the runner report the true cost with `context.spent`.
     *
     * @default 1
     */
    cost?: number | undefined
    /**
     * While a job of the same type has this key, a job queued with it is not accepted but shares that job. A finite number is converted to a string.
     * Default: none.
     */
    key?: string | number | undefined
    /**
     * What happens when the key is taken. `'join'`: the new job shares the other. `'replace'`: in addition, the other gets the new payload, if it waits
     * for its first start. `'postpone'`: like `'replace'`, and the delay begins again, if it is not over. Needs a key.
     *
     * @default 'join'
     */
    onDuplicate?: 'join' | 'replace' | 'postpone' | undefined
    /**
     * How long the job keeps its key: until its first start, until it settles, or for this many ms after it was queued and at least until it starts.
     * A job cancelled before its start frees its key; cancelling it later does not shorten that time. Needs a key.
     *
     * @default 'started'
     */
    keyUntil?: 'started' | 'settled' | number | undefined
    /**
     * With `'postpone'`: the longest time after queueing that a job can be put off, in ms. Needs a key.
     *
     * @default Infinity
     */
    maxDelayMs?: number | undefined
  }

  interface AddOptions extends PlanOptions {
    /** The type of the job, as for `pushType`. Required with a scheduler, ignored without one. */
    type?: unknown
    /** Whether the job is queued at the head. @default false */
    unshift?: boolean | undefined
    /**
     * When it aborts, the job is cancelled, waiting or running, with FAIRLANE_ERR_ABORTED and the reason of the signal as `cause`. If it has already
     * aborted, the job is refused. Any number of jobs can share a signal. Default: none.
     */
    signal?: AbortSignal | undefined
    /** How long each attempt may run, in ms, above 0; Infinity: no limit. Default: the queue's. */
    timeoutMs?: number | undefined
    /** How long the job may wait for its start, in ms, above 0; Infinity: no limit. Default: the queue's. */
    maxWaitMs?: number | undefined
  }

  /** Options of `acquire`: those of `add` that make sense for a slot, which is given once and to one caller. */
  type AcquireOptions = Omit<AddOptions, 'maxAttempts' | 'key' | 'onDuplicate' | 'keyUntil' | 'maxDelayMs'>

  /** A slot from `acquire`, held until it is released. */
  interface Slot {
    /** The type it was acquired for. Undefined on a queue without a scheduler. */
    readonly type: string | undefined
    /** Time from the call of `acquire` until the slot was given. */
    readonly waitedMs: number
    /** Aborts if the slot's job settles while the slot is held. Created when it is first read. */
    readonly signal: AbortSignal
    /**
     * Gives the slot back. Only the first call counts. May be called without the slot as `this`.
     *
     * @param error truthy: the job has failed; a `Throttled`: its type is held, too
     */
    readonly release: (error?: unknown) => void
    /** Like `context.spent` of a job. May be called without the slot as `this`. */
    readonly spent: (total: number) => void
    /** Like `release()`. */
    [Symbol.dispose] (): void
  }

  /** Values, or promises of them. */
  type MapSource<P> = Iterable<P | PromiseLike<P>> | AsyncIterable<P>

  interface MapOptions {
    /** The type of the jobs. Required with a scheduler. */
    type?: unknown
    /** What each job costs, or a function of its payload. @default 1 */
    cost?: number | ((payload: any) => number) | undefined
    /** Whether results come in the order of the source, rather than as jobs end. @default true */
    ordered?: boolean | undefined
    /**
     * How many values are taken from the source ahead of results. With Infinity the whole source is taken at once, so it must be finite.
     * Default: 2 × `concurrency`.
     */
    maxPending?: number | undefined
    /** Whether results are `{ status, value, reason }`, as with `Promise.allSettled`, and a failure does not end the iteration. @default false */
    settled?: boolean | undefined
  }

  interface CloseOptions {
    /** Whether accepted jobs may finish. @default true */
    drain?: boolean | undefined
    /**
     * With `drain`: after this time in ms the remaining jobs are cancelled as with `drain: false`. With `drain: false`: how long to wait for the runners
     * to end. Default: no limit; one turn of the event loop with `drain: false`.
     */
    timeoutMs?: number | undefined
  }

  /** How many jobs there are now. */
  interface JobCounts {
    /** Delayed ones included. */
    waiting: number
    /** Jobs that are not due yet. */
    delayed: number
    running: number
    /** Dead letters. A queue in memory has none. */
    dead: number
  }

  interface QueueCounts extends JobCounts {
    /** Types that have any. */
    types: number
  }

  /** How many jobs of a type there are now, and what limits it. */
  interface TypeCounts extends JobCounts {
    /** How many may run at once, if that is less than `concurrency`; else Infinity. */
    cap: number
    /** An array if it has several, null if it has none. */
    rate: Rate | Rate[] | null
    paused: boolean
    /** Time in ms until rates and holds let a job of the type start; 0: now. */
    heldMs: number
  }

  /** Why a job does not start. docs/reference/observe.md explains each of them. */
  type Reason = 'idle' | 'closed' | 'paused' | 'type-paused' | 'outage' | 'broker' | 'delayed' | 'backoff' | 'cap' | 'group-cap' | 'hold' | 'queue-hold' |
    'rate' | 'queue-rate' | 'slots' | 'scheduler' | 'starting'

  /** Why the next job of a type does not start now. */
  interface Explanation {
    /** Undefined without a scheduler. */
    type: string | undefined
    /** As in `counts(type)`. Undefined while a broker cannot be reached. */
    waiting: number | undefined
    delayed: number | undefined
    running: number | undefined
    because: Reason
    /** Time in ms after which nothing holds it back. It then starts if a slot is free and no other job comes first. Undefined if no time is known. */
    untilMs: number | undefined
    /** Only with `'slots'`: the types that hold most of them, at most five. */
    holders: Array<{ type: string, running: number }> | undefined
    /** How long the next job has waited, in ms. Undefined if none waits, or if neither metrics nor a history observe the queue. */
    oldestWaitMs: number | undefined
    /** Only on request, and if a job waits: how many other types may be served before it, at most. */
    ahead?: number | undefined
  }

  /** Counts of a type since it was last idle; `waiting`, `running`, `overdue`, `types` and `delayed` are current. */
  interface TypeStats {
    /** Jobs accepted: `waiting + running + done + failed + cancelled`, less the settled jobs whose runners still hold a slot. */
    accepted: number
    waiting: number
    /** Slots that are taken. */
    running: number
    /** Of these, the ones whose job has settled, by a timeout, a signal or `close`, while the runner goes on. */
    overdue: number
    done: number
    failed: number
    /** Jobs ended by `remove`, `clear`, `close`, a signal or `maxWaitMs`. */
    cancelled: number
    /** Jobs refused: by a limit, by a closed queue, or because their signal had already aborted. */
    rejected: number
    /** Types with a job waiting or running. */
    types: number
    /** Jobs that are not due yet. They are part of `waiting`. */
    delayed: number
    /** Failed attempts that are followed by another one. */
    retried: number
    /** Attempts that failed with `Throttled`. */
    throttled: number
    /** Jobs that were not accepted, but share another one by its key. */
    joined: number
    /** Units of cost charged, as corrected by `spent`; 0 if costs are not counted. */
    spent: number
    /**
     * Its group, only with `groupOf`. Undefined if that failed for the type, and for types that share a lane. Calls `groupOf` if the type has no
     * lane.
     */
    group?: string | undefined
  }

  /** Totals since the queue was created, except `waiting`, `running`, `overdue`, `overrun`, `types`, `delayed` and `heldTypes`, which are current. */
  interface QueueStats extends Omit<TypeStats, 'group'> {
    /** Groups with a type that has jobs, is paused, or is not forgotten yet; 0 without `groupOf`. */
    groups: number
    /** Repeated settlements of a job, which were ignored. */
    misuse: number
    /** Runners that go on without a slot, which a timeout released. */
    overrun: number
    /** Types with waiting jobs that may not start now: the type is held, or has used up its rate. */
    heldTypes: number
  }

  /** What events say of a job. */
  interface JobEvent<P = any> {
    /** Jobs in memory have none. */
    id: undefined
    type: string | undefined
    payload: P
    /** The number of the attempt, from 1. For a job cancelled while it waits: how many attempts have ended. */
    attempt: number
  }

  /** A job is done. */
  interface JobDone<P = any, R = any> extends JobEvent<P> {
    result: R
  }

  /** A job has failed for good. */
  interface JobFailed<P = any> extends JobEvent<P> {
    error: any
  }

  /** An attempt has failed, and the job will be tried again. */
  interface JobRetry<P = any> extends JobEvent<P> {
    error: any
    /** How long the job waits until then. */
    delayMs: number
  }

  /** A job was cancelled. */
  interface JobCancelled<P = any> extends JobEvent<P> {
    error: FairlaneError
  }

  /** A runner has reported progress. */
  interface JobProgress<P = any> extends JobEvent<P> {
    /** The value passed to `context.progress`. */
    value: any
  }

  /** `done`, `failed` and `cancelled` of running jobs, and `progress` of plain ones, are emitted only for jobs that started while there was a listener. */
  interface QueueEvents<P = any, R = any> {
    /** The queue has become empty: no job waits or runs. Comes after the `drain` function. */
    drain: () => void
    /** The queue begins to refuse jobs. */
    saturated: () => void
    /** All jobs are accepted again. */
    unsaturated: () => void
    /** A job is done. Comes after its callback. */
    done: (job: JobDone<P, R>) => void
    /** A job has failed for good. Comes after its callback. */
    failed: (job: JobFailed<P>) => void
    /** An attempt has failed, and there will be another one. */
    retry: (job: JobRetry<P>) => void
    /** A job was cancelled, while it waited or while it ran. Comes after its callback. */
    cancelled: (job: JobCancelled<P>) => void
    /** A runner has called `context.progress(value)`. */
    progress: (job: JobProgress<P>) => void
    /** The queue has closed. `abandonedCount` runners had not ended. */
    close: (abandonedCount: number) => void
  }

  /** Runs jobs in arrival order, at most `concurrency` of them at once. Each settles exactly once. */
  interface Queue<P = any, R = any> extends EventEmitter<QueueEvents<P, R>> {
    /** The number of jobs that wait or run. O(1). */
    readonly length: number
    /** The number of jobs that hold a slot. O(1). */
    readonly running: number
    /** The number of jobs that have not started. To bound it, use `maxWaiting` rather than checking before each push. O(1). */
    readonly waiting: number
    /** True from `pause()`, or from setting `concurrency` to 0 or below, until `resume()` or a positive `concurrency`. */
    readonly paused: boolean
    /** True once `close()` was called, or once the queue's `signal` has aborted. */
    readonly closed: boolean
    /** The scheduler object that was given, or that was created from a name; null without a scheduler. */
    readonly scheduler: LaneScheduler | WindowScheduler | null

    /**
     * The number of slots; -1 while paused. Setting it takes effect at once, up or down. 0 or below pauses. Running jobs finish.
     *
     * @throws FAIRLANE_ERR_CONCURRENCY if it is not an integer, a string of one, or Infinity
     */
    get concurrency (): number
    set concurrency (value: number | string)

    /**
     * Called without arguments each time the queue becomes empty, before the `drain` event. Null if there is none.
     *
     * @throws FAIRLANE_ERR_CALLBACK on setting, if it is neither a function nor null nor undefined
     */
    get drain (): (() => void) | null
    set drain (value: (() => void) | null | undefined)

    /**
     * Queues a job at the end. O(1). The job never starts inside this call.
     *
     * @param payload any value, also `undefined`; it reaches the runner unchanged
     * @param callback receives the outcome, never inside this call
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     * @throws FAIRLANE_ERR_TYPE_REQUIRED if the queue has a scheduler
     */
    push (payload: P, callback?: Callback<R>): Queue<P, R>

    /** Like `push`, but at the head: the job is the next to start, before those that were unshifted earlier. */
    unshift (payload: P, callback?: Callback<R>): Queue<P, R>

    /**
     * Like `push`, for a job with a type, which is converted to a string. A queue without a scheduler ignores the type.
     *
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     */
    pushType (type: unknown, payload: P, callback?: Callback<R>): Queue<P, R>

    /** Like `pushType`, but at the head. */
    unshiftType (type: unknown, payload: P, callback?: Callback<R>): Queue<P, R>

    /**
     * Queues a job and returns a promise of its result. The promise rejects with the error if the job fails, is cancelled or is refused. O(1).
     * If the key is taken, it is the promise of the job that has it; a call with a signal gets a promise of its own.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if an option is unknown or has a wrong value
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     * @throws FAIRLANE_ERR_TYPE_REQUIRED if there is no type and the queue has a scheduler
     */
    add (payload: P, options?: AddOptions): Promise<R>

    /**
     * Runs a function as a job; the function is the payload. What it returns or throws settles the promise, whatever `settleBy` says. It is called once
     * per attempt, in the AsyncLocalStorage context of the caller unless `asyncContext` is `'none'`.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if `fn` is not a function; also throws what `add` throws
     */
    run<T> (fn: (context: JobContext) => T, options?: AddOptions): Promise<Awaited<T>>

    /**
     * Waits for a slot, which is held until its `release()`. The promise rejects if the wait is cancelled or refused. A slot that is garbage-collected
     * before its release is freed, with the warning FAIRLANE_WARN_SLOT_LOST.
     *
     * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED like `add`
     */
    acquire (options?: AcquireOptions): Promise<Slot>

    /**
     * Runs a job for each value of a source. Takes values only as results are consumed. Throws what `add` throws.
     * A `break` or the first failure aborts the jobs it has queued.
     */
    map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
    map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
    map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>

    /**
     * Resolves as soon as a push (of that type) would be accepted. Rejects with FAIRLANE_ERR_CLOSED when the queue closes. Does not reserve a place:
     * another push may take it.
     *
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    ready (type?: unknown): Promise<void>

    /**
     * Refuses new jobs, lifts pauses, and lets the accepted jobs finish. Resolves with the number of runners that had not ended.
     * Without `timeoutMs` it waits for as long as the jobs take. A later call can only end it sooner.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if an option is unknown or has a wrong value
     */
    close (options?: CloseOptions): Promise<number>

    /** Like `close()`. */
    [Symbol.asyncDispose] (): Promise<void>

    /** Starts no more jobs: sets `concurrency` to -1. Running jobs finish. Has no effect on a closed queue. */
    pause (): Queue<P, R>

    /**
     * Starts jobs again; none starts inside this call.
     *
     * @param concurrency default: the last positive value, or 10 if there was none
     * @throws FAIRLANE_ERR_CONCURRENCY if it is given and is not a positive integer, a string of one, or Infinity
     */
    resume (concurrency?: number | string): Queue<P, R>

    /**
     * Waits until all jobs accepted before the call have settled and their callbacks were called. Does not wait for later jobs, even unshifted ones.
     *
     * @param callback called without arguments, never inside this call
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     */
    fflush (callback: () => void): Queue<P, R>
    /** Like `fflush(callback)`, with a promise. Resolves after the handlers of `add()` promises have run. Never rejects. */
    fflush (callback?: undefined): Promise<void>

    /** Resolves when no job waits or runs, and the handlers of `add()` promises have run. Never rejects. */
    onIdle (): Promise<void>

    /**
     * The jobs waiting at the time of the call, in arrival order. O(waiting), with a scheduler O(waiting × log types).
     *
     * @param type only the jobs of this type
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    jobs (type?: unknown): IterableIterator<WaitingJob<P>>

    /**
     * Cancels the waiting jobs for which `test` returns a truthy value. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     * If `test` throws, nothing is removed and `remove` rethrows.
     *
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `test` is not a function
     */
    remove (test: (job: WaitingJob<P>) => unknown): number

    /**
     * Cancels all waiting jobs. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     *
     * @param options `type`: cancels only the jobs of this type, or all if it is undefined; `reason`: becomes the `cause` of the error;
     *   `dead`: deletes dead letters, too (a queue in memory has none)
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `options` is not an object, has an unknown name, or has a type while the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    clear (options?: { type?: unknown, reason?: unknown, dead?: boolean | undefined }): number

    /**
     * Starts no more jobs of a type until `resumeType`. Running jobs finish, and pushes are accepted. Has no effect on a closed queue.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     */
    pauseType (type: unknown): Queue<P, R>

    /** Starts jobs of a type again; none starts inside this call. Throws what `pauseType` throws. */
    resumeType (type: unknown): Queue<P, R>

    /**
     * Whether a type is paused by `pauseType`. False if types cannot be paused. O(1).
     *
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     */
    isTypePaused (type: unknown): boolean

    /**
     * Starts no job of a type for `ms`. A later call replaces the hold; 0 ends it. Other types go on.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
     */
    holdType (type: unknown, ms: number): Queue<P, R>

    /**
     * Starts no job for `ms`. A later call replaces the hold; 0 ends it.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
     */
    hold (ms: number): Queue<P, R>

    /**
     * Time in ms until rates and holds let a job start, of a type or of the whole queue; 0: now.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if a type is given and types cannot be held
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    heldMs (type?: unknown): number

    /**
     * Replaces the rates that are given; null removes one. Past starts still count in windows of the same `intervalMs`. Holds stay.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if a rate is invalid, or `rates` has an unknown name
     * @throws FAIRLANE_ERR_SCHEDULER if `ratePerType` is given and types cannot be held
     */
    setRates (rates: { rate?: Rates | null | undefined, ratePerType?: RatesPerType | null | undefined }): Queue<P, R>

    /**
     * Counts of jobs. O(1).
     *
     * @param type only the counts of this type, since it was last idle: types without jobs are forgotten
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    stats (): QueueStats
    stats (type: unknown): TypeStats

    /**
     * How many jobs there are now. With a type: its jobs, and its limits.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    counts (): Promise<QueueCounts>
    counts (type: unknown): Promise<TypeCounts>

    /**
     * Why the next job of a type does not start now. O(log types); O(slots) if all slots are taken; O(types) with `ahead`. The first call for a type
     * with delayed jobs is O(its delayed jobs).
     *
     * @param type omit it without a scheduler
     * @param options `ahead`: whether to count the other types that may be served before it; default: false
     * @throws FAIRLANE_ERR_ARGUMENT if the options are wrong, or a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is missing, null, a symbol, or an object without a `toString` of its own or its class
     */
    explain (type?: unknown, options?: { ahead?: boolean | undefined }): Explanation

    /**
     * The types that have jobs, those with the most first; none without a scheduler. O(types).
     *
     * @param options `limit`: how many at most; default: 200
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

    /** Resolves at once: in memory there is nothing to write or send. */
    flush (): Promise<void>
  }

  /** A runner fails with this when a service told it to come back later. The job's type is held for `retryAfterMs`, and the attempt does not count. */
  interface Throttled extends Error {
    readonly retryAfterMs: number
  }

  interface ThrottledConstructor {
    readonly prototype: Throttled
    /** @param retryAfterMs 0 or more; values below 1 count as 1 @throws FAIRLANE_ERR_ARGUMENT */
    new (retryAfterMs: number, options?: { cause?: unknown }): Throttled
    /**
     * Takes the time from a Retry-After header: seconds, also with a fraction, or a date, by the clock of the process. 1 s if there is no header, its
     * time has passed, or it cannot be read; the last case warns once.
     */
    after (header: string | null | undefined, options?: { cause?: unknown }): Throttled
  }

  /** A runner fails with this to have its job tried again after `delayMs`. The attempt does not count, and other jobs of the type go on. */
  interface Postponed extends Error {
    readonly delayMs: number
  }

  interface PostponedConstructor {
    readonly prototype: Postponed
    /** @throws FAIRLANE_ERR_ARGUMENT if the delay is not between 0 and 2^31 */
    new (delayMs: number, options?: { cause?: unknown }): Postponed
  }

  interface BackoffOptions {
    /** The time after the first failed attempt. @default 1000 */
    firstMs?: number | undefined
    /** The factor by which the time grows with each further attempt, 1 or above. @default 2 */
    factor?: number | undefined
    /** The longest time. @default 60000 */
    mostMs?: number | undefined
    /** The largest fraction of the time that is randomly subtracted, from 0 to 1. @default 0.5 */
    jitter?: number | undefined
  }

  interface BatchesOptions<P = any> {
    /** Maximum number of jobs in a batch: a positive integer, or Infinity. */
    maxSize: number
    /**
     * How long a batch waits for more jobs before it enters the queue, in ms. A full batch waits no longer.
     *
     * @default 0
     */
    delayMs?: number | undefined
    /** Returns the key of a job. Only jobs with the same key are batched together. A finite number is converted to a string. Default: none. */
    key?: ((payload: P) => string | number) | undefined
  }

  /** Gathers jobs of the same type into batches. Each batch is one job of a queue. */
  interface Batches<P = any, R = any> {
    /**
     * Adds a job to the waiting batch of its type, or begins a new one. O(1).
     *
     * @returns a promise of the job's own result. It rejects with the Error in the job's place, with the error of the batch, or with FAIRLANE_ERR_RUNNER
     *   if the runner did not return an array with a result for each job
     * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED, and what `key` throws
     */
    add (payload: P, options?: { type?: unknown }): Promise<R>
  }

  /** Options of a queue whose runner may settle its jobs either way. */
  type EitherOptions = QueueOptions & { settleBy?: 'either' | undefined }

  /** Options of a queue whose runner settles its jobs by its return value. */
  type PromiseOptions = QueueOptions & { settleBy: 'promise' }

  // A runner that returns a promise is inferred as a whole (`F`): so `done` and `context` may stand without annotations.

  interface CallQueue {
    /** A queue without a runner, for `run` and `acquire`. */
    (runner: null, options?: QueueOptions | number | string): Queue<never, never>
    <P, R>(runner: PromiseRunner<P, R>, options: PromiseOptions): Queue<P, Awaited<R>>
    <F extends AsyncRunner>(
      runner: F, options?: EitherOptions | number | string
    ): Queue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>
    <P, R>(runner: AsyncRunner<P, R>, options?: EitherOptions | number | string): Queue<P, R>
    <P, R>(runner: Runner<P, R>, options?: QueueOptions | number | string): Queue<P, R>
  }

  interface NewQueue {
    readonly prototype: Queue
    new (runner: null, options?: QueueOptions | number | string): Queue<never, never>
    new <P, R>(runner: PromiseRunner<P, R>, options: PromiseOptions): Queue<P, Awaited<R>>
    new <F extends AsyncRunner>(
      runner: F, options?: EitherOptions | number | string
    ): Queue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>
    new <P, R>(runner: AsyncRunner<P, R>, options?: EitherOptions | number | string): Queue<P, R>
    new <P, R>(runner: Runner<P, R>, options?: QueueOptions | number | string): Queue<P, R>
  }

  /** The class of all queues. It must be called with `new`. */
  interface QueueConstructor extends NewQueue {}

  /**
   * Makes a queue, with or without `new`.
   *
   * @throws FAIRLANE_ERR_RUNNER if the runner is neither a function nor null
   * @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value
   * @throws FAIRLANE_ERR_SCHEDULER if the scheduler is neither a known name nor a complete object
   * @throws FAIRLANE_ERR_CONCURRENCY if the concurrency is not a positive integer, a string of one, or Infinity
   */
  interface Fairlane extends CallQueue, NewQueue {
    readonly Queue: QueueConstructor
    readonly FairlaneError: FairlaneErrorConstructor
    readonly Throttled: ThrottledConstructor
    readonly Postponed: PostponedConstructor

    /**
     * Makes a function for `backoffMs`. It never returns less than the error's `retryAfterMs`.
     *
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    backoff (options?: BackoffOptions): (attempt: number, error?: any) => number

    /**
     * Batches jobs for a queue whose runner takes an array of payloads and returns an array of results, or Errors, in the same order.
     *
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    batches<P = any, R = any> (queue: Queue<P[], Array<R | Error>> | Queue<P[], R[]>, options: BatchesOptions<P>): Batches<P, R>
  }
}

export = fairlane
