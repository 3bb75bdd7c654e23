// Written by hand. What `fairlane/board` exports.

/// <reference types="node" />

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Queue } from '../../index'
import type { DistributedQueue } from '../distributed'
import type { DurableQueue } from '../durable'
import type { History } from '../history'
import type { Metrics } from '../metrics'

/** What somebody does by the page. What the action is not given is undefined. */
export interface BoardAction {
  /** Its name, as in the request: `'pauseType'`, …; also `'showPayload'`. */
  action: string
  /** The name of the queue on the page. */
  queue: string
  type?: string | undefined
  id?: number | string | undefined
  schedule?: string | undefined
  /** For how long something is held, in ms. */
  ms?: number | undefined
  /** null: none. */
  cap?: number | null | undefined
  weight?: number | undefined
  /** Those dead letters that have this text in their error. */
  error?: string | undefined
  /** Those dead letters that stand behind the one of this id. */
  after?: number | string | undefined
  /** Those dead letters that died until then, in ms since 1970. */
  before?: number | undefined
  /** Who asks for it: as it came to the handler. */
  request: IncomingMessage
}

export interface BoardOptions {
  /** What the queue is called on the page. Default: the `name` of the metrics, or `'default'`. */
  name?: string | undefined
  /** Those that observe the queue: without them there are no shares, no charts, and no oldest waits. Default: none. */
  metrics?: Metrics | undefined
  /** One that observes the queue: the page shows what runs now, and the newest failures. Default: none. */
  history?: History | undefined
  /** Whether the page has no buttons, and its requests are refused. @default false */
  readOnly?: boolean | undefined
  /** Whether the payload of a dead letter is shown to who asks for it. @default false */
  showPayloads?: boolean | undefined
  /**
   * Is told of each action, and waited for, before it is done. If it throws, nothing is done, and who asked gets the error. Default: nobody is told.
   */
  onAction?: ((action: BoardAction) => unknown) | undefined
}

type AnyQueue = Queue<any, any> | DurableQueue<any, any> | DistributedQueue<any, any>

/** Queues by name, each with its options. */
export interface BoardQueues {
  [name: string]: Omit<BoardOptions, 'name'> & { queue: AnyQueue }
}

/** A handler of requests. It has no login, so mount it behind one. */
export interface Board {
  (request: IncomingMessage, response: ServerResponse): void
  /** As that of `node:http`, of a server that is made for it. The default host is 127.0.0.1; an empty one throws FAIRLANE_ERR_ARGUMENT. */
  listen: Server['listen']
}

/**
 * A page that shows who has the slots of a queue, who waits, and why, with buttons to pause, hold and limit types, and for dead letters.
 * However many look at it, a queue is asked once a second at most: in O(types) at a broker.
 *
 * @throws FAIRLANE_ERR_ARGUMENT for what is no queue, FAIRLANE_ERR_OPTION for wrong options
 */
export function board (queue: AnyQueue, options?: BoardOptions): Board
export function board (queues: BoardQueues): Board
