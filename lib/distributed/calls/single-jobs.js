'use strict'

// What is asked of the broker about single jobs by their ids: what they are, and that they end.

const { cancelledError } = require('../../arguments/errors')
const { jsonOf } = require('../broker/received')

const STATES = new Map([
  ['waiting', 'waiting'], ['prioritized', 'waiting'], ['paused', 'waiting'], ['waiting-children', 'waiting'],
  ['delayed', 'delayed'], ['active', 'running'], ['completed', 'done'], ['failed', 'dead']
])

class SingleJobs {
  /** @param {{ broker: object, records: object, removal: object }} parts */
  constructor ({ broker, records, removal }) {
    this.broker = broker
    this.records = records
    this.removal = removal
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

  /**
   * @param {string} id
   * @param {FairlaneError} [error] what listeners, and the process that waits for the result, are told if the job waits
   * @returns {Promise<boolean>} false if there is no such job that waits or runs
   */
  async cancel (id, error = cancelledError()) {
    const job = this.records.locate(id)
    if (job === undefined) return false
    const { place, name } = job
    const record = await this.records.read(place, name)
    if (record === undefined || await this.broker.soon(() => place.backend.isFinished(name)) !== 0) return false
    return await this.removal.cancel(place, name, record, error) || this.records.markCancelled(place, name)
  }

  /**
   * Cancels a job that this process has added and does not want any more. One that another process has queued, with the same key, is
   * left alone.
   * @returns {Promise<boolean>} as cancel()
   */
  async desert (place, name, inbox, error) {
    const record = await this.records.read(place, name)
    if (record === undefined) return false
    const isWanted = record.key === undefined
      ? Object(jsonOf(record.data)).inbox !== inbox
      : await this.broker.soon(() => this.broker.client.fairlaneLeave(place.key(name), inbox)) === 0
    if (isWanted) return false
    return this.cancel(place.idOf(name), error)
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
