'use strict'

// The checks that every scheduler must pass, in either protocol: random histories against a naive model. They drive the
// list that the queue would use, with slots of their own: one turn of a real queue would take a thousand times as long.

const { Lanes } = require('../core/lists/lanes')
const { Window } = require('../core/lists/window')
const { isLaneScheduler } = require('../core/options')
const { fakeClock } = require('./clock')

const ODD_TYPES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', ' ', 'undefined', 'null', 'NaN', '0', '-1',
  '💥', 'x'.repeat(10000)]

/**
 * @param {() => object} makeScheduler makes a new scheduler of either protocol for a queue of `concurrency` 10, which its
 *   optional configure({ concurrency }) is told when it changes
 * @param {{ isWorkConserving?: boolean, seed?: number, rounds?: number }} [options]
 *   isWorkConserving (true): no slot is free while an unpaused job waits; false for schedulers that hold jobs back. Even these start
 *   one when none runs, unless they have `mayStall`.
 *   seed (1): of the first round; a failure names its own. rounds (20): per check
 * @returns {{ title: string, run: () => void }[]} checks to run, `for (const { title, run } of checks) it(title, run)`, with
 *   any framework; run throws an Error if the scheduler fails
 */
function schedulerChecks (makeScheduler, { isWorkConserving = true, seed = 1, rounds = 20 } = {}) {
  const check = (title, types, steps) => ({
    title,
    run () {
      for (let round = 0; round < rounds; round++) inRound(seed + round, makeScheduler, isWorkConserving, types, steps)
    }
  })
  const names = ['a', 'b', 'c', 'd', 'e']
  return [
    check('starts every job once, and those of a type in order', names, ['push', 'end']),
    check('copes with unshifted jobs', names, ['push', 'unshift', 'end']),
    check('copes with cancelled jobs', names, ['push', 'unshift', 'end', 'remove', 'clear', 'clearType']),
    check('copes with changes of the concurrency', names, ['push', 'end', 'configure']),
    check('copes with paused types, if it has lanes', names, ['push', 'unshift', 'end', 'pauseType', 'resumeType', 'remove']),
    check('accepts any string as a type', ODD_TYPES, ['push', 'end', 'unshift', 'remove']),
    check('copes with types that share lanes, if it has lanes', manyTypes(60), [
      'push', 'unshift', 'end', 'remove', 'clearType', 'pauseType', 'resumeType'
    ]),
    check('forgets idle types, if it has lanes', manyTypes(300), ['push', 'end', 'idle'])
  ]
}

function inRound (seed, makeScheduler, isWorkConserving, types, steps) {
  try {
    const history = new History(seed, makeScheduler(), isWorkConserving, types)
    for (let i = 0; i < 200; i++) history.step(steps)
    history.finish()
  } catch (cause) {
    throw new Error(`seed ${seed}: ${cause.message}`, { cause })
  }
}

/** A list, slots and a model of both. */
class History {
  constructor (seed, scheduler, isWorkConserving, types) {
    this.random = mulberry32(seed)
    this.clock = fakeClock(1000)
    this.scheduler = scheduler
    this.hasLanes = isLaneScheduler(scheduler)
    this.canPause = this.hasLanes && Boolean(scheduler.paused && scheduler.resumed)
    this.isWorkConserving = isWorkConserving
    this.types = types
    this.concurrency = 10
    this.model = new Map(types.map(type => [type, []])) // the waiting jobs
    this.pausedTypes = new Set()
    this.running = [] // what ended() wants back
    this.count = 0
    const makeContext = type => ({ type })
    const maxTypes = types.length > 50 && types.length < 100 ? 8 : Infinity
    this.list = this.hasLanes
      ? new Lanes(scheduler, { maxTypes, maxWaitingPerType: { byType: new Map() }, clock: this.clock }, makeContext)
      : new Window(scheduler, makeContext)
    this.list.blame = what => fail(`the scheduler's ${what}`)
    this.list.stall = () => false
    this.list.configure({ concurrency: this.concurrency })
  }

  step (steps) {
    this[steps[this.below(steps.length)]]()
    this.fill()
    this.check()
  }

