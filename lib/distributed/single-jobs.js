'use strict'

// What is asked of the broker about single jobs by their ids: what they are, that they end, and dead letters.

const STATES = new Map([
  ['waiting', 'waiting'], ['prioritized', 'waiting'], ['paused', 'waiting'], ['waiting-children', 'waiting'],
  ['delayed', 'delayed'], ['active', 'running'], ['completed', 'done'], ['failed', 'dead']
])

class SingleJobs {
  /**
   * @param {object} broker
   * @param {object} records
   * @param {object} globals
   */
  constructor (broker, records, globals) {
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

  /** Takes a job away that waits. @returns {Promise<boolean>} false if it runs, or is not there */
  async remove (place, name) {
    if (await this.broker.soon(() => this.broker.client.exists(place.key(name))) === 0) return false
    return await this.broker.soon(() => place.backend.remove(name, false)) === 1
  }

  /** The oldest first. */
  async deadLetters ({ type, limit }) {
    const places = type === undefined ? await this.globals.allPlaces() : [this.broker.place(type)]
    const entries = []
    for (const place of places) {
      const names = await this.broker.soon(() => this.broker.client.zrange(place.key('failed'), 0, limit - 1))
      for (const name of names) {
        const record = await this.records.read(place, name)
        if (record === undefined) continue
        const { state, dueAt, ...entry } = Object.getOwnPropertyDescriptors(this.records.entryOf(place, name, record, 'dead'))
        entries.push(Object.defineProperties({ at: Number(record.finishedOn) }, entry))
      }
    }
    return entries.sort((a, b) => a.at - b.at).slice(0, limit)
  }

  async retryDead (id) {
    const job = this.records.locate(id)
    if (job === undefined || !await this.isDead(job)) return false
    const { place, name } = job
    try {
      await this.broker.soon(() => place.backend.retryFinishedJob({ id: name, opts: {} }, 'failed'))
    } catch (err) {
      if (typeof err.code === 'number') return false // somebody else did so meanwhile
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
