'use strict'

// The option `schedules`, and setSchedule(): jobs that are pushed at certain times.

const { typeError, rangeError, describe } = require('../arguments/errors')
const { entriesOf, isObject, readAll, readChoice, readFlag, readInteger, readText } = require('../arguments/fields')
const { readCost } = require('./cost')
const { readPriority } = require('./plan')
const { Calendars, timesOf } = require('./schedule-times')
const { encode } = require('./serializers')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const CATCH_UPS = ['last', 'none']
const MAX_NAME_BYTES = 1000
const MOST_CHARACTERS = 10000 // of an expression
const LEAST_MS = 1
const LONGEST_MS = 100 * 366 * 24 * 3600 * 1000

/** @param {string} code of what is wrong */
function readersOf (code) {
  return {
    cron: value => value === undefined ? undefined : readCron(value, code),
    everyMs: value => value === undefined ? undefined : readInteger(value, 'everyMs', LEAST_MS, LONGEST_MS, code),
    timezone: value => value === undefined ? undefined : readText(value, 'timezone', code),
    type: value => value,
    payload: value => value,
    catchUp: value => readChoice(value ?? 'last', 'catchUp', CATCH_UPS, code),
    overlap: (value = false) => readFlag(value, 'overlap', code),
    priority: value => value === undefined ? undefined : readPriority(value, code),
    cost: value => value === undefined ? undefined : readCost(value, code)
  }
}

/**
 * @param {unknown} value an object, or a Map, by name
 * @param {{ serialize: object, hasTypes: boolean, hasLevels: boolean, readType: (type: unknown) => string, maxTypeBytes?: number }} queue
 *   hasTypes: it has a scheduler. hasLevels: jobs may have priorities
 * @returns {object[]} as readSchedule()
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER
 */
function readSchedules (value, queue) {
  if (!isObject(value)) throw typeError(OPTION, `schedules must be an object with schedules by name, not ${describe(value)}`)
  const calendars = new Calendars()
  return entriesOf(value, 'schedules', OPTION).map(([name, schedule]) => readSchedule(name, schedule, queue, calendars, OPTION))
}

/**
 * @param {unknown} name
 * @param {unknown} value
 * @param {object} queue as of readSchedules()
 * @param {Calendars} [calendars] of all that are read together
 * @param {string} [code] of what is wrong
 * @returns {object} `{ name, times, cron, timezone, everyMs, type, payload, catchUp, overlap, priority, cost }`
 * @throws FAIRLANE_ERR_ARGUMENT, or that code; FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER
 */
function readSchedule (name, value, queue, calendars = new Calendars(), code = ARGUMENT) {
  const { serialize, hasTypes, hasLevels, readType, maxTypeBytes = Infinity } = queue
  readName(name, code)
  if (value === undefined) throw typeError(code, `schedules: ${name} must be an object, not undefined`)
  const given = readAll(value, readersOf(code), code, `schedules: ${name}`)
  const { cron, everyMs, timezone, type, payload, catchUp, overlap, priority, cost } = given
  if ((cron === undefined) === (everyMs === undefined)) {
    throw typeError(code, `schedules: ${name} must have either cron or everyMs`)
  }
  if (timezone !== undefined && cron === undefined) throw typeError(code, `schedules: ${name} has a timezone, which needs cron`)
  if (type === undefined && hasTypes) throw typeError(code, `schedules: ${name} must have a type, because the queue has a scheduler`)
  if (priority !== undefined && !hasLevels) throw typeError(code, `schedules: ${name} has a priority, which needs the option priorityMs`)
  const when = { cron, everyMs, timezone: cron === undefined ? undefined : timezone ?? 'UTC' }
  const read = { name, times: timesOf(when, name, calendars, code), ...when, payload, catchUp, overlap, priority, cost }
  try {
    encode(serialize, payload)
  } catch (cause) {
    throw typeError(code, `schedules: the payload of ${name} cannot be encoded`, { cause })
  }
  return { ...read, type: type === undefined ? undefined : readShortType(readType(type), name, maxTypeBytes, code) }
}

/** One that no record could hold would be refused each time that a job is due. */
function readShortType (type, name, maxBytes, code) {
  const length = Buffer.byteLength(type)
  if (length <= maxBytes) return type
  throw rangeError(code, `schedules: the type of ${name} must have at most ${maxBytes} bytes, not ${length}`)
}

function readCron (value, code) {
  const text = readText(value, 'cron', code)
  if (text.length <= MOST_CHARACTERS) return text
  throw rangeError(code, `cron must have at most ${MOST_CHARACTERS} characters, not ${text.length}`)
}

function readName (name, code) {
  if (typeof name !== 'string') throw typeError(code, `schedules: a name must be a string, not ${describe(name)}`)
  if (name !== '' && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  throw rangeError(code, `schedules: a name must be well-formed Unicode of 1 to ${MAX_NAME_BYTES} bytes, not ${describe(name)}`)
}

module.exports = { readSchedules, readSchedule }
