'use strict'

// Why the next job of a type does not start now. The queue in memory says so of what stands there; what it does not know, it asks here.

const { makeExplaining, options: { readExplainOptions, readType } } = require('../../core/internals')
const { idOf } = require('./records')

class Explaining {
  /** @param {{ [name: string]: object }} parts of the queue */
  constructor ({ core, limits, listing, outage, report: { ledger }, retries, stage, status }) {
    this.scheduler = core.scheduler
    this.stage = stage
    this.ofQueue = undefined // once somebody has asked
    this.about = {
      barredBy: () => status.isClosed ? 'closed' : core.paused ? 'paused' : outage.isHolding ? 'outage' : undefined,
      limiter: () => limits.isOn ? limits.limiter : undefined,
      firstDue: type => retries.firstDue(type),
      delayedTypes: () => retries.types.delayedTypes(),
      countsOf: type => type === undefined ? listing.countsOfAll() : this.countsOf(listing.countsOf(type)),
      waitMsOf: job => ledger?.records === undefined || idOf(job) === undefined ? undefined : ledger.records.waitMsOf(idOf(job))
    }
  }

  /** @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  explain (type, options) {
    const name = type === undefined && this.scheduler === null ? undefined : readType(type)
    const wishes = readExplainOptions(options)
    this.ofQueue ??= this.make()
    return this.ofQueue.explain(name, wishes)
  }

  // private from here on

  /** Without a scheduler the list has no types. */
  countsOf ({ waiting, delayed, running }) {
    return this.scheduler === null ? { waiting, delayed, running, listed: waiting - delayed } : { waiting, delayed, running }
  }

  make () {
    const { list, dispatch, deadlines: { clock } } = this.stage
    return makeExplaining({ list, dispatch, clock }, this.scheduler, this.about)
  }
}

module.exports = { Explaining }
