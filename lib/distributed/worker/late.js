'use strict'

// Jobs that have waited for longer than they may while no process took them. Those with a time of their own stand in .late by when it is
// over; the time of the queue is the same for all jobs, so it is enough to look at those that have waited longest.

const { overdueError } = require('../../arguments/errors')
const { countOf, dueAtOf, jsonOf, ownOf } = require('../broker/received')

const MOST_AT_ONCE = 100
const FIRST = 10 // of a list that are looked at: an unshifted job stands before some that have waited longer
const DUE_SCALE = 4096 // of the scores of delayed jobs

class Late {
  /**
   * @param {{ broker: object, observed: object | undefined, records: object, removal: object }} parts
   * @param {{ maxWaitMs: number }} options of this process: of jobs without a time of their own
   */
  constructor ({ broker, observed, records, removal }, { maxWaitMs }) {
    this.broker = broker
    this.observed = observed
    this.records = records
    this.removal = removal
    this.maxWaitMs = maxWaitMs
    this.isLimited = maxWaitMs !== Infinity
  }

  /** Ends jobs of a type whose own time is over. @param {number} now in ms since 1970, by the broker's clock */
  async endOwn (place, now) {
    const { client } = this.broker
    for (;;) {
      const names = await client.zrangebyscore(place.key('.late'), '-inf', now, 'LIMIT', 0, MOST_AT_ONCE)
      const records = await this.recordsOf(place, names)
      await Promise.all(names.map((name, at) => this.end(place, name, records[at], now)))
      if (names.length < MOST_AT_ONCE) return
    }
  }

  /** Ends those of the others that have waited for longer than jobs of this process may. */
  async endOthers (place, now) {
    const since = now - this.maxWaitMs
    await this.endSome(place, now, count => ['lrange', place.key('wait'), -count, -1])
    await this.endSome(place, now, count => ['zrangebyscore', place.key('prioritized'), '-inf', since * 1000, 'LIMIT', 0, count])
    await this.endSome(place, now, count => ['zrangebyscore', place.key('delayed'), '-inf', since * DUE_SCALE, 'LIMIT', 0, count])
  }

  // private from here on

  /** Goes on while the first ones are late. @param {(count: number) => any[]} first a call for the names of so many */
  async endSome (place, now, first) {
    for (let count = FIRST; ; count = MOST_AT_ONCE) {
      const [name, ...args] = first(count)
      const names = await this.broker.client[name](...args)
      const records = await this.recordsOf(place, names)
      const late = records.map(record => this.isLate(record, now))
      await Promise.all(names.filter((_, at) => late[at]).map(name => this.end(place, name, records[names.indexOf(name)], now)))
      if (late.includes(false) || names.length < count) return
    }
  }

  recordsOf (place, names) {
    return this.records.readAll(names.map(name => ({ place, name })))
  }

  isLate (record, now) {
    if (record === undefined || hasStarted(record)) return false
    const opts = Object(jsonOf(record.opts))
    const { maxWaitMs = this.maxWaitMs } = ownOf(opts)
    return now - waitsSince(record, opts) > maxWaitMs
  }

  /** @param {object | undefined} record undefined: a tool has removed the job */
  async end (place, name, record = {}, now) {
    const error = overdueError()
    if (!await this.removal.cancel(place, name, record, error)) return
    const waitedMs = now - waitsSince(record, Object(jsonOf(record.opts)))
    this.observed?.ends({ job: { attempt: 0, place, waitedMs, number: 0 }, kind: 'cancelled', details: { error } })
  }
}

function waitsSince ({ due, timestamp }, opts) {
  return dueAtOf(Number(due), Number(timestamp), opts)
}

/** Or was tried, or has ended a process. */
function hasStarted ({ atm, stc, started }) {
  return countOf(Number(atm)) + countOf(Number(stc)) > 0 || started !== undefined
}

module.exports = { Late }
