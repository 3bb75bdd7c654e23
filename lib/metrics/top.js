'use strict'

// snapshot({ top }): the types that come first by what happened lately, and all types together.

const { COUNTS } = require('./windows')
const { DEAD, DELAYED, RUNNING, WAITING } = require('../ledger/segment')
const { Ranking } = require('./ranking')
const { Totals, rise } = require('./totals')
const { oldestMs, waitsBy } = require('./waits')

const ALL = 'all'
const MOST_ASKED = 2 ** 12 // jobs that wait: a quantile of so many is that of a share that is 0.8 % off, mostly
const NOW = ['waiting', 'delayed', 'running', 'overdue', 'dead']

module.exports = { nothingBy, rankedBy }

/** The same while no queue is observed. */
function nothingBy ({ by, timeline }) {
  const numbers = Object.fromEntries([...NOW, ...COUNTS, 'slotMs', 'perSecond'].map(name => [name, 0]))
  const totals = { ...numbers, waitMs: { p50: undefined, p95: undefined, p99: undefined }, oldestWaitMs: undefined }
  const none = { standstillMs: 0, fairness: undefined, starving: [], refused: {}, types: [], ...timeline && { timeline: [] } }
  return { by, windowMs: 0, typesCount: 0, slots: 0, totals, ...none }
}

/**
 * @param {{ meter: object, queue: object, watch: object, buckets: object, timeline: object, wishes: object }} about wishes: as options.js
 *   reads them
 * @returns {object} what is told, but for the name
 */
function rankedBy ({ meter, queue, watch, buckets, timeline, wishes }) {
  const { top, by, windowMs } = wishes
  const ms = meter.records.time.read()
  const slice = meter.windows.sliceOf(windowMs, ms)
  const ranking = new Ranking({ meter, top, by, slice, ms })
  const now = new Totals(meter, ms, (first, counts) => ranking.look(first, counts))
  const rows = ranking.rows()
  const slotMs = rise(now.slotMs, slice.totals.slotMs)
  return {
    by,
    windowMs: ms - slice.ms,
    typesCount: ranking.typesCount,
    slots: queue.concurrency,
    totals: totalsOf(now, slice, { slotMs, buckets, oldestWaitMs: oldestMs(meter, ms), waits: waitsOf(meter, ms) }),
    standstillMs: now.standstillMs,
    fairness: watch.fairness.index,
    starving: watch.starvation.list(ms),
    refused: Object.fromEntries(meter.records.refusedCounts),
    types: rows.map(row => told(row, slotMs, queue.scheduler)),
    ...wishes.timeline && { timeline: timeline.list(now) }
  }
}

/** Counts by bucket of those who wait. */
function waitsOf (meter, ms) {
  return waitsBy(meter, ms, () => ALL, MOST_ASKED).get(ALL)
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
    ...countsOf(amounts),
    waiting: live[WAITING],
    delayed: live[DELAYED],
    running: live[RUNNING],
    overdue,
    dead: live[DEAD],
    oldestWaitMs: oldestMs,
    excess
  }
}

/** By their names; written out, since there may be thousands of rows. */
function countsOf ({ counts: [started, done, failed, cancelled, retried, throttled, postponed] }) {
  return {
    started: rise(started, 0),
    done: rise(done, 0),
    failed: rise(failed, 0),
    cancelled: rise(cancelled, 0),
    retried: rise(retried, 0),
    throttled: rise(throttled, 0),
    postponed: rise(postponed, 0)
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
