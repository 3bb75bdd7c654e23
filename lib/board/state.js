'use strict'

// What is told of a queue. What waits and runs in this process its metrics know; if its jobs are at a broker, that is asked, and of the
// metrics there are the times.

const { supports } = require('../arguments/unsupported')
const { actionsOf } = require('./actions')
const { isAtBroker } = require('./options')

const MOST_TYPES = 200
const MOST_DEAD_LETTERS = 100 // the oldest
const MOST_FAILURES = 20 // the newest
const MOST_CHARACTERS = 200 // of texts that only are read
const MOST_STARVING = 20
const NO_TIMES = { sum: 0, p50: undefined, p99: undefined }
const NO_COUNTS = { waiting: 0, running: 0, delayed: 0, dead: 0 }
const NO_METRICS = { slotMs: 0, waitMs: NO_TIMES, runMs: NO_TIMES, done: 0, failed: 0, cancelled: 0, retried: 0 }

module.exports = { stateOf }

/**
 * @param {{ name: string, queue: object, metrics: object | undefined, history: object | undefined, readOnly: boolean }} shown
 * @param {string} filter only types that have this in them, in whatever case
 * @returns {Promise<object>} fit for JSON; rejects with what the broker fails with
 */
async function stateOf ({ name, queue, metrics, history, readOnly }, filter) {
  const snapshot = metrics === undefined ? { types: [], starving: [], refused: {} } : metrics.snapshot()
  const { counts, types, detailsOf } = isAtBroker(queue) ? await globalView(queue, snapshot) : await localView(queue, snapshot)
  const found = select(types, filter)
  const totalMs = types.reduce((sum, { slotMs }) => sum + slotMs, 0)
  const first = found.slice(0, MOST_TYPES)
  const starving = new Set(snapshot.starving.map(({ type = '' }) => type))
  const details = await Promise.all(first.map(({ type }) => detailsOf(type)))
  return {
    name,
    closed: queue.closed,
    slots: slotsOf(queue),
    ...counts,
    fairness: snapshot.fairness ?? null,
    starvingCount: starving.size,
    starving: [...starving].slice(0, MOST_STARVING).map(cut),
    refused: snapshot.refused,
    actions: readOnly ? [] : actionsOf(queue),
    typeCount: found.length,
    types: first.map((entry, i) => ({ ...told(entry, totalMs), starving: starving.has(entry.type), ...details[i] })),
    deadLetters: await deadLettersOf(queue),
    failures: history === undefined ? null : failuresOf(history)
  }
}

/** Of a queue in memory or on disk. */
async function localView (queue, { types }) {
  const { waiting, running, delayed, dead = null } = supports(queue, ['deadLetters']) ? await queue.counts() : queue.stats()
  return {
    counts: { paused: queue.paused, waiting, running, delayed, dead },
    types: queue.scheduler === null ? types.map(type => ({ ...type, isType: false })) : types,
    detailsOf: type => ({
      paused: queue.isTypePaused(type),
      cap: finite(ask(() => queue.scheduler.capOf(type))),
      weight: finite(ask(() => queue.scheduler.weightOf(type))),
      rate: null
    })
  }
}

/** Of all processes. */
async function globalView (queue, { types }) {
  const answers = [queue.counts(), queue.types({ limit: Number.MAX_SAFE_INTEGER })]
  const [{ types: typeCount, ...counts }, all] = await Promise.all(answers)
  const byType = new Map(types.map(entry => [entry.type, { ...entry, ...NO_COUNTS }]))
  for (const entry of all) byType.set(entry.type, { ...NO_METRICS, ...byType.get(entry.type), ...entry })
  return {
    counts: { paused: false, ...counts },
    types: [...byType.values()].map(entry => ({ ...entry, isType: true })),
    async detailsOf (type) {
      const { paused, cap, rate } = await queue.counts(type)
      return { paused, cap: finite(cap), weight: finite(ask(() => queue.scheduler.weightOf(type))), rate }
    }
  }
}

/** Those with the largest shares first. */
function select (types, filter) {
  const wanted = filter.toLowerCase()
  return types.filter(({ type }) => type.toLowerCase().includes(wanted))
    .sort((a, b) => b.slotMs - a.slotMs || b.waiting - a.waiting || (a.type < b.type ? -1 : 1))
}

function told ({ type, isType, slotMs, waiting, running, done, failed, cancelled, retried, waitMs, runMs }, totalMs) {
  return {
    type,
    isType,
    share: totalMs === 0 ? 0 : slotMs / totalMs,
    slotMs,
    waiting,
    running,
    waitMs: quantiles(waitMs),
    runMs: quantiles(runMs),
    done,
    failed,
    cancelled,
    retried
  }
}

function quantiles ({ p50 = null, p99 = null }) {
  return { p50, p99 }
}

/** What can be asked of some queues and schedulers; a scheduler that is the user's own may fail. */
function ask (question) {
  try {
    return question()
  } catch {
    return undefined
  }
}

/** The first ones. A queue that has closed may have no access to them. */
async function deadLettersOf (queue) {
  if (!supports(queue, ['deadLetters'])) return null
  if (queue.closed) return []
  const letters = await queue.deadLetters({ limit: MOST_DEAD_LETTERS })
  return letters.map(({ id, type = '', attempts, error }) => {
    return { id, type: cut(type), attempts, error: cut(`${error.code ?? error.name}: ${error.message}`) }
  })
}

function failuresOf (history) {
  return Array.from(history.list({ state: 'failed', limit: MOST_FAILURES }), ({ id, type = '', attempts, endedAt, error }) => {
    return { id, type: cut(type), attempts, endedAt, error }
  })
}

/** null for an unlimited number, if the queue is paused, and in a process that only pushes. */
function slotsOf (queue) {
  const slots = ask(() => queue.concurrency)
  return slots > 0 ? finite(slots) : null
}

/** @returns {number | null} as JSON has it */
function finite (value) {
  return Number.isFinite(value) ? value : null
}

function cut (text) {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text
}
