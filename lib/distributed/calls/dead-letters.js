'use strict'

// Jobs that will not be tried again: page by page, and that they are queued again, or deleted. Their order is that of when they died; of
// those that died in one millisecond it is that of their types and names.

const { typeError, describe } = require('../../arguments/errors')
const { byPartition, inGroups } = require('../broker/groups')

const MOST_NAMES = 1000 // of dead letters that are asked for together
const MOST_RECORDS = 100 // that are read with one call
const MOST_ENDS = 100 // ends of pages whose places are remembered

class DeadLetters {
  /** @param {{ broker: object, globals: object, jobs: object, pushes: object, records: object, removal: object }} parts */
  constructor ({ broker, globals, jobs, pushes, records, removal }) {
    this.broker = broker
    this.globals = globals
    this.jobs = jobs
    this.pushes = pushes
    this.records = records
    this.removal = removal
    this.ends = new Map() // id of the last one of a page → when it died: whoever reads a page may retry or delete all of it
  }

  /**
   * The oldest first.
   * @param {{ type: string | undefined, limit: number, after: string | undefined }} options after: the id of one, behind which it begins
   * @returns {Promise<object[]>} rejects with FAIRLANE_ERR_ARGUMENT if it is not known where `after` was
   */
  async list ({ type, limit, after }) {
    const from = after === undefined ? undefined : await this.placeOf(after)
    let oldest = [] // { place, name, at, record }
    for await (const places of this.globals.somePlaces(type)) {
      const counts = await this.globals.count(places, ['failed'])
      const dead = places.map((place, index) => ({ place, count: Math.min(counts[index], limit) })).filter(({ count }) => count > 0)
      for (const group of inGroups(dead, MOST_NAMES, ({ count }) => count)) {
        const found = await Promise.all(group.map(({ place }) => this.deadOf(place, limit, from)))
        oldest = [...oldest, ...found.flat()].sort(compare).slice(0, limit)
      }
    }
    for (const jobs of byPartition(oldest)) {
      for (const group of inGroups(jobs, MOST_RECORDS, () => 1)) {
        const records = await this.broker.soon(() => this.records.readAll(group))
        group.forEach((job, index) => { job.record = records[index] })
      }
    }
    if (oldest.length > 0) this.remember(oldest.at(-1))
    return oldest.filter(({ record }) => record !== undefined).map(job => this.deadLetterOf(job))
  }

  async retry (id) {
    const job = this.records.locate(id)
    if (job === undefined) return false
    const { place, name } = job
    if (!await this.broker.soon(() => this.pushes.retry(place, name))) return false
    await this.globals.announce(place)
    return true
  }

  async delete (id) {
    const job = this.records.locate(id)
    if (job === undefined || !await this.jobs.isDead(job)) return false
    return this.removal.delete(job.place, job.name)
  }

  // private from here on

  /** @returns {Promise<{ place: object, name: string, at: number }>} */
  async placeOf (id) {
    const job = this.records.locate(id)
    const score = job === undefined ? null : await this.broker.soon(() => this.broker.client.zscore(job.place.key('failed'), job.name))
    const at = score === null ? this.ends.get(id) : Number(score)
    if (at !== undefined) return { ...job, at }
    throw typeError('FAIRLANE_ERR_ARGUMENT', `deadLetters: the dead letter ${describe(id)} no longer exists: start again without after`)
  }

  /** The oldest dead letters of a type, behind one of any type. */
  async deadOf (place, limit, from) {
    const key = place.key('failed')
    const { client } = this.broker
    const { at: fromAt = '-inf' } = from ?? {}
    // those of the millisecond of `from` may be before it
    const tiesCount = from === undefined ? 0 : await this.broker.soon(() => client.zcount(key, fromAt, fromAt))
    const count = limit === Infinity ? -1 : limit + tiesCount
    const answer = await this.broker.soon(() => client.zrangebyscore(key, fromAt, '+inf', 'WITHSCORES', 'LIMIT', 0, count))
    const found = []
    for (let i = 0; i < answer.length; i += 2) found.push({ place, name: answer[i], at: Number(answer[i + 1]), record: undefined })
    return from === undefined ? found : found.filter(job => compare(job, from) > 0).slice(0, limit)
  }

  deadLetterOf ({ place, name, at, record }) {
    const { state, dueAt, ...entry } = Object.getOwnPropertyDescriptors(this.records.entryOf(place, name, record, 'dead'))
    return Object.defineProperties({ at }, entry)
  }

  remember ({ place, name, at }) {
    const id = place.idOf(name)
    this.ends.delete(id)
    this.ends.set(id, at)
    if (this.ends.size > MOST_ENDS) this.ends.delete(this.ends.keys().next().value)
  }
}

function compare (a, b) {
  return a.at - b.at || compareTexts(a.place.name, b.place.name) || compareTexts(a.name, b.name)
}

function compareTexts (a, b) {
  return a < b ? -1 : Number(a > b)
}

module.exports = { DeadLetters }
