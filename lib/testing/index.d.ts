// Written by hand.

import type { Clock, LaneScheduler, WindowScheduler } from '../../index'

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