  /** All jobs run that may; then nothing may be left. */
  finish () {
    for (const type of this.pausedTypes) this.list.resumeType(type)
    this.pausedTypes.clear()
    this.fill()
    this.idle()
    this.check()
    if (this.list.size > 0 && !this.scheduler.mayStall) fail(`${this.list.size} jobs wait and none runs, but the scheduler starts none`)
  }

  push () {
    for (let n = this.below(6); n >= 0; n--) {
      const type = this.anyType()
      const payload = this.count++
      this.model.get(type).push(payload)
      this.list.push(type, payload, undefined)
    }
  }

  unshift () {
    const type = this.anyType()
    const payload = this.count++
    this.model.get(type).unshift(payload)
    this.list.unshift(type, payload, undefined)
  }

  end () {
    this.clock.advance(this.below(20))
    if (this.running.length === 0) return
    const [origin] = this.running.splice(this.below(this.running.length), 1)
    this.list.ended(origin, this.below(2) === 0 ? 'failed' : 'done')
  }

  idle () {
    while (this.running.length > 0) {
      this.end()
      this.fill()
    }
    const isEmpty = this.list.size === 0 && this.pausedTypes.size === 0
    if (this.hasLanes && isEmpty && this.list.lanes.size > 0) fail(`${this.list.lanes.size} idle types are kept: forget(lane) must return true for them`)
  }

  remove () {
    const rest = 1 + this.below(4)
    const removed = this.list.remove(payload => payload % 4 < rest)
    this.list.tellRemovals()
    let count = 0
    for (const [type, jobs] of this.model) {
      const kept = jobs.filter(payload => !(payload % 4 < rest))
      count += jobs.length - kept.length
      this.model.set(type, kept)
    }
    if (removed.size !== count) fail(`${removed.size} jobs were removed, not ${count}`)
  }

  clear () {
    if (this.below(5) > 0) return
    this.list.removeAll()
    this.list.tellRemovals()
    for (const type of this.model.keys()) this.model.set(type, [])
  }

  clearType () {
    const type = this.anyType()
    const removed = this.list.removeType(type)
    this.list.tellRemovals()
    if (removed.size !== this.model.get(type).length) fail(`${removed.size} jobs of a type were removed, not ${this.model.get(type).length}`)
    this.model.set(type, [])
  }

  configure () {
    this.concurrency = 1 + this.below(20)
    this.list.configure({ concurrency: this.concurrency })
  }

  pauseType () {
    if (!this.canPause) return
    const type = this.anyType()
    this.pausedTypes.add(type)
    this.list.pauseType(type)
  }

  resumeType () {
    if (!this.canPause) return
    const type = this.anyType()
    this.pausedTypes.delete(type)
    this.list.resumeType(type)
  }

  /** What a queue does whenever a slot may be free. */
  fill () {
    this.list.beginPass()
    while (this.running.length < this.concurrency && this.list.size > 0 && this.list.take()) {
      const { payload, origin, context: { type } } = this.list
      const jobs = this.model.get(type)
      if (jobs[0] !== payload) fail(`job ${payload} of type '${type}' was started before job ${jobs[0]}`)
      if (this.pausedTypes.has(type)) fail(`a job of the paused type '${type}' was started`)
      jobs.shift()
      this.running.push(origin)
    }
  }

  check () {
    let size = 0
    let mayStartCount = 0
    for (const [type, jobs] of this.model) {
      size += jobs.length
      if (!this.pausedTypes.has(type)) mayStartCount += jobs.length
    }
    if (this.list.size !== size) fail(`${this.list.size} jobs wait, not ${size}`)
    if (this.list.running !== this.running.length) fail(`${this.list.running} jobs run, not ${this.running.length}`)
    if (this.isWorkConserving && mayStartCount > 0 && this.running.length < this.concurrency) {
      fail(`a slot is free while ${mayStartCount} jobs wait: start one, or pass isWorkConserving: false if the scheduler holds jobs back`)
    }
  }

  anyType () {
    return this.types[this.below(this.types.length)]
  }

  below (n) {
    return Math.floor(this.random() * n)
  }
}

function fail (message) {
  throw new Error(message)
}

function manyTypes (count) {
  return Array.from({ length: count }, (_, i) => `type ${i}`)
}

/** Random numbers from 0 to 1 (Tommy Ettinger's mulberry32). */
function mulberry32 (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6D2B79F5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

module.exports = { schedulerChecks }
