'use strict'

// A round of control-round.js with Metrics, alone or beside a History, which are compared with what the queue counts and with the records.

const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { Round } = require('./control-round')

class MeteredRound extends Round {
  /** @param {number} seed which also says what else observes @param {Function} [make] makes the queue */
  constructor (seed, make) {
    const labelOf = seed % 3 === 0 ? type => type.slice(0, 1) : undefined
    const metrics = new Metrics({ maxTypes: seed % 7, labelOf, windowMs: 20, starveMs: 50 })
    const history = new History()
    super(seed, [[metrics], [metrics, history], [history, metrics], [metrics, history, new Metrics()]][seed % 4], make)
    this.metrics = metrics
    this.history = seed % 4 === 0 ? undefined : history
  }

  check () {
    super.check()
    if (this.failure || this.isStarting || this.metrics === undefined) return
    const { accepted, waiting, running, done, failed, cancelled, rejected } = this.queue.stats()
    const { types, refused } = this.metrics.snapshot()
    const sum = read => types.reduce((total, type) => total + read(type), 0)
    const { overdueCount } = this.dispatch
    const expected = { accepted, waiting, running, overdue: overdueCount, done, failed, cancelled }
    for (const [name, count] of Object.entries(expected)) this.expect(sum(type => type[name]) === count, `${sum(type => type[name])} are ${name}, not ${count}`)
    const refusals = Object.values(refused).reduce((total, count) => total + count, 0)
    this.expect(refusals === rejected, `${refusals} were refused, not ${rejected}`)
    this.expect(sum(({ runMs }) => count(runMs)) + running - overdueCount === sum(({ waitMs }) => count(waitMs)), 'what has started has ended, or runs')
  }

  /** When nothing waits, nobody looks at types any more. */
  timersLeft () {
    this.clock.advance(10000)
    return super.timersLeft()
  }

  async finish () {
    await super.finish()
    const { metrics, history } = this
    if (history !== undefined) {
      const records = [...history.list({ limit: Infinity })].filter(({ startedAt }) => startedAt !== undefined)
      const types = metrics.snapshot().types
      const waits = records.reduce((total, { acceptedAt, startedAt }) => total + startedAt - acceptedAt, 0)
      const runs = records.reduce((total, { startedAt, endedAt = startedAt }) => total + endedAt - startedAt, 0)
      this.expect(Math.abs(types.reduce((total, { waitMs }) => total + waitMs.sum, 0) - waits) < 1e-6, 'waits are those of the records')
      this.expect(Math.abs(types.reduce((total, { runMs }) => total + runMs.sum, 0) - runs) < 1e-6, 'runs are those of the records')
    }
    this.rethrow()
  }
}

function count ({ buckets }) {
  return buckets.reduce((total, inBucket) => total + inBucket, 0)
}

module.exports = { MeteredRound }
