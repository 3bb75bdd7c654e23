'use strict'

// Records of a ledger as users see them, and what can be calculated of them.

const {
  TIMES, ACCEPTED, STARTED, ENDED, WORDS, TYPE, STATE, WAITING, RUNNING, DELAYED, DEAD, STATE_MASK, STATE_NAMES
} = require('../ledger/segment')
const { attemptsOf, errorOf, versionsOf } = require('../ledger/versions')

module.exports = { jobOf, jobAsOf, versionsShown, stateAt, valuesOf }

/** @returns {object} the job of a record */
function jobOf ({ names, time: { originMs } }, rows, row, id) {
  const { times, words } = rows
  const state = words[row * WORDS + STATE] & STATE_MASK
  const startedAt = times[row * TIMES + STARTED]
  return withCost(rows, row, {
    id,
    type: names.textOf(words[row * WORDS + TYPE]),
    state: STATE_NAMES[state],
    attempts: attemptsOf(rows, row),
    acceptedAt: times[row * TIMES + ACCEPTED] + originMs,
    startedAt: Number.isNaN(startedAt) ? undefined : startedAt + originMs,
    endedAt: state > DELAYED ? times[row * TIMES + ENDED] + originMs : undefined,
    error: errorOf(rows, row)
  })
}

/** Only a job that was charged has a cost. */
function withCost ({ costs }, row, job) {
  const cost = costs?.[row]
  return cost === undefined ? job : { ...job, cost }
}

/** The same by so many of its versions, from the oldest on. */
function jobAsOf ({ names, time: { originMs } }, rows, row, id, versions) {
  const job = { id, type: names.textOf(rows.words[row * WORDS + TYPE]), ...replay(versions) }
  job.state = STATE_NAMES[job.state]
  job.acceptedAt += originMs
  if (job.startedAt !== undefined) job.startedAt += originMs
  if (job.endedAt !== undefined) job.endedAt += originMs
  return job
}

function versionsShown ({ time: { originMs } }, rows, row) {
  return versionsOf(rows, row).map(({ state, at, attempt, error }) => ({ state: STATE_NAMES[state], at: at + originMs, attempt, error }))
}

/** The number of the state that a record was in at a time of the clock; 0 before it was accepted. */
function stateAt (rows, row, ms) {
  const { times } = rows
  if (rows.versions?.has(row)) return rows.versions.get(row).findLast(({ at }) => at <= ms)?.state ?? 0
  const state = rows.stateOf(row)
  if (state > RUNNING && times[row * TIMES + ENDED] <= ms) return state
  if (times[row * TIMES + STARTED] <= ms) return RUNNING
  return times[row * TIMES + ACCEPTED] <= ms ? WAITING : 0
}

const values = { state: 0, endedAt: 0, waitMs: 0, runMs: 0, attempts: 0, cost: 0 }

/**
 * What is summed up of a record, as of a time of the clock; its cost as it is now. runMs is -1 for a job that has not started.
 * @returns {{ state: number, endedAt: number, waitMs: number, runMs: number, attempts: number, cost: number }} the same object each time
 */
function valuesOf (rows, row, ms) {
  const { times } = rows
  const versions = ms === Infinity ? undefined : rows.versions?.get(row)
  let acceptedAt, startedAt
  if (versions === undefined) {
    values.state = ms === Infinity ? rows.stateOf(row) : stateAt(rows, row, ms)
    acceptedAt = times[row * TIMES + ACCEPTED]
    startedAt = times[row * TIMES + STARTED]
    values.endedAt = times[row * TIMES + ENDED]
    values.attempts = attemptsOf(rows, row)
  } else {
    const job = replay(versions.filter(({ at }) => at <= ms))
    values.state = job.state
    acceptedAt = job.acceptedAt
    startedAt = job.startedAt ?? NaN
    values.endedAt = job.endedAt
    values.attempts = job.attempts
  }
  const hasStarted = startedAt === startedAt // eslint-disable-line no-self-compare
  values.cost = rows.costs?.[row] ?? 0
  values.waitMs = (hasStarted ? startedAt : values.endedAt) - acceptedAt
  values.runMs = hasStarted ? values.endedAt - startedAt : -1
  return values
}

/** Times of the clock, and the number of the state; 0 for no versions. */
function replay (versions) {
  const job = { state: 0, attempts: 0, acceptedAt: undefined, startedAt: undefined, endedAt: undefined, error: undefined }
  for (const { state, at, attempt, error } of versions) {
    if (state === WAITING && (job.state === 0 || job.state === DEAD)) {
      job.acceptedAt = at
      job.startedAt = undefined
    }
    if (state === RUNNING) job.startedAt = at
    job.endedAt = state > DELAYED ? at : undefined
    job.state = state
    job.attempts = attempt
    job.error = error
  }
  return job
}
