'use strict'

// What is asked of the broker about single jobs by their ids: what they are, that they end, and dead letters.

const { byPartition, inGroups } = require('../broker/groups')
const { jsonOf } = require('../broker/received')

const STATES = new Map([
  ['waiting', 'waiting'], ['prioritized', 'waiting'], ['paused', 'waiting'], ['waiting-children', 'waiting'],
  ['delayed', 'delayed'], ['active', 'running'], ['completed', 'done'], ['failed', 'dead']
])

const MOST_NAMES = 1000 // of dead letters that are asked for together
const MOST_RECORDS = 100 // that are read with one call

class SingleJobs {
  /** @param {{ broker: object, records: object, globals: object }} parts */
  constructor ({ broker, records, globals }) {
    this.broker = broker
    this.records = records
    this.globals = globals
  }

  async get (id) {
    const job = this.records.locate(id)
    if (job === undefined) return undefined
    const { place, name } = job
    const record = await this.records.read(place, name)
    if (record === undefined) return undefined
    const state = STATES.get(await this.broker.soon(() => place.backend.getState(name)))
    if (state === undefined) return undefined // it has ended meanwhile
    const entry = this.records.entryOf(place, name, record, state)
    if (state === 'delayed') entry.dueAt = await this.dueAt(place, name)
    return entry
  }

  /** @returns {Promise<boolean>} false if there is no such job that waits or runs */
  async cancel (id) {
    const job = this.records.locate(id)
    if (job === undefined || await this.isDead(job)) return false
    const { place, name } = job
    if (await this.broker.soon(() => place.backend.isFinished(name)) !== 0) return false
    if (await this.remove(place, name)) return true
    return this.records.markCancelled(place, name)
  }

  /**
   * Cancels a job that this process has added and does not want any more. One that another process has queued, with the same key, is
   * left alone.
   * @returns {Promise<boolean>} as cancel()
   */
  async desert (place, name, inbox) {
    const record = await this.records.read(place, name)
    if (record === undefined || Object(jsonOf(record.data)).inbox !== inbox) return false
    return this.cancel(place.idOf(name))
  }

  /** Takes a job away that waits. @returns {Promise<boolean>} false if it runs, or is not there */
  async remove (place, name) {
    if (await this.broker.soon(() => this.broker.client.exists(place.key(name))) === 0) return false
    return await this.broker.soon(() => place.backend.remove(name, false)) === 1
  }

  /** The oldest first. */
  async deadLetters ({ type, limit }) {
    let oldest = [] // { place, name, at, record } by when they died
    for await (const places of this.globals.somePlaces(type)) {
      const counts = await this.globals.count(places, ['failed'])
      const dead = places.map((place, index) => ({ place, count: Math.min(counts[index], limit) })).filter(({ count }) => count > 0)
      for (const group of inGroups(dead, MOST_NAMES, ({ count }) => count)) {
        const found = await Promise.all(group.map(({ place }) => this.deadOf(place, limit)))
        oldest = [...oldest, ...found.flat()].sort((a, b) => a.at - b.at).slice(0, limit)
      }
    }
    for (const jobs of byPartition(oldest)) {
      for (const group of inGroups(jobs, MOST_RECORDS, () => 1)) {
        const records = await this.broker.soon(() => this.records.readAll(group))
        group.forEach((job, index) => { job.record = records[index] })
      }
    }
    return oldest.filter(({ record }) => record !== undefined).map(job => this.deadLetterOf(job))
  }

  async retryDead (id) {
    const job = this.records.locate(id)
    if (job === undefined || !await this.isDead(job)) return false
    const { place, name } = job
    try {
      await this.broker.soon(() => place.backend.retryFinishedJob({ id: name, opts: {} }, 'failed'))
    } catch (err) {
      if (typeof err.code === 'number') return false // another process did so meanwhile
      throw err
    }
    await this.globals.announce(place)
    return true
  }

  async deleteDead (id) {
    const job = this.records.locate(id)
    if (job === undefined || !await this.isDead(job)) return false
    return this.remove(job.place, job.name)
  }

  // private from here on

  /** The oldest dead letters of a type. */
  async deadOf (place, limit) {
    const answer = await this.broker.soon(() => this.broker.client.zrange(place.key('failed'), 0, limit - 1, 'WITHSCORES'))
    const found = []
    for (let at = 0; at < answer.length; at += 2) found.push({ place, name: answer[at], at: Number(answer[at + 1]), record: undefined })
    return found
  }

  deadLetterOf ({ place, name, at, record }) {
    const { state, dueAt, ...entry } = Object.getOwnPropertyDescriptors(this.records.entryOf(place, name, record, 'dead'))
    return Object.defineProperties({ at }, entry)
  }

  async isDead ({ place, name }) {
    return await this.broker.soon(() => this.broker.client.zscore(place.key('failed'), name)) !== null
  }

  /** BullMQ's scores have twelve bits for the order within a millisecond. */
  async dueAt (place, name) {
    const score = await this.broker.soon(() => this.broker.client.zscore(place.key('delayed'), name))
    return score === null ? undefined : Math.floor(Number(score) / 4096)
  }
}

module.exports = { SingleJobs }
