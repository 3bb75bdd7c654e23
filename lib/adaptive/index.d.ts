// Written by hand. What `fairlane/adaptive` exports.

import type { Observer } from '../../index'
import { EventEmitter } from 'eventemitter3'

export interface AdaptiveOptions {
  /** The limit is never above it, whatever is measured: an integer from 1 to 2^30. */
  most: number

  /**
   * The limit is never below it. What jobs take with so many is taken for what they take while nothing is overloaded.
   *
   * @default 1
   */
  least?: number | undefined

  /** The limit to begin with, in the place of the queue's `concurrency`. Default: 10, or what of `least` and `most` is nearest to it. */
  first?: number | undefined

  /**
   * Which types have jobs that take about as long as each other: what is said of a type is the name of its class. Called in a microtask after the
   * first job of a type has started; again when more than 10,000 types have been asked for. If it throws or gives no string, the type is a class
   * of its own, with a warning. At most 1,000 classes are told apart; others share one. Default: each type is a class.
   */
  classOf?: ((type: string) => string) | undefined

  /**
   * Whether an error says that the other side has too much to do. Called in a microtask after a job has failed, for each attempt. If it throws, the
   * error says nothing of that, with a warning. Default: whether its `status` or `statusCode` is 503.
   */
  isOverload?: ((err: any) => boolean) | undefined
}

/** Why a limit has changed: nothing is slower; jobs are slower; jobs were rejected; jobs are tried with half of it; it is as it was before that. */
export type LimitCause = 'growth' | 'slowdown' | 'rejects' | 'probe' | 'restore'

export interface LimitChange {
  limit: number
  before: number
  because: LimitCause
}

export interface AdaptiveStats {
  limit: number
  /** How many times as long jobs took in the last round as while nothing is overloaded. */
  slowdown: number
  /** Attempts that `isOverload` was true of. */
  rejects: number
  /** How often it was looked whether the limit is right. */
  rounds: number
  /** How many classes of jobs are told apart. */
  classes: number
}

/** Sets the `concurrency` of one queue, in whose option `observers` it is. */
export interface AdaptiveControl extends EventEmitter<{ limit: (change: LimitChange) => void }>, Observer {
  /** How many jobs may run at once. While the queue is not paused that is its `concurrency`. */
  readonly limit: number
  /** O(1). */
  stats (): AdaptiveStats
  /** Leaves the `concurrency` as it is, for good. */
  stop (): void
}

/**
 * Makes what finds the right `concurrency` of a queue in memory or on disk, by how long its jobs take and what the other side rejects.
 *
 * @throws FAIRLANE_ERR_OPTION
 */
export function adaptive (options: AdaptiveOptions): AdaptiveControl
