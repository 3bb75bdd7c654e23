'use strict'

// What a folder of jobs says, for who reads it without its lock (../../log/looking.js): it is the queue at one moment, whoever has it open,
// and nothing is changed. Jobs are those that the operating system has: what a process has taken in and not written yet is not in it.

const { COST } = require('../../job/cost')
const { errorOf } = require('../../job/error-text')
const { hasOptions, isPush, payloadOf, readSeq, segmentName } = require('../../log/format')
const { corrupt } = require('../../log/damage')
const { ioError } = require('../../log/log')
const { Reader } = require('../../log/reader')
const { NONE, readHead } = require('../push/job-options')
const { decode, headLength } = require('../push/serialize')
const { DEAD, DUE, OVER, STARTED, hasStarted } = require('../run/job-state')
const { schedulesIn } = require('./schedule-notes')

class Folder {
  /**
   * @param {string} path
   * @param {object} found by lookAt(), with a TimedSurvey as its observer
   * @param {{ serializer: { decode: (bytes: Buffer) => any }, now: number }} read now: ms since 1970
   */
  constructor (path, { holder, snapshot, reading, observer, damage }, { serializer, now }) {
    this.path = path
    this.holder = holder
    this.damage = damage
    this.cut = reading.cut
    this.entriesCount = reading.live.jobsCount // of jobs, or of payloads of a queue of bytes
    this.segmentsCount = reading.segments.size
    this.bytes = Array.from(reading.segments.values(), ({ bytes }) => bytes).reduce((sum, bytes) => sum + bytes, 0)
    this.now = now
    this.reading = reading
    this.survey = observer
    this.snapshot = snapshot
    this.serializer = serializer
    this.reader = new Reader(snapshot, path)
  }

  /** Lets go of the files. */
  close () {
    this.snapshot.end()
  }

  /** As counts() of a queue, and when the job was pushed that has waited longest. O(jobs). */
  counts () {
    const sum = { waiting: 0, delayed: 0, running: 0, dead: 0 }
    const types = new Set()
    let oldestAt
    for (const { state, type, pushedAt } of this.states()) {
      count(sum, state)
      if (type !== undefined) types.add(type)
      if (state === 'waiting' && !(pushedAt >= oldestAt)) oldestAt = pushedAt
    }
    return { ...sum, types: types.size, oldestAt }
  }

  /** As types() of a queue, those with most jobs first; jobs without a type are of `undefined`. O(jobs). */
  types () {
    const byType = new Map()
    for (const { type, state } of this.states()) {
      if (!byType.has(type)) byType.set(type, { type, waiting: 0, delayed: 0, running: 0, dead: 0 })
      count(byType.get(type), state)
    }
    const sizeOf = ({ waiting, running, dead }) => waiting + running + dead
    return [...byType.values()].sort((a, b) => sizeOf(b) - sizeOf(a))
  }

  /** As listSchedules() of a queue, the next times as they will be if nothing happens until then. @returns {object[]} */
  schedules () {
    return schedulesIn(this)
  }

  /**
   * Each job that has not ended, once, dead letters too, in the order of their ids.
   * @param {(about: object) => boolean} [isMeant] asked before anything is read of a job that is not known: id, type, state, pushedAt
   * @returns {Iterator<object>} as get() of a queue, with pushedAt, some options, and `bytes`, the encoded payload; `payload` is decoded
   *   when it is asked for. Throws FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_IO
   */
  * jobs (isMeant = () => true) {
    for (const about of this.states()) if (isMeant(about)) yield this.entryOf(about)
  }

  /** @returns {object | undefined} a job as jobs() has it */
  get (id) {
    const { table } = this.reading.live
    if (!Number.isSafeInteger(id) || id < 1 || !table.find(id)) return undefined
    const about = this.stateOf(id)
    return about === undefined ? undefined : this.entryOf(about)
  }

  // private from here on, and for schedule-notes.js

  /** The numbers of all records of jobs, ascending. */
  * seqs () {
    const { live: { table }, nextSeq } = this.reading
    for (let seq = table.first(nextSeq); seq < nextSeq; seq = table.next(seq + 1, nextSeq)) yield seq
  }

  * states () {
    for (const seq of this.seqs()) {
      const about = this.stateOf(seq)
      if (about !== undefined) yield about
    }
  }

  /** @returns {object | undefined} what is known of a job; undefined if it has ended */
  stateOf (seq) {
    const state = this.reading.live.states.get(seq)
    if (state?.phase === OVER) return undefined
    const { type, hasOptions } = this.survey.find(seq)
    const dueAt = this.dueAtOf(seq, state, hasOptions)
    return { id: seq, type, state: this.nameOf(state, dueAt), pushedAt: this.survey.pushedAt(seq), dueAt }
  }

  /** As users know it. A job that was given to a runner runs if there is a process, else it is run again. */
  nameOf (state, dueAt) {
    if (state?.phase === DEAD) return 'dead'
    if (state?.phase === STARTED && this.holder !== undefined) return 'running'
    return dueAt > this.now ? 'delayed' : 'waiting'
  }

  dueAtOf (seq, state, hasOptions) {
    if (state?.phase === DUE) return state.dueAt
    return hasOptions && !hasStarted(state) ? this.read(seq).options.dueAt : 0
  }

  entryOf ({ id, type, state, pushedAt, dueAt }) {
    const { attempts = 0, error, dueAt: endedAt } = this.reading.live.states.get(id) ?? {}
    const { options, bytes, isOptional } = this.read(id)
    const { serializer } = this
    return {
      id,
      type,
      state,
      attempts,
      pushedAt,
      dueAt: state === 'delayed' ? dueAt : undefined,
      at: state === 'dead' && endedAt > 0 ? endedAt : undefined,
      error: error === undefined ? undefined : errorOf(error),
      key: options.key,
      priority: options.priority,
      cost: options.cost ?? COST,
      schedule: options.schedule?.name,
      bytes: bytes.subarray(headLength(bytes, isOptional)),
      get payload () {
        return decode(serializer, bytes, isOptional)
      }
    }
  }

  /** The record of a job. @returns {{ type: string | undefined, options: object, bytes: Buffer, isOptional: boolean }} */
  read (seq) {
    const record = this.record(seq)
    const bytes = Buffer.from(payloadOf(record))
    const isOptional = hasOptions(record[0])
    return { options: isOptional ? readHead(bytes) : NONE, bytes, isOptional }
  }

  record (seq) {
    const { live: { table }, segments } = this.reading
    table.find(seq)
    const { segment, offset, length } = table
    try {
      const record = this.reader.record(segment, offset, length, segments.get(segment).bytes)
      if (isPush(record[0]) && readSeq(record, 1) === seq) return record
    } catch (err) {
      throw ioError(err)
    }
    // it was, when the log was read
    throw corrupt(this.path, segmentName(segment), offset, `this is not the record of job ${seq}`)
  }
}

function count (counts, state) {
  // delayed jobs wait, too
  if (state === 'delayed') counts.waiting++
  counts[state]++
}

module.exports = { Folder }
