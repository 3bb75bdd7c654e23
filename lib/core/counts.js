'use strict'

// What is asked of a queue: counts() and types(), how many jobs there are now, as queues on disk and at a broker say it, where dead letters
// are, too; stats(), what became of jobs; jobs(), which wait; explain(), why they do.

const { readExplainOptions, readKnownType, readTypesOptions } = require('./options')

class Counting {
  /**
   * @param {object} internals of the queue
   * @param {object | null} scheduler
   * @param {{ capOf: Function, makeExplaining: Function }} rooms as of rooms.js
   */
  constructor (internals, scheduler, { capOf, makeExplaining }) {
    this.capOf = capOf
    this.makeExplaining = makeExplaining
    this.internals = internals
    this.dispatch = internals.dispatch
    this.list = internals.list
    this.scheduler = scheduler // where there is none and jobs have priorities, there is a lane nonetheless
    this.explaining = undefined
  }

  /** O(1), of all types if none is delayed and none shares a lane. @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  counts (type) {
    if (type !== undefined) return this.countsOfType(readKnownType(type, this.scheduler, 'counts'))
    const { dispatch: { waiting, delayed, running } } = this
    return { waiting, delayed, running, dead: 0, types: this.scheduler === null ? 0 : this.typesCount() }
  }

  /** Those with most jobs first. O(types × log types). @throws FAIRLANE_ERR_ARGUMENT */
  types (options) {
    const { limit } = readTypesOptions(options)
    if (this.scheduler === null) return []
    const rows = [...this.rows().values()]
    return rows.sort((a, b) => b.waiting + b.running - a.waiting - a.running).slice(0, limit).map(row => ({ ...row }))
  }

  /** O(1). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  stats (type) {
    const { dispatch, internals: { madeTickets, madeLimiting }, list, scheduler } = this
    const hasGroups = typeof scheduler?.groupOf === 'function'
    if (type !== undefined) {
      const known = readKnownType(type, scheduler, 'stats')
      const counts = { delayed: 0, ...list.statsOf(known) }
      return hasGroups ? { ...counts, group: scheduler.groupOf(known, list.find(known)) } : counts
    }
    const { accepted, waiting, running, overdueCount: overdue, done, failed, cancelled } = dispatch
    const { rejected, misuse, overrun, delayed } = dispatch
    const types = scheduler === null ? 0 : list.typesCount
    const planned = madeTickets?.madePlanned
    const retried = planned === undefined ? 0 : planned.retriedCount
    const throttled = planned === undefined ? 0 : planned.throttledCount
    const joined = planned?.madeKeys === undefined ? 0 : planned.madeKeys.joinedCount
    const spent = dispatch.costs === null ? 0 : dispatch.costs.spent
    const heldTypes = madeLimiting === undefined ? 0 : madeLimiting.heldTypes
    const now = { waiting, running, overdue, overrun, types, delayed, heldTypes, groups: hasGroups ? scheduler.groupCount : 0 }
    return { accepted, done, failed, cancelled, rejected, misuse, retried, throttled, joined, spent, ...now }
  }

  /** Those that wait now. @returns {Array<{ type: string | undefined, payload: any }>} @throws FAIRLANE_ERR_TYPE, FAIRLANE_ERR_ARGUMENT */
  jobs (type) {
    const jobs = []
    const visit = (payload, whenSettled, generation, type) => jobs.push({ type, payload })
    if (type === undefined) this.list.forEach(visit)
    else this.list.forEachOf(readKnownType(type, this.scheduler, 'jobs'), visit)
    return jobs
  }

  /** Why the next job of a type does not start now. O(log types). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  explain (type, options) {
    const name = type === undefined && this.scheduler === null ? undefined : readKnownType(type, this.scheduler, 'explain')
    const wishes = readExplainOptions(options)
    this.explaining ??= this.makeExplaining(this.internals, this.scheduler, this.about())
    return this.explaining.explain(name, wishes)
  }

  // private from here on

  /** What explain() asks. A queue in memory that closes goes on until it is empty. */
  about () {
    const { dispatch, internals, list } = this
    return {
      barredBy: () => dispatch.concurrency < 0 ? 'paused' : undefined,
      limiter: () => internals.madeLimiting?.limiter,
      firstDue: type => list.delays?.types.get(type)?.firstDue(),
      delayedTypes: () => list.delays?.types.keys() ?? []
    }
  }

  countsOfType (name) {
    const { internals: { madeLimiting: limiting }, list, scheduler } = this
    const { type, ...counts } = this.rows(name).get(name) ?? new Row(name)
    return {
      ...counts,
      cap: this.capOf(scheduler, name),
      rate: limiting === undefined ? null : limiting.rateOf(name),
      paused: list.isTypePaused(name),
      heldMs: limiting === undefined ? 0 : limiting.heldMs(limiting.holdsTypes ? name : undefined)
    }
  }

  typesCount () {
    const { dispatch, list } = this
    return dispatch.delayed === 0 && !list.hasSharedLanes ? list.typesCount : this.rows().size
  }

  /** Each type with jobs. @param {string} [only] this one, which may have none @returns {Map<string, Row>} */
  rows (only) {
    const { list } = this
    const rows = new Map()
    const count = (type, waiting, running, delayed) => {
      if (waiting + running === 0 || (only !== undefined && type !== only)) return
      const row = rows.get(type) ?? new Row(type)
      rows.set(type, row)
      row.waiting += waiting
      row.running += running
      row.delayed += delayed
    }
    list.tally((type, waiting, running) => count(type, waiting, running, 0), only)
    for (const { type, count: delayed } of delaysOf(list, only)) count(type, delayed, 0, delayed)
    return rows
  }
}

/** What there is of a type. */
class Row {
  constructor (type) {
    this.type = type
    this.waiting = 0
    this.delayed = 0
    this.running = 0
    this.dead = 0
  }
}

function delaysOf ({ delays }, only) {
  if (delays === null) return []
  if (only === undefined) return delays.types.values()
  const ofType = delays.types.get(only)
  return ofType === undefined ? [] : [ofType]
}

module.exports = { Counting }
