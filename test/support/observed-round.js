'use strict'

// A round of control-round.js with a History, which is compared with what the round knows of its jobs, and with what the queue counts.

const { History } = require('../../lib/history')
const { Round } = require('./control-round')
const { countsOf } = require('./history-model')

const CANCELLED = ['FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_CLOSED']

class ObservedRound extends Round {
  /** @param {number} seed @param {Function} [make] makes the queue */
  constructor (seed, make) {
    const history = new History()
    super(seed, [history], make)
    this.history = history
  }

  check () {
    super.check()
    if (this.failure || this.isStarting || this.history === undefined) return
    const { waiting, running, done, failed, cancelled } = this.queue.stats()
    const { overdueCount } = this.dispatch
    const counts = this.history.counts()
    const expected = { waiting, running: running - overdueCount, delayed: 0, done, failed, cancelled }
    for (const [state, count] of Object.entries(expected)) this.expect(counts[state] === count, `${counts[state]} records are ${state}, not ${count}`)
  }

  async finish () {
    await super.finish()
    const { history } = this
    const records = [...history.list({ limit: Infinity })]
    this.expect(records.every(({ id }, i) => i === 0 || id < records[i - 1].id), 'the newest comes first')
    this.expect(JSON.stringify(countsOf(records)) === JSON.stringify(history.counts()), 'counts are those of the list')
    const types = new Set(records.map(({ type }) => type))
    for (const type of this.hasTypes ? types : []) {
      this.expect(JSON.stringify(countsOf(records.filter(record => record.type === type))) === JSON.stringify(history.counts(type)), 'and those of a type')
    }
    for (const job of this.jobs) if (job.mapped === undefined && job.state === 'settled') this.expectRecord(job, history.get(job.number))
    this.rethrow()
  }

  /** @param {object} job of the round, which has settled */
  expectRecord ({ id, number, type, acceptedAt, chosenAt, startedAt: calledAt, told }, record) {
    const { code } = told.error ?? {}
    const state = CANCELLED.includes(code) ? 'cancelled' : told.error ? 'failed' : 'done'
    const startedAt = record.startedAt === chosenAt ? chosenAt : calledAt
    const error = told.error ? `${code ?? told.error.name}: ${told.error.message}` : undefined
    const expected = { id: number, type, state, attempts: startedAt === undefined ? 0 : 1, acceptedAt, startedAt, error }
    for (const [name, value] of Object.entries(expected)) this.expect(record[name] === value, `${name} of the record of job ${id} is ${record[name]}, not ${value}`)
    this.expect(record.endedAt >= (startedAt ?? acceptedAt) && record.endedAt <= told.at, `job ${id} ended at ${record.endedAt}, and was told at ${told.at}`)
  }
}

module.exports = { ObservedRound }
