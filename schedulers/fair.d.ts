// Written by hand.

import type { Lane, LaneScheduler } from '../index'

export interface FairOptions {
  /** Number of slots. A queue sets it to its own concurrency. @default 10 */
  concurrency?: number | undefined
  /** The share of the slots at which a type must let others go first. @default 0.8 */
  maxTypeShare?: number | undefined
  /** How many types are examined per choice, at least one, starting with the type of the oldest job. @default 1000 */
  maxScanLength?: number | undefined
  /** Whether a type at its `maxTypeShare` waits even if no other type has jobs. @default false */
  hard?: boolean | undefined
}

/** Divides slots in proportion to the waiting jobs of each type, up to a share of all slots: `scheduler: 'fair'`. */
export declare class Fair implements LaneScheduler {
  /** @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value */
  constructor (options?: FairOptions)
  /** Changes the given options. @throws FAIRLANE_ERR_OPTION; then nothing has changed */
  configure (options?: FairOptions): this
  queued (lane: Lane): void
  next (): Lane | undefined
  started (lane: Lane): void
  ended (lane: Lane): void
  removed (lane: Lane): void
  paused (lane: Lane): void
  resumed (lane: Lane): void
  readonly mayStall: boolean
}
