// Written by hand. The queues of async 3, with the names that its types have.

/** Ends one call of the worker. */
export type AsyncResultCallback<R = any, E = Error> = (err?: E | null, ...results: R[]) => void

/** The callback receives the outcome. An async function gets no callback; its promise is the outcome. Other return values are ignored. */
export type AsyncWorker<T, E = Error> = (task: T, callback: AsyncResultCallback<any, E>) => void

/** The members that all kinds have. */
export interface QueueCommon<T, E = Error> extends Iterable<T> {
  /** How many tasks wait. */
  length (): number
  /** Whether a task was ever pushed. */
  readonly started: boolean
  /** How many workers run. */
  running (): number
  /** The tasks that workers have now, in a new array. */
  workersList (): Array<DataContainer<T>>
  /** Whether nothing waits and nothing runs. */
  idle (): boolean
  /** How many workers may run at once. */
  concurrency: number
  /** Maximum number of tasks a worker gets. */
  payload: number | undefined
  /** The queue is unsaturated when at most `concurrency - buffer` workers run. */
  buffer: number
  readonly paused: boolean
  pause (): void
  resume (): void
  /** Removes the tasks that wait, and all handlers. Callbacks are not called; promises settle. */
  kill (): void
  /** Removes the waiting tasks for which `test` returns true. Callbacks are not called; promises settle. */
  remove (test: (task: DataContainer<T> & Partial<PriorityContainer>) => unknown): void

  /** Sets the handler. Without one, returns a promise of the next occurrence. */
  saturated (): Promise<void>
  saturated (handler: () => void): void
  unsaturated (): Promise<void>
  unsaturated (handler: () => void): void
  empty (): Promise<void>
  empty (handler: () => void): void
  drain (): Promise<void>
  drain (handler: () => void): void
  /** Sets the handler. Without one, returns a promise that the next error rejects. */
  error (): Promise<never>
  error (handler: (error: E, task: T) => void): void
}

export interface DataContainer<T> {
  readonly data: T
}

export interface PriorityContainer {
  readonly priority: number
}

/** A task, or an array of them; the callback is called for each. */
export interface QueueObject<T, E = Error> extends QueueCommon<T, E> {
  /** Without a callback, returns a promise, of `undefined` if the task fails; for an array, an array of promises. */
  push<R> (tasks: readonly T[]): Array<Promise<R>>
  push<R> (task: T): Promise<R>
  push<R> (task: T | readonly T[], callback: AsyncResultCallback<R, E>): void
  unshift<R> (tasks: readonly T[]): Array<Promise<R>>
  unshift<R> (task: T): Promise<R>
  unshift<R> (task: T | readonly T[], callback: AsyncResultCallback<R, E>): void
  /** Returns a promise that rejects if the task fails; for an array, an array of promises. */
  pushAsync<R> (tasks: readonly T[]): Array<Promise<R>>
  pushAsync<R> (task: T): Promise<R>
  unshiftAsync<R> (tasks: readonly T[]): Array<Promise<R>>
  unshiftAsync<R> (task: T): Promise<R>
}

export interface AsyncPriorityQueue<T, E = Error> extends QueueCommon<T, E> {
  /** @param priority the lowest starts first; default 0 */
  push<R> (tasks: readonly T[], priority?: number): Array<Promise<R>>
  push<R> (task: T, priority?: number): Promise<R>
  push<R> (task: T | readonly T[], priority: number | undefined, callback: AsyncResultCallback<R, E>): void
  pushAsync<R> (tasks: readonly T[], priority?: number): Array<Promise<R>>
  pushAsync<R> (task: T, priority?: number): Promise<R>
}

/** @param concurrency default 1 */
export declare function queue<T, E = Error> (worker: AsyncWorker<T, E>, concurrency?: number | null): QueueObject<T, E>
/** @param concurrency default 1 */
export declare function priorityQueue<T, E = Error> (worker: AsyncWorker<T, E>, concurrency?: number | null): AsyncPriorityQueue<T, E>
/** @param payload default Infinity */
export declare function cargo<T, E = Error> (worker: AsyncWorker<T[], E>, payload?: number): QueueObject<T, E>
/**
 * @param concurrency default 1
 * @param payload default Infinity
 */
export declare function cargoQueue<T, E = Error> (worker: AsyncWorker<T[], E>, concurrency?: number | null, payload?: number): QueueObject<T, E>
