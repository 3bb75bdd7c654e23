'use strict'

// The records of a history as the jobs of bull-board. A record has no payload: a queue on disk is asked for it, as long as it has the job.

const { inspect } = require('node:util')
const { typeError } = require('../arguments/errors')
const { supports } = require('../arguments/unsupported')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
// status of bull-board → ours
const STATES = { active: 'running', waiting: 'waiting', completed: 'done', failed: 'failed', delayed: 'delayed' }
const STATUSES = Object.fromEntries(Object.entries(STATES).map(([status, state]) => [state, status]))

class RecordedJobs {
  /**
   * @param {object} queue
   * @param {object} history
   * @param {{ name: string, type: string | undefined }} options type: only those of one type
   */
  constructor (queue, history, { name, type }) {
    this.queue = queue
    this.history = history
    this.name = name
    this.type = type
    this.isOnDisk = supports(queue, ['get', 'cancel', 'retryDead', 'deleteDead'])
  }

  counts () {
    const counts = this.history.counts(this.type)
    return Object.fromEntries(Object.entries(STATES).map(([status, state]) => [status, counts[state]]))
  }

  /** Of each status those from one number to another, the newest first. */
  list (statuses, start, end) {
    const records = statuses.flatMap(status => {
      return Array.from(this.history.list({ state: STATES[status], type: this.type, limit: end + 1 })).slice(start)
    })
    return Promise.all(records.sort((a, b) => b.id - a.id).map(record => this.jobOf(record)))
  }

  /** @returns {Promise<RecordedJob> | undefined} */
  get (id) {
    const record = /^\d{1,15}$/.test(id) ? this.history.get(Number(id)) : undefined
    return record === undefined || !this.isShown(record) ? undefined : this.jobOf(record)
  }

  /** @returns {string[]} what has become of a job, a line for each change */
  logs (id) {
    const record = this.history.get(Number(id))
    if (record === undefined || !this.isShown(record)) return []
    return this.history.versions(record.id).map(({ state, at, attempt, error }) => {
      return [`${new Date(at).toISOString()} ${state}, attempt ${attempt}`, ...(error === undefined ? [] : [error])].join(': ')
    })
  }

  /** Takes away what has been there for so long. */
  async clean (status, graceMs) {
    if (status === 'active' || STATES[status] === undefined) throw typeError(ARGUMENT, `Jobs that are ${status} cannot be cleaned.`)
    const records = this.history.list({ state: STATES[status], type: this.type, until: Date.now() - graceMs, limit: Infinity })
    for (const { id } of [...records]) await this.remove(id)
  }

  async retry (id) {
    if (!this.isOnDisk || !await this.queue.retryDead(id)) {
      throw typeError(ARGUMENT, `Job ${id} is not a dead letter, so it cannot be retried.`)
    }
  }

  /** Cancels a job that waits or is delayed, deletes a dead letter, and forgets what has ended. */
  async remove (id) {
    const { state } = this.history.get(id) ?? {}
    if (state === 'running') throw typeError(ARGUMENT, `Job ${id} is running, so it cannot be removed.`)
    if (state === 'waiting' || state === 'delayed') {
      if (!this.isOnDisk) throw typeError(ARGUMENT, `Job ${id} waits in memory, where waiting jobs can be removed only all together.`)
      await this.queue.cancel(id)
      return
    }
    if (this.isOnDisk) await this.queue.deleteDead(id)
    this.history.remove(id)
  }

  // private from here on

  isShown ({ type }) {
    return this.type === undefined || type === this.type
  }

  async jobOf (record) {
    return new RecordedJob(this, record, await this.dataOf(record))
  }

  /** What of a payload can be shown as JSON. */
  async dataOf ({ id, state }) {
    if (!this.isOnDisk || state === 'done' || state === 'cancelled') return {}
    try {
      const { payload } = await this.queue.get(id)
      return fitForJson(payload)
    } catch {
      return {} // there is no such job any more, or nothing can be read
    }
  }
}

/** What bull-board calls a job. */
class RecordedJob {
  #jobs
  #record
  #data

  constructor (jobs, record, data) {
    this.#jobs = jobs
    this.#record = record
    this.#data = data
    this.id = String(record.id)
    this.opts = {}
  }

  toJSON () {
    const { type, attempts, acceptedAt, startedAt, endedAt, error } = this.#record
    return {
      id: this.id,
      name: type ?? this.#jobs.name,
      timestamp: acceptedAt,
      processedOn: startedAt,
      finishedOn: endedAt,
      attemptsMade: attempts,
      failedReason: error ?? '',
      stacktrace: error === undefined ? [] : [error],
      data: this.#data,
      returnvalue: undefined,
      progress: 0,
      opts: this.opts
    }
  }

  async getState () {
    return STATUSES[this.#record.state] ?? 'unknown'
  }

  retry () {
    return this.#jobs.retry(this.#record.id)
  }

  remove () {
    return this.#jobs.remove(this.#record.id)
  }

  async promote () {
    throw typeError(ARGUMENT, 'Jobs of a fairlane queue cannot be promoted.')
  }
}

/** What JSON does not have, as a text. */
function fitForJson (payload) {
  try {
    if (JSON.stringify(payload) !== undefined) return payload
  } catch {} // a circle, or a bigint
  return inspect(payload)
}

module.exports = { RecordedJobs }
