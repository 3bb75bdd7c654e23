// Written by hand. What `fairlane/flow` exports.

import type { AddOptions, AsyncRunner, PromiseRunner, Queue, QueueEvents, QueueOptions, QueueStats, Runner } from '../../index'

/** At most `limit` jobs start in any stretch of `intervalMs`. */
export interface Rate {
  /** A positive integer. */
  limit: number
  /** Above 0. */
  intervalMs: number
}

/** One rate, or several, all of which hold. */
export type Rates = Rate | readonly Rate[]

/** The same rates for each type, or rates by type, or a function that is asked when a type has nothing left to count. */
export type RatesPerType = Rates | ReadonlyMap<string, Rates> | ((type: string) => Rates | undefined)

export interface FlowOptions extends QueueOptions {
  /**
   * How often a job is started until it is done. Infinity: without end.
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
   * What a step of `priority` is worth, in ms: a job of priority p stands where it would had it been pushed p times as long earlier. Up to 2^31. Needs a
   * scheduler with lanes, or none. Default: jobs have no priorities.
   */
  priorityMs?: number | undefined
  /** Of the whole queue. Default: none. */
  rate?: Rates | undefined
  /** Of each type. Needs a scheduler with lanes. Default: none. */
  ratePerType?: RatesPerType | undefined
}

export interface FlowAddOptions extends AddOptions {
  /**
   * The job is put into the queue after so many ms, at the end. `maxWaitMs` counts from there.
   *
   * @default 0
   */
  delayMs?: number | undefined
  /** Replaces that of the queue for this job. */
  maxAttempts?: number | undefined
  /**
   * An integer from 0 to 15: among the jobs of its type, the job stands where it would had it been pushed so many times `priorityMs` earlier. Needs a
   * queue with `priorityMs`.
   *
   * @default 0
   */
  priority?: number | undefined
  /**
   * While it is taken within the type, an add with it queues no job but shares the one that has taken it. A finite number is made into a string.
   */
  key?: string | number | undefined
  /**
   * What an add does that finds its key taken. 'replace': the job, if it waits for its first start, gets the new payload. 'postpone': and its delay
   * begins again, if its time has not come. Needs a key.
   *
   * @default 'join'
   */
  onDuplicate?: 'join' | 'replace' | 'postpone' | undefined
  /**
   * How long the job keeps its key: until its first start, until it has settled, or for so many ms from when it was added and until it has started.
   * A job that is cancelled before its start leaves its key free; one that is cancelled later does not shorten that time. Needs a key.
   *
   * @default 'started'
   */
  keyUntil?: 'started' | 'settled' | number | undefined
  /**
   * 'postpone' puts a job off until so many ms after it was added at most. Needs a key.
   *
   * @default Infinity
   */
  maxDelayMs?: number | undefined
}

/** A job that has failed, and is to be tried again. */
export interface FlowRetry {
  type: string | undefined
  payload: any
  /** The number of the attempt that has failed, from 1. */
  attempt: number
  error: any
  /** It waits so long. */
  delayMs: number
}

export interface BackoffOptions {
  /** @default 1000 */
  firstMs?: number | undefined
  /** 1 or above. @default 2 */
  factor?: number | undefined
  /** @default 60000 */
  mostMs?: number | undefined
  /** Up to which part of the time is left out at random, from 0 to 1. @default 0.5 */
  jitter?: number | undefined
}

/**
 * Makes a function for `backoffMs`. It never gives less than `retryAfterMs` of the error.
 *
 * @throws FAIRLANE_ERR_ARGUMENT
 */
export function backoff (options?: BackoffOptions): (attempt: number, error?: any) => number

/** What a runner fails with when it was told to come back later: the type of the job is held for so long, and the attempt does not count. */
export class Throttled extends Error {
  /** @param retryAfterMs ms, 1 or more; or the text of a Retry-After header: seconds, also with a fraction, or a date. What is neither, or over, is 1 s */
  constructor (retryAfterMs?: number | string | null, options?: { cause?: unknown })
  /** Of a date, the time until then by the clock of the machine, when this was made. The queue goes by its own clock if that tells ms since 1970. */
  readonly retryAfterMs: number
}

