'use strict'

// What a push says of its job beside payload and type, and how that is written: it stands in the record of the job, between the time of the
// push and the payload. A job without options has nothing there, and its record says so by its kind.
// A job holds no more of it in memory than it needs there while it waits.

const { FairlaneError } = require('../../arguments/errors')
const { headLength, LENGTH_BYTES, STAMP_BYTES } = require('./serialize')

//   pushed at f64 | length of the fields u16 | fields | encoded payload
//   field: name u8 | length u16 | value
//
//   1  due at f64, delay f64              ms since 1970; ms
//   2  maxAttempts f64      3  timeoutMs f64      4  maxWaitMs f64      5  priority u8
//   6  until f64 | key                    -1: it has started, -2: it has settled, else so many ms since its push
//   7  time f64 | name                    of a schedule, and when that was due
//   8  text                               what a schedule is: of no job, but of a note (../schedule/notes.js)
//   9  as 7                               of a schedule that was run by a call, and when
//  10  cost f64

const MAX_KEY_BYTES = 2 ** 15
const UNTIL_STARTED = -1
const UNTIL_SETTLED = -2
const FIELD_BYTES = 3

/** Frozen where it is shared; what is not said is undefined. */
class JobOptions {
  constructor ({
    delayMs = 0, dueAt = 0, maxAttempts, timeoutMs, maxWaitMs, priority = 0, cost, key, keyUntil, schedule, byHand = false, note
  }) {
    this.delayMs = delayMs
    this.dueAt = dueAt // in ms since 1970, of a job with a delay
    this.maxAttempts = maxAttempts
    this.timeoutMs = timeoutMs
    this.maxWaitMs = maxWaitMs
    this.priority = priority
    this.cost = cost
    this.key = key
    this.keyUntil = keyUntil // 'started', 'settled', or so many ms since the push
    this.schedule = schedule // { name, time } of which the job is
    this.byHand = byHand // not since its time had come
    this.note = note // what a schedule is
  }
}

const NONE = Object.freeze(new JobOptions({}))

// name → how a value is read, from the bytes of it
const readers = new Map([
  [1, bytes => ({ dueAt: bytes.readDoubleLE(0), delayMs: bytes.readDoubleLE(8) })],
  [2, bytes => ({ maxAttempts: bytes.readDoubleLE(0) })],
  [3, bytes => ({ timeoutMs: bytes.readDoubleLE(0) })],
  [4, bytes => ({ maxWaitMs: bytes.readDoubleLE(0) })],
  [5, bytes => ({ priority: bytes[0] })],
  [6, bytes => ({ keyUntil: untilOf(bytes.readDoubleLE(0)), key: bytes.toString('utf8', 8) })],
  [7, bytes => ({ schedule: readTime(bytes) })],
  [8, bytes => ({ note: bytes.toString('utf8') })],
  [9, bytes => ({ schedule: readTime(bytes), byHand: true })],
  [10, bytes => ({ cost: bytes.readDoubleLE(0) })]
])

module.exports = { JobOptions, NONE, optionsOf, putOff, headOf, readHead, refusalOf }

/** @param {object} jobOptions as readPushOptions() gives it @param {number} now in ms since 1970 */
function optionsOf (jobOptions, now) {
  return new JobOptions({ ...jobOptions, dueAt: jobOptions.delayMs > 0 ? now + jobOptions.delayMs : 0 })
}

/** @returns {object} the options of a job that is due in so many ms from now on @param {number} now in ms since 1970 */
function putOff (options, delayMs, now) {
  return { ...options, delayMs, dueAt: now + delayMs }
}

/**
 * What is written before the payload of a job with options.
 * @param {Uint8Array} stamp the time of its push
 * @param {JobOptions} options
 * @returns {Buffer}
 */
function headOf (stamp, options) {
  const { delayMs, dueAt, maxAttempts, timeoutMs, maxWaitMs, priority, cost, key, keyUntil, schedule, byHand, note } = options
  const fields = []
  if (delayMs > 0) fields.push(field(1, dueAt, delayMs))
  if (maxAttempts !== undefined) fields.push(field(2, maxAttempts))
  if (timeoutMs !== undefined) fields.push(field(3, timeoutMs))
  if (maxWaitMs !== undefined) fields.push(field(4, maxWaitMs))
  if (priority > 0) fields.push(Buffer.of(5, 1, 0, priority))
  if (key !== undefined) fields.push(textField(6, [numberOf(keyUntil)], key))
  if (schedule !== undefined) fields.push(textField(byHand ? 9 : 7, [schedule.time], schedule.name))
  if (note !== undefined) fields.push(textField(8, [], note))
  if (cost !== undefined) fields.push(field(10, cost))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16LE(fields.reduce((sum, { length }) => sum + length, 0))
  return Buffer.concat([stamp, length, ...fields])
}

/** The options in the bytes of a job that has any. @returns {JobOptions} */
function readHead (bytes) {
  const given = {}
  const end = headLength(bytes, true)
  for (let at = STAMP_BYTES + LENGTH_BYTES; at < end;) {
    const start = at + FIELD_BYTES
    const next = start + bytes.readUInt16LE(at + 1)
    Object.assign(given, readers.get(bytes[at])(bytes.subarray(start, next)))
    at = next
  }
  return new JobOptions(given)
}

/** @returns {FairlaneError | undefined} FAIRLANE_ERR_TOO_LARGE if the key is too long to be written */
function refusalOf ({ key }) {
  const bytes = key === undefined ? 0 : Buffer.byteLength(key)
  if (bytes <= MAX_KEY_BYTES) return undefined
  return new FairlaneError('FAIRLANE_ERR_TOO_LARGE', `A key of ${bytes} bytes is too large: it may have at most ${MAX_KEY_BYTES}`)
}

function field (name, ...numbers) {
  const bytes = Buffer.alloc(FIELD_BYTES + 8 * numbers.length)
  bytes[0] = name
  bytes.writeUInt16LE(8 * numbers.length, 1)
  numbers.forEach((number, i) => bytes.writeDoubleLE(number, FIELD_BYTES + 8 * i))
  return bytes
}

function textField (name, numbers, text) {
  const bytes = Buffer.concat([field(name, ...numbers), Buffer.from(text)])
  bytes.writeUInt16LE(bytes.length - FIELD_BYTES, 1)
  return bytes
}

function readTime (bytes) {
  return Object.freeze({ time: bytes.readDoubleLE(0), name: bytes.toString('utf8', 8) })
}

function numberOf (keyUntil) {
  if (keyUntil === 'started') return UNTIL_STARTED
  return keyUntil === 'settled' ? UNTIL_SETTLED : keyUntil
}

function untilOf (number) {
  if (number === UNTIL_STARTED) return 'started'
  return number === UNTIL_SETTLED ? 'settled' : number
}
