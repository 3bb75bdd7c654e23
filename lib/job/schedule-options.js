'use strict'

// The option `schedules`: jobs that are pushed at certain times.

const { typeError, rangeError, describe } = require('../arguments/errors')
const { entriesOf, isObject, readAll, readChoice, readFlag, readInteger, readText } = require('../arguments/fields')
const { readPriority } = require('./plan')
const { Calendars, timesOf } = require('./schedule-times')
const { encode } = require('./serializers')

const OPTION = 'FAIRLANE_ERR_OPTION'
const CATCH_UPS = ['last', 'none']
const MAX_NAME_BYTES = 1000
const LEAST_MS = 1
const LONGEST_MS = 100 * 366 * 24 * 3600 * 1000

const readers = {
  cron: value => value === undefined ? undefined : readText(value, 'cron', OPTION),
  everyMs: value => value === undefined ? undefined : readInteger(value, 'everyMs', LEAST_MS, LONGEST_MS, OPTION),
  timezone: value => value === undefined ? undefined : readText(value, 'timezone', OPTION),
  type: value => value,
  payload: value => value,
  catchUp: value => readChoice(value ?? 'last', 'catchUp', CATCH_UPS, OPTION),
  overlap: (value = false) => readFlag(value, 'overlap', OPTION),
  priority: value => value === undefined ? undefined : readPriority(value, OPTION)
}

/**
 * @param {unknown} value an object, or a Map, by name
 * @param {{ serialize: object, hasTypes: boolean, hasLevels: boolean, readType: (type: unknown) => string, maxTypeBytes?: number }} queue
 *   hasTypes: it has a scheduler. hasLevels: jobs may have priorities
 * @returns {object[]} `{ name, times, type, payload, catchUp, overlap, priority }`
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_PEER
 */
function readSchedules (value, queue) {
  if (!isObject(value)) throw typeError(OPTION, `schedules must be an object with a schedule for each name, not ${describe(value)}`)
  const calendars = new Calendars()
  return entriesOf(value, 'schedules', OPTION).map(([name, schedule]) => readSchedule(readName(name), schedule, queue, calendars))
}

function readSchedule (name, value, { serialize, hasTypes, hasLevels, readType, maxTypeBytes = Infinity }, calendars) {
  if (value === undefined) throw typeError(OPTION, `schedules: ${name} must be an object, not undefined`)
  const { cron, everyMs, timezone, type, payload, catchUp, overlap, priority } = readAll(value, readers, OPTION)
  if ((cron === undefined) === (everyMs === undefined)) {
    throw typeError(OPTION, `schedules: ${name} must have cron or everyMs, and not both`)
  }
  if (timezone !== undefined && cron === undefined) throw typeError(OPTION, `schedules: timezone of ${name} needs cron`)
  if (type === undefined && hasTypes) throw typeError(OPTION, `schedules: ${name} must have a type, since the queue has a scheduler`)
  if (priority !== undefined && !hasLevels) throw typeError(OPTION, `schedules: priority of ${name} needs the option priorityMs`)
  const read = {
    name, times: timesOf({ cron, everyMs, timezone: timezone ?? 'UTC' }, name, calendars), payload, catchUp, overlap, priority
  }
  try {
    encode(serialize, payload)
  } catch (cause) {
    throw typeError(OPTION, `schedules: the payload of ${name} cannot be encoded`, { cause })
  }
  return { ...read, type: type === undefined ? undefined : readShortType(readType(type), name, maxTypeBytes) }
}

/** One that no record could hold would be refused each time that a job is due. */
function readShortType (type, name, maxBytes) {
  const length = Buffer.byteLength(type)
  if (length <= maxBytes) return type
  throw rangeError(OPTION, `schedules: the type of ${name} must have ${maxBytes} bytes at most, not ${length}`)
}

function readName (name) {
  if (name !== '' && name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES) return name
  throw rangeError(OPTION, `schedules: a name must be well-formed Unicode of 1 to ${MAX_NAME_BYTES} bytes, not ${describe(name)}`)
}

module.exports = { readSchedules }
