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
    /** How many jobs waited, in all or of the type. Where the capacity of a queue on disk refuses, how many jobs, or bytes, there were. */
    waiting?: number
    /** How many may wait. */
    limit?: number
    /** The time in ms until there is likely to be room, by the recent rate of completions, and by chance up to a fifth more. */
    retryAfterMs?: number
    /** The path of the file: of one that is damaged, with FAIRLANE_ERR_CORRUPT, or of another version, with FAIRLANE_ERR_VERSION. */
    file?: string
    /** Where in the file the damage begins, in bytes, with FAIRLANE_ERR_CORRUPT. */
    offset?: number
    /** The process that has the queue open, by its number in its own container; of FAIRLANE_ERR_LOCKED, if it is known. */
    pid?: number
  }

  interface FairlaneErrorConstructor {
    readonly prototype: FairlaneError
    new (code: ErrorCode, message: string, options?: { cause?: unknown }): FairlaneError
  }

  /**
   * Called once, when the job has settled.
   *
   * @param error what the runner gave, or a `FairlaneError`; falsy if the job is done
   * @param result what the runner gave
   */
  type Callback<R = any> = (error: any, result?: R) => void

  /**
   * Settles the job. A truthy `error` means that it has failed, otherwise it is done. Only the first call counts.
   * It may be called at once or later.
   */
  type Done<R = any> = (error?: any, result?: R) => void

  /**
   * What a runner can know about its job. Frozen. Jobs of a queue or type share one, unless they have a signal or a `timeoutMs`, somebody listened
   * to `progress` when they started, or the queue counts costs.
   */
  interface JobContext {
    /** The id of the job, on disk and at a broker. Jobs in memory have none. */
    readonly id: number | string | undefined
    /** Whose job it is: a tenant, a user, an API key. Undefined on a queue without a scheduler. */
    readonly type: string | undefined
    /** Aborts when the job is settled while it runs. Made when it is first read. */
    readonly signal: AbortSignal
    /** 1 for the first run of a job. */
    readonly attempt: number
    /** Tells listeners of `progress` how far the job is. Does nothing once the attempt has ended, nor on a context that jobs share. */
    readonly progress: (value: any) => void
    /**
     * Says what the job has cost so far, in all, in the units of `cost`. What is more than it was charged is charged at once, and what is less is given
     * back. Does nothing once the attempt has ended, nor where the queue counts no costs.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if it is no safe integer from 0
     */
    readonly spent: (total: number) => void
    /** Of a job that a schedule has pushed, on disk or at a broker: the name of that, and the time for which it is, in ms since 1970. */
    readonly schedule: { readonly name: string, readonly time: number } | undefined
  }

  /**
   * Runs one job. It settles the job by `done`, by a synchronous throw, or by returning a promise or thenable: the first of
   * these wins. Any other return value is ignored.
   */
  type Runner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => unknown

  /** A runner that returns a promise, from which the type of the results is known. */
  type AsyncRunner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => PromiseLike<R>

  /** A runner for `settleBy: 'promise'`. It gets no `done`, so `context` is its second argument; a value that it returns is the result. */
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
     * `'either'`: the first of `done`, a throw and a returned thenable.
     * `'callback'`: what the runner returns is ignored.
     * `'promise'`: the runner is called with payload and context, and what it returns settles the job.
     *
     * @default 'either'
     */
    settleBy?: SettleBy | undefined

    /**
     * Chooses the type whose job starts next: the name of a scheduler, or an object of your own.
     *
     * @default null
     */
    scheduler?: SchedulerName | LaneScheduler | WindowScheduler | null | undefined

    /**
     * The options of the scheduler, which checks them. The object is neither kept nor changed. Options of an object of your own, if it has a method
     * `configure`, are written as `{ … } as object`: so a misspelt name is found where the scheduler is one of fairlane's.
     */
    schedulerOptions?: FairOptions | CappedOptions | EqualOptions | undefined

    /**
     * How many types get a lane of their own. Later ones share a few. Types that `typeCaps`, `weights` or
     * `maxWaitingPerType` name always get their own. Needs a lane scheduler.
     *
     * @default Infinity
     */
    maxTypes?: number | undefined

    /**
     * How many jobs may wait beyond those that fill free slots. With a scheduler each type may hold up to four times the free room.
     *
     * @default Infinity
     */
    maxWaiting?: number | undefined

    /**
     * How many jobs of a type may wait: one number for every type, or numbers by type. Needs a scheduler.
     *
     * @default Infinity
     */
    maxWaitingPerType?: number | Readonly<Record<string, number>> | ReadonlyMap<string, number> | undefined

    /**
     * A job that has waited longer is cancelled. In ms, above 0.
     *
     * @default Infinity
     */
    maxWaitMs?: number | undefined

    /**
     * A job that has run longer fails. In ms, above 0.
     *
     * @default Infinity
     */
    timeoutMs?: number | undefined

    /**
     * Whether a runner whose job has timed out keeps its slot until it really ends (`'hold'`).
     *
     * @default 'hold'
     */
    onTimeout?: 'hold' | 'release' | undefined

    /** Closes the queue at once when it aborts, like `close({ drain: false })`. */
    signal?: AbortSignal | undefined

    /**
     * In whose AsyncLocalStorage context runner and callback run: that in which the queue was made, that of the push, or whichever
     * one `done` was called in. Functions of `run` run in that of their caller. With `'none'` no context is ever entered, which saves 15 to 30 ns a job, and what one tenant's
     * job has left behind may reach the next one's.
     *
     * @default 'queue'
     */
    asyncContext?: 'queue' | 'push' | 'none' | undefined

    /** Where time comes from. Default: the clock of the system. */
    clock?: Clock | undefined

    /**
     * Maximum number of attempts. Infinity: no limit.
     *
     * @default 1
     */
    maxAttempts?: number | undefined

    /**
     * How long a job waits after an attempt that has failed, in ms: a time, or a function that is given the number of the attempt and its error.
     * If it gives Infinity, the job has failed. Default: 1 s, 2 s, 4 s, … up to 60 s.
     */
    backoffMs?: number | ((attempt: number, error: any) => number) | undefined

    /**
     * What a step of `priority` is worth, in ms: a job of priority p stands where it would had it been pushed p times as long earlier. Up to 2^31.
     * Needs a scheduler with lanes, or none. Default: jobs have no priorities.
     */
    priorityMs?: number | undefined

    /** How many jobs of the whole queue start in a stretch of time at most, attempts included. Default: no limit. */
    rate?: Rates | undefined

    /** As `rate`, of each type. Needs a scheduler with lanes. Default: no limits. */
    ratePerType?: RatesPerType | undefined

    /** Who is told what becomes of each job: one or several made by `fairlane/history`, `fairlane/metrics` and `fairlane/adaptive`, each for one queue. Default: nobody. */
    observers?: Observer | readonly Observer[] | undefined
  }

  /** At most `limit` jobs start in any stretch of `intervalMs`, or jobs that cost so many units. */
  interface Rate {
    /** A positive integer. */
    limit: number
    /** Above 0. */
    intervalMs: number
    /**
     * What is counted: starts, or the units that jobs cost. A queue counts costs from its first rate of them on.
     *
     * @default 'jobs'
     */
    of?: 'jobs' | 'cost' | undefined
  }

  /** One rate, or several, all of which hold. */
  type Rates = Rate | readonly Rate[]

  /** The same rates for each type, or rates by type, or a function that is asked when a type has nothing left to count. */
  type RatesPerType = Rates | ReadonlyMap<string, Rates> | ((type: string) => Rates | undefined)

  /** What `fairlane/history`, `fairlane/metrics` and `fairlane/adaptive` make, for the option `observers`. It cannot be made otherwise. */
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
    /** The type. The name of a shared lane is made up. */
    readonly type: string
    /** Whether types beyond `maxTypes` share it. */
    readonly isShared: boolean
    /** Waiting jobs. */
    readonly size: number
    /** Running jobs. */
    readonly running: number
    /** The arrival number of the oldest waiting job; unshifted jobs have numbers below all others. */
    readonly headSeq: number
    readonly isPaused: boolean
    state: S
  }

  /** Chooses a lane. For schedulers whose cost must not grow with the backlog. If it throws, that costs a warning but no job. */
  interface LaneScheduler {
    /** A job was queued, in a lane that is not paused. */
    queued (lane: Lane): void
    /** Returns the lane whose oldest job is to start, or undefined if none may start now. */
    next (now: number): Lane | undefined
    /** `cost`: what the job is charged; 1 without `needsCost`. */
    started (lane: Lane, now: number, cost: number): void
    /** `cost`: what the job was charged in the end. */
    ended (lane: Lane, startedAt: number, now: number, cost: number): void
    /** With `needsCost`: a job that runs is charged so many units more, or fewer, since its runner has called `spent`. */
    charged? (lane: Lane, difference: number, startedAt: number): void
    configure? (options?: any): unknown
    /** A waiting job was cancelled, in a lane that is not paused. Called once for each, after all have been taken out. */
    removed? (lane: Lane): void
    /** Until `resumed`, `next` must not return the lane. Without both methods, types cannot be paused. */
    paused? (lane: Lane): void
    resumed? (lane: Lane): void
    /** Whether the lane, which is idle and empty, may be forgotten now. Without this method: yes. */
    forget? (lane: Lane): boolean
    /** Whether the type must have a lane of its own, whatever `maxTypes` says. Without this method: no. */
    isNamed? (type: string): boolean
    /** How many jobs of a type may run at once. Asked by the page of `fairlane/board` only. */
    capOf? (type: string): number
    /** What share a type has, relative to others. Asked by the page of `fairlane/board` only. */
    weightOf? (type: string): number
    /** The group of a type, for `stats(type)`; `lane` is where the type is now, if it is anywhere. */
    groupOf? (type: string, lane?: Lane): string | undefined
    /** How many groups there are, for `stats()`. */
    readonly groupCount?: number
    /** What `explain` is told of the group of a type: how many jobs of it run, and may run. */
    groupStats? (type: string, lane?: Lane): { group: string | undefined, running: number, cap: number }
    /** Whether `now` and `startedAt` are times. Otherwise they are 0, and no clock is read. */
    readonly needsClock?: boolean
    /** Whether `cost` is what jobs cost. Then the queue counts that. */
    readonly needsCost?: boolean
    /** Whether it is intended that no job runs while jobs wait. Otherwise the queue warns once. */
    readonly mayStall?: boolean
  }

  /** The types of the waiting jobs in arrival order. */
  interface WaitingTypes {
    peek (): string | undefined
    /** Undefined for a job that has left already. */
    peekAt (index: number): string | undefined
    /** The length of the whole window, including jobs that have left already. */
    size (): number
  }

  /** Chooses a job by its place among the waiting ones: quickq's protocol. If it throws, that costs a warning but no job. */
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

  /** What can be said of a job, in memory and on disk. */
  interface PlanOptions {
    /**
     * The job is put into the queue after so many ms, at the end. `maxWaitMs` counts from there.
     *
     * @default 0
     */
    delayMs?: number | undefined
    /** How often the job is started, in the place of the queue's `maxAttempts`. */
    maxAttempts?: number | undefined
    /**
     * An integer from 0 to 15: among the jobs of its type, the job stands where it would had it been pushed so many times `priorityMs` earlier. Needs a
     * queue with `priorityMs`.
     *
     * @default 0
     */
    priority?: number | undefined
    /**
     * What the job costs, in units of your own, as tokens or rows: a safe integer from 0. Rates of cost count them, and a scheduler may share them. Give an
     * upper estimate, and have the runner say by `context.spent` what it was.
     *
     * @default 1
     */
    cost?: number | undefined
    /**
     * While it is taken within the type, a job that is queued with it is not taken in but shares the one that has taken it. A finite number is made
     * into a string.
     */
    key?: string | number | undefined
    /**
     * What comes of a job whose key is taken. 'replace': the one that has it, if it waits for its first start, gets the new payload. 'postpone': and its
     * delay begins again, if its time has not come. Needs a key.
     *
     * @default 'join'
     */
    onDuplicate?: 'join' | 'replace' | 'postpone' | undefined
    /**
     * How long the job keeps its key: until its first start, until it has settled, or for so many ms from when it was queued and until it has started.
     * A job that is cancelled before its start leaves its key free; one that is cancelled later does not shorten that time. Needs a key.
     *
     * @default 'started'
     */
    keyUntil?: 'started' | 'settled' | number | undefined
    /**
     * 'postpone' puts a job off until so many ms after it was queued at most. Needs a key.
     *
     * @default Infinity
     */
    maxDelayMs?: number | undefined
  }

  interface AddOptions extends PlanOptions {
    /** Required with a scheduler, ignored without one. */
    type?: unknown
    /** @default false */
    unshift?: boolean | undefined
    /** Cancels the job, waiting or running. */
    signal?: AbortSignal | undefined
    /** Replaces that of the queue for this job. In ms, above 0; Infinity: no limit. */
    timeoutMs?: number | undefined
    /** Replaces that of the queue for this job. In ms, above 0; Infinity: no limit. */
    maxWaitMs?: number | undefined
  }

  /** What may be said of a slot: it is given once, and to one caller. */
  type AcquireOptions = Omit<AddOptions, 'maxAttempts' | 'key' | 'onDuplicate' | 'keyUntil' | 'maxDelayMs'>

  /** A slot of `acquire`, which is held until it is released. */
  interface Slot {
    /** The type that it was acquired for. Undefined on a queue without a scheduler. */
    readonly type: string | undefined
    /** From the call of `acquire` until the slot was given. */
    readonly waitedMs: number
    /** Aborts when the job of the slot is settled while the slot is held. Made when it is first read. */
    readonly signal: AbortSignal
    /**
     * Gives the slot back. Only the first call counts. It may be taken off the slot.
     *
     * @param error truthy: the job has failed; of `Throttled`: its type is held, too
     */
    readonly release: (error?: unknown) => void
    /** As `spent` of the context of a job. It may be taken off the slot. */
    readonly spent: (total: number) => void
    /** Like `release()`. */
    [Symbol.dispose] (): void
  }

  /** Values, or promises of them. */
  type MapSource<P> = Iterable<P | PromiseLike<P>> | AsyncIterable<P>

  interface MapOptions {
    /** The type of all these jobs. Required with a scheduler. */
    type?: unknown
    /** What each of these jobs costs, or a function that is given its payload. @default 1 */
    cost?: number | ((payload: any) => number) | undefined
    /** Whether results come in the order of the source; otherwise they come as jobs end. @default true */
    ordered?: boolean | undefined
    /** How many values are taken ahead. Default: 2 × concurrency. */
    maxPending?: number | undefined
    /** Whether failures are results too, as with `Promise.allSettled`. @default false */
    settled?: boolean | undefined
  }

  interface CloseOptions {
    /** Whether accepted jobs may finish. @default true */
    drain?: boolean | undefined
    /**
     * With `drain`, after `timeoutMs` the remaining jobs are cancelled as with `drain: false`. Default: never.
     * With `drain: false`, how long to wait for the runners to end. Default: one turn of the event loop.
     */
    timeoutMs?: number | undefined
  }

  /** How many jobs there are now. */
  interface JobCounts {
    /** Delayed ones included. */
    waiting: number
    /** Jobs whose time has not come. */
    delayed: number
    running: number
    /** Dead letters; a queue in memory has none. */
    dead: number
  }

  interface QueueCounts extends JobCounts {
    /** Types that have any. */
    types: number
  }

  /** How many jobs of a type there are now, and what limits it. */
  interface TypeCounts extends JobCounts {
    /** So many run at once at most, where that is less than `concurrency`; else Infinity. */
    cap: number
    /** An array, if it has several; null: it has none. */
    rate: Rate | Rate[] | null
    paused: boolean
    /** In how many ms a job of it might start as far as rates and holds go; 0: now. */
    heldMs: number
  }

  /** Why a job does not start; docs/reference/observe.md says when each of them is. */
  type Reason = 'idle' | 'closed' | 'paused' | 'type-paused' | 'outage' | 'broker' | 'delayed' | 'backoff' | 'cap' | 'group-cap' | 'hold' | 'queue-hold' |
    'rate' | 'queue-rate' | 'slots' | 'scheduler' | 'starting'

  /** Why the next job of a type does not start now. */
  interface Explanation {
    /** undefined without a scheduler. */
    type: string | undefined
    /** As in `counts(type)`; at a broker undefined while it cannot be asked. */
    waiting: number | undefined
    delayed: number | undefined
    running: number | undefined
    because: Reason
    /** In how many ms it starts, if nothing else changes and a slot is free; undefined where no time is known. */
    untilMs: number | undefined
    /** Only with `'slots'`: the types that hold most, five at most. */
    holders: Array<{ type: string, running: number }> | undefined
    /** For how long the job has waited that is to start next, in ms; undefined if none waits, and unless metrics or a history observe the queue. */
    oldestWaitMs: number | undefined
    /** Only if it is asked for, and a job waits: how many other types may be served before it, at most. */
    ahead?: number | undefined
  }

  /** Counts of a type since it was last idle; `waiting`, `running`, `overdue`, `types` and `delayed` are current. */
  interface TypeStats {
    /** Jobs taken in: `waiting + running + done + failed + cancelled`, less the settled jobs whose runners still hold a slot. */
    accepted: number
    waiting: number
    /** Slots that are taken. */
    running: number
    /** Of these, the ones whose jobs have settled, by a timeout, a signal or `close`, and whose runners go on. */
    overdue: number
    done: number
    failed: number
    /** Jobs ended by `remove`, `clear`, `close`, a signal or `maxWaitMs`. */
    cancelled: number
    /** Jobs refused: by a limit, by a closed queue, or because their signal had aborted already. */
    rejected: number
    /** Types with a job waiting or running. */
    types: number
    /** Jobs whose time has not come. They are part of `waiting`. */
    delayed: number
    /** Attempts that have failed and were followed by another one, or will be. */
    retried: number
    /** Attempts that have failed with `Throttled`. */
    throttled: number
    /** Jobs that were not taken in but share another one by its key. */
    joined: number
    /** Units of cost that jobs were charged, as corrected by `spent`; 0 where none are counted. */
    spent: number
    /**
     * Its group, only with `groupOf`; undefined where that fails for the type, and for types that share a lane. Calls `groupOf` if the type has no
     * lane.
     */
    group?: string | undefined
  }

  /** Totals since the queue was created, except `waiting`, `running`, `overdue`, `overrun`, `types`, `delayed` and `heldTypes`, which are current. */
  interface QueueStats extends Omit<TypeStats, 'group'> {
    /** Groups of `groupOf` with a type that has jobs, is paused, or is not forgotten yet; 0 without. */
    groups: number
    /** Second settlements of a job, which were ignored. */
    misuse: number
    /** Runners that go on without a slot, which a timeout has released. */
    overrun: number
    /** Types with waiting jobs, none of which may start now: the type is held, or has used up its rate. */
    heldTypes: number
  }

  /** What is told of a job. */
  interface JobEvent<P = any> {
    /** Jobs in memory have none. */
    id: undefined
    type: string | undefined
    payload: P
    /** The number of the attempt, from 1. Of a job that is cancelled while it waits: how many attempts have ended. */
    attempt: number
  }

  /** A job is done. */
  interface JobDone<P = any, R = any> extends JobEvent<P> {
    result: R
  }

  /** A job has failed, and is not tried again. */
  interface JobFailed<P = any> extends JobEvent<P> {
    error: any
  }

  /** A job that has failed, and is to be tried again. */
  interface JobRetry<P = any> extends JobEvent<P> {
    error: any
    /** It waits so long. */
    delayMs: number
  }

  /** A job was cancelled. */
  interface JobCancelled<P = any> extends JobEvent<P> {
    error: FairlaneError
  }

  /** How far a job is. */
  interface JobProgress<P = any> extends JobEvent<P> {
    /** What the runner has said. */
    value: any
  }

  /** `done`, `failed` and `cancelled` of running jobs, and `progress` of plain ones, come of jobs that were started while somebody listened. */
  interface QueueEvents<P = any, R = any> {
    /** The queue has become empty: no job waits or runs. Comes after the `drain` function. */
    drain: () => void
    /** The queue begins to refuse jobs. */
    saturated: () => void
    /** All jobs are accepted again. */
    unsaturated: () => void
    /** A job is done. Comes after its callback. */
    done: (job: JobDone<P, R>) => void
    /** A job has failed, and is not tried again. Comes after its callback. */
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
    /** The number of jobs that have not started. To bound it, use `maxWaiting` rather than a test before each push. O(1). */
    readonly waiting: number
    /** True from `pause()`, or from setting `concurrency` to 0 or below, until `resume()` or a positive `concurrency`. */
    readonly paused: boolean
    /** True from the first `close()` on, or from the abort of the queue's `signal`. */
    readonly closed: boolean
    /** The scheduler object that was given, or that was made for a name; null without a scheduler. */
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
     * @param callback gets the outcome, never inside this call
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
     * Queues a job and returns a promise of its result. The promise rejects with the error that the job fails, is cancelled or is refused with. O(1).
     * With a key that is taken, the promise is that of the job which has taken it; those with a signal get one of their own.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if an option is unknown or has a wrong value
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     * @throws FAIRLANE_ERR_TYPE_REQUIRED if there is no type and the queue has a scheduler
     */
    add (payload: P, options?: AddOptions): Promise<R>

    /**
     * Runs a function as a job, which is its own payload. What it returns or throws settles the promise, whatever `settleBy` says. It is called again for
     * each attempt, in the AsyncLocalStorage context of the caller unless `asyncContext` is 'none'.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if `fn` is not a function, and what `add` throws
     */
    run<T> (fn: (context: JobContext) => T, options?: AddOptions): Promise<Awaited<T>>

    /**
     * Waits for a slot, which is held until its `release()`. The promise rejects with what is cancelled or refused while it waits. A slot that is collected as
     * garbage before is freed, with the warning FAIRLANE_WARN_SLOT_LOST.
     *
     * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED as `add`
     */
    acquire (options?: AcquireOptions): Promise<Slot>

    /**
     * Runs a job for each value of a source. Takes values only as results are asked for. Throws what `add` throws.
     * A break or the first failure aborts the jobs that it has queued.
     */
    map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
    map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
    map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>

    /**
     * Resolves when a push (of that type) would be accepted, at once if it would be now. Rejects with FAIRLANE_ERR_CLOSED when the queue
     * closes. It does not reserve a place: another push may take it.
     *
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    ready (type?: unknown): Promise<void>

    /**
     * Refuses new jobs, lifts pauses, and lets the accepted jobs finish. Resolves with the number of runners that had not ended.
     * Without `timeoutMs` it waits as long as the jobs take. A later call can only make it end sooner.
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
     * @param concurrency default: the last positive one, or 10 if there never was any
     * @throws FAIRLANE_ERR_CONCURRENCY if it is given and is not a positive integer, a string of one, or Infinity
     */
    resume (concurrency?: number | string): Queue<P, R>

    /**
     * Waits until all jobs that were accepted before the call have settled and were told so. It does not wait for later jobs, unshifted ones too.
     *
     * @param callback called without arguments, never inside this call
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     */
    fflush (callback: () => void): Queue<P, R>
    /** Like `fflush(callback)`, with a promise, which resolves when handlers of the promises of `add` were called, and never rejects. */
    fflush (callback?: undefined): Promise<void>

    /** Resolves when no job waits or runs, and handlers of the promises of `add` were called. Never rejects. */
    onIdle (): Promise<void>

    /**
     * The jobs that wait at the time of the call, in arrival order. O(waiting), with a scheduler O(waiting × log types).
     *
     * @param type only those of one type
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    jobs (type?: unknown): IterableIterator<WaitingJob<P>>

    /**
     * Cancels the waiting jobs for which `test` returns a truthy value. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     * If `test` throws, nothing is removed and `remove` throws the same.
     *
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `test` is not a function
     */
    remove (test: (job: WaitingJob<P>) => unknown): number

    /**
     * Cancels all waiting jobs. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     *
     * @param options `type`: cancels only the jobs of that type, or all if it is undefined; `reason`: becomes the `cause` of that error;
     *   `dead`: takes dead letters away, too, of which a queue in memory has none
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `options` is not an object, has another name in it, or has a type without a scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    clear (options?: { type?: unknown, reason?: unknown, dead?: boolean | undefined }): number

    /**
     * Starts no more jobs of a type until `resumeType`. Running ones finish, and pushes are accepted. Has no effect on a closed queue.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     */
    pauseType (type: unknown): Queue<P, R>

    /** Starts jobs of a type again; none starts inside this call. Throws what `pauseType` throws. */
    resumeType (type: unknown): Queue<P, R>

    /**
     * Whether no job of a type starts until `resumeType`. False where types cannot be paused. O(1).
     *
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     */
    isTypePaused (type: unknown): boolean

    /**
     * Starts no job of a type for so many ms. Another call replaces the time; 0 ends it. The other types go on.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
     * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
     * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
     */
    holdType (type: unknown, ms: number): Queue<P, R>

    /**
     * Starts no job for so many ms. Another call replaces the time; 0 ends it.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
     */
    hold (ms: number): Queue<P, R>

    /**
     * In how many ms a job might start as far as rates and holds go; 0 if one may start now. Of a type, or of the whole queue.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if a type is given and types cannot be held
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    heldMs (type?: unknown): number

    /**
     * Replaces the rates that are given; null: there is none from now on. What has started stays counted in windows of the same `intervalMs`. Holds stay.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if a rate is wrong, or `rates` has another name in it
     * @throws FAIRLANE_ERR_SCHEDULER if `ratePerType` is given and types cannot be held
     */
    setRates (rates: { rate?: Rates | null | undefined, ratePerType?: RatesPerType | null | undefined }): Queue<P, R>

    /**
     * Counts of jobs. O(1).
     *
     * @param type only the counts of one type, since it was last idle: types without jobs are forgotten
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    stats (): QueueStats
    stats (type: unknown): TypeStats

    /**
     * How many jobs there are now. With a type, those of it, and what limits it.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is null, a symbol, or an object without a `toString` of its own or its class
     */
    counts (): Promise<QueueCounts>
    counts (type: unknown): Promise<TypeCounts>

    /**
     * Why the next job of a type does not start now. O(log types), where all slots are taken O(slots), and with `ahead` O(types). The first time it is
     * asked of a type with delayed jobs, O(those).
     *
     * @param type to be left out without a scheduler
     * @param options ahead: whether to count the other types that may be served before it; default: false
     * @throws FAIRLANE_ERR_ARGUMENT if the options are wrong, or a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is missing, null, a symbol, or an object without a `toString` of its own or its class
     */
    explain (type?: unknown, options?: { ahead?: boolean | undefined }): Explanation

    /**
     * The types that have jobs, those with most of them first; none without a scheduler. O(types).
     *
     * @param options limit: how many at most; default: 200
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    types (options?: { limit?: number | undefined }): Promise<Array<JobCounts & { type: string }>>

    /** Resolves at once: in memory nothing is to be written or sent. */
    flush (): Promise<void>
  }

  /** What a runner fails with when it was told to come back later: the type of the job is held for so long, and the attempt does not count. */
  interface Throttled extends Error {
    readonly retryAfterMs: number
  }

  interface ThrottledConstructor {
    readonly prototype: Throttled
    /** @param retryAfterMs ms, from 0; less than 1 is 1 @throws FAIRLANE_ERR_ARGUMENT */
    new (retryAfterMs: number, options?: { cause?: unknown }): Throttled
    /**
     * For as long as a Retry-After header says: seconds, also with a fraction, or a date, by the clock of the process. 1 s if there is none, or
     * its time is over, or it cannot be read, which a warning says once.
     */
    after (header: string | null | undefined, options?: { cause?: unknown }): Throttled
  }

  /** What a runner fails with to have its job tried later, without counting the attempt, while others of its type go on. */
  interface Postponed extends Error {
    readonly delayMs: number
  }

  interface PostponedConstructor {
    readonly prototype: Postponed
    /** @throws FAIRLANE_ERR_ARGUMENT if the delay is not from 0 to 2^31 */
    new (delayMs: number, options?: { cause?: unknown }): Postponed
  }

  interface BackoffOptions {
    /** @default 1000 */
    firstMs?: number | undefined
    /** 1 or above. @default 2 */
    factor?: number | undefined
    /** @default 60000 */
    mostMs?: number | undefined
    /** Up to which part of the time is left out at random, from 0 to 1. @default 0.5 */
    jitter?: number | undefined
  }

  interface BatchesOptions<P = any> {
    /** How many jobs are in a batch at most: a positive integer, or Infinity. */
    maxSize: number
    /**
     * How long a batch waits for others before it is put into the queue, in ms. It waits no longer when it is full.
     *
     * @default 0
     */
    delayMs?: number | undefined
    /** Only jobs with the same key go together. A finite number is made into a string. Default: all of a type do. */
    key?: ((payload: P) => string | number) | undefined
  }

  /** Gathers jobs of one type into batches, each of which is one job of a queue. */
  interface Batches<P = any, R = any> {
    /**
     * Adds a job to the batch of its type that waits, or begins one. O(1).
     *
     * @returns a promise of its own result. It rejects with the Error in its place, with what the batch failed with, or with FAIRLANE_ERR_RUNNER if the
     *   runner did not give an array with a result for each job
     * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED, and what `key` throws
     */
    add (payload: P, options?: { type?: unknown }): Promise<R>
  }

  /** The options of a queue whose runner may settle its jobs either way. */
  type EitherOptions = QueueOptions & { settleBy?: 'either' | undefined }

  /** The options of a queue whose runner settles its jobs by what it returns. */
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
     * Makes a function for `backoffMs`. It never gives less than `retryAfterMs` of the error.
     *
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    backoff (options?: BackoffOptions): (attempt: number, error?: any) => number

    /**
     * For a queue whose runner takes an array of payloads, and gives an array of results, or Errors, in the same order.
     *
     * @throws FAIRLANE_ERR_ARGUMENT
     */
    batches<P = any, R = any> (queue: Queue<P[], Array<R | Error>> | Queue<P[], R[]>, options: BatchesOptions<P>): Batches<P, R>
  }
}

export = fairlane
