'use strict'

// The versions of a record: each transition of each attempt. They are told from its row, unless the job was tried again.

const { TIMES, ACCEPTED, STARTED, ENDED, WORDS, STATE, WAITING, RUNNING, DELAYED, FAILED, CANCELLED, DEAD, ATTEMPT } = require('./segment')

const HAVE_ERRORS = [DELAYED, FAILED, CANCELLED, DEAD]

/** One of them. @property {number} state by its number @property {number} at in ms of the clock */
class Version {
  constructor (state, at, attempt, error) {
    this.state = state
    this.at = at
    this.attempt = attempt
    this.error = error
  }
}

/** @returns {Version[]} oldest first; a list that may be kept */
function versionsOf (rows, row) {
  const kept = rows.versions?.get(row)
  if (kept !== undefined) return [...kept]
  const state = rows.stateOf(row)
  const attempts = attemptsOf(rows, row)
  const startedAt = rows.times[row * TIMES + STARTED]
  const hasStarted = startedAt === startedAt // eslint-disable-line no-self-compare
  const versions = [new Version(WAITING, rows.times[row * TIMES + ACCEPTED], attempts - (hasStarted ? 1 : 0), undefined)]
  if (hasStarted) versions.push(new Version(RUNNING, startedAt, attempts, undefined))
  if (state > RUNNING) versions.push(new Version(state, rows.times[row * TIMES + ENDED], attempts, errorOf(rows, row)))
  return versions
}

/** A job whose versions are kept has come to another state. */
function noteVersion (rows, row) {
  const versions = rows.versions.get(row)
  if (versions !== undefined) versions.push(new Version(rows.stateOf(row), changedAt(rows, row), attemptsOf(rows, row), errorOf(rows, row)))
}

/** The last start is none. @returns {number} when the job started before that, if it did since it was accepted; else NaN */
function takeBack (rows, row) {
  const versions = rows.versions?.get(row)
  if (versions === undefined) return NaN
  versions.pop()
  const last = versions.findLast(({ state }) => state === RUNNING || state === DEAD)
  return last?.state === RUNNING ? last.at : NaN
}

/** When the job came to its state, in ms of the clock. */
function changedAt (rows, row) {
  const { times } = rows
  const state = rows.stateOf(row)
  if (state === RUNNING) return times[row * TIMES + STARTED]
  if (state !== WAITING) return times[row * TIMES + ENDED]
  const acceptedAt = times[row * TIMES + ACCEPTED]
  return rows.versions?.get(row) === undefined ? acceptedAt : Math.max(acceptedAt, times[row * TIMES + ENDED])
}

function attemptsOf (rows, row) {
  return Math.floor(rows.words[row * WORDS + STATE] / ATTEMPT)
}

/** The text of its error, if it is in a state that has one. */
function errorOf (rows, row) {
  return HAVE_ERRORS.includes(rows.stateOf(row)) ? rows.errors?.[row] : undefined
}

module.exports = { Version, versionsOf, noteVersion, takeBack, changedAt, attemptsOf, errorOf }
