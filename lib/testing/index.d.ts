// Written by hand.

import type { Clock, Done, JobContext, LaneScheduler, Queue, WindowScheduler } from '../../index'

/** A timer of a `FakeClock`. */
export interface FakeTimer {
  readonly position: number
}

/** A clock for the option `clock` that a test advances. */
export interface FakeClock extends Clock {
  setTimeout (fn: (...args: any[]) => void, ms?: number, ...args: any[]): FakeTimer
  clearTimeout (timer: unknown): void
  /** Advances time and calls the timers that fall due, in order. */
  advance (ms: number): void
  /** Advances time to the next timer and calls it; false if there is none. */
  next (): boolean
  readonly timerCount: number
}

/** @param startMs what `now()` is at first; default 0 */
export declare function fakeClock (startMs?: number): FakeClock

/** A job that a `GateRunner` has started. */
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
  /** All jobs, in the order of their starts. */
  readonly started: readonly GatedJob<P, R>[]
  /** The jobs that have not ended. */
  readonly open: GatedJob<P, R>[]
  /** Resolves at the count-th start. */
  until (count: number): Promise<void>
  /** Ends the oldest open jobs, by default one, with their payloads as results. */
  release (count?: number): void
  /** Fails the oldest open job. */
  fail (error: unknown): void
}

export declare function gateRunner<P = any, R = any> (): GateRunner<P, R>

/** Tracks the jobs of a queue, as reported by the test. Its methods throw if a job does what no job may do. */
export declare class Model<J = any> {
  pushed (job: J): void
  refused (job: J): void
  started (job: J): void
  settled (job: J): void
  /** Throws if a job has not settled, or if the counts of the queue differ. */
  finish (queue: Queue<any, any>): void
}

/**
 * Throws if the internal state of the queue is inconsistent. May be called anywhere. O(waiting + running).
 * @throws FAIRLANE_ERR_ARGUMENT if `queue` is not a queue in memory
 */
export declare function checkInvariants (queue: Queue<any, any>): void

export interface SchedulerChecksOptions {
  /** Whether the scheduler must fill every free slot while an unpaused job waits. @default true */
  isWorkConserving?: boolean | undefined
  /** Seed of the first round. A failure reports the seed of its round. @default 1 */
  seed?: number | undefined
  /** Number of rounds of each check. @default 20 */
  rounds?: number | undefined
}

/** A check to run in a test. `run` throws if the scheduler fails it. */
export interface Check {
  readonly title: string
  run (): void
}

/**
 * The checks that every scheduler must pass, for any test framework: `for (const { title, run } of checks) it(title, run)`.
 *
 * @param makeScheduler makes a new scheduler, for a queue of concurrency 10
 */
export declare function schedulerChecks (makeScheduler: () => LaneScheduler | WindowScheduler, options?: SchedulerChecksOptions): Check[]
