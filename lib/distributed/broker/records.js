'use strict'

// What is read of jobs at the broker: BullMQ's records, and the fields that stand in them beside BullMQ's.
//
//   fault      name, message and code of what the last attempt failed with
//   attempts   how many a dead letter had
//   base       failures and stalls when it died: if it is put back, by whatever tool, it has all its attempts again
//   cancelled  it is not to be run again
//   started    its runner has been called, though no attempt counts
//   overdue    it is none: its runner outlived the job of that name, and keeps the place of it
//   alone      how often processes had ended with it when it was last run alone

const { parseId } = require('../names')
const received = require('./received')

const FIELDS = ['timestamp', 'data', 'finishedOn', 'returnvalue', 'failedReason', 'fault', 'attempts', 'base', 'atm', 'stc', 'delay', 'progress', 'key', 'inboxes', 'opts', 'due', 'started']
const PAST = ['base', 'alone', 'fault', 'cancelled', 'started', 'overdue']

class Records {
  /**
   * @param {{ broker: object }} parts
   * @param {{ serialize: { decode: (data: object) => any } }} options
   */
  constructor ({ broker }, { serialize }) {
    this.broker = broker
    this.serialize = serialize
  }

  /** @returns {Promise<{ base: { failures: number, stalls: number }, aloneAt: number | undefined, fault: string | undefined,
   *   isCancelled: boolean, hasStarted: boolean, isOverdue: boolean }>} */
  async historyOf (job) {
    const key = job.place.key(job.name)
    const [base, alone, fault, cancelled, started, overdue] = await this.call(() => this.broker.client.hmget(key, ...PAST))
    return {
      base: baseOf(base),
      aloneAt: alone === null ? undefined : numberOf(alone),
      fault: fault ?? undefined,
      isCancelled: cancelled !== null,
      hasStarted: started !== null,
      isOverdue: overdue !== null
    }
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

  /**
   * The same of many jobs of a partition, together.
   * @param {{ place: object, name: string }[]} jobs
   * @param {string[]} [fields] those that are asked for, `timestamp` first
   * @returns {Promise<(object | undefined)[]>}
   */
  async readAll (jobs, fields = FIELDS) {
    const answers = await this.broker.askAll(jobs.map(({ place, name }) => ['hmget', place.key(name), ...fields]))
    return answers.map(values => recordOf(values, fields))
  }

  /** As callers see a job. */
  entryOf (place, name, record, state) {
    const base = baseOf(record.base ?? null)
    const made = Math.max(0, numberOf(record.atm) - base.failures) + Math.max(0, numberOf(record.stc) - base.stalls)
    const entry = {
      id: place.idOf(name),
      type: place.type,
      state,
      attempts: state === 'dead' ? numberOf(record.attempts ?? record.atm) : made,
      dueAt: undefined,
      error: faultOf(record),
      progress: received.jsonOf(record.progress),
      payload: undefined
    }
    return Object.defineProperty(entry, 'payload', { enumerable: true, get: () => this.payloadOf(record) })
  }

  /** @throws what decoding does */
  payloadOf ({ data }) {
    return this.serialize.decode(Object(JSON.parse(data)))
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
  if (fault !== undefined) return received.faultOf(fault)
  return failedReason === undefined ? undefined : new Error(failedReason)
}

function recordOf (values, fields = FIELDS) {
  if (values[0] === null) return undefined
  return Object.fromEntries(fields.map((name, at) => [name, values[at] ?? undefined]))
}

function numberOf (text) {
  return received.countOf(Number(text))
}

function baseOf (text) {
  const [failures, stalls] = text === null ? [] : text.split(',').map(Number)
  return { failures: received.countOf(failures), stalls: received.countOf(stalls) }
}

module.exports = { Records, FIELDS, faultOf, recordOf }
