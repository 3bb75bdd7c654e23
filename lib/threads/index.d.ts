/// <reference lib="esnext.disposable" />

// Written by hand. What `fairlane/threads` exports.

import type { ResourceLimits, Transferable, WorkerOptions } from 'node:worker_threads'
import type { Done, JobContext } from '../../index'

export interface ThreadsOptions<P = any> {
  /**
   * Number of threads. All are started at once and kept. Default: `os.availableParallelism()`.
   */
  threads?: number | undefined

  /**
   * Name of the module's export that is called. `'default'` is `module.exports` if that is a function.
   *
   * @default 'default'
   */
  name?: string | undefined

  /**
   * How many jobs a thread gets at a time. For jobs shorter than about 100 µs: jobs that are sent together end together.
   *
   * @default 1
   */
  perThread?: number | undefined

  /**
   * Returns the parts of a payload that are transferred to the thread, not copied. Transferred memory is gone here: a job in memory that is retried
   * fails with FAIRLANE_ERR_OPTION.
   */
  transfer?: ((payload: P) => readonly Transferable[]) | undefined

  /**
   * How long a thread may take to load the module, in ms; `Infinity`: no limit. Then it is terminated, and its job fails.
   *
   * @default 60000
   */
  loadTimeoutMs?: number | undefined

  /** Limits of each thread, as for `Worker`. A thread that runs out of memory ends, and its job fails. Default: those of Node.js. */
  resourceLimits?: ResourceLimits | undefined
  /** Data for the module, as for `Worker`. It is cloned once. Default: none. */
  workerData?: unknown
  /** Environment variables, as for `Worker`. Copied at the call. Default: those of the process. */
  env?: WorkerOptions['env'] | undefined
  /** Arguments, as for `Worker`. Copied at the call. Default: none. */
  argv?: readonly any[] | undefined
  /** Options of Node.js, as for `Worker`. Copied at the call. Default: those of the process. */
  execArgv?: readonly string[] | undefined
}

/** What the module's function can know about its job. */
export interface ThreadContext {
  /** Whose job it is. Undefined on a queue without a scheduler. */
  readonly type: string | undefined
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /**
   * Reports what the job has cost so far, in all. Like `context.spent` of a job outside threads; it does nothing once the job has ended. May be
   * called without the context as `this`.
   *
   * @throws FAIRLANE_ERR_ARGUMENT if `total` is not a safe integer from 0
   */
  readonly spent: (total: number) => void
}

/** The module's function. Its return value is cloned, unless it comes from `move`. */
export type ThreadFunction<P = any, R = any> = (payload: P, context: ThreadContext) => R | PromiseLike<R>

/** Counts of jobs since the call of `threads`, except `running` and `threads`, which are current. */
export interface ThreadsStats {
  /** Jobs that were sent to threads. */
  started: number
  /** Jobs ended by their time limit, their signal or the queue, whose threads were terminated. */
  stopped: number
  /** Jobs that failed because their thread ended. */
  crashed: number
  /** Jobs that have a thread, or wait for a replacement of theirs. */
  running: number
  /** Threads, including those that are starting. */
  threads: number
}

/** A runner for `fairlane()` and `durable()`. */
export interface ThreadsRunner<P = any, R = any> {
  (payload: P, done: Done<R>, context?: JobContext): void
  /** Under `settleBy: 'promise'`: without `done`, with the context in its place. */
  (payload: P, context?: JobContext | Done<R> | undefined, none?: JobContext): Promise<R>

  /** Threads × `perThread`: how many slots the queue should have. */
  readonly concurrency: number
  /** Resolves when all threads have loaded the module. Rejects with the error of loading it, or with FAIRLANE_ERR_CLOSED. */
  ready (): Promise<void>
  /** Terminates the threads. Close the queue first: running jobs fail with FAIRLANE_ERR_CRASHED, later ones with FAIRLANE_ERR_CLOSED. */
  close (): Promise<void>
  stats (): ThreadsStats
  /** Like `close`. */
  [Symbol.asyncDispose] (): Promise<void>
}

/**
 * Makes a runner that runs jobs in threads, by a function that a module exports. Needs the package `piscina`.
 *
 * @param file the module: a path, or a `file:` URL. A relative path is resolved from the working directory.
 * @throws FAIRLANE_ERR_PEER if piscina is not installed
 * @throws FAIRLANE_ERR_RUNNER if `file` is neither a path nor a `file:` URL
 * @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value
 */
export function threads<P = any, R = any> (file: string | URL, options?: ThreadsOptions<P>): ThreadsRunner<P, R>

/** For the module's function: a value returned as `move(value)` is transferred, not copied. It is `move` of piscina. */
export function move<T extends object> (value: T): T
