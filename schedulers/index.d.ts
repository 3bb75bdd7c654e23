// Written by hand. The schedulers that queues know by name.

export { Fair } from './fair'
export { Capped } from './capped'
export { Equal } from './equal'
export { makeEqual } from './make-equal'
export type { EqualGroups, EqualOptions, GroupStats } from './equal'
