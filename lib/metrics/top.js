'use strict'

// snapshot({ top }): the types that come first by what happened lately, and all types together.

const { COUNTS } = require('./windows')
const { DEAD, DELAYED, RUNNING, WAITING } = require('../ledger/segment')
const { Ranking } = require('./ranking')
const { Totals, rise } = require('./totals')
const { oldestMs, waitsBy } = require('./waits')

const ALL = 'all'
const NOW = ['waiting', 'delayed', 'running', 'overdue', 'dead']

module.exports = { nothingBy, rankedBy }

/** The same while no queue is observed. */
function nothingBy ({ by }) {
  const numbers = Object.fromEntries([...NOW, ...COUNTS, 'slotMs', 'perSecond'].map(name => [name, 0]))
  const totals = { ...numbers, waitMs: { p50: undefined, p95: undefined, p99: undefined }, oldestWaitMs: undefined }
  return { by, windowMs: 0, typesCount: 0, slots: 0, totals, standstillMs: 0, fairness: undefined, starving: [], refused: {}, types: [] }
}

/**
 * @param {{ meter: object, queue: object, watch: object, buckets: object, wishes: { top: number, by: string, windowMs: number } }} about
 * @returns {object} what is told, but for the name
 */
function rankedBy ({ meter, queue, watch, buckets, wishes: { top, by, windowMs } }) {
  const ms = meter.records.time.read()
  const slice = meter.windows.sliceOf(windowMs, ms)
  const now = new Totals(meter, ms)
  const ranking = new Ranking({ meter, top, by, slice, ms })
  const rows = ranking.rows()
  const slotMs = rise(now.slotMs, slice.totals.slotMs)
  return {
    by,
    windowMs: ms - slice.ms,
    typesCount: ranking.typesCount,
    slots: queue.concurrency,
    totals: totalsOf(now, slice, { slotMs, buckets, oldestWaitMs: oldestMs(meter, ms), waits: waitsBy(meter, ms, () => ALL).get(ALL) }),
    standstillMs: now.standstillMs,
    fairness: watch.fairness.index,
    starving: watch.starvation.list(ms),
    refused: Object.fromEntries(meter.records.refusedCounts),
    types: rows.map(row => told(row, slotMs, queue.scheduler))
  }
}

function totalsOf (now, { ms, totals: before }, { slotMs, buckets, oldestWaitMs, waits }) {
  const counts = Object.fromEntries(COUNTS.map(name => [name, rise(now[name], before[name])]))
  const waited = Array.from(now.waitBuckets, (count, i) => rise(count, before.waitBuckets[i]) + (waits?.[i] ?? 0))
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(share => buckets.quantile(share, waited))
  return {
    ...Object.fromEntries(NOW.map(name => [name, now[name]])),
    ...counts,
    slotMs,
    perSecond: now.ms > ms ? 1000 * (counts.done + counts.failed) / (now.ms - ms) : 0,
    waitMs: { p50, p95, p99 },
    oldestWaitMs
  }
}

function told ({ type, isType, amounts, live, overdue, oldestMs, excess }, totalMs, scheduler) {
  const slotMs = rise(amounts.slotMs, 0)
  return {
    type: type ?? '',
    isType: isType && type !== undefined,
    group: groupOf(scheduler, type),
    share: totalMs > 0 ? Math.min(slotMs / totalMs, 1) : 0,
    slotMs,
    ...Object.fromEntries(COUNTS.map((name, i) => [name, rise(amounts.counts[i], 0)])),
    waiting: live[WAITING],
    delayed: live[DELAYED],
    running: live[RUNNING],
    overdue,
    dead: live[DEAD],
    oldestWaitMs: oldestMs,
    excess
  }
}

/** A scheduler of the caller's may fail. */
function groupOf (scheduler, type) {
  try {
    return typeof scheduler?.groupOf === 'function' && type !== undefined ? scheduler.groupOf(type) : undefined
  } catch {
    return undefined
  }
}
