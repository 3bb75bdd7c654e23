'use strict'

// What a queue says of itself and of its types: by its metrics, which rank all types by what happened in the last minute, and by itself. If
// its jobs are at a broker, that says what waits and runs, and the metrics what this process has to do with it.

const { supports } = require('../arguments/unsupported')
const { isAtBroker } = require('./options')

const WINDOW_MS = 60000
const MOST_TYPES = 1000 // that are told
const ALL = Number.MAX_SAFE_INTEGER

module.exports = { readingOf, ask, finite }

/**
 * @param {{ queue: object, metrics: object | undefined }} one
 * @param {{ by: string, top: number }} ranking as `snapshot()` of metrics has it
 * @returns {Promise<Reading>} rejects with what the broker fails with
 */
async function readingOf ({ queue, metrics }, ranking) {
  const snapshot = metrics?.snapshot({ ...ranking, windowMs: WINDOW_MS, timeline: true })
  const isGlobal = isAtBroker(queue)
  const { counts, rows, typesCount } = isGlobal ? await globalView(queue, snapshot) : await localView(queue, snapshot)
  const reason = queue.scheduler === null && !isGlobal && supports(queue, ['explain']) ? queue.explain() : null
  return new Reading(queue, isGlobal, { counts, snapshot, rows, typesCount, reason, timeline: snapshot?.timeline ?? null })
}

/** What a queue said at one time, and what it says of single types when it is asked. */
class Reading {
  constructor (queue, isGlobal, { counts, snapshot, rows, typesCount, reason, timeline }) {
    this.queue = queue
    this.isGlobal = isGlobal
    this.counts = counts
    this.snapshot = snapshot
    this.rows = rows
    this.typesCount = typesCount
    this.reason = reason // why the next job does not start, of a queue without types
    this.timeline = timeline
    this.detailed = new Map() // type → promise of its row with details
  }

  /** @returns {Promise<object>} a row, with its limits and why its next job does not start */
  detail (row) {
    const known = this.detailed.get(row.type) ?? this.withDetails(row)
    this.detailed.set(row.type, known)
    return known
  }

  /** A type by its name that is not among those that are ranked, if it has jobs. @returns {Promise<object[]>} one, or none */
  async named (type) {
    if (this.isGlobal || type === '' || this.queue.scheduler === null || this.rows.some(row => row.type === type)) return []
    const stats = this.queue.stats(type)
    return stats.waiting + stats.running > 0 ? [{ ...rowOf(type), ...stats }] : []
  }

  // private from here on

  async withDetails (row) {
    const { queue } = this
    if (!row.isType) return { ...row, paused: false, cap: null, weight: null, rate: null, reason: null }
    const [limits, reason] = await Promise.all([this.isGlobal ? queue.counts(row.type) : this.limitsOf(row.type), this.reasonOf(row)])
    const { paused, cap, rate } = limits
    return {
      ...row,
      paused,
      cap: finite(cap),
      weight: finite(ask(() => queue.scheduler.weightOf(row.type))),
      rate,
      oldestWaitMs: row.oldestWaitMs ?? reason?.oldestWaitMs,
      reason
    }
  }

  limitsOf (type) {
    const { queue } = this
    return { paused: queue.isTypePaused(type), cap: ask(() => queue.scheduler.capOf(type)), rate: null }
  }

  async reasonOf ({ type, waiting }) {
    const { queue } = this
    return waiting > 0 && supports(queue, ['explain']) ? queue.explain(type) : null
  }
}

/** Of a queue in memory or on disk. */
async function localView (queue, snapshot) {
  const { waiting, running, delayed, dead = null, overdue, types: allCount } = queue.stats()
  const counts = { paused: queue.paused, waiting, running, delayed, dead, overdue }
  if (snapshot !== undefined) {
    const rows = queue.scheduler === null ? snapshot.types.map(row => ({ ...row, isType: false })) : snapshot.types
    return { counts, rows, typesCount: snapshot.typesCount }
  }
  const types = await queue.types({ limit: MOST_TYPES })
  const rows = types.map(entry => ({ ...rowOf(entry.type), isType: queue.scheduler !== null, ...queue.stats(entry.type), ...entry }))
  return { counts, rows, typesCount: Math.max(rows.length, allCount) } // a queue without a scheduler counts none
}

/** Of all processes; with one walk through the types. */
async function globalView (queue, snapshot) {
  const byType = new Map(snapshot?.types.map(row => [row.type, { ...row, waiting: 0, delayed: 0, running: 0, dead: 0 }]))
  const counts = { paused: false, waiting: 0, running: 0, delayed: 0, dead: 0, overdue: snapshot?.totals.overdue ?? 0 }
  for (const entry of await queue.types({ limit: ALL })) {
    for (const name of ['waiting', 'running', 'delayed', 'dead']) counts[name] += entry[name]
    byType.set(entry.type, { ...rowOf(entry.type), ...byType.get(entry.type), ...entry, isType: true })
  }
  return { counts, rows: [...byType.values()], typesCount: byType.size }
}

/** Of which nothing is known yet. */
function rowOf (type) {
  return { type, isType: true, group: undefined, share: undefined, waiting: 0, delayed: 0, running: 0, overdue: 0, dead: 0 }
}

/** What can be asked of some queues and schedulers; a scheduler that is the user's own may fail. */
function ask (question) {
  try {
    return question()
  } catch {
    return undefined
  }
}

/** @returns {number | null} as JSON has it */
function finite (value) {
  return Number.isFinite(value) ? value : null
}
