/// <reference lib="esnext.disposable" />

// Written by hand. What `fairlane/threads` exports.

import type { ResourceLimits, Transferable, WorkerOptions } from 'node:worker_threads'
import type { Done, JobContext } from '../../index'

export interface ThreadsOptions<P = any> {
  /**
   * How many threads. All are started at once, and kept. Default: `os.availableParallelism()`.
   */
  threads?: number | undefined

  /**
   * Which export of the module is called. `'default'` is `module.exports` if that is a function.
   *
   * @default 'default'
   */
  name?: string | undefined

  /**
   * How many jobs a thread is given at a time. For jobs of less than some 100 µs: those that are sent together end together.
   *
   * @default 1
   */
  perThread?: number | undefined

  /**
   * What of a payload is moved to the thread, not copied. Memory that was moved is gone here: a job in memory that is tried again fails with
   * FAIRLANE_ERR_OPTION.
   */
  transfer?: ((payload: P) => readonly Transferable[]) | undefined

  /**
   * For how long a thread may load the module, in ms; `Infinity` for no limit. It is ended then, and its job fails.
   *
   * @default 60000
   */
  loadTimeoutMs?: number | undefined

  /** Of each thread, as of `Worker`. A thread that runs out of memory ends, and its job fails. */
  resourceLimits?: ResourceLimits | undefined
  /** For the module, as of `Worker`. It is cloned once. */
  workerData?: unknown
  /** As of `Worker`. */
  env?: WorkerOptions['env'] | undefined
  /** As of `Worker`. */
  argv?: readonly any[] | undefined
  /** As of `Worker`. */
  execArgv?: readonly string[] | undefined
}

/** What the function of the module is told of its job. */
export interface ThreadContext {
  /** Whose job it is. Undefined on a queue without a scheduler. */
  readonly type: string | undefined
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** The function of the module. What it returns is cloned, unless it is from `move`. */
export type ThreadFunction<P = any, R = any> = (payload: P, context: ThreadContext) => R | PromiseLike<R>

/** Counts of jobs since the call of `threads`, except `running` and `threads`, which are current. */
export interface ThreadsStats {
  /** Jobs that were given to threads. */
  started: number
  /** Jobs that were ended by their time limit, their signal or the queue, and their threads with them. */
  stopped: number
  /** Jobs that have failed because their thread has ended. */
  crashed: number
  /** Jobs that have a thread, or wait for one to take the place of theirs. */
  running: number
  /** Threads, with those that are starting. */
  threads: number
}

/** A runner for `fairlane()` and `durable()`. */
export interface ThreadsRunner<P = any, R = any> {
  (payload: P, done: Done<R>, context?: JobContext): void
  /** Without `done`, with the context in its place, as under `settleBy: 'promise'`. */
  (payload: P, context?: JobContext | Done<R> | undefined, none?: JobContext): Promise<R>

  /** Threads × `perThread`: how many slots the queue should have. */
  readonly concurrency: number
  /** Resolves when all threads have loaded the module. Rejects with what that threw, or with FAIRLANE_ERR_CLOSED. */
  ready (): Promise<void>
  /** Ends the threads. Close the queue first: jobs that run fail with FAIRLANE_ERR_CRASHED, later ones with FAIRLANE_ERR_CLOSED. */
  close (): Promise<void>
  stats (): ThreadsStats
  /** As `close`. */
  [Symbol.asyncDispose] (): Promise<void>
}

/**
 * Makes a runner whose jobs are run in threads by a function that a module exports. Needs the package `piscina`.
 *
 * @param file the module: a path, or a `file:` URL. A relative path is one from the working directory.
 * @throws FAIRLANE_ERR_PEER if piscina is not installed
 * @throws FAIRLANE_ERR_RUNNER if `file` is no path and no `file:` URL
 * @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value
 */
export function threads<P = any, R = any> (file: string | URL, options?: ThreadsOptions<P>): ThreadsRunner<P, R>

/** In the function of the module: what it returns by `move(value)` is moved, not copied. `move` of piscina. */
export function move<T extends object> (value: T): T
