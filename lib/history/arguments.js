'use strict'

// Options and arguments of a History, read once: validated, completed, never kept by reference.

const { typeError, describe } = require('../arguments/errors')
const { isOf, readAll, readChoice, readCount, readLimitMs, readPart, readText, readWhole, wrong } = require('../arguments/fields')
const { options: { readType } } = require('../core/internals')
const { NONE, WAITING, RUNNING, DELAYED, DONE, FAILED, CANCELLED, DEAD } = require('../ledger/segment')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const CLOCKS = ['coarse', 'exact']
const COLUMNS = ['waitMs', 'runMs', 'attempts', 'cost']
// The states of records that a state of jobs stands for.
const STATES = new Map([
  ['waiting', [WAITING, WAITING]],
  ['running', [RUNNING, RUNNING]],
  ['delayed', [DELAYED, DELAYED]],
  ['done', [DONE, DONE]],
  ['failed', [FAILED, DEAD]],
  ['cancelled', [CANCELLED, CANCELLED]]
])
const ANY_STATE = [NONE, NONE]

const historyReaders = {
  keep: (value = 100000) => readCount(value, 'keep', OPTION),
  keepMs: (value = Infinity) => readLimitMs(value, 'keepMs', OPTION),
  clock: (value = 'coarse') => readChoice(value, 'clock', CLOCKS, OPTION)
}
const timeReaders = {
  since: (value = -Infinity) => readTime(value, 'since'),
  until: (value = Infinity) => readTime(value, 'until')
}
const listReaders = {
  ...timeReaders,
  state: value => value === undefined ? ANY_STATE : STATES.get(readChoice(value, 'state', [...STATES.keys()], ARGUMENT)),
  type: readTypeOf,
  before: value => value === undefined ? Infinity : readId(value, 'before'),
  limit: (value = 100) => readCount(value, 'limit', ARGUMENT)
}
const sumReaders = {
  ...timeReaders,
  type: readTypeOf,
  first: value => value === undefined ? -Infinity : readId(value, 'first'),
  last: value => value === undefined ? Infinity : readId(value, 'last')
}
const getReaders = { back: (value = 0) => readCount(value, 'back', ARGUMENT) }
const exportReaders = {
  table: readTable,
  after: value => value === undefined ? -Infinity : readId(value, 'after')
}

module.exports = {
  readId,
  readTypeOf,
  readColumn: value => readChoice(value, 'the column', COLUMNS, ARGUMENT),
  readMoment: value => readTime(value, 'the time'),
  readPath: value => readText(value, 'the path', ARGUMENT),
  readDatabase,
  readHistoryOptions: options => readAll(options, historyReaders, OPTION),
  readGet: options => readAll(options, getReaders, ARGUMENT),
  readList: options => readAll(options, listReaders, ARGUMENT),
  readSum: options => readAll(options, sumReaders, ARGUMENT),
  readTimes: options => readAll(options, timeReaders, ARGUMENT),
  readExport: options => readAll(options, exportReaders, ARGUMENT)
}

/** As a queue reads it; undefined: any. */
function readTypeOf (value) {
  return value === undefined ? undefined : readType(value)
}

function readId (value, name = 'the id') {
  return readWhole(value, name, ARGUMENT)
}

/** A time in ms since 1970, or a Date. */
function readTime (value, name) {
  const ms = isOf(value, Date) ? value.getTime() : value
  if (typeof ms === 'number' && !Number.isNaN(ms)) return ms
  throw wrong(value, 'number', ARGUMENT, `${name} must be a time in ms or a Date`)
}

function readTable (value = 'jobs') {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  throw typeError(ARGUMENT, `table must be the name of a table, not ${describe(value)}`)
}

function readDatabase (value) {
  return readPart(value, ['exec', 'prepare'], 'exportTo: the database must come from node:sqlite or better-sqlite3', ARGUMENT)
}
