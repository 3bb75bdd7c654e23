'use strict'

// The real queue in virtual time, before a server that is a formula (scenarios.js), under a limit that something adapts.

const fairlane = require('../..')
const { internalsOf } = require('../../lib/core/internals')
const { fakeClock } = require('../../lib/testing')
const { exactMs } = require('../simulation')
const { serviceOf } = require('./scenarios')

const REFUSAL_MS = 1
const BACKLOG = 400 // jobs of a type that wait where they come without end: twice as many as ever run
const MOST_TURNS = 1000
const refusal = Object.assign(new Error('503'), { status: 503 })

/**
 * @param {{ draw: string, phases: object[] }} scenario
 * @param {object} given
 * @param {number} given.phaseMs how long a phase lasts
 * @param {number} [given.everyMs] how often the limit and times are noted down
 * @param {number} [given.seed]
 * @param {object | undefined} given.limiter says how many may run (limiters.js), or
 * @param {object | undefined} given.control an observer that sets the concurrency itself
 * @returns {Promise<{ okPerSecond: number[], refused: number, limits: number[], times: number[] }>} by phase: jobs of the type 'quick'
 *   that went well, per second in which there were jobs; then the share of calls that the server refused, limits, and the mean times of
 *   these jobs in ms
 */
async function simulate (scenario, { phaseMs, everyMs = Infinity, seed = 1, limiter, control }) {
  const clock = fakeClock()
  const untilMs = phaseMs * scenario.phases.length
  const serve = serviceOf(scenario.draw, seed)
  const okPerPhase = scenario.phases.map(() => 0)
  const busyMs = scenario.phases.map(() => 0)
  const limits = []
  const times = []
  let notedMs = 0
  let notedCount = 0
  let inFlight = 0
  let calls = 0
  let refusals = 0
  let lastAt = 0
  let wasBusy = false // until now there were jobs

  const queue = fairlane(run, {
    scheduler: 'equal', clock, settleBy: 'callback', concurrency: limiter?.limit ?? control.limit, observers: control ?? []
  })
  internalsOf(queue).dispatch.pace.sliceMs = Infinity // else real time would say what starts
  begin(0)
  if (everyMs < Infinity) note()
  await settled()
  while (clock.next() && clock.now() < untilMs) await settled()
  return { okPerSecond: okPerPhase.map((count, i) => 1000 * count / busyMs[i]), refused: refusals / calls, limits, times }

  function phaseAt () {
    return Math.min(scenario.phases.length - 1, Math.floor(clock.now() / phaseMs))
  }

  function begin (i) {
    const { types, bursts } = scenario.phases[i]
    if (bursts === undefined) for (const type of Object.keys(types)) refill(type)
    else burst(i)
    if (i + 1 < scenario.phases.length) clock.setTimeout(() => begin(i + 1), phaseMs)
  }

  function refill (type) {
    while (queue.stats(type).waiting < BACKLOG) queue.pushType(type, { type })
  }

  function burst (i) {
    if (phaseAt() !== i) return
    const { count, everyMs } = scenario.phases[i].bursts
    for (let n = 0; n < count; n++) queue.pushType('quick', { type: 'quick' })
    clock.setTimeout(() => burst(i), everyMs)
  }

  function run (job, done) {
    const { type } = job
    const phase = scenario.phases[phaseAt()]
    if (phase.bursts === undefined && type in phase.types) queue.pushType(type, { type })
    const begunAt = clock.now()
    const startedWith = queue.running
    const isRejected = inFlight >= phase.mostInFlight
    calls++
    if (isRejected) refusals++
    else inFlight++
    const ms = isRejected ? REFUSAL_MS : serve(job, phase, inFlight)
    clock.setTimeout(() => {
      if (!isRejected) inFlight--
      if (!isRejected && type === 'quick') count(clock.now() - begunAt)
      done(isRejected ? refusal : null)
      if (limiter === undefined) return
      limiter.ended({ ms, inFlight: startedWith, isRejected, now: clock.now() })
      if (queue.concurrency !== limiter.limit) queue.concurrency = limiter.limit
    }, exactMs(ms))
  }

  function count (ms) {
    okPerPhase[phaseAt()]++
    notedMs += ms
    notedCount++
  }

  function note () {
    clock.setTimeout(() => {
      limits.push(queue.concurrency)
      times.push(notedCount === 0 ? null : notedMs / notedCount)
      notedMs = notedCount = 0
      note()
    }, everyMs)
  }

  /** Time stands still until the queue has started what it can. */
  async function settled () {
    await undefined
    for (let turns = 0; queue.running < queue.concurrency && queue.waiting > 0; turns++) {
      if (turns === MOST_TURNS) throw new Error('slots stay free while jobs wait')
      await new Promise((resolve) => setImmediate(resolve))
    }
    const now = clock.now()
    if (wasBusy) busyMs[Math.min(scenario.phases.length - 1, Math.floor(lastAt / phaseMs))] += now - lastAt
    lastAt = now
    wasBusy = queue.length > 0
  }
}

module.exports = { simulate }
