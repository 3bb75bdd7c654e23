'use strict'

// What is asked of the broker about single jobs by their ids: what they are, and that they end.

const { jsonOf } = require('../broker/received')

const STATES = new Map([
  ['waiting', 'waiting'], ['prioritized', 'waiting'], ['paused', 'waiting'], ['waiting-children', 'waiting'],
  ['delayed', 'delayed'], ['active', 'running'], ['completed', 'done'], ['failed', 'dead']
])

class SingleJobs {
  /** @param {{ broker: object, records: object }} parts */
  constructor ({ broker, records }) {
    this.broker = broker
    this.records = records
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

  async isDead ({ place, name }) {
    return await this.broker.soon(() => this.broker.client.zscore(place.key('failed'), name)) !== null
  }

  // private from here on

  /** BullMQ's scores have twelve bits for the order within a millisecond. */
  async dueAt (place, name) {
    const score = await this.broker.soon(() => this.broker.client.zscore(place.key('delayed'), name))
    return score === null ? undefined : Math.floor(Number(score) / 4096)
  }
}

module.exports = { SingleJobs }
