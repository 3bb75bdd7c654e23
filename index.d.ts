/// <reference lib="esnext.disposable" />

// Written by hand. `P` is the payload of a job, `R` its result.
// test/types checks this file; test/errors holds the codes equal to lib/errors.js and docs/api.md.

import type { EventEmitter } from 'eventemitter3'
import type { FairOptions } from './schedulers/fair'
import type { CappedOptions } from './schedulers/capped'
import type { EqualOptions } from './schedulers/equal'

declare const fairlane: fairlane.Fairlane

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
    | 'FAIRLANE_ERR_IO'
    | 'FAIRLANE_ERR_TOO_LARGE'

  /** Codes of warnings, which arrive on `process.on('warning')`. */
  type WarningCode =
    | 'FAIRLANE_WARN_SETTLED_TWICE'
    | 'FAIRLANE_WARN_STALLED'
    | 'FAIRLANE_WARN_VALUE_IGNORED'

  /** An error that the queue made while it ran. Wrong use throws a `TypeError` or a `RangeError` with a `code` instead. */
  interface FairlaneError extends Error {
    readonly code: ErrorCode
    /** The reason given to `clear`, that of a signal, the falsy value which a runner threw, or the error of the file system. */
    cause?: unknown
    /**
     * Of FAIRLANE_ERR_QUEUE_FULL and FAIRLANE_ERR_TYPE_FULL only, as the next three, of which a `PersistentQueue` knows `waiting` and
     * `limit`: the type of the job.
     */
    type?: string | undefined
    /** How many jobs waited, in all or of the type; where a queue on disk refuses by its capacity, how many jobs, or bytes, there were. */
    waiting?: number
    /** How many may. */
    limit?: number
    /** In about so many ms there will be room, by the recent rate of completions. */
    retryAfterMs?: number
    /** Of FAIRLANE_ERR_CORRUPT only, as the next: the path of the damaged file. */
    file?: string
    /** Where in it the damage begins, in bytes. */
    offset?: number
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
   * Settles the job. A truthy `error` makes it failed, else it is done. Only the first call counts.
   * It may be called at once or later.
   */
  type Done<R = any> = (error?: any, result?: R) => void

  /** What a runner can know about its job. Frozen; shared by the jobs of a queue or type unless they have extras. */
  interface JobContext {
    /** The tenant. Undefined on a queue without scheduler. */
    readonly type: string | undefined
    /** Aborts when the job is settled while it runs. Made when it is first read. */
    readonly signal: AbortSignal
    /** 1 for the first run of a job. */
    readonly attempt: number
  }

  /**
   * Runs one job. It settles the job by `done`, by a synchronous throw, or by returning a promise or thenable: the first of
   * these wins. What else it returns means nothing.
   */
  type Runner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => unknown

  /** A runner that returns a promise, from which the type of the results is known. */
  type AsyncRunner<P = any, R = any> = (payload: P, done: Done<R>, context: JobContext) => PromiseLike<R>

  /** A runner for `settleBy: 'promise'`: it gets no `done`, and a plain return value is the result. */
  type PromiseRunner<P = any, R = any> = (payload: P, done: undefined, context: JobContext) => R | PromiseLike<R>

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
     * `'promise'`: the runner gets no `done`, and what it returns settles the job.
     *
     * @default 'either'
     */
    settleBy?: SettleBy | undefined

    /**
     * Chooses the type whose job starts next: by name, or an object of either protocol.
     *
     * @default null
     */
    scheduler?: SchedulerName | LaneScheduler | WindowScheduler | null | undefined

    /** The scheduler's own options; it checks them. Not changed, not kept. */
    schedulerOptions?: FairOptions | CappedOptions | EqualOptions | Readonly<Record<string, any>> | undefined

    /**
     * How many types get a lane of their own; later ones share some. Those that `typeCaps`, `weights` or
     * `maxWaitingPerType` name always get one. Only with a lane scheduler.
     *
     * @default Infinity
     */
    maxTypes?: number | undefined

    /**
     * How many jobs may wait beyond those that fill free slots; with a scheduler also a dynamic threshold for each type.
     *
     * @default Infinity
     */
    maxWaiting?: number | undefined

    /**
     * How many jobs of a type may wait: for each, or by type. Only with a scheduler.
     *
     * @default Infinity
     */
    maxWaitingPerType?: number | Readonly<Record<string, number>> | ReadonlyMap<string, number> | undefined

    /**
     * A job that has waited longer is cancelled.
     *
     * @default Infinity
     */
    maxWaitMs?: number | undefined

    /**
     * A job that has run longer fails.
     *
     * @default Infinity
     */
    timeoutMs?: number | undefined

    /**
     * Whether a runner whose job has timed out keeps its slot until it ends.
     *
     * @default 'hold'
     */
    onTimeout?: 'hold' | 'release' | undefined

    /** Closes the queue at once when it aborts, as `close({ drain: false })`. */
    signal?: AbortSignal | undefined

    /**
     * Whether runner and callback run in the AsyncLocalStorage context of the push.
     *
     * @default false
     */
    keepContext?: boolean | undefined

    /** Where time comes from. Default: the system's. */
    clock?: Clock | undefined
  }

  /** Schedulers that queues know by name. */
  type SchedulerName = 'fair' | 'capped' | 'equal'

  /** Time in ms; one injected clock serves all. */
  interface Clock {
    now (): number
    setTimeout (fn: (...args: any[]) => void, ms?: number, ...args: any[]): any
    clearTimeout (timer: any): void
  }

  /** What a lane scheduler sees of a type. Only `state` is its own. */
  interface Lane<S = any> {
    /** The type; of a shared lane a name that is made up. */
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

  /** Chooses a lane; for schedulers whose cost must not grow with the backlog. Throwing costs it a warning, no job. */
  interface LaneScheduler {
    /** A job was queued, in a lane that is not paused. */
    queued (lane: Lane): void
    /** The lane whose oldest job is to start, or undefined: none may start now. */
    next (now: number): Lane | undefined
    started (lane: Lane, now: number): void
    ended (lane: Lane, startedAt: number, now: number): void
    configure? (options?: any): unknown
    /** A waiting job was cancelled, in a lane that is not paused. Called once for each, after all have been taken out. */
    removed? (lane: Lane): void
    /** Its waiting jobs count nowhere until `resumed`. Without both, types can not be paused. */
    paused? (lane: Lane): void
    resumed? (lane: Lane): void
    /** Whether the lane, idle and empty, may be forgotten now. Without it: yes. */
    forget? (lane: Lane): boolean
    /** Whether the type must have a lane of its own, whatever `maxTypes` says. Without it: no. */
    isNamed? (type: string): boolean
    /** Whether `now` and `startedAt` are times; else they are 0, and no clock is read. */
    readonly needsClock?: boolean
    /** Whether it is no mistake that no job runs while jobs wait; else the queue warns once. */
    readonly mayStall?: boolean
  }

  /** The types of the waiting jobs in arrival order. */
  interface WaitingTypes {
    peek (): string | undefined
    /** Undefined for a job already taken out. */
    peekAt (index: number): string | undefined
    /** Of the whole window, jobs already taken out included. */
    size (): number
  }

  /** Chooses a job by its place among the waiting ones: quickq's protocol. Throwing costs it a warning, no job. */
  interface WindowScheduler {
    waiting (type: string): void
    start (type: string): void
    done (type: string): void
    /** The index of the job to start, or a negative number: none may start now. */
    select (types: WaitingTypes): number
    configure? (options?: any): unknown
    /** A waiting job was cancelled. */
    removed? (type: string): void
    readonly mayStall?: boolean
  }

  /** A job that has not started. */
  interface WaitingJob<P = any> {
    /** The tenant. Undefined on a queue without scheduler. */
    readonly type: string | undefined
    readonly payload: P
  }

  interface AddOptions {
    /** With a scheduler it is needed; without one it is ignored. */
    type?: unknown
    /** @default false */
    unshift?: boolean | undefined
    /** Cancels the job, waiting or running. */
    signal?: AbortSignal | undefined
    /** Instead of the queue's. */
    timeoutMs?: number | undefined
    /** Instead of the queue's. */
    maxWaitMs?: number | undefined
  }

  /** Values, or promises of them. */
  type MapSource<P> = Iterable<P | PromiseLike<P>> | AsyncIterable<P>

  interface MapOptions {
    /** Of all the jobs. With a scheduler it is needed. */
    type?: unknown
    /** Whether results come in the order of the source; else as jobs end. @default true */
    ordered?: boolean | undefined
    /** How many values are taken ahead. Default: 2 × concurrency. */
    maxPending?: number | undefined
    /** Whether failures are given as results. @default false */
    settled?: boolean | undefined
  }

  interface CloseOptions {
    /** Whether accepted jobs may finish. @default true */
    drain?: boolean | undefined
    /** With `drain`, after so many ms the rest is cancelled; default: never. Without, how long to wait for runners; default: one turn. */
    timeoutMs?: number | undefined
  }

  /** Counts since the queue was made, but for `waiting`, `running`, `overrun` and `types`, which are of now. */
  interface QueueStats {
    /** Jobs taken in: `waiting + running + done + failed + cancelled`, less the settled jobs that still hold a slot. */
    accepted: number
    waiting: number
    running: number
    done: number
    failed: number
    /** Jobs ended by `remove`, `clear`, `close`, a signal or `maxWaitMs`. */
    cancelled: number
    /** Jobs refused: by a limit, by a closed queue, or because their signal had aborted already. */
    rejected: number
    /** Second settlements of a job, which were ignored. */
    misuse: number
    /** Runners that still run although their slot was given away. */
    overrun: number
    /** Types with a job waiting or running. */
    types: number
  }

  interface QueueEvents {
    /** The queue has emptied: nothing waits, nothing runs. Comes after the `drain` function. */
    drain: () => void
    /** Jobs begin to be refused. */
    saturated: () => void
    /** All jobs are accepted again. */
    unsaturated: () => void
    /** A job has failed that was started while somebody listened. Comes after its callback. */
    jobfailed: (error: any, job: { type: string | undefined, payload: any }) => void
    /** The queue has closed; so many runners had not ended. */
    close: (abandonedCount: number) => void
  }

  /** Runs jobs in arrival order, at most `concurrency` of them at once. Each settles exactly once. */
  interface Queue<P = any, R = any> extends EventEmitter<QueueEvents> {
    /** Jobs that have not ended: waiting and running. O(1). */
    readonly length: number
    /** Jobs that hold a slot. O(1). */
    readonly running: number
    /** Jobs that have not started. O(1). */
    readonly waiting: number
    /** True from `pause()`, or from setting `concurrency` to 0 or below, until `resume()` or a positive `concurrency`. */
    readonly paused: boolean
    /** True from the first `close()` on, or the abort of the queue's `signal`. */
    readonly closed: boolean
    /** The object that was given, or that was made for a name; null without a scheduler. */
    readonly scheduler: LaneScheduler | WindowScheduler | null

    /**
     * Slots; -1 while paused. Setting it takes effect at once, up or down; 0 or below pauses. Running jobs finish.
     *
     * @throws FAIRLANE_ERR_CONCURRENCY if it is no integer, no string of one and not Infinity
     */
    get concurrency (): number
    set concurrency (value: number | string)

    /**
     * Called without arguments each time the queue empties, before the `drain` event. Null if there is none.
     *
     * @throws FAIRLANE_ERR_CALLBACK on setting, if it is neither a function nor null nor undefined
     */
    get drain (): (() => void) | null
    set drain (value: (() => void) | null | undefined)

    /**
     * Queues a job at the end. O(1). The job never starts inside this call.
     *
     * @param payload any value, `undefined` too; it reaches the runner unchanged
     * @param callback gets the outcome, never inside this call
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     * @throws FAIRLANE_ERR_TYPE_REQUIRED if the queue has a scheduler
     */
    push (payload: P, callback?: Callback<R>): Queue<P, R>

    /** As `push`, but at the head: the job is the next to start, before those which were unshifted earlier. */
    unshift (payload: P, callback?: Callback<R>): Queue<P, R>

    /**
     * As `push`, for the tenant `type`, which is converted to a string. A queue without scheduler does not look at it.
     *
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     */
    pushType (type: unknown, payload: P, callback?: Callback<R>): Queue<P, R>

    /** As `pushType`, but at the head. */
    unshiftType (type: unknown, payload: P, callback?: Callback<R>): Queue<P, R>

    /**
     * Queues a job. O(1); the promise rejects with what it fails, is cancelled or is refused with.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if an option is unknown or has a wrong value
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     * @throws FAIRLANE_ERR_TYPE_REQUIRED if there is no type and the queue has a scheduler
     */
    add (payload: P, options?: AddOptions): Promise<R>

    /**
     * Runs a job for each value of a source; takes values as results are asked for. Throws as `add`.
     * A break or the first failure aborts what it has queued.
     */
    map (source: MapSource<P>, options: MapOptions & { settled: true }): AsyncGenerator<PromiseSettledResult<R>, void, void>
    map (source: MapSource<P>, options?: MapOptions & { settled?: false }): AsyncGenerator<R, void, void>
    map (source: MapSource<P>, options: MapOptions): AsyncGenerator<R | PromiseSettledResult<R>, void, void>

    /**
     * Resolves when a push (of that type) would be accepted, at once if so; rejects with FAIRLANE_ERR_CLOSED when the queue
     * closes. A level, not a reservation.
     *
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     */
    ready (type?: unknown): Promise<void>

    /**
     * Refuses new jobs, lifts pauses, and resolves when the accepted ones have ended or were given up, with the number of
     * runners that had not ended. By default it waits for them however long they take. A later call can only make it end sooner.
     *
     * @throws FAIRLANE_ERR_ARGUMENT if an option is unknown or has a wrong value
     */
    close (options?: CloseOptions): Promise<number>

    /** As `close()`. */
    [Symbol.asyncDispose] (): Promise<void>

    /** Starts no more jobs: sets `concurrency` to -1. Running jobs finish. No effect once closed. */
    pause (): Queue<P, R>

    /**
     * Starts jobs again; none starts inside this call.
     *
     * @param concurrency default: the last positive one, or 10 if there never was any
     * @throws FAIRLANE_ERR_CONCURRENCY if it is given and is no positive integer, no string of one and not Infinity
     */
    resume (concurrency?: number | string): Queue<P, R>

    /**
     * Waits until all jobs accepted before the call have settled. Later jobs, unshifted ones too, are not waited for.
     *
     * @param callback called without arguments, never inside this call
     * @throws FAIRLANE_ERR_CALLBACK if the callback is neither a function nor undefined
     */
    fflush (callback: () => void): Queue<P, R>
    /** As `fflush(callback)`, with a promise, which never rejects. */
    fflush (callback?: undefined): Promise<void>

    /** Resolves when nothing waits and nothing runs; at once if that is so. Never rejects. */
    onIdle (): Promise<void>

    /**
     * The jobs waiting at the time of the call, in arrival order. O(waiting), with lanes × log types.
     *
     * @param type only those of one type
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     */
    jobs (type?: unknown): IterableIterator<WaitingJob<P>>

    /**
     * Cancels the waiting jobs for which `test` returns a truthy value. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     * If `test` throws, nothing is removed and the exception passes to the caller.
     *
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `test` is no function
     */
    remove (test: (job: WaitingJob<P>) => unknown): number

    /**
     * Cancels all waiting jobs. O(waiting).
     * Their callbacks are called before it returns, with a `FairlaneError` of code `FAIRLANE_ERR_CLEARED`.
     *
     * @param options `type`: only jobs of that type, if it is undefined all; `reason`: becomes the `cause` of that error
     * @returns how many were cancelled
     * @throws FAIRLANE_ERR_ARGUMENT if `options` is no object, has another name in it, or a type without a scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     */
    clear (options?: { type?: unknown, reason?: unknown }): number

    /**
     * Starts no more jobs of a type until `resumeType`. Running ones finish, pushes are accepted. No effect once closed.
     *
     * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     */
    pauseType (type: unknown): Queue<P, R>

    /** Starts jobs of a type again; none starts inside this call. Throws as `pauseType`. */
    resumeType (type: unknown): Queue<P, R>

    /**
     * Counts of jobs. O(1).
     *
     * @param type only those of one type, since it last was idle: types without jobs are forgotten
     * @throws FAIRLANE_ERR_ARGUMENT if a type is given and the queue has no scheduler
     * @throws FAIRLANE_ERR_TYPE if the type is a symbol or has no text of its own, as plain objects and functions have none
     */
    stats (type?: unknown): QueueStats
  }

  /** The options of a queue whose runner may settle its jobs in either way. */
  type EitherOptions = QueueOptions & { settleBy?: 'either' | undefined }

  /** The options of a queue whose runner settles its jobs by what it returns. */
  type PromiseOptions = QueueOptions & { settleBy: 'promise' }

  // A runner that returns a promise is inferred as a whole (`F`): so `done` and `context` may stand without annotations.

  interface CallQueue {
    <P, R>(runner: PromiseRunner<P, R>, options: PromiseOptions): Queue<P, Awaited<R>>
    <F extends AsyncRunner>(
      runner: F, options?: EitherOptions | number | string
    ): Queue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>
    <P, R>(runner: AsyncRunner<P, R>, options?: EitherOptions | number | string): Queue<P, R>
    <P, R>(runner: Runner<P, R>, options?: QueueOptions | number | string): Queue<P, R>
  }

  interface NewQueue {
    readonly prototype: Queue
    new <P, R>(runner: PromiseRunner<P, R>, options: PromiseOptions): Queue<P, Awaited<R>>
    new <F extends AsyncRunner>(
      runner: F, options?: EitherOptions | number | string
    ): Queue<Parameters<F> extends [] ? any : Parameters<F>[0], Awaited<ReturnType<F>>>
    new <P, R>(runner: AsyncRunner<P, R>, options?: EitherOptions | number | string): Queue<P, R>
    new <P, R>(runner: Runner<P, R>, options?: QueueOptions | number | string): Queue<P, R>
  }

  /** The class of all queues; it can be called with `new` only. */
  interface QueueConstructor extends NewQueue {}

  /**
   * Makes a queue, with or without `new`.
   *
   * @throws FAIRLANE_ERR_RUNNER if the runner is no function
   * @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value
   * @throws FAIRLANE_ERR_SCHEDULER if the scheduler is no known name and no complete object
   * @throws FAIRLANE_ERR_CONCURRENCY if the concurrency is no positive integer, no string of one and not Infinity
   */
  interface Fairlane extends CallQueue, NewQueue {
    readonly Queue: QueueConstructor
    readonly FairlaneError: FairlaneErrorConstructor
  }
}

export = fairlane
