'use strict'

// The real queues in virtual time: slots that are busy for as long as a job says, on a clock that jumps from one event to the
// next. The same on every machine: nothing is measured, nothing waits, and random numbers are seeded.

const { Queue } = require('..')
const { internalsOf } = require('../lib/core/internals')
const { fakeClock } = require('../lib/testing')
const { contenders } = require('./contenders')

const SLOTS = 10

/** Turns of the event loop in which a queue has to fill its free slots. */
const MOST_TURNS = 1000

/**
 * Runs a load through a queue with ten slots.
 * @param {string} contender a key of contenders, one with types
 * @param {object} load
 * @param {Array<{ type: string, ms: number }>} load.backlog jobs that are queued at time 0, in order
 * @param {Array<{ type: string, ms: number, atMs: number }>} [load.arrivals] jobs that are queued later, in order of time
 * @param {number} [load.untilMs] when to stop; without, when all jobs have ended
 * @param {Object<string, number>} [load.weights] for schedulers that have them
 * @param {object} [load.schedulerOptions] for contenders that take them
 * @returns {Promise<Map<string, { slotMs: number, heldMs: number, units: number, waitsMs: number[], waiting: number }>>} by type: the slot
 *   time it got up to the end, the same by units of cost, the cost of its started jobs, how long each of them had waited, and how many wait
 */
async function simulate (contender, { backlog, arrivals = [], untilMs = Infinity, weights, schedulerOptions }) {
  const clock = fakeClock()
  const types = new Map()
  const running = new Set()
  let waiting = 0
  let pushed = 0
  let settled = 0

  const queue = await contenders[contender].create(run, { concurrency: SLOTS, clock, weights, schedulerOptions })
  // else real time would say which ends are known at a start
  if (queue instanceof Queue) internalsOf(queue).dispatch.pace.sliceMs = Infinity
  for (const job of backlog) push(job)
  arrive(0)
  await fill()
  while (clock.next() && clock.now() <= untilMs) await fill()

  for (let i = 0; i < 5; i++) await null // promises of jobs that have ended settle
  check()
  for (const slot of running) held(slot, untilMs)
  return types

  function push ({ type, ms, cost = 1 }) {
    if (!types.has(type)) types.set(type, { slotMs: 0, heldMs: 0, units: 0, waitsMs: [], waiting: 0 })
    types.get(type).waiting++
    waiting++
    pushed++
    const job = { type, ms, cost, pushedAt: clock.now() }
    if (cost === 1) queue.pushType(type, job, whenSettled)
    else queue.add(job, { type, cost }).then(() => whenSettled(), whenSettled)
  }

  /** One timer at a time: the heap of timers stays small. */
  function arrive (i) {
    if (i === arrivals.length) return
    clock.setTimeout(() => {
      push(arrivals[i])
      arrive(i + 1)
    }, arrivals[i].atMs - clock.now())
  }

  function run ({ type, ms, cost, pushedAt }, done) {
    const startedAt = clock.now()
    const slot = { type, cost, startedAt }
    waiting--
    running.add(slot)
    if (running.size > SLOTS) throw new Error(`${contender}: ${running.size} jobs run in ${SLOTS} slots`)
    types.get(type).waiting--
    types.get(type).units += cost
    types.get(type).waitsMs.push(startedAt - pushedAt)
    clock.setTimeout(() => {
      running.delete(slot)
      held(slot, Math.min(clock.now(), untilMs))
      done()
    }, ms)
  }

  function held ({ type, cost, startedAt }, endMs) {
    types.get(type).slotMs += endMs - startedAt
    types.get(type).heldMs += cost * (endMs - startedAt)
  }

  function whenSettled (err) {
    if (err) throw err
    settled++
  }

  /** Time stands still until the queue has started what it can. */
  async function fill () {
    for (let turns = 0; hasWork(); turns++) {
      if (turns === MOST_TURNS) throw new Error(`${contender} leaves slots free while ${waiting} jobs wait`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  function hasWork () {
    return waiting > 0 && running.size < SLOTS
  }

  function check () {
    if (settled + running.size + waiting !== pushed || (untilMs === Infinity && settled !== pushed)) {
      throw new Error(`${contender} miscounted: ${pushed} jobs, ${settled} settled, ${running.size} running, ${waiting} waiting`)
    }
  }
}

/**
 * Times in this simulation are multiples of 1/1024 ms, so that sums of them are exact.
 * @param {number} ms
 * @returns {number}
 */
function exactMs (ms) {
  return Math.round(ms * 1024) / 1024
}

/**
 * Seeded random numbers from 0 to 1 (Tommy Ettinger's mulberry32).
 * @param {number} seed
 * @returns {function(): number}
 */
function randomNumbers (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

module.exports = { simulate, exactMs, randomNumbers, SLOTS }
