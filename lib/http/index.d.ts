// Written by hand. What `fairlane/http` exports.

/// <reference types="node" />

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { CloseOptions, FairlaneError, Queue, QueueOptions, QueueStats } from '../../index'

/** A request as an admission shows it to the functions of its options: that of Node (`ctx.req` of koa, `request.raw` of fastify), or a `Request`. */
export type AnyRequest = IncomingMessage | Http2ServerRequest | Request

type Asked<T> = T | PromiseLike<T>

/**
 * What is said of the requests of a server. `R` is what kind of requests there are: say `IncomingMessage`, where there are no others.
 * What a queue has besides is as there, with defaults of its own.
 */
export interface AdmissionOptions<R = any> extends Omit<QueueOptions, 'settleBy' | 'maxAttempts' | 'backoffMs'> {
  /** Whose request it is: its type. `undefined` and `null` stand for all without a name together, whose type is `'anonymous'`. @default all are */
  tenant?: ((request: R) => Asked<string | null | undefined>) | undefined
  /** Whether a request passes at once and takes no slot, as a health check. @default none does */
  exempt?: ((request: R) => Asked<boolean>) | undefined
  /** What a request costs, for rates of cost and for `chargeBy`: a safe integer from 0. `undefined` stands for 1. @default 1 */
  cost?: ((request: R) => Asked<number | undefined>) | undefined
  /**
   * Answers a request that is refused, in the place of the admission: by the response, or, in a fetch handler, where there is none, by the
   * `Response` that it returns.
   */
  refuse?: ((request: R, response: any, error: FairlaneError & { retryAfterMs?: number }) => unknown) | undefined
  /** Whether a request that has waited is told so, by a header `Server-Timing: queue;dur=12.3`. @default true */
  serverTiming?: boolean | undefined
  /** When a slot is free again: when the response has closed, or as soon as its headers are sent. @default 'close' */
  until?: 'close' | 'headers' | undefined
}

/** `stats()` of the queue, where `waiting` has also those whose tenant a promise tells, and what became of requests that did not get into it. */
export interface AdmissionStats extends QueueStats {
  /** Requests that were refused, by the code of the error. */
  refused: Record<string, number>
  /** Requests whose clients left while they waited, or were answered by somebody else. */
  gone: number
  /** Requests that passed without a slot, since `exempt` said so. */
  exempt: number
}

/** What koa gives its middleware, as far as it matters here. */
interface KoaContext {
  req: IncomingMessage
  res: ServerResponse
}

/** What fastify gives its hooks, as far as it matters here. */
interface FastifyRequest {
  raw: IncomingMessage | Http2ServerRequest
}

interface FastifyReply {
  raw: ServerResponse | Http2ServerResponse
}

/**
 * A handler that lets requests in: for node:http, node:http2, connect and express. `next` is called without an argument, or with what a
 * function of the options has failed with; one that takes no argument is not called then, and the request is answered with 500.
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
  /** A fetch handler that lets in the requests of another one: of Hono, Bun, Deno, workers. @throws FAIRLANE_ERR_ARGUMENT */
  fetch: <Q extends Request, A extends any[], S>(
    handler: (request: Q, ...rest: A) => S
  ) => (request: Q, ...rest: A) => Promise<Response | Awaited<S>>
  /**
   * Frees the slot of a request before its response has closed, as for server-sent events.
   * @returns whether it had one
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  release (request: object): boolean
  /**
   * Refuses new requests, and lets those that wait run, until `timeoutMs`; whatever is there then is answered with 503.
   * @returns how many handlers go on
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  close (options?: CloseOptions): Promise<number>
  stats (): AdmissionStats
  /** What the requests go through: for metrics, the board, `holdType()`, `setRates()`. Its payloads are the requests. */
  readonly queue: Queue<R, void>
}

/**
 * Lets the requests of a server in, fairly among its tenants.
 *
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
export function admission<R = any> (options?: AdmissionOptions<R>): Admission<R>
