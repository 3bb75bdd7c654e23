'use strict'

// What the page is told of a queue: numbers of it, what stands out, and the types that it asks for.

const { supports } = require('../arguments/unsupported')
const { actionsOf } = require('./actions')
const { findingsOf } = require('./findings')
const { isAtBroker } = require('./options')
const { ask, finite, readingOf } = require('./reading')
const { runsOf } = require('./runs')
const { cut } = require('./texts')

const MOST_SHOWN = 50
const MOST_RANKED = 1000 // of which those that match are shown
const FEWEST_RANKED = 200 // where those are shown that come first
const MOST_GROUPS = 50
const MOST_OVERDUE = 20
const MOST_SCHEDULES = 100
const MOST_FAILURES = 20 // the newest
const MOST_CHARACTERS = 1000 // of a type that has buttons

// What types are sorted by, and what all of them are ranked by for that: those that are highest by it are looked at.
const SORTS = {
  type: { by: 'share', key: row => row.type },
  group: { by: 'share', key: row => row.group },
  share: { by: 'share', key: row => row.share },
  running: { by: 'share', key: row => row.running },
  waiting: { by: 'waiting', key: row => row.waiting },
  oldestWait: { by: 'oldestWait', key: row => row.oldestWaitMs },
  done: { by: 'share', key: row => row.done },
  failed: { by: 'failed', key: row => row.failed },
  retried: { by: 'share', key: row => row.retried },
  overdue: { by: 'overdue', key: row => row.overdue },
  dead: { by: 'failed', key: row => row.dead },
  cap: { by: 'share', key: row => row.cap, isDetail: true },
  weight: { by: 'share', key: row => row.weight, isDetail: true },
  until: { by: 'oldestWait', key: row => row.reason?.untilMs, isDetail: true }
}

const TOLD = [
  'group', 'share', 'waiting', 'delayed', 'running', 'overdue', 'dead', 'oldestWaitMs', 'done', 'failed', 'retried', 'paused', 'cap', 'weight', 'rate'
]

module.exports = { stateOf, SORTS }

/**
 * @param {{ name: string, queue: object, metrics: object | undefined, history: object | undefined, readOnly: boolean }} one
 * @param {{ sort: string, isUp: boolean, filter: string, group: string | undefined }} view sort: one of SORTS
 * @param {(question: string, ask: () => Promise<any>) => Promise<any>} share as Answers.share(), of this queue
 * @returns {Promise<object>} fit for JSON; rejects with what the broker fails with
 */
async function stateOf (one, view, share) {
  const { name, queue, history, readOnly, showPayloads } = one
  const ranking = rankingOf(queue, view)
  const reading = await share(JSON.stringify(ranking), () => readingOf(one, ranking))
  const { counts, snapshot, typesCount, timeline } = reading
  const [types, findings, runs, schedules] = await Promise.all([
    typesOf(reading, view), findingsOf(one, reading), runsOf(one, reading), schedulesOf(queue)
  ])
  return {
    name,
    closed: queue.closed,
    isGlobal: reading.isGlobal,
    slots: slotsOf(queue),
    ...counts,
    now: Date.now(),
    windowMs: snapshot?.windowMs ?? null,
    totals: snapshot === undefined ? null : totalsOf(snapshot),
    timeline,
    findings,
    actions: readOnly ? [] : actionsOf(queue),
    showsPayloads: showPayloads && supports(queue, ['get']),
    typesCount,
    because: reading.reason?.because,
    untilMs: reading.reason?.untilMs,
    ...types,
    groups: groupsOf(reading),
    runs,
    overdueTypes: overdueOf(reading),
    schedules,
    failures: history === undefined ? null : failuresOf(history)
  }
}

