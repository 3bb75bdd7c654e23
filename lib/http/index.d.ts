// Written by hand. What `fairlane/http` exports.

/// <reference types="node" />

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { CloseOptions, FairlaneError, Queue, QueueOptions, QueueStats } from '../../index'

/** A request as passed to the functions of the options: Node's (`ctx.req` of koa, `request.raw` of fastify), or a `Request`. */
export type AnyRequest = IncomingMessage | Http2ServerRequest | Request

/**
 * Options of an admission: those of a queue in memory, some with other defaults, and its own. `R` is the kind of requests, such as `IncomingMessage`
 * if there are no others.
 */
export interface AdmissionOptions<R = any> extends Omit<QueueOptions, 'settleBy' | 'maxAttempts' | 'backoffMs'> {
  /** Returns whose request it is, or a promise of that. Undefined and null stand for the shared tenant `'anonymous'`. Default: all are anonymous. */
  tenant?: ((request: R) => string | null | undefined | PromiseLike<string | null | undefined>) | undefined
  /** Whether a request, such as a health check, passes at once without a slot, or a promise of that. Default: none does. */
  exempt?: ((request: R) => boolean | PromiseLike<boolean>) | undefined
  /**
   * What a request costs, for rates of cost and for `chargeBy`: a safe integer of 0 or more, or a promise of that. Undefined stands for 1. Called after
   * `tenant`, and its errors are handled in the same way.
   *
   * @default 1
   */
  cost?: ((request: R) => number | undefined | PromiseLike<number | undefined>) | undefined
  /**
   * Answers a refused request; `error.code` and `error.retryAfterMs` say why. In a fetch handler there is no `response`, and the function returns a
   * `Response` or a promise of one. Default: problem details.
   */
  refuse?: ((request: R, response: any, error: FairlaneError & { retryAfterMs?: number }) => unknown) | undefined
  /** Whether responses to requests that waited say how long, in a header such as `Server-Timing: queue;dur=12.3`. @default true */
  serverTiming?: boolean | undefined
  /** When a slot is freed: when the response has closed (`'close'`), or as soon as its headers are sent (`'headers'`). @default 'close' */
  until?: 'close' | 'headers' | undefined
  /** Chooses the tenant whose request is handled next. With null there are no tenants, and requests are handled as they arrive. @default 'equal' */
  scheduler?: QueueOptions['scheduler']
  /** How many requests are handled at once. @default 64 */
  concurrency?: number | string | undefined
  /** How many requests may wait in total. Further ones are refused with 503. @default 1000 */
  maxWaiting?: number | undefined
  /** How many requests of a tenant may wait: one number for all tenants, or numbers by tenant. Further ones are refused with 429. @default 50 */
  maxWaitingPerType?: number | Readonly<Record<string, number>> | ReadonlyMap<string, number> | undefined
  /** How long a request may wait, in ms. Then it is refused with 503. @default 10000 */
  maxWaitMs?: number | undefined
  /** How many tenants get a lane of their own. Further tenants share a few lanes. Needs a lane scheduler. @default 10000 */
  maxTypes?: number | undefined
  /** The AsyncLocalStorage context in which the handler runs. With `'push'` it is that of the request. @default 'push' */
  asyncContext?: 'queue' | 'push' | 'none' | undefined
}

/** `stats()` of the queue, and of requests that did not enter it. `waiting` includes requests whose `tenant` is a pending promise. */
export interface AdmissionStats extends QueueStats {
  /** Requests that were refused, by the code of the error. */
  refused: Record<string, number>
  /** Requests whose client disconnected while they waited, or that something else answered. */
  gone: number
  /** Requests that passed without a slot because of `exempt`. */
  exempt: number
}

/** The part of koa's context that is used. */
interface KoaContext {
  req: IncomingMessage
  res: ServerResponse
}

/** The part of fastify's request that is used. */
interface FastifyRequest {
  raw: IncomingMessage | Http2ServerRequest
}

interface FastifyReply {
  raw: ServerResponse | Http2ServerResponse
}

/**
 * A handler that admits requests: for node:http, node:http2, connect and express. `next` is called without an argument, or with the error of a
 * function of the options. A `next` that takes no argument is not called with an error: the request is answered with 500.
 */
export interface Admission<R = any> {
  (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next: (err?: any) => unknown
  ): void
  /** Middleware of koa. */
  koa: (context: KoaContext, next: () => Promise<any>) => Promise<any>
  /** A hook of fastify: `onRequest`. */
  fastify: (request: FastifyRequest, reply: FastifyReply, done: (err?: any) => void) => void
  /** Wraps a fetch handler, of Hono, Bun, Deno or workers, to admit its requests. @throws FAIRLANE_ERR_ARGUMENT */
  fetch: <Q extends Request, A extends any[], S>(
    handler: (request: Q, ...rest: A) => S
  ) => (request: Q, ...rest: A) => Promise<Response | Awaited<S>>
  /**
   * Frees the slot of a request before its response has closed, for instance for server-sent events.
   * @returns whether it had one
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  release (request: object): boolean
  /**
   * Refuses new requests, and lets waiting ones run until `timeoutMs`; the rest are answered with 503.
   * @returns how many handlers are still running
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  close (options?: CloseOptions): Promise<number>
  stats (): AdmissionStats
  /** The queue of the requests, which are its payloads: for metrics, the board, `holdType()`, `setRates()`. */
  readonly queue: Queue<R, void>
}

/**
 * Admits the requests of a server, fairly among its tenants.
 *
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
export function admission<R = any> (options?: AdmissionOptions<R>): Admission<R>
