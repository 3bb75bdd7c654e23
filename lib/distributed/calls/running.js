'use strict'

// What runs now, in whatever process: the jobs that were taken, and runners that go on although their jobs have ended.

const { byPartition, inGroups } = require('../broker/groups')
const { countOf } = require('../broker/received')

const MOST_TYPES = 100 // whose lists are read with one call
const MOST_RECORDS = 100
const FIELDS = ['timestamp', 'processedOn', 'atm', 'stc', 'base', 'overdue'] // of records: a payload may be large

class Running {
  /** @param {{ broker: object, globals: object, records: object }} parts */
  constructor ({ broker, globals, records }) {
    this.broker = broker
    this.globals = globals
    this.records = records
  }

  /**
   * Those first that were taken first. O(types), unless one is asked for.
   * @param {{ type: string | undefined, limit: number }} which
   * @returns {Promise<object[]>}
   */
  async list ({ type, limit }) {
    const found = []
    for await (const places of this.globals.somePlaces(type)) {
      const counts = await this.globals.count(places, ['active'])
      const busy = places.filter((place, index) => counts[index] > 0)
      for (const group of inGroups(busy, MOST_TYPES, () => 1)) found.push(...await this.jobsOf(group))
    }
    const runs = []
    for (const jobs of byPartition(found)) {
      for (const group of inGroups(jobs, MOST_RECORDS, () => 1)) {
        const records = await this.broker.soon(() => this.records.readAll(group, FIELDS))
        records.forEach((record, index) => { if (record !== undefined) runs.push(this.runOf(group[index], record)) })
      }
    }
    return runs.sort((a, b) => a.startedAt - b.startedAt).slice(0, limit)
  }

  // private from here on

  /** @param {object[]} places of one partition @returns {Promise<{ place: object, name: string }[]>} */
  async jobsOf (places) {
    const lists = await this.broker.soon(() => this.broker.askAll(places.map(place => ['lrange', place.key('active'), 0, -1])))
    return lists.flatMap((names, index) => names.map(name => ({ place: places[index], name })))
  }

  runOf ({ place, name }, record) {
    const { id, type, attempts } = this.records.entryOf(place, name, record, 'running')
    const isOverdue = record.overdue !== undefined
    return {
      id: isOverdue ? undefined : id,
      type,
      attempt: isOverdue ? undefined : attempts + 1,
      startedAt: countOf(Number(record.processedOn ?? record.timestamp)),
      overdue: isOverdue
    }
  }
}

module.exports = { Running }
