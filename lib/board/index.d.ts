// Written by hand. What `fairlane/board` exports.

/// <reference types="node" />

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Queue } from '../../index'
import type { DistributedQueue } from '../distributed'
import type { DurableQueue } from '../durable'
import type { History } from '../history'
import type { Metrics } from '../metrics'

/** An action of a user of the page. Fields that the action does not use are undefined. */
export interface BoardAction {
  /** Its name, as in the request: `'pauseType'`, …; also `'showPayload'`. */
  action: string
  /** The name of the queue on the page. */
  queue: string
  type?: string | undefined
  id?: number | string | undefined
  schedule?: string | undefined
  /** How long something is held, in ms. */
  ms?: number | undefined
  /** null: no cap. */
  cap?: number | null | undefined
  weight?: number | undefined
  /** Only dead letters with this text in their error. */
  error?: string | undefined
  /** Only dead letters after the one with this id. */
  after?: number | string | undefined
  /** Only dead letters up to this time, in ms since 1970. */
  before?: number | undefined
  /** The request, as it came to the handler. */
  request: IncomingMessage
}

export interface BoardOptions {
  /** Name of the queue on the page. Default: the `name` of the metrics, or `'default'`. */
  name?: string | undefined
  /**
   * Metrics that observe the queue. Without them there are no shares, charts or oldest waits, and the counts of a type restart whenever it has been
   * idle. Default: none.
   */
  metrics?: Metrics | undefined
  /** A history that observes the queue. The page then shows running jobs and the 20 latest failures. Default: none. */
  history?: History | undefined
  /** Whether the page has no buttons, and actions are refused. @default false */
  readOnly?: boolean | undefined
  /** Whether users can see the payloads of dead letters. @default false */
  showPayloads?: boolean | undefined
  /**
   * Called, and awaited, before each action. If it throws or rejects, the action is not performed, and the user gets the error. Default: none.
   */
  onAction?: ((action: BoardAction) => unknown) | undefined
}

type AnyQueue = Queue<any, any> | DurableQueue<any, any> | DistributedQueue<any, any>

/** Queues by name, each with its options. */
export interface BoardQueues {
  [name: string]: Omit<BoardOptions, 'name'> & { queue: AnyQueue }
}

/** A request handler. It has no login, so mount it behind one. */
export interface Board {
  (request: IncomingMessage, response: ServerResponse): void
  /** Creates a server and listens like `node:http`. The default host is 127.0.0.1; an empty one throws FAIRLANE_ERR_ARGUMENT. */
  listen: Server['listen']
}

/**
 * A page that shows who has the slots of a queue, who waits, and why, with buttons to pause, hold and limit types, and for dead letters.
 * However many users look at it, a queue is asked at most once a second: O(types) at a broker.
 *
 * @throws FAIRLANE_ERR_ARGUMENT if `queue` is not a queue, FAIRLANE_ERR_OPTION for invalid options
 */
export function board (queue: AnyQueue, options?: BoardOptions): Board
export function board (queues: BoardQueues): Board
