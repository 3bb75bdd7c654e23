'use strict'

// A queue on disk that has been running for a while, with something in each part of a page of it, on a clock that the test moves.

const { once } = require('node:events')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { Bench } = require('../durable/bench')

const START = Date.UTC(2026, 0, 15, 9, 30)
const TENANTS = { acme: [40, 9], globex: [25, 30], initech: [12, 3], umbrella: [6, 0], hooli: [3, 1] } // [jobs that ended, that wait]

module.exports = { example }

/** @returns {Promise<{ queue: object, metrics: object, history: object, now: () => number }>} now: ms since 1970 by its clock */
async function example () {
  const bench = new Bench()
  const { gate, clock } = bench
  bench.epoch = 0
  clock.advance(START)
  const [metrics, history] = [new Metrics({ name: 'mails' }), new History()]
  const schedulerOptions = { weights: { acme: 2 }, typeCaps: { globex: 1 } }
  const ratePerType = new Map([['hooli', { limit: 3, intervalMs: 600000 }]])
  const queue = await bench.open({ scheduler: 'equal', schedulerOptions, ratePerType, concurrency: 4, maxAttempts: 1, observers: [metrics, history] })
  for (const [tenant, [count]] of Object.entries(TENANTS)) for (let i = 0; i < count; i++) await queue.pushType(tenant, { to: `${i}@example.com` })
  for (let i = 0; i < 86; i++) {
    await gate.until(i + 1)
    clock.advance(500 + 97 * i % 6000)
    const isGood = i % 29 !== 28
    const told = once(queue, isGood ? 'done' : 'failed')
    if (isGood) gate.release()
    else gate.fail(Object.assign(new Error('the server of the recipient does not answer'), { code: 'ETIMEDOUT' }))
    await told
  }
  for (const [tenant, [, count]] of Object.entries(TENANTS)) for (let i = 0; i < count; i++) await queue.pushType(tenant, { to: `${i}@example.com` })
  await queue.setSchedule('newsletter', { everyMs: 3600000, type: 'acme' })
  await gate.until(89)
  clock.advance(15000)
  queue.pauseType('initech')
  return { queue, metrics, history, now: () => clock.now() }
}
