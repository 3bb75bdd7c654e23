// Written by hand. What `fairlane/fetch` exports. It needs no types of a runtime: the types of responses come from the given fetch.

import type { AddOptions, Queue, QueueOptions } from '../../index'

/** The fetch of a runtime, or a function like it. */
export type AnyFetch = (input: any, init?: any) => Promise<any>

/** The type of its second argument, if it takes one. */
export type InitOf<F extends AnyFetch> = [NonNullable<Parameters<F>[1]>] extends [never] ? unknown : NonNullable<Parameters<F>[1]>

/** A call: the payload of its job, and the argument of the option `type`. */
export interface Call<F extends AnyFetch = AnyFetch> {
  /** Absolute, if it can be parsed. */
  readonly url: string
  /** In upper case. */
  readonly method: string
  /** A copy. */
  readonly headers: Iterable<[string, string]> & { get (name: string): string | null, has (name: string): boolean }
  /** The first argument of fetch, as it was given. A URL is a copy, since its owner may change it before the call goes out. */
  readonly input: Parameters<F>[0]
  /** The second argument of fetch, without `fairlane`, and with copies of its headers and of URLSearchParams. */
  readonly init: InitOf<F>
}

/** The options of a queue in memory, some with other defaults, and two of its own. */
export interface FairFetchOptions<F extends AnyFetch = AnyFetch> extends Omit<QueueOptions, 'settleBy'> {
  /** Returns the type of a call that does not name one itself. If it returns undefined, the default applies. Default: the origin of the URL. */
  type?: ((call: Call<F>) => unknown) | undefined
  /**
   * How long a call holds its slot: until the headers of the response arrive, or until its body has been read, cancelled or garbage-collected, or has
   * failed.
   *
   * @default 'headers'
   */
  until?: 'headers' | 'body' | undefined
  /** Chooses the type whose call goes out next. With null there are no types, and a service that answers 429 holds all calls. @default 'equal' */
  scheduler?: QueueOptions['scheduler']
  /** How many calls are made at once. To limit each type, set `schedulerOptions: { maxTypeCap: 6 }`. @default 100 */
  concurrency?: number | string | undefined
  /** How many types get a lane of their own. Further types share a few lanes. Needs a lane scheduler. @default 10000 */
  maxTypes?: number | undefined
  /** What one step of `priority` is worth, in ms. @default 1000 */
  priorityMs?: number | undefined
  /**
   * The AsyncLocalStorage context in which the given fetch is called. With `'push'` it is that of the call, so traces continue.
   *
   * @default 'push'
   */
  asyncContext?: 'queue' | 'push' | 'none' | undefined
  /** Maximum number of attempts of a call. @default 1 */
  maxAttempts?: number | undefined
}

/** Options of one call, as `fairlane` in its init: those of `add`, except keys and the signal, which is in the init itself. */
export interface CallOptions extends Omit<AddOptions, 'signal' | 'key' | 'onDuplicate' | 'keyUntil' | 'maxDelayMs'> {
  /** The type of the call. Default: what the option `type` says. */
  type?: unknown
  /** Whether the call may be retried. A stream body is sent only once. Default: true for GET, HEAD, OPTIONS, PUT and DELETE. */
  retry?: boolean | undefined
  /** How long the call holds its slot. Default: what the option for all calls says. */
  until?: 'headers' | 'body' | undefined
}

/** The given fetch, whose init also takes `fairlane`. */
export type FairFetch<F extends AnyFetch = AnyFetch> = F & {
  (input: Parameters<F>[0], init?: (InitOf<F> & { fairlane?: CallOptions | undefined }) | undefined): ReturnType<F>
  readonly queue: Queue<Call<F>, Awaited<ReturnType<F>>>
}

/**
 * Makes a fetch whose calls wait in a queue, each type in its own lane. A type is held for as long as a response demands, and failed calls are
 * retried, up to `maxAttempts` (1 by default).
 *
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
export function fairFetch<F extends AnyFetch> (fetch: F, options?: FairFetchOptions<F>): FairFetch<F>
