// Written by hand. What `fairlane/http` exports.

/// <reference types="node" />

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { CloseOptions, FairlaneError, Queue, QueueOptions, QueueStats } from '../../index'

/** A request as passed to the functions of the options: Node's (`ctx.req` of koa, `request.raw` of fastify), or a `Request`. */
export type AnyRequest = IncomingMessage | Http2ServerRequest | Request

type Asked<T> = T | PromiseLike<T>

/**
 * Options of an admission. `R` is the kind of requests, such as `IncomingMessage` if there are no others. All other options are those of a queue,
 * some with other defaults.
 */
export interface AdmissionOptions<R = any> extends Omit<QueueOptions, 'settleBy' | 'maxAttempts' | 'backoffMs'> {
  /** Returns the type of a request. `undefined` and `null` stand for the shared type `'anonymous'`. @default all requests are anonymous */
  tenant?: ((request: R) => Asked<string | null | undefined>) | undefined
  /** Whether a request, such as a health check, passes at once without a slot. @default none does */
  exempt?: ((request: R) => Asked<boolean>) | undefined
  /** What a request costs, for rates of cost and for `chargeBy`: a safe integer of 0 or more. `undefined` stands for 1. @default 1 */
  cost?: ((request: R) => Asked<number | undefined>) | undefined
  /**
   * Answers a refused request instead of the admission: through `response`, or in a fetch handler, which has none, by the `Response` that it
   * returns.
   */
  refuse?: ((request: R, response: any, error: FairlaneError & { retryAfterMs?: number }) => unknown) | undefined
  /** Whether responses to requests that waited get a header such as `Server-Timing: queue;dur=12.3`. @default true */
  serverTiming?: boolean | undefined
  /** When a slot is freed: when the response has closed, or as soon as its headers are sent. @default 'close' */
  until?: 'close' | 'headers' | undefined
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
