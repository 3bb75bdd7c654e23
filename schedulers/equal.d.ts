// Written by hand.

import type { Lane, LaneScheduler } from '../index'

type Numbers = Readonly<Record<string, number>> | ReadonlyMap<string, number>

/** Options of the class `Equal`. */
export interface EqualTypeOptions {
  /** Number of slots. A queue sets it to its own concurrency. @default 10 */
  concurrency?: number | undefined
  /**
   * Relative shares, finite and above 0; other types have 1. An object or Map adds to earlier ones; null removes them all; a function is called
   * when a type's first job arrives. With groups: relative to types of the same group.
   *
   * @default {}
   */
  weights?: Numbers | ((type: string) => number) | null | undefined
  /** Maximum share of all slots for one type. @default 1 */
  maxTypeShare?: number | undefined
  /** How many jobs of one type may run at once. @default Infinity */
  maxTypeCap?: number | undefined
  /** The same, for individual types. Adds to earlier ones; null removes them all. @default {} */
  typeCaps?: Numbers | null | undefined
}

/** Options of `configure()` of a scheduler with groups. */
export interface EqualGroupsOptions extends EqualTypeOptions {
  /** Like `weights`, for groups. Needs `groupOf`. @default {} */
  groupWeights?: Numbers | ((group: string) => number) | null | undefined
  /** Like `typeCaps`, for groups. Needs `groupOf`. @default {} */
  groupCaps?: Numbers | null | undefined
  /** How many jobs of one group may run at once. Needs `groupOf`. @default Infinity */
  maxGroupCap?: number | undefined
}

/** Options of `scheduler: 'equal'`. */
export interface EqualOptions extends EqualGroupsOptions {
  /**
   * Returns the group of a type. Groups share the slots, and the types of a group share what it gets. Called when a type's first job arrives. If it
   * throws or returns no string, the type is a group of its own, with the warning FAIRLANE_WARN_GROUP. Cannot be changed. Default: no groups.
   */
  groupOf?: ((type: string) => string) | undefined
  /**
   * What is shared: slot time; the cost of jobs, however long they run; or cost multiplied by slot time. Cannot be changed.
   *
   * @default 'time'
   */
  chargeBy?: 'time' | 'cost' | 'cost*time' | undefined
}

/** Equal or weighted shares of slot time, whatever the backlogs: `scheduler: 'equal'` without `groupOf` and `chargeBy`. Caps are hard. */
export declare class Equal implements LaneScheduler {
  /** @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value, and for `groupOf` and `chargeBy`, which `makeEqual` takes */
  constructor (options?: EqualTypeOptions)
  /**
   * Changes the given options. O(waiting types); O(types at their caps) if only `concurrency` or `maxTypeShare` changes; O(1) if the share then
   * remains the same number of slots.
   *
   * @throws FAIRLANE_ERR_OPTION; then nothing has changed
   */
  configure (options?: EqualTypeOptions): this
  queued (lane: Lane): void
  next (now: number): Lane | undefined
  started (lane: Lane, now: number, cost?: number): void
  ended (lane: Lane, startedAt: number, now: number, cost?: number): void
  removed (lane: Lane): void
  paused (lane: Lane): void
  resumed (lane: Lane): void
  forget (lane: Lane): boolean
  isNamed (type: string): boolean
  /** How many jobs of a type may run at once. A fraction is rounded up. */
  capOf (type: string): number
  /** The weight of a type, by default 1. Calls `weights` if that is a function. */
  weightOf (type: string): number
  readonly needsClock: boolean
  /** Whether it shares by cost. */
  readonly needsCost: boolean
  readonly mayStall: boolean
}

/** The state of the group of a type. */
export interface GroupStats {
  /** Undefined for a type for which `groupOf` failed, and for types that share a lane, which form one group. */
  group: string | undefined
  /** Running jobs of the group. */
  running: number
  /** How many may run at once. */
  cap: number
  /** Types of the group that have waiting jobs and are not paused. */
  waitingTypes: number
  /** How many of these are at their own caps. If all are, the group waits for them. */
  cappedTypes: number
}

/** `scheduler: 'equal'` with `groupOf`: equal or weighted shares on two levels. */
export interface EqualGroups extends Equal {
  /** Like `configure` of `Equal`, plus O(groups) if a share of types changes. @throws FAIRLANE_ERR_OPTION, also for `groupOf` */
  configure (options?: EqualGroupsOptions): this
  /** The group of a type. Calls `groupOf`, unless the type's current lane is given. */
  groupOf (type: string, lane?: Lane): string | undefined
  /** How many jobs of a group may run at once. `undefined`: of a group without a name. */
  groupCapOf (group: string | undefined): number
  /** The weight of a group, by default 1. */
  groupWeightOf (group: string | undefined): number
  /** The state of the group of a type; `lane` as for `groupOf`. O(waiting types of the group). */
  groupStats (type: string, lane?: Lane): GroupStats
  /** Groups with a type that has jobs, is paused, or is not forgotten yet. */
  readonly groupCount: number
}
