'use strict'

// What is read of jobs at the broker: BullMQ's records, and the fields that stand in them beside BullMQ's.
//
//   fault      name, message and code of what the last attempt failed with
//   attempts   how many a dead letter had
//   base       failures and stalls when it died: whoever puts it back, it has all its attempts again
//   cancelled  it is not to be run again
//   started    its runner has been called, though no attempt counts
//   alone      how often processes had ended with it when it was last run alone

const { errorOf } = require('../faults')
const { parseId } = require('./names')

const FIELDS = ['timestamp', 'data', 'finishedOn', 'returnvalue', 'failedReason', 'fault', 'attempts', 'base', 'atm', 'stc', 'delay']

class Records {
  /**
   * @param {object} broker
   * @param {{ decode: (data: object) => any }} serialize
   */
  constructor (broker, serialize) {
    this.broker = broker
    this.serialize = serialize
  }

  /** @returns {Promise<{ base: { failures: number, stalls: number }, aloneAt: number | undefined, fault: string | undefined,
   *   isCancelled: boolean, hasStarted: boolean }>} */
  async historyOf (job) {
    const [base, alone, fault, cancelled, started] = await this.call(() => this.broker.client.hmget(job.place.key(job.name), 'base', 'alone', 'fault', 'cancelled', 'started'))
    return { base: baseOf(base), aloneAt: alone === null ? undefined : Number(alone), fault: fault ?? undefined, isCancelled: cancelled !== null, hasStarted: started !== null }
  }

  /** From now on, if the process ends, it was this job. */
  markAlone (job) {
    return this.call(() => this.broker.client.hset(job.place.key(job.name), 'alone', job.json.stalledCounter))
  }

  /** @returns {Promise<{ place: object, name: string } | undefined>} where a job is, if there can be one of that id */
  locate (id) {
    const parts = parseId(id)
    return parts === undefined ? undefined : { place: this.broker.place(parts.type), name: parts.jobName }
  }

  /** @returns {Promise<object | undefined>} the fields of a record; undefined if there is none */
  async read (place, name) {
    const values = await this.call(() => this.broker.client.hmget(place.key(name), ...FIELDS))
    return recordOf(values)
  }

  /** The same of many jobs of a partition, with one call. @returns {Promise<(object | undefined)[]>} */
  async readAll (jobs) {
    const pipeline = this.broker.client.pipeline()
    for (const { place, name } of jobs) pipeline.hmget(place.key(name), ...FIELDS)
    const answers = await pipeline.exec()
    return answers.map(([err, values]) => {
      if (err) throw err
      return recordOf(values)
    })
  }

  /** As callers see a job. */
  entryOf (place, name, record, state) {
    const base = baseOf(record.base ?? null)
    const made = Math.max(0, Number(record.atm ?? 0) - base.failures) + Math.max(0, Number(record.stc ?? 0) - base.stalls)
    const entry = {
      id: place.idOf(name),
      type: place.type,
      state,
      attempts: state === 'dead' ? Number(record.attempts ?? record.atm ?? 0) : made,
      dueAt: undefined,
      error: faultOf(record),
      payload: undefined
    }
    const { serialize } = this
    return Object.defineProperty(entry, 'payload', { enumerable: true, get: () => serialize.decode(Object(JSON.parse(record.data))) })
  }

  /** A job that runs is not to be tried again, and its process is told. @returns {Promise<boolean>} false if it has ended */
  async markCancelled (place, name) {
    const { wake } = place.partition
    return await this.call(() => this.broker.client.fairlaneCancel(place.key(name), 'PUBLISH', wake, place.name, name)) === 1
  }

  // private from here on

  call (fn) {
    return this.broker.soon(fn)
  }
}

/** What the record of a job says that it failed with, if it did. */
function faultOf ({ fault, failedReason }) {
  if (fault !== undefined) return errorOf(fault)
  return failedReason === undefined ? undefined : new Error(failedReason)
}

function recordOf (values) {
  if (values[0] === null) return undefined
  return Object.fromEntries(FIELDS.map((name, at) => [name, values[at] ?? undefined]))
}

function baseOf (text) {
  const [failures = 0, stalls = 0] = text === null ? [] : text.split(',').map(Number)
  return { failures, stalls }
}

module.exports = { Records, faultOf }
