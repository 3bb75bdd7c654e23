'use strict'

// What is asked of all jobs, or of those of a type: which wait, how many there are, what limits them, and whether more are taken in.

const { eachHead, groupIn } = require('../../core/internals')
const { idOf } = require('./records')

class Listing {
  /**
   * @param {{ [name: string]: object }} parts of the queue; core: the queue in memory
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor ({ admission, attempts, core, dead, limits, records, retries, stage }, { hasTypes }) {
    this.admission = admission
    this.attempts = attempts
    this.core = core
    this.dead = dead
    this.limits = limits
    this.records = records
    this.retries = retries
    this.stage = stage
    this.hasTypes = hasTypes
  }

  /** As Records.entries(), of those that wait; the rest of a queue without a scheduler is read. @param {string | undefined} type */
  jobs (type) {
    if (type === undefined || this.hasTypes) return this.records.entries(this.core.jobs(type), this.retries.list(type))
    return this.ofType(type)
  }

  /** What map() asks of jobs of a type. */
  mapping (type) {
    const { admission, stage } = this
    const name = this.hasTypes ? type : undefined
    return {
      accepts: () => stage.admission.accepts(name) && admission.lack(1, 1) === undefined,
      ready: () => admission.ready(() => stage.admission.ready(name)),
      slice: () => stage.dispatch.telling.slice()
    }
  }

  /** @param {string | undefined} type @returns {Promise<object>} how many jobs there are; of a type also what limits it */
  async counts (type) {
    if (type !== undefined) return { ...this.countsOf(type), ...this.limits.of(type) }
    return { ...this.countsOfAll(), dead: this.dead.size, types: this.retries.types.size }
  }

  /** @returns {Promise<object[]>} what counts of each type, those with most jobs first */
  async types ({ limit }) {
    const running = this.attempts.runningByType()
    const all = [...this.retries.types.byType.keys()].map(type => ({ type, ...this.countsOf(type, running) }))
    return all.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, limit)
  }

  /** What became of jobs of a type since it had none; and, as in memory, how many there are. */
  statsOf (type) {
    const { waiting, running, delayed } = this.countsOf(type)
    const overdue = this.stage.overdueOf(type)
    const types = waiting + running > 0 ? 1 : 0
    return { ...this.retries.types.statsOf(type), waiting, running, overdue, delayed, types, ...groupIn(this.core, type) }
  }

  /**
   * Calls visit(id) for the job of each type that is to start next, if it is written; without a scheduler for the first of all.
   * @param {string[]} [only] those of these types, at least
   */
  eachHead (visit, only) {
    const { list } = this.stage
    const see = job => { if (idOf(job) !== undefined) visit(idOf(job)) }
    if (list.scheduler !== undefined) eachHead(list, (number, job) => see(job), only)
    else if (list.size > 0) see(list.first())
  }

  /** How many jobs there are, whatever their types. */
  countsOfAll () {
    const { core, retries } = this
    return { waiting: core.waiting + retries.uncounted, delayed: retries.delayed.size, running: core.running }
  }

  /** How many there are of a type. @param {Map<string, number>} [running] how many of each type */
  countsOf (type, running = this.attempts.runningByType()) {
    const { jobs, delayed, dead } = this.retries.types.of(type)
    const startedCount = running.get(type) ?? 0
    return { waiting: jobs - startedCount, delayed, running: startedCount + this.stage.overdueOf(type), dead }
  }

  // private from here on

  * ofType (type) {
    for (const job of this.records.entries(this.core.jobs(), this.retries.list())) if (job.type === type) yield job
  }
}

function sizeOf ({ waiting, running, dead }) {
  return waiting + running + dead
}

module.exports = { Listing }
