// Written by hand. What quickq 0.10 takes, and all that a Queue has.

import fairlane = require('../../index')

declare const quickq: quickq.QuickQ

declare namespace quickq {
  /** What it returns is ignored. */
  type Runner<P = any, R = any> = (this: QuickQueue<P, R>, payload: P, done: fairlane.Done<R>) => unknown

  /** Falsy values count as absent, and unknown names are ignored. */
  interface Options {
    /** @default 10 */
    concurrency?: number | string | false | null | undefined
    scheduler?: fairlane.QueueOptions['scheduler'] | false
    schedulerOptions?: fairlane.QueueOptions['schedulerOptions'] | false | null
    readonly [name: string]: unknown
  }

  /** A callback, or a falsy value for none. */
  type MaybeCallback<R> = fairlane.Callback<R> | false | null | undefined

  /** The members of a Queue, except those declared here. */
  type QueueMembers<P, R> = Omit<fairlane.Queue<P, R>, 'push' | 'unshift' | 'pushType' | 'unshiftType' | 'fflush' | 'pause' | 'resume'>

  interface QuickQueue<P = any, R = any> extends QueueMembers<P, R> {
    push (payload: P, callback?: MaybeCallback<R>): this
    unshift (payload: P, callback?: MaybeCallback<R>): this
    pushType (type: unknown, payload: P, callback?: MaybeCallback<R>): this
    unshiftType (type: unknown, payload: P, callback?: MaybeCallback<R>): this
    pause (): this
    resume (concurrency?: number | string): this
    /** Calls back when all jobs accepted before the call have settled. Without a callback, does nothing. */
    fflush (callback?: (() => void) | false | null): this
    /** Like `push`. */
    enqueue (payload: P, callback?: MaybeCallback<R>): this
    /** Like `push`. */
    append (payload: P, callback?: MaybeCallback<R>): this
    /** Like `unshift`. */
    prepend (payload: P, callback?: MaybeCallback<R>): this
  }

  interface QuickQ {
    <P = any, R = any>(runner: Runner<P, R>, options?: Options | number | string | null): QuickQueue<P, R>
    new <P = any, R = any>(runner: Runner<P, R>, options?: Options | number | string | null): QuickQueue<P, R>
    readonly prototype: QuickQueue
  }
}

export = quickq
