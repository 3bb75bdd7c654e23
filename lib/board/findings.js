'use strict'

// What stands out: whatever somebody should look at who opens the page since something is wrong. Each finding has a kind, and the numbers
// and names that the page makes a sentence of.

const { ask } = require('./reading')
const { cut } = require('./texts')

const LOOKED_AT = 50 // types, of those that are ranked first
const MOST_NAMED = 3 // for each kind
const STANDSTILL_MS = 10000
const FLOOD = 0.5 // of the slot time, or of what waits
const BACKLOG = 100 // fewer waiting jobs are no flood
const FAILING = 0.5 // of the attempts
const FAILURES = 10 // fewer say little

module.exports = { findingsOf }

/**
 * @param {{ queue: object }} one
 * @param {object} reading of it
 * @returns {Promise<object[]>} the worst first
 */
async function findingsOf ({ queue }, reading) {
  const { counts, snapshot } = reading
  const rows = await Promise.all(ranked(reading.rows).slice(0, LOOKED_AT).map(row => reading.detail(row)))
  const waiting = [{ ...counts, reason: reading.reason }, ...rows].filter(row => row.waiting > 0)
  return [
    ...queue.closed ? [{ kind: 'closed' }] : [],
    ...counts.paused && !queue.closed ? [{ kind: 'paused', waiting: counts.waiting }] : [],
    ...held(waiting, counts),
    ...stuck(rows, counts, snapshot?.standstillMs ?? 0),
    ...failing(reading.rows, snapshot),
    ...flooded(queue, rows, counts),
    ...limited(waiting),
    ...starving(snapshot)
  ]
}

/** Those first that have the slots, then those that wait. */
function ranked (rows) {
  return [...rows].sort((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.running - a.running || b.waiting - a.waiting)
}

/** What holds back all types. */
function held (waiting, counts) {
  const whole = ['outage', 'broker', 'queue-hold', 'queue-rate']
  const row = waiting.find(({ reason }) => whole.includes(reason?.because))
  return row === undefined ? [] : [{ kind: row.reason.because, untilMs: row.reason.untilMs, waiting: counts.waiting }]
}

/** Slots that nobody gives back. */
function stuck (rows, { running, overdue, waiting }, standstillMs) {
  const found = []
  const by = name => {
    const most = rows.filter(row => row[name] > 0).sort((a, b) => b[name] - a[name])
    return most.slice(0, MOST_NAMED).map(row => [cut(row.type), row[name]])
  }
  if (standstillMs >= STANDSTILL_MS && running > 0) found.push({ kind: 'standstill', ms: standstillMs, waiting, running, holders: by('running') })
  if (overdue > 0) found.push({ kind: 'overdue', overdue, running, holders: by('overdue') })
  return found
}

/** Most attempts fail, of a type or of all. Those that are retried count: with a long backoff jobs fail much later. */
function failing (rows, snapshot) {
  if (snapshot === undefined) return []
  const isFailing = one => failuresOf(one) >= FAILURES && failuresOf(one) >= FAILING * attemptsOf(one)
  const { totals } = snapshot
  const areAll = isFailing(totals)
  const found = rows.filter(row => areAll ? failuresOf(row) > 0 : isFailing(row)).sort((a, b) => failuresOf(b) - failuresOf(a))
  if (found.length === 0 && !areAll) return []
  const types = found.slice(0, MOST_NAMED).map(row => [cut(row.type), failuresOf(row), attemptsOf(row)])
  return [{ kind: 'failing', failures: failuresOf(totals), attempts: attemptsOf(totals), types }]
}

function failuresOf ({ failed = 0, retried = 0 }) {
  return failed + retried
}

function attemptsOf ({ done, ...one }) {
  return done + failuresOf(one)
}

/** One type that has most of the slots while others wait, or most of what waits. */
function flooded (queue, rows, { running, waiting }) {
  const found = []
  const slots = ask(() => queue.concurrency)
  const first = rows[0]
  const others = rows.filter(row => row !== first && row.waiting > 0)
  // a queue that is paused has no slots
  if (slots > 0 && running >= slots && first?.share >= FLOOD && first.running > 0 && others.length > 0) {
    found.push({ kind: 'flood', type: cut(first.type), share: first.share, running: first.running, slots, othersCount: others.length })
  }
  const largest = rows.reduce((most, row) => row.waiting > (most?.waiting ?? 0) ? row : most, undefined)
  if (largest !== undefined && largest.waiting >= BACKLOG && largest.waiting >= FLOOD * waiting && others.length > 0) {
    found.push({ kind: 'backlog', type: cut(largest.type), waiting: largest.waiting, ofWaiting: waiting })
  }
  return found
}

/** Types whose jobs wait for something that holds them alone. */
function limited (waiting) {
  return ['rate', 'hold', 'cap', 'group-cap', 'type-paused'].flatMap(kind => {
    const rows = waiting.filter(({ reason }) => reason?.because === kind).sort((a, b) => b.waiting - a.waiting)
    return rows.slice(0, MOST_NAMED).map(({ type = '', waiting, running, reason: { untilMs } }) => ({ kind, type: cut(type), waiting, running, untilMs }))
  })
}

function starving (snapshot) {
  if (snapshot === undefined || snapshot.starving.length === 0) return []
  const types = snapshot.starving.slice(0, MOST_NAMED).map(({ type = '', sinceMs }) => [cut(type), sinceMs])
  return [{ kind: 'starving', types, count: snapshot.starving.length }]
}