/** What a runner fails with to have its job tried later, without counting the attempt, while others of its type go on. */
export class Postponed extends Error {
  /** @throws FAIRLANE_ERR_ARGUMENT if the delay is not from 0 to 2^31 */
  constructor (delayMs: number, options?: { cause?: unknown })
  readonly delayMs: number
}

export interface FlowTypeStats extends QueueStats {
  /** Jobs whose time has not come. They are part of `waiting`. */
  delayed: number
}

export interface FlowStats extends FlowTypeStats {
  /** Types with waiting jobs, none of which may start now: the type is held, or out of rate. */
  heldTypes: number
  /** Attempts that have failed and were followed by another one, or will be. */
  retried: number
  /** Attempts that have failed with `Throttled`. */
  throttled: number
  /** Calls of `add` that have shared a job by its key. */
  joined: number
}

/** A queue in memory with limits of rate. */
export interface FlowQueue<P = any, R = any> extends Queue<P, R> {
  /**
   * Starts no job of a type for so many ms. Another call replaces the time; 0 ends it. The other types go on.
   *
   * @throws FAIRLANE_ERR_SCHEDULER if the queue has no lane scheduler with `paused` and `resumed`
   * @throws FAIRLANE_ERR_TYPE if the type is undefined, null, a symbol, or an object without a `toString` of its own or its class
   * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
   */
  holdType (type: unknown, ms: number): this

  /**
   * Starts no job for so many ms. Another call replaces the time; 0 ends it.
   *
   * @throws FAIRLANE_ERR_ARGUMENT if the time is not a finite number, 0 or above
   */
  hold (ms: number): this

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
  setRates (rates: { rate?: Rates | null | undefined, ratePerType?: RatesPerType | null | undefined }): this

  /**
   * As of a queue, with the options of `FlowAddOptions`. With a key that is taken, the promise is that of the job which has taken it; those with a
   * signal get one of their own.
   *
   * @throws as of a queue
   */
  add (payload: P, options?: FlowAddOptions): Promise<R>

  on (event: 'retry', listener: (retry: FlowRetry) => void, context?: any): this
  on<E extends keyof QueueEvents> (event: E, listener: QueueEvents[E], context?: any): this

  stats (): FlowStats
  stats (type: unknown): FlowTypeStats
}

export interface BatchesOptions<P = any> {
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
export interface Batches<P = any, R = any> {
  /**
   * Adds a job to the batch of its type that waits, or begins one. O(1).
   *
   * @returns a promise of its own result. It rejects with the Error in its place, with what the batch failed with, or with FAIRLANE_ERR_RUNNER if the
   *   runner did not give an array with a result for each job
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED, and what `key` throws
   */
  add (payload: P, options?: { type?: unknown }): Promise<R>
}

/**
 * For a queue whose runner takes an array of payloads, and gives an array of results, or Errors, in the same order.
 *
 * @throws FAIRLANE_ERR_ARGUMENT
 */
export function batches<P = any, R = any> (queue: FlowQueue<P[], Array<R | Error>> | FlowQueue<P[], R[]>, options: BatchesOptions<P>): Batches<P, R>

export interface FlowQueueConstructor {
  readonly prototype: FlowQueue
  new <P = any, R = any>(runner: PromiseRunner<P, R>, options: FlowOptions & { settleBy: 'promise' }): FlowQueue<P, R>
  new <P = any, R = any>(runner: AsyncRunner<P, R>, options?: FlowOptions | number | string): FlowQueue<P, R>
  new <P = any, R = any>(runner: Runner<P, R>, options?: FlowOptions | number | string): FlowQueue<P, R>
}

export const FlowQueue: FlowQueueConstructor

/**
 * A queue in memory with limits of rate. Without the options of its own it is as `fairlane(runner, options)`.
 *
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
export function flow<P = any, R = any> (runner: PromiseRunner<P, R>, options: FlowOptions & { settleBy: 'promise' }): FlowQueue<P, R>
export function flow<P = any, R = any> (runner: AsyncRunner<P, R>, options?: FlowOptions | number | string): FlowQueue<P, R>
export function flow<P = any, R = any> (runner: Runner<P, R>, options?: FlowOptions | number | string): FlowQueue<P, R>