/** What types are ranked by, and how many of them are told: as few as will do, since each costs a few microseconds. */
function rankingOf (queue, { sort, isUp, filter, group }) {
  const { by } = SORTS[sort]
  const areFirstShown = sort === by && !isUp && filter === '' && group === undefined
  const areAllKnown = !isAtBroker(queue) && ask(() => queue.scheduler.groupOf) === undefined // and groups have no more of them
  return { by, top: areFirstShown && areAllKnown ? FEWEST_RANKED : MOST_RANKED }
}

function totalsOf ({ totals: { perSecond, waitMs, oldestWaitMs, done, failed, retried }, standstillMs, fairness, starving, refused }) {
  const refusedCount = Object.values(refused).reduce((sum, count) => sum + count, 0)
  return {
    perSecond, waitMs, oldestWaitMs, done, failed, retried, standstillMs, fairness, starvingCount: starving.length, refused: refusedCount
  }
}

/** @returns {Promise<{ types: object[], foundCount: number }>} those that match, as they are to be sorted */
async function typesOf (reading, { sort, isUp, filter, group }) {
  const wanted = filter.toLowerCase()
  const ranked = reading.rows.filter(row => row.type.toLowerCase().includes(wanted) && (group === undefined || row.group === group))
  const found = group === undefined ? [...ranked, ...await reading.named(filter)] : ranked
  const { key, isDetail = false } = SORTS[sort]
  const compare = comparing(key, isUp)
  // at a broker each of them is a call
  const looked = isDetail && reading.isGlobal ? found.sort(comparing(SORTS.share.key, false)).slice(0, MOST_SHOWN) : found
  const rows = isDetail ? await Promise.all(looked.map(row => reading.detail(row))) : looked
  const shown = await Promise.all(rows.sort(compare).slice(0, MOST_SHOWN).map(row => reading.detail(row)))
  return { types: shown.map(told), foundCount: filter === '' && group === undefined ? reading.typesCount : found.length }
}

/** What is not known comes last; what is equal, as it is, by what waits, and by name. */
function comparing (key, isUp) {
  const sign = isUp ? 1 : -1
  return (a, b) => {
    const [first, second] = [key(a) ?? null, key(b) ?? null]
    if ((first === null) !== (second === null)) return first === null ? 1 : -1
    const order = first < second ? -sign : Number(first > second) * sign
    return order || b.waiting + b.running - a.waiting - a.running || (a.type < b.type ? -1 : 1)
  }
}

/** A row as the page has it. */
function told (row) {
  const { type, isType, reason } = row
  const { because, untilMs, holders } = reason ?? {}
  const shown = Object.fromEntries(TOLD.map(name => [name, row[name]]))
  return { type: cut(type, MOST_CHARACTERS), isType: isType && type.length <= MOST_CHARACTERS, ...shown, because, untilMs, holders }
}

/** Of the types that are ranked. @returns {object[] | null} null: there are none */
function groupsOf ({ rows }) {
  const groups = new Map()
  for (const { group, share, waiting, running, overdue } of rows) {
    if (group === undefined) continue
    const sum = groups.get(group) ?? { group, share: undefined, waiting: 0, running: 0, overdue: 0, typesCount: 0 }
    groups.set(group, sum)
    if (share !== undefined) sum.share = share + (sum.share ?? 0)
    sum.waiting += waiting
    sum.running += running
    sum.overdue += overdue
    sum.typesCount++
  }
  if (groups.size === 0) return null
  return [...groups.values()].sort((a, b) => (b.share ?? 0) - (a.share ?? 0) || b.waiting - a.waiting).slice(0, MOST_GROUPS)
}

/** Types whose runners go on although their jobs were told of their ends; those with most of them. */
function overdueOf ({ rows }) {
  const types = rows.filter(({ overdue }) => overdue > 0).sort((a, b) => b.overdue - a.overdue)
  return types.slice(0, MOST_OVERDUE).map(({ type, overdue }) => ({ type: cut(type), overdue }))
}

async function schedulesOf (queue) {
  if (!supports(queue, ['listSchedules'])) return null
  const schedules = await queue.listSchedules()
  return schedules.sort((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity)).slice(0, MOST_SCHEDULES)
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
