// Written by hand.

import type { Lane, LaneScheduler } from '../index'

type Numbers = Readonly<Record<string, number>> | ReadonlyMap<string, number>

/** Options of the class `Equal`. */
export interface EqualTypeOptions {
  /** How many slots there are. A queue sets it to its own concurrency. @default 10 */
  concurrency?: number | undefined
  /**
   * Shares relative to each other, finite and above 0; types that are not named have 1. An object or Map adds to those given before, null
   * removes them; a function is called when a type's first job comes. With groups: relative to others of the same group.
   *
   * @default {}
   */
  weights?: Numbers | ((type: string) => number) | null | undefined
  /** The share of all slots that one type may have. @default 1 */
  maxTypeShare?: number | undefined
  /** How many jobs of one type may run at once. @default Infinity */
  maxTypeCap?: number | undefined
  /** The same for single types. Adds to those given before; null removes them. @default {} */
  typeCaps?: Numbers | null | undefined
}

/** What `configure()` of a scheduler with groups takes. */
export interface EqualGroupsOptions extends EqualTypeOptions {
  /** As `weights`, of groups. Needs `groupOf`. @default {} */
  groupWeights?: Numbers | ((group: string) => number) | null | undefined
  /** As `typeCaps`, of groups. Needs `groupOf`. @default {} */
  groupCaps?: Numbers | null | undefined
  /** How many jobs of one group may run at once. Needs `groupOf`. @default Infinity */
  maxGroupCap?: number | undefined
}

/** Options of `scheduler: 'equal'`. */
export interface EqualOptions extends EqualGroupsOptions {
  /**
   * The group of a type: groups share the slots, and the types of a group what it gets. Called when a type's first job comes. If it throws or
   * gives no string, the type is a group of its own, with the warning FAIRLANE_WARN_GROUP. Cannot be changed. Default: types have no groups.
   */
  groupOf?: ((type: string) => string) | undefined
  /**
   * What is shared: slot time; the units that jobs cost, whatever they take; or units for as long as they are held. Cannot be changed.
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
   * Changes the options that are given. O(waiting types); O(types at their caps) if only `concurrency` or `maxTypeShare` changes, and O(1)
   * if the share is the same number of slots then.
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
  /** How many jobs of a type may run at once; a fraction counts as the next whole number. */
  capOf (type: string): number
  /** As it was given, 1 by default. Calls the function that was given as `weights`. */
  weightOf (type: string): number
  readonly needsClock: boolean
  /** Whether it shares what jobs cost. */
  readonly needsCost: boolean
  readonly mayStall: boolean
}

/** What is known of the group of a type. */
export interface GroupStats {
  /** undefined for a type of which `groupOf` has failed, and for types that share a lane, which are one group together. */
  group: string | undefined
  /** Jobs of the group that run. */
  running: number
  /** How many may run at once. */
  cap: number
  /** Types of the group that wait and are not paused. */
  waitingTypes: number
  /** How many of these run as many jobs as their own caps allow. If all of them do, the group waits for these. */
  cappedTypes: number
}

/** `scheduler: 'equal'` with `groupOf`: equal or weighted shares on two levels. */
export interface EqualGroups extends Equal {
  /** As that of `Equal`; O(groups) more where a share of types changes. @throws FAIRLANE_ERR_OPTION, also for `groupOf` */
  configure (options?: EqualGroupsOptions): this
  /** The group of a type. Calls `groupOf`, unless the lane where the type is now is given. */
  groupOf (type: string, lane?: Lane): string | undefined
  /** How many jobs of a group may run at once; without a name: of one that has none. */
  groupCapOf (group: string | undefined): number
  /** As it was given, 1 by default. */
  groupWeightOf (group: string | undefined): number
  /** What is known of the group of a type; `lane` as that of `groupOf`. O(types of the group that wait). */
  groupStats (type: string, lane?: Lane): GroupStats
  /** Groups with a type that has jobs, is paused, or is not forgotten yet. */
  readonly groupCount: number
}
