// Written by hand. What `fairlane/adaptive` exports.

import type { Observer } from '../../index'
import { EventEmitter } from 'eventemitter3'

export interface AdaptiveOptions {
  /** Upper bound of the limit, from 1 to 2^30. Choose what the downstream service must never see, even while nothing seems slower. */
  most: number

  /**
   * Lower bound of the limit, from 1. The time that jobs take at this limit is assumed to be their time without overload, so keep it low.
   *
   * @default 1
   */
  least?: number | undefined

  /** The initial limit. Overrides the queue's `concurrency`. Default: 10, or the nearest of `least` and `most`. */
  first?: number | undefined

  /**
   * Returns the class of a type. Types whose jobs take about equally long belong in one class. Called in a microtask after the first job of a type
   * has started, and again after more than 10,000 types were asked for. If it throws or does not return a string, the type is a class of its own,
   * with a warning. Default: each type is a class.
   */
  classOf?: ((type: string) => string) | undefined

  /**
   * Whether an error means that the downstream service is overloaded. Called in a microtask after each failed attempt. If it throws, the error does not
   * count as overload, with a warning. Default: true if `status` or `statusCode` is 503.
   */
  isOverload?: ((err: any) => boolean) | undefined
}

/** Why a limit changed: jobs are not slower; jobs are slower; jobs were rejected; half the limit is tried; the limit from before that is restored. */
export type LimitCause = 'growth' | 'slowdown' | 'rejects' | 'probe' | 'restore'

export interface LimitChange {
  limit: number
  before: number
  because: LimitCause
}

export interface AdaptiveStats {
  limit: number
  /** The time jobs took in the last round, relative to their time without overload. */
  slowdown: number
  /** Failed attempts for which `isOverload` returned true. */
  rejects: number
  /** How many times the limit was reviewed. */
  rounds: number
  /** How many classes of jobs are distinguished. */
  classes: number
}

/** Sets the `concurrency` of the one queue that has it among its `observers`. */
export interface AdaptiveControl extends EventEmitter<{ limit: (change: LimitChange) => void }>, Observer {
  /** How many jobs may run at once: the `concurrency` of the queue, unless it is paused. */
  readonly limit: number
  /** O(1). */
  stats (): AdaptiveStats
  /** Stops for good. The `concurrency` stays as it is. */
  stop (): void
}

/**
 * Makes a control that finds the right `concurrency` of a queue in memory or on disk, from the run times of its jobs and from what the downstream
 * service rejects.
 *
 * @throws FAIRLANE_ERR_OPTION
 */
export function adaptive (options: AdaptiveOptions): AdaptiveControl
