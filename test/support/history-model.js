'use strict'

// A naive history: a list of all that has happened to each job, from which everything is calculated anew each time it is asked for.

const STATES = ['waiting', 'running', 'delayed', 'done', 'failed', 'cancelled']
const ENDED = ['done', 'failed', 'cancelled']

class HistoryModel {
  /** @param {() => number} now */
  constructor (now) {
    this.now = now
    this.jobs = new Map() // id → { id, type, versions, isDead }
  }

  accepted (id, type, { at = this.now(), attempts = 0 } = {}) {
    this.jobs.set(id, { id, type, isDead: false, versions: [{ state: 'waiting', at, attempt: attempts, error: undefined }] })
  }

  started (id) {
    const { versions } = this.jobs.get(id)
    this.add(id, 'running', versions.at(-1).attempt + 1)
  }

  came (id, state, error) {
    this.add(id, state, this.jobs.get(id).versions.at(-1).attempt, error)
  }

  died (id, error) {
    this.came(id, 'failed', error)
    this.jobs.get(id).isDead = true
  }

  revived (id) {
    this.add(id, 'waiting', 0)
    this.jobs.get(id).isDead = false
  }

  uncounted (id) {
    const { versions } = this.jobs.get(id)
    versions.pop()
  }

  removed (id) {
    this.jobs.delete(id)
  }

  /** The job by so many of its versions. */
  job (id, count = Infinity) {
    const { type, versions } = this.jobs.get(id)
    const known = versions.slice(0, count)
    const last = known.at(-1)
    const begin = known.findLastIndex(({ state }, i) => state === 'waiting' && (i === 0 || ENDED.includes(known[i - 1].state)))
    return {
      id,
      type,
      state: last.state,
      attempts: last.attempt,
      acceptedAt: known[begin].at,
      startedAt: known.findLast(({ state }, i) => state === 'running' && i > begin)?.at,
      endedAt: ENDED.includes(last.state) ? last.at : undefined,
      error: last.error
    }
  }

  /** The jobs that were accepted by a time, as they were then. */
  asOf (ms, ids = [...this.jobs.keys()]) {
    return ids
      .map(id => ({ id, count: this.jobs.get(id).versions.filter(({ at }) => at <= ms).length }))
      .filter(({ count }) => count > 0)
      .map(({ id, count }) => this.job(id, count))
  }

  changedAt (id) {
    return this.jobs.get(id).versions.at(-1).at
  }

  // private from here on

  add (id, state, attempt, error) {
    this.jobs.get(id).versions.push({ state, at: this.now(), attempt, error })
  }
}

function countsOf (jobs) {
  return Object.fromEntries(STATES.map(name => [name, jobs.filter(({ state }) => state === name).length]))
}

function sumOf (column, jobs) {
  return jobs.filter(({ state }) => ENDED.includes(state)).reduce((sum, job) => sum + valueOf(column, job), 0)
}

function valueOf (column, { attempts, acceptedAt, startedAt, endedAt }) {
  if (column === 'attempts') return attempts
  if (column === 'waitMs') return (startedAt ?? endedAt) - acceptedAt
  return startedAt === undefined ? 0 : endedAt - startedAt
}

/** As History.stats(). */
function statsOf (jobs) {
  const byType = new Map()
  for (const { type } of jobs.filter(({ state }) => ENDED.includes(state))) {
    const ended = jobs.filter(job => job.type === type && ENDED.includes(job.state))
    const { done, failed, cancelled } = countsOf(ended)
    const waits = ended.map(job => valueOf('waitMs', job))
    const runs = ended.filter(({ startedAt }) => startedAt !== undefined).map(job => valueOf('runMs', job))
    byType.set(type, { done, failed, cancelled, waitMs: averageOf(waits), runMs: averageOf(runs) })
  }
  return byType
}

function averageOf (values) {
  if (values.length === 0) return { mean: undefined, max: undefined }
  return { mean: values.reduce((sum, value) => sum + value, 0) / values.length, max: Math.max(...values) }
}

module.exports = { HistoryModel, countsOf, sumOf, statsOf, STATES }
