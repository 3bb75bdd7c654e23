// Written by hand. What `fairlane/board` exports.

/// <reference types="node" />

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Queue } from '../../index'
import type { DistributedQueue } from '../distributed'
import type { DurableQueue } from '../durable'
import type { History } from '../history'
import type { Metrics } from '../metrics'

export interface BoardOptions {
  /** What the queue is called on the page. Default: the `name` of the metrics. */
  name?: string | undefined
  /** Those that observe the queue. */
  metrics: Metrics
  /** One that observes the queue: the page shows its newest failures. Default: none. */
  history?: History | undefined
  /** Whether the page has no buttons, and its requests are refused. @default false */
  readOnly?: boolean | undefined
}

/** For a queue at a broker, which knows of all but the times. */
export type DistributedBoardOptions = Omit<BoardOptions, 'metrics'> & { metrics?: Metrics | undefined }

type LocalQueue = Queue<any, any> | DurableQueue<any, any>

/** Queues by name, each with its options. */
export interface BoardQueues {
  [name: string]:
    | (Omit<BoardOptions, 'name'> & { queue: LocalQueue })
    | (Omit<DistributedBoardOptions, 'name'> & { queue: DistributedQueue<any, any> })
}

/** A handler of requests. It has no login, so mount it behind one. */
export interface Board {
  (request: IncomingMessage, response: ServerResponse): void
  /** As that of `node:http`, of a server that is made for it. The default host is 127.0.0.1; an empty one throws FAIRLANE_ERR_ARGUMENT. */
  listen: Server['listen']
}

/**
 * A page that shows who has the slots of a queue and who waits, with buttons to pause types.
 *
 * @throws FAIRLANE_ERR_ARGUMENT for what is no queue, FAIRLANE_ERR_OPTION for wrong options
 */
export function board (queue: DistributedQueue<any, any>, options?: DistributedBoardOptions): Board
export function board (queue: LocalQueue, options: BoardOptions): Board
export function board (queues: BoardQueues): Board
