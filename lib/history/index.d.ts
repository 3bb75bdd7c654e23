// Written by hand. What `fairlane/history` exports.

import type { Observer } from '../../index'

export interface HistoryOptions {
  /**
   * How many ended jobs are kept, at least. Up to 49,152 more may be kept: they are dropped 8192 at a time.
   *
   * @default 100000
   */
  keep?: number | undefined

  /**
   * Ended jobs are also dropped when they, and the up to 8192 jobs accepted next to them, were accepted longer ago than this, in ms. Jobs among them
   * that have not ended do not delay that.
   *
   * @default Infinity
   */
  keepMs?: number | undefined

  /**
   * `'coarse'`: times are late by at most 2 ms, or one turn of the event loop. `'exact'`: the clock is read for each entry, three times per job. A queue
   * with a `clock` of its own is always exact.
   *
   * @default 'coarse'
   */
  clock?: 'coarse' | 'exact' | undefined
}

export type JobRecordState = 'waiting' | 'running' | 'delayed' | 'done' | 'failed' | 'cancelled'

/** The record of a job. Times are in ms since 1970, or by the queue's own `clock`. */
export interface JobRecord {
  id: number
  /** Undefined if it was pushed without one. */
  type: string | undefined
  state: JobRecordState
  /** How many attempts have begun. */
  attempts: number
  acceptedAt: number
  /** Start of the last attempt. */
  startedAt: number | undefined
  endedAt: number | undefined
  /** Why it failed, was cancelled or is delayed: `code or name: message`, at most 200 characters. */
  error: string | undefined
  /** Units it was charged, in all attempts. Only if it was charged, in a queue that counts costs. */
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

/** Both undefined if there is no such job. */
export interface Average {
  mean: number | undefined
  max: number | undefined
}

/** Statistics of the ended jobs of a type. */
export interface TypeStats {
  done: number
  failed: number
  cancelled: number
  waitMs: Average
  /** Only of jobs that started. */
  runMs: Average
}

/** From `since`, inclusive, to `until`, exclusive: in ms since 1970, or by the queue's own `clock`. */
export interface TimeRange {
  since?: number | Date | undefined
  until?: number | Date | undefined
}

/** `since` and `until` refer to the time at which a job reached its state. */
export interface ListOptions extends TimeRange {
  state?: JobRecordState | undefined
  type?: unknown
  /** Only jobs with smaller ids. */
  before?: number | undefined
  /** @default 100 */
  limit?: number | undefined
}

/** `since` and `until` refer to the time at which a job ended. */
export interface SumOptions extends TimeRange {
  type?: unknown
  /** The first id. */
  first?: number | undefined
  /** The last id. */
  last?: number | undefined
}

/** Time from acceptance to the last start, or to the end if it never started; run time of the last attempt; number of attempts; units charged. */
export type Column = 'waitMs' | 'runMs' | 'attempts' | 'cost'

/** The state at a time in the past. */
export interface PastHistory {
  counts (type?: unknown): JobCounts
  sum (column: Column, options?: SumOptions): number
}

/** The part of a `node:sqlite` or `better-sqlite3` database that is used. */
export interface SqliteDatabase {
  exec (sql: string): unknown
  prepare (sql: string): { run (...values: any[]): unknown }
}

export interface History extends Observer {}

/** Records each job of one queue, as one of its `observers`. Invalid arguments throw FAIRLANE_ERR_ARGUMENT. */
export class History {
  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options?: HistoryOptions)

  /** Reads a file written by `save`. Rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CORRUPT. */
  static open (path: string): Promise<History>

  /** A job, or undefined if there is no record of it. With `back`: as it was that many versions ago, at most the oldest. O(1). */
  get (id: number, options?: { back?: number | undefined }): JobRecord | undefined

  /** Every transition of every attempt, oldest first. */
  versions (id: number): JobVersion[]

  /** Number of recorded jobs by state. O(1) for a type, else O(types). */
  counts (type?: unknown): JobCounts

  /** Jobs, the newest first. O(records visited). */
  list (options?: ListOptions): IterableIterator<JobRecord>

  /** The sum of a column over jobs that have ended. O(records in the range). */
  sum (column: Column, options?: SumOptions): number

  /** Averages by type. O(records). */
  stats (options?: TimeRange): Map<string | undefined, TypeStats>

  /** The state at a time in the past, from the records that are kept. Its methods are O(records). */
  at (time: number | Date): PastHistory

  /** Forgets an ended job; false if there is no record of it. Throws for a job that has not ended. O(1). */
  remove (id: number): boolean

  /** Writes everything to a file, atomically. Rejects with FAIRLANE_ERR_IO. */
  save (path: string): Promise<void>

  /**
   * Writes what `list` shows to a table, in one transaction. Throws FAIRLANE_ERR_IO if the database fails; then nothing is written.
   *
   * @param options `table`: its name, by default `jobs`; `after`: only jobs with larger ids
   * @returns the last id that was written, for the next call's `after`
   */
  exportTo (database: SqliteDatabase, options: { table?: string | undefined, after: number }): number
  exportTo (database: SqliteDatabase, options?: { table?: string | undefined, after?: number | undefined }): number | undefined
}
