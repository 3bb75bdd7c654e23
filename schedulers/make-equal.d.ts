// Written by hand.

import type { Equal, EqualGroups, EqualOptions } from './equal'

/**
 * Makes the scheduler of `scheduler: 'equal'`, with all of its options.
 *
 * @throws FAIRLANE_ERR_OPTION if an option is unknown or has a wrong value
 */
export declare function makeEqual (options: EqualOptions & { groupOf: (type: string) => string }): EqualGroups
export declare function makeEqual (options?: EqualOptions): Equal
