'use strict'

// What has become of a job that is on disk: its state, and the STATE record that says it. A job that waits for its first slot has none.

const { errorText } = require('../../job/error-text')
const { CLAIM } = require('../../log/claims')
const { STATE, DEAD: DEAD_KIND, DELAYED: DELAYED_KIND, OVER: OVER_KIND, STATE_BYTES, DELAY_BYTES, writeSeq } = require('../../log/format')

//   phase        the job                                               kind     not before     when the queue is opened
//   WAITING      had a slot that was taken back before its first start 0        -1             waits where it stood
//   STARTED      was given to a runner, which has not ended            0        0              runs again; dead if no attempt is left
//   DUE          failed, and is tried again when its time has come     DELAYED  ms since 1970  waits for its time
//   INTERRUPTED  was started; the queue closed, the attempt is none    0        1              runs again
//   REVIVED      was a dead letter, and was retried                    0        0              waits where it stood
//   DEAD         is a dead letter                                      DEAD     ms since 1970  is one
//   OVER         has ended, and its record is still of use             OVER     ms since 1970  keeps a key, or says how far a schedule is
//
// STARTED and REVIVED differ in their attempts: only the latter has none. DUE has none where all that were made do not count, and is of
// kind 0 where nobody knows how long the delay was. Earlier versions wrote DEAD with 0. A job that was pushed with a delay is not DUE: its
// options say when it is to start.
//
// `claim` is what the record may take of the reserve.
const WAITING = Object.freeze({ name: 'waiting', kind: 0, claim: CLAIM.STATE, notBefore: -1 })
const STARTED = Object.freeze({ name: 'started', kind: 0, claim: CLAIM.START, notBefore: 0 })
const DUE = Object.freeze({ name: 'due', kind: 0, claim: CLAIM.STATE, notBefore: undefined }) // that of the job
const INTERRUPTED = Object.freeze({ name: 'interrupted', kind: 0, claim: CLAIM.STATE, notBefore: 1 })
const REVIVED = Object.freeze({ name: 'revived', kind: 0, claim: CLAIM.START, notBefore: 0 })
const DEAD = Object.freeze({ name: 'dead', kind: DEAD_KIND, claim: CLAIM.END, notBefore: undefined })
const OVER = Object.freeze({ name: 'over', kind: OVER_KIND, claim: CLAIM.END, notBefore: undefined })

const TEXT_OF_CUT = errorText(new Error('not kept'))

/** Never changed: a job gets another one. */
class JobState {
  /**
   * @param {object} phase
   * @param {number} attempts how many have begun, of those that count
   * @param {number} dueAt of DUE: when the next one may begin, in ms since 1970; of OVER and DEAD: when the job ended, if somebody
   *   wants to know; else 0
   * @param {number | undefined} delayMs of DUE: how long that was after the last one, if it is known
   * @param {string | undefined} error what the last one ended with, as errorText() makes it
   */
  constructor (phase, attempts, dueAt, delayMs, error) {
    this.phase = phase
    this.attempts = attempts
    this.dueAt = dueAt
    this.delayMs = delayMs
    this.error = error
  }

  static started (attempts, error) {
    return new JobState(STARTED, attempts, 0, undefined, error)
  }

  static due (attempts, dueAt, delayMs, error) {
    return new JobState(DUE, attempts, dueAt, delayMs, error)
  }

  /** @param {number} endedAt in ms since 1970 */
  static overAt (endedAt) {
    return new JobState(OVER, 0, endedAt, undefined, undefined)
  }

  /** @param {number} [endedAt] in ms since 1970 */
  static dead (attempts, error, endedAt = 0) {
    return new JobState(DEAD, attempts, endedAt, undefined, error)
  }

  /** @param {Buffer} bytes with a whole STATE record of that length at `at` */
  static read (bytes, at, length) {
    const isDelayed = bytes[at + 7] === DELAYED_KIND
    const attempts = bytes.readUInt32LE(at + 8)
    const notBefore = bytes.readDoubleLE(at + 12)
    const phase = phaseOf(bytes[at + 7], attempts, notBefore)
    const delayMs = isDelayed ? bytes.readDoubleLE(at + STATE_BYTES) : undefined
    const head = STATE_BYTES + (isDelayed ? DELAY_BYTES : 0)
    const error = length === head ? undefined : bytes.toString('utf8', at + head, at + length)
    return new JobState(phase, attempts, phase.notBefore === undefined ? notBefore : 0, delayMs, error)
  }

  /** Whether the job has ended. */
  get isOver () {
    return this.phase === OVER
  }

  /** What the record may take of the reserve. */
  get claim () {
    return this.phase.claim
  }

  /** The length of the record. */
  get bytes () {
    return STATE_BYTES + this.restBytes
  }

  /** The same, to be written where there is no room for the text of an error: a dead letter says so, of others it is not missed. */
  get cut () {
    const { phase, attempts, dueAt, delayMs, error } = this
    if (error === undefined) return this
    return new JobState(phase, attempts, dueAt, delayMs, phase === DEAD ? TEXT_OF_CUT : undefined)
  }

  /** Writes the record, for which there is room at `at`. */
  write (buffer, seq, at) {
    const { phase, attempts, dueAt, delayMs, error } = this
    const isDelayed = delayMs !== undefined
    buffer[at] = STATE
    writeSeq(buffer, seq, at + 1)
    buffer[at + 7] = isDelayed ? DELAYED_KIND : phase.kind
    buffer.writeUInt32LE(attempts, at + 8)
    buffer.writeDoubleLE(phase.notBefore ?? dueAt, at + 12)
    buffer.writeUInt32LE(this.restBytes, at + 20)
    if (isDelayed) buffer.writeDoubleLE(delayMs, at + STATE_BYTES)
    if (error !== undefined) buffer.write(error, at + STATE_BYTES + (isDelayed ? DELAY_BYTES : 0))
  }

  // private from here on

  get restBytes () {
    return (this.delayMs === undefined ? 0 : DELAY_BYTES) + (this.error === undefined ? 0 : Buffer.byteLength(this.error))
  }
}

JobState.waiting = Object.freeze(new JobState(WAITING, 0, 0, undefined, undefined))
JobState.interrupted = Object.freeze(new JobState(INTERRUPTED, 0, 0, undefined, undefined))
JobState.revived = Object.freeze(new JobState(REVIVED, 0, 0, undefined, undefined))
JobState.over = Object.freeze(new JobState(OVER, 0, 0, undefined, undefined))

function phaseOf (kind, attempts, notBefore) {
  if (kind === DEAD_KIND) return DEAD
  if (kind === OVER_KIND) return OVER
  if (kind === DELAYED_KIND) return DUE
  if (notBefore === WAITING.notBefore) return WAITING
  if (attempts === 0) return notBefore === REVIVED.notBefore ? REVIVED : INTERRUPTED
  return notBefore > STARTED.notBefore ? DUE : STARTED
}

/** The most bytes of a record that says what became of an attempt, without texts. */
const MOST_CUT_BYTES = Math.max(JobState.due(1, 0, 0, '').cut.bytes, JobState.dead(1, '').cut.bytes)

/** Whether a job in this state, or without one, has had its first start. */
function hasStarted (state) {
  return state !== undefined && state.phase !== WAITING
}

module.exports = { JobState, MOST_CUT_BYTES, hasStarted, WAITING, STARTED, DUE, INTERRUPTED, REVIVED, DEAD, OVER }
