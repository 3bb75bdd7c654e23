// Written by hand, with the names that the types of fastq 1 have.

declare function fastq<C, T = any, R = any> (context: C, worker: fastq.worker<C, T, R>, concurrency: number): fastq.queue<T, R>
declare function fastq<C, T = any, R = any> (worker: fastq.worker<C, T, R>, concurrency: number): fastq.queue<T, R>

declare namespace fastq {
  /** What it returns is ignored. */
  type worker<C, T = any, R = any> = (this: C, task: T, cb: done<R>) => void
  type asyncWorker<C, T = any, R = any> = (this: C, task: T) => Promise<R>
  type done<R = any> = (err: Error | null, result?: R) => void
  type errorHandler<T = any> = (err: Error, task: T) => void

  interface queue<T = any, R = any> {
    /** Adds a task at the end. If a slot is free, the worker starts inside this call. */
    push (task: T, done?: done<R>): void
    /** Adds a task at the head. */
    unshift (task: T, done?: done<R>): void
    /** Starts no more tasks; running ones finish. */
    pause (): any
    /** Starts tasks again, inside this call. */
    resume (): any
    /** How many tasks run, or are being called back. */
    running (): number
    /** Whether nothing waits and nothing runs. */
    idle (): boolean
    /** How many tasks wait. */
    length (): number
    /** The tasks that wait, in order. */
    getQueue (): T[]
    /** Removes the tasks that wait, and `drain`. Their callbacks are not called; promises reject. */
    kill (): any
    /** Like `kill`, but calls `drain` first. */
    killAndDrain (): any
    /** Like `kill`, but the callbacks and the error handler get an error with the message `abort`. */
    abort (): any
    /** Sets a handler that is called when a task pushed from now on ends; `err` is falsy if it is done. */
    error (handler: errorHandler<T>): void
    /** Slots. Setting it takes effect inside the assignment. */
    concurrency: number
    readonly paused: boolean
    /** Called when the last task has ended. */
    drain (): any
    /** Called when the last waiting task has started. */
    empty: () => void
    /** Called when a task has to wait and no other one does. */
    saturated: () => void
  }

  interface queueAsPromised<T = any, R = any> extends queue<T, R> {
    /** Like `push` with a callback, but returns a promise of the result, which may be ignored. */
    push (task: T): Promise<R>
    unshift (task: T): Promise<R>
    /** Resolves when nothing waits and nothing runs. */
    drained (): Promise<void>
  }

  function promise<C, T = any, R = any> (context: C, worker: fastq.asyncWorker<C, T, R>, concurrency: number): fastq.queueAsPromised<T, R>
  function promise<C, T = any, R = any> (worker: fastq.asyncWorker<C, T, R>, concurrency: number): fastq.queueAsPromised<T, R>
}

export = fastq
