'use strict'

// Records of schedules that are no jobs, and are over from the beginning: what a schedule is, and how far it is where no job says so.
//
//   what it is     type and payload of its jobs, as theirs; the rest as JSON (docs/decisions/0117-schedules-stay.md)
//   how far it is  its name, and a time: of its last job, or, below 0, since when there is the schedule

const { FairlaneError } = require('../../arguments/errors')
const { encode, nameOf } = require('../../job/serializers')
const { Batch } = require('../push/batch')
const { headOf } = require('../push/job-options')
const { JobState, DEAD, OVER } = require('../run/job-state')
const { decode, headLength, stampOf } = require('../push/serialize')

const NONE = Buffer.alloc(0)

class Notes {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ serialize: object, now: () => number }} options now: in ms since 1970
   */
  constructor ({ admission, outage, store }, { serialize, now }) {
    this.admission = admission
    this.outage = outage
    this.store = store
    this.serializer = serialize
    this.now = now
    this.calendars = undefined // those of schedules that were read
  }

  /** Whether the record of a job or a note is there. */
  has (seq) {
    return this.store.table.find(seq)
  }

  /** Whether what it is of has ended. A note always has. */
  isOver (seq) {
    return isOver(this.store.states.get(seq))
  }

  /** When a job ended; of one that has not, now. */
  endOf (seq) {
    const state = this.store.states.get(seq)
    return isOver(state) ? state.dueAt : this.now()
  }

  /** How far a schedule is. @returns {object} for write() */
  timeOf ({ name, type }, time) {
    return { type, said: { schedule: { name, time } }, payload: NONE }
  }

  /** What a schedule is. @returns {object} for write() */
  meaningOf ({ name, type, payload, cron, everyMs, timezone, catchUp, overlap, priority, cost, paused }) {
    const about = { name, cron, everyMs, timezone, catchUp, overlap, priority, cost, paused }
    const note = JSON.stringify({ ...about, serialize: nameOf(this.serializer) })
    return { type, said: { note }, payload: Buffer.from(encode(this.serializer, payload)) }
  }

  /**
   * Writes notes, all of them or none.
   * @returns {{ seqs: number[], promise: Promise<any> }} promise: when they are safe; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_TOO_LARGE
   */
  write (notes) {
    const now = this.now()
    const heads = notes.map(({ said }) => headOf(stampOf(now), said))
    const lengths = notes.map(({ payload }, i) => heads[i].length + payload.length)
    const bytes = lengths.reduce((sum, length) => sum + length, 0)
    const refusal = this.store.refusal(notes.length, bytes, notes[0].type)
    if (refusal !== undefined) return { seqs: [], promise: Promise.reject(refusal) }
    const batch = new Batch(this.store)
    notes.forEach(({ type, payload }, i) => batch.add(type, false, heads[i], true, payload, JobState.overAt(now)))
    const { promise } = this.admission.write(batch)
    return { seqs: notes.map((note, i) => this.store.nextSeq - notes.length + i), promise }
  }

  /** What a schedule is, as it stands in a note. @param {object} read the record @throws FAIRLANE_ERR_SERIALIZER, FAIRLANE_ERR_PEER */
  read ({ type, options: { note }, bytes }) {
    const { serialize, ...about } = JSON.parse(note)
    if (serialize !== nameOf(this.serializer)) {
      throw new FairlaneError(
        'FAIRLANE_ERR_SERIALIZER',
        `The schedule ${about.name} was stored with serialize: '${serialize}', and the queue was opened with '${nameOf(this.serializer)}'`
      )
    }
    const { Calendars, timesOf } = require('../../job/schedule-times')
    this.calendars ??= new Calendars()
    return { ...about, type, payload: this.payloadOf(about.name, bytes), times: timesOf(about, about.name, this.calendars) }
  }

  payloadOf (name, bytes) {
    try {
      return decode(this.serializer, bytes, true)
    } catch (cause) {
      const message = `The payload of the schedule ${name} cannot be decoded: open the queue with the serialize that encoded it`
      throw new FairlaneError('FAIRLANE_ERR_SERIALIZER', message, { cause })
    }
  }

  /** Whether a note says the same of a schedule. */
  isSame ({ type, options: { note }, bytes }, schedule) {
    try {
      const { type: itsType, said, payload } = this.meaningOf(schedule)
      return type === itsType && note === said.note && payload.equals(bytes.subarray(headLength(bytes, true)))
    } catch {
      return false // what is to be encoded is another one by now
    }
  }

  /** Whether a note says that a schedule is paused. */
  isPause ({ options: { note } }) {
    return JSON.parse(note).paused === true
  }

  /** A record is not needed any more, if its job has ended. @returns {object | undefined} as outage.finish() */
  drop (seq) {
    if (seq !== 0 && this.has(seq) && this.store.states.get(seq)?.phase === OVER) return this.outage.finish(seq)
  }
}

/** Whether the job in this state has ended; dueAt of that says when, if that is known. */
function isOver (state) {
  return state?.phase === OVER || state?.phase === DEAD
}

module.exports = { Notes, isOver }
