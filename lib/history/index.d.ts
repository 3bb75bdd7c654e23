// Written by hand. What `fairlane/history` exports.

import type { Observer } from '../../index'

export interface HistoryOptions {
  /**
   * How many ended jobs are kept at least; up to 49,152 more are, before they go, 8192 at a time.
   *
   * @default 100000
   */
  keep?: number | undefined

  /**
   * Jobs that have ended are forgotten, too, when they and those that were accepted next to them, at most 8192, were accepted so long ago.
   *
   * @default Infinity
   */
  keepMs?: number | undefined

  /**
   * `'coarse'`: times are late by 2 ms, or one turn of the event loop, at most. `'exact'`: the clock is read for each entry. A queue with a
   * `clock` of its own is always exact.
   *
   * @default 'coarse'
   */
  clock?: 'coarse' | 'exact' | undefined
}

export type JobRecordState = 'waiting' | 'running' | 'delayed' | 'done' | 'failed' | 'cancelled'

/** What is known of a job. Times are in ms since 1970, or those of the queue's own `clock`. */
export interface JobRecord {
  id: number
  /** Undefined if it was pushed without one. */
  type: string | undefined
  state: JobRecordState
  /** How many have begun. */
  attempts: number
  acceptedAt: number
  /** Of the last attempt. */
  startedAt: number | undefined
  endedAt: number | undefined
  /** Why it failed, was cancelled or is delayed: `code or name: message`, 200 characters at most. */
  error: string | undefined
  /** Units that it was charged, in all of its attempts; only of a job that was charged, in a queue that counts costs. */
  cost?: number
}

/** One transition of a job. */
export interface JobVersion {
  state: JobRecordState
  at: number
  attempt: number
  error: string | undefined
}

export type JobCounts = Record<JobRecordState, number>

/** Undefined if there is no such job. */
export interface Average {
  mean: number | undefined
  max: number | undefined
}

/** Over jobs of a type that have ended. */
export interface TypeStats {
  done: number
  failed: number
  cancelled: number
  waitMs: Average
  /** Of jobs that have started. */
  runMs: Average
}

/** From `since` on, and before `until`: in ms since 1970, or of the queue's own `clock`. */
export interface TimeRange {
  since?: number | Date | undefined
  until?: number | Date | undefined
}

/** `since` and `until` are about the time at which a job came to its state. */
export interface ListOptions extends TimeRange {
  state?: JobRecordState | undefined
  type?: unknown
  /** Only jobs with smaller ids. */
  before?: number | undefined
  /** @default 100 */
  limit?: number | undefined
}

/** `since` and `until` are about the time at which a job ended. */
export interface SumOptions extends TimeRange {
  type?: unknown
  /** The first id. */
  first?: number | undefined
  /** The last id. */
  last?: number | undefined
}

/** The time from acceptance to the last start, or to the end of a job that never started; the time of the last attempt; how many there were. */
export type Column = 'waitMs' | 'runMs' | 'attempts' | 'cost'

/** What was so at a time. */
export interface PastHistory {
  counts (type?: unknown): JobCounts
  sum (column: Column, options?: SumOptions): number
}

/** What is used of a database of `node:sqlite` or `better-sqlite3`. */
export interface SqliteDatabase {
  exec (sql: string): unknown
  prepare (sql: string): { run (...values: any[]): unknown }
}

export interface History extends Observer {}

/** A record of each job of one queue, to be given to its option `observers`. Wrong arguments throw FAIRLANE_ERR_ARGUMENT. */
export class History {
  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options?: HistoryOptions)

  /** Reads what `save` has written. Rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CORRUPT. */
  static open (path: string): Promise<History>

  /** A job, or undefined if there is no record of it; with `back`, as it was so many versions before, at most the oldest. O(1). */
  get (id: number, options?: { back?: number | undefined }): JobRecord | undefined

  /** Each transition of each attempt, oldest first. */
  versions (id: number): JobVersion[]

  /** How many jobs are kept, by state. O(1) for a type, else O(types). */
  counts (type?: unknown): JobCounts

  /** Jobs, the newest first. O(records looked at). */
  list (options?: ListOptions): IterableIterator<JobRecord>

  /** The sum of a column over jobs that have ended. O(records in the range). */
  sum (column: Column, options?: SumOptions): number

  /** Averages by type. O(records). */
  stats (options?: TimeRange): Map<string | undefined, TypeStats>

  /** What was so at a time, by the records that are kept. Its methods take O(records). */
  at (time: number | Date): PastHistory

  /** Forgets a job that has ended; false if there is no record of it. Throws for a job that has not ended. O(1). */
  remove (id: number): boolean

  /** Writes all to a file, which is there whole or not at all. Rejects with FAIRLANE_ERR_IO. */
  save (path: string): Promise<void>

  /**
   * Writes what `list` shows to a table, in one transaction. Throws FAIRLANE_ERR_IO if the database fails: then nothing is written.
   *
   * @param options `table`: its name, by default `jobs`; `after`: only jobs with larger ids
   * @returns the last id that was written, to go on with
   */
  exportTo (database: SqliteDatabase, options: { table?: string | undefined, after: number }): number
  exportTo (database: SqliteDatabase, options?: { table?: string | undefined, after?: number | undefined }): number | undefined
}
