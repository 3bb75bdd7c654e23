// Written by hand.

import type { Lane, LaneScheduler } from '../index'

export interface CappedOptions {
  /** Number of slots. A queue sets it to its own concurrency. @default 10 */
  concurrency?: number | undefined
  /** Maximum share of all slots for one type. @default 0.8 */
  maxTypeShare?: number | undefined
  /** How many jobs of one type may run at once. @default Infinity */
  maxTypeCap?: number | undefined
  /** The same, for individual types. Adds to earlier ones; null removes them all. @default {} */
  typeCaps?: Readonly<Record<string, number>> | ReadonlyMap<string, number> | null | undefined
  /** Whether slots stay free rather than exceed a cap. @default false */
  hard?: boolean | undefined
}

/** Starts the oldest job among the types below their caps: `scheduler: 'capped'`. */
export declare class Capped implements LaneScheduler {
  /** @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value */
  constructor (options?: CappedOptions)
  /**
   * Changes the given options. O(types at their caps); O(1) if only `concurrency` changes and the share remains the same number of
   * slots. @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options?: CappedOptions): this
  queued (lane: Lane): void
  next (): Lane | undefined
  started (lane: Lane): void
  ended (lane: Lane): void
  removed (lane: Lane): void
  paused (lane: Lane): void
  resumed (lane: Lane): void
  isNamed (type: string): boolean
  /** How many jobs of a type may run at once. A fraction is rounded up. */
  capOf (type: string): number
  readonly mayStall: boolean
}
