// Written by hand.

import type { Clock, Done, JobContext, LaneScheduler, Queue, WindowScheduler } from '../../index'

/** A timer of a `FakeClock`. */
export interface FakeTimer {
  readonly position: number
}

/** A clock for the option `clock` that a test moves. */
export interface FakeClock extends Clock {
  setTimeout (fn: (...args: any[]) => void, ms?: number, ...args: any[]): FakeTimer
  clearTimeout (timer: unknown): void
  /** Moves time on and calls the timers that fall due, in order. */
  advance (ms: number): void
  /** Moves time to the next timer and calls that one; false if there is none. */
  next (): boolean
  readonly timerCount: number
}

/** @param startMs what `now()` is at first; default 0 */
export declare function fakeClock (startMs?: number): FakeClock

/** A job that a `GateRunner` was called for. */
export interface GatedJob<P = any, R = any> {
  readonly payload: P
  readonly done: Done<R>
  readonly context: JobContext
}

/** A runner whose jobs end when the test says so. */
export interface GateRunner<P = any, R = any> {
  readonly runner: {
    (payload: P, done: Done<R>, context: JobContext): void
    /** Under `settleBy: 'promise'`. */
    (payload: P, context?: JobContext | Done<R> | undefined, none?: JobContext): Promise<R>
  }
  /** In the order in which they began. */
  readonly started: readonly GatedJob<P, R>[]
  /** Those that have not been ended. */
  readonly open: GatedJob<P, R>[]
  /** Resolves at the count-th start. */
  until (count: number): Promise<void>
  /** Ends the oldest open jobs, by default one, with their payloads as the results. */
  release (count?: number): void
  /** Fails the oldest open job. */
  fail (error: unknown): void
}

export declare function gateRunner<P = any, R = any> (): GateRunner<P, R>

/** Keeps account of what the jobs of a queue do, as the test tells it. Its methods throw when a job does what no job may. */
export declare class Model<J = any> {
  pushed (job: J): void
  refused (job: J): void
  started (job: J): void
  settled (job: J): void
  /** Throws if a job has not settled, or if the counts of the queue differ. */
  finish (queue: Queue<any, any>): void
}

/**
 * Throws if the inside of the queue contradicts itself. Call it anywhere. O(waiting + running).
 * @throws FAIRLANE_ERR_ARGUMENT for what is no queue in memory
 */
export declare function checkInvariants (queue: Queue<any, any>): void

export interface SchedulerChecksOptions {
  /** Whether no slot is ever free while an unpaused job waits. @default true */
  isWorkConserving?: boolean | undefined
  /** Of the first round; a failure names its own. @default 1 */
  seed?: number | undefined
  /** Rounds per check. @default 20 */
  rounds?: number | undefined
}

/** Something to run in a test; `run` throws if the scheduler fails. */
export interface Check {
  readonly title: string
  run (): void
}

/**
 * What every scheduler must pass, for any test framework: `for (const { title, run } of checks) it(title, run)`.
 *
 * @param makeScheduler makes a new one, for a queue of concurrency 10
 */
export declare function schedulerChecks (makeScheduler: () => LaneScheduler | WindowScheduler, options?: SchedulerChecksOptions): Check[]
