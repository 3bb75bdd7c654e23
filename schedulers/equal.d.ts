// Written by hand.

import type { Lane, LaneScheduler } from '../index'

export interface EqualOptions {
  /** How many slots there are. A queue sets it to its own concurrency. @default 10 */
  concurrency?: number | undefined
  /**
   * Shares relative to each other, finite and above 0; types that are not named have 1. An object or Map adds to those given before, null
   * removes them; a function is called when a type's first job comes.
   *
   * @default {}
   */
  weights?: Readonly<Record<string, number>> | ReadonlyMap<string, number> | ((type: string) => number) | null | undefined
  /** The share of all slots that one type may have. @default 1 */
  maxTypeShare?: number | undefined
  /** How many jobs of one type may run at once. @default Infinity */
  maxTypeCap?: number | undefined
  /** The same for single types. Adds to those given before; null removes them. @default {} */
  typeCaps?: Readonly<Record<string, number>> | ReadonlyMap<string, number> | null | undefined
}

/** Equal or weighted shares of slot time, whatever the backlogs: `scheduler: 'equal'`. Caps are hard. */
export declare class Equal implements LaneScheduler {
  /** @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value */
  constructor (options?: EqualOptions)
  /**
   * Changes the options that are given. O(waiting types); O(types at their caps) if only `concurrency` or `maxTypeShare` changes, and O(1)
   * if the share is the same number of slots then.
   *
   * @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options?: EqualOptions): this
  queued (lane: Lane): void
  next (now: number): Lane | undefined
  started (lane: Lane, now: number): void
  ended (lane: Lane, startedAt: number, now: number): void
  removed (lane: Lane): void
  paused (lane: Lane): void
  resumed (lane: Lane): void
  forget (lane: Lane): boolean
  isNamed (type: string): boolean
  /** How many jobs of a type may run at once; a fraction counts as the next whole number. */
  capOf (type: string): number
  /** As it was given, 1 by default. Calls the function that was given as `weights`. */
  weightOf (type: string): number
  readonly needsClock: boolean
  readonly mayStall: boolean
}
