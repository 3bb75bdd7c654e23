// Written by hand. What `fairlane/fetch` exports. It needs the types of no runtime: those of responses are what the given fetch says.

import type { AddOptions, Queue, QueueOptions } from '../../index'

/** What is called: the fetch of a runtime, or one like it. */
export type AnyFetch = (input: any, init?: any) => Promise<any>

/** What such a function takes as its second argument, if it takes one. */
export type InitOf<F extends AnyFetch> = [NonNullable<Parameters<F>[1]>] extends [never] ? unknown : NonNullable<Parameters<F>[1]>

/** A call: the payload of its job, and what the option `type` is given. */
export interface Call<F extends AnyFetch = AnyFetch> {
  /** Absolute, where it can be read. */
  readonly url: string
  /** In upper case. */
  readonly method: string
  /** A copy. */
  readonly headers: Iterable<[string, string]> & { get (name: string): string | null, has (name: string): boolean }
  /** The first argument of fetch, as it was given. */
  readonly input: Parameters<F>[0]
  /** The second one, without `fairlane`. */
  readonly init: InitOf<F>
}

/** Those of a queue in memory. Defaults of their own: scheduler 'equal', concurrency 100, maxTypes 10000, priorityMs 1000, asyncContext 'push'. */
export interface FairFetchOptions<F extends AnyFetch = AnyFetch> extends Omit<QueueOptions, 'settleBy'> {
  /** Whose call it is, unless the call says so itself. If it gives undefined: the origin of the URL. */
  type?: ((call: Call<F>) => unknown) | undefined
  /**
   * For how long a call has its slot: until the headers of the response are there, or until its body has been read, cancelled or has failed, or was
   * collected as garbage.
   *
   * @default 'headers'
   */
  until?: 'headers' | 'body' | undefined
}

/** What is said of one call, as `fairlane` in its init: what `add` takes, but for its signal, which stands beside it, and keys. */
export interface CallOptions extends Omit<AddOptions, 'signal' | 'key' | 'onDuplicate' | 'keyUntil' | 'maxDelayMs'> {
  /** Whose call it is. Default: by the option `type`, or the origin of the URL. */
  type?: unknown
  /** Whether it may be made again. Default: if its method is GET, HEAD, OPTIONS, PUT or DELETE. A body that is a stream is sent once. */
  retry?: boolean | undefined
  /** In the place of that of all calls. */
  until?: 'headers' | 'body' | undefined
}

/** The given fetch, whose init takes `fairlane`. */
export type FairFetch<F extends AnyFetch = AnyFetch> = F & {
  (input: Parameters<F>[0], init?: (InitOf<F> & { fairlane?: CallOptions | undefined }) | undefined): ReturnType<F>
  readonly queue: Queue<Call<F>, Awaited<ReturnType<F>>>
}

/**
 * Makes a fetch whose calls wait in a queue, each type in a lane of its own. A type is held for as long as a response says, and failed calls are
 * made again, up to `maxAttempts` (1 by default).
 *
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
export function fairFetch<F extends AnyFetch> (fetch: F, options?: FairFetchOptions<F>): FairFetch<F>
