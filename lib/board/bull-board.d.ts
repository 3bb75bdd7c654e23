// Written by hand. What `fairlane/board/bull-board` exports.

import type { BaseAdapter } from '@bull-board/api/baseAdapter'
import type { Queue } from '../../index'
import type { DurableQueue } from '../durable'
import type { History } from '../history'

export interface BullBoardQueueOptions {
  /** Name of the queue in bull-board. Names with a colon are grouped by the part before it. */
  name: string
  /** A history that observes the queue. */
  history: History
  /** Shows only the jobs of this type; pausing and emptying affect only this type. Default: all. */
  type?: string | undefined
  /** Whether bull-board may only read. @default false */
  readOnly?: boolean | undefined
}

/**
 * Makes an adapter for `createBullBoard({ queues: [ … ] })` of `@bull-board/api` 9.
 *
 * @throws FAIRLANE_ERR_PEER if that is not installed, FAIRLANE_ERR_ARGUMENT if `queue` is not a queue, FAIRLANE_ERR_OPTION
 */
export function bullBoardQueue (queue: Queue<any, any> | DurableQueue<any, any>, options: BullBoardQueueOptions): BaseAdapter
