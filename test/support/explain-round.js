'use strict'

// A random history of a queue on a clock that the test moves, then what explain() says of a type, and then what becomes of that: nothing
// else changes, all jobs are equally long, and types weigh the same.

const assert = require('node:assert/strict')
const { seeded } = require('./random')
const { turns } = require('./turns')

const TYPES = ['a', 'b', 'c', 'd', '', '__proto__']
const JOB_MS = 10
const STEPS = 60
const LONGEST_MS = 5000 // in which a type starts that may
const RATES = [
  undefined, { limit: 2, intervalMs: 40 }, [{ limit: 3, intervalMs: 30 }, { limit: 5, intervalMs: 100 }], { limit: 3, intervalMs: 40, of: 'cost' }
]

class ExplainRound {
  /** @param {object} schedulers by name, or protocols of the caller's @param {object} clock of fakeClock() */
  constructor (seed, schedulers, clock) {
    const random = this.random = seeded(seed)
    this.clock = clock
    const [scheduler, schedulerOptions] = random.pick(schedulers)
    const hasLanes = typeof scheduler === 'string'
    this.hasTypes = scheduler !== null
    this.options = {
      scheduler,
      ...scheduler !== null && { schedulerOptions },
      concurrency: 1 + random.below(4),
      rate: random.pick([undefined, undefined, ...RATES]),
      ratePerType: hasLanes ? random.pick([undefined, ...RATES]) : undefined,
      priorityMs: hasLanes || scheduler === null ? random.pick([undefined, undefined, 50]) : undefined,
      maxTypes: hasLanes ? random.pick([Infinity, Infinity, 2]) : Infinity,
      maxAttempts: 2,
      backoffMs: 25,
      settleBy: 'callback'
    }
    this.description = JSON.stringify({ ...this.options, scheduler: hasLanes ? scheduler : Boolean(scheduler) })
    this.hasCosts = this.description.includes('cost')
    this.isFrozen = false
    this.starts = [] // types, of those since it is frozen
    this.ends = []
  }

  get runner () {
    return (payload, done, { type }) => {
      if (this.isFrozen) this.starts.push(type)
      this.clock.setTimeout(() => {
        if (this.isFrozen) this.ends.push(type)
        done(!this.isFrozen && payload === 'fails' ? new Error('expected') : null)
      }, JOB_MS)
    }
  }

  /** @param {object} queue with these options, runner and clock @param {(round: ExplainRound) => Promise<void>} [settles] */
  async play (queue, settles = () => turns(12)) {
    this.queue = queue
    this.settles = settles
    for (let step = 0; step < STEPS; step++) {
      this.act()
      if (this.random.chance(0.6)) await settles()
      await this.look()
    }
    await settles()
    const type = this.hasTypes ? this.random.pick(TYPES) : undefined
    const told = await queue.explain(type, { ahead: true })
    this.isFrozen = true
    try {
      await this.follow(type, told)
    } catch (err) {
      throw new Error(`${JSON.stringify(told)}: ${err.message}`, { cause: err })
    }
    return told
  }

  // private from here on

  act () {
    const { clock, queue, random } = this
    const type = this.hasTypes ? random.pick(TYPES) : undefined
    const kind = random.below(24)
    const hasLanes = typeof this.options.scheduler === 'string'
    if (kind < 12) this.add({ type })
    else if (kind < 14) this.add({ type, delayMs: 1 + random.below(60), unshift: random.chance(0.2), timeoutMs: random.pick([50, 1000]) })
    else if (kind < 20) clock.advance(random.below(15))
    else if (kind === 20) queue.hold(random.pick([0, random.below(40)]))
    else if (kind === 21 && hasLanes) this.actOn(type)
    else if (kind === 22) random.pick([() => queue.pause(), () => queue.resume(1 + random.below(4)), () => queue.resume()])()
    else random.pick([() => queue.clear({ type }), () => this.setRate(random.pick([null, ...RATES.slice(1)])), () => {}])()
  }

  setRate (rate) {
    if (rate?.of === 'cost') this.hasCosts = true
    this.queue.setRates({ rate })
  }

  actOn (type) {
    const { queue, random } = this
    random.pick([() => queue.holdType(type, random.below(60)), () => queue.pauseType(type), () => queue.resumeType(type)])()
  }

  add (options) {
    const { random } = this
    const payload = random.chance(0.1) ? 'fails' : 'job'
    const priority = this.options.priorityMs === undefined ? {} : { priority: random.below(3) }
    this.queue.add(payload, { ...options, ...priority, cost: 1 + random.below(3) }).catch(() => {})
  }

  /** What explain() says agrees with what else the queue says. */
  async look () {
    const { queue } = this
    for (const type of this.hasTypes ? TYPES : [undefined]) {
      const told = await queue.explain(type)
      const limits = this.hasTypes ? undefined : { paused: false, heldMs: queue.heldMs() }
      const { waiting, delayed, running, paused, heldMs } = { ...await queue.counts(type), ...limits }
      assert.deepEqual([told.type, told.waiting, told.delayed, told.running], [type, waiting, delayed, running])
      const { because, untilMs, holders } = told
      assert.equal(because === 'idle', waiting === 0)
      if (waiting === 0) continue
      assert.equal(because === 'paused', queue.paused)
      if (!queue.paused) assert.equal(because === 'type-paused', paused)
      if (because === 'slots') assert(queue.running >= queue.concurrency, 'slots are free')
      assert.equal(holders !== undefined, because === 'slots')
      if (holders !== undefined && this.hasTypes) {
        const all = await queue.types({ limit: 100 })
        const most = all.map(({ running }) => running).filter(running => running > 0).sort((a, b) => b - a).slice(0, 5)
        assert.deepEqual(holders.map(({ running }) => running), most)
      }
      if (/hold|rate/.test(because)) assert.equal(untilMs, heldMs)
      if (because === 'delayed' || because === 'backoff') assert.equal(waiting, delayed)
    }
  }

  hasStarted (type) {
    return this.starts.includes(type)
  }

  /** Time goes by, a millisecond at a time. @returns {Promise<number>} how much, until then, or until the type has started */
  async pass (ms, type) {
    for (let passed = 0; passed < ms; passed++) {
      if (this.hasStarted(type)) return passed
      this.clock.advance(1)
      await this.settles()
    }
    return ms
  }

  async isHeld (type) {
    return this.hasTypes && (await this.queue.counts(type)).heldMs > 0
  }

  async follow (type, { because, untilMs, ahead }) {
    const { queue, options } = this
    if (because === 'idle') return
    if (because === 'paused' || because === 'type-paused') {
      await this.pass(500, type)
      assert(!this.hasStarted(type), 'it has started')
      return
    }
    await this.settles()
    if (untilMs !== undefined) {
      if (untilMs > 0) await this.pass(untilMs - 1, type)
      // what a job costs that comes to the head of its type, or of the queue, meanwhile is not known
      if (this.hasCosts) return this.starting(type, ahead)
      assert(untilMs === 0 || !this.hasStarted(type), `it has started before, at ${this.starts}`)
      if (untilMs > 0) await this.pass(1, type)
      const isFree = queue.running < queue.concurrency
      // others may have had the rate of the queue, or the slots of the group, or stand before it in the lane
      const isGroupFull = (await queue.explain(type)).because === 'group-cap'
      const isBehind = queue.heldMs() > 0 || isGroupFull || options.maxTypes !== Infinity || await this.isHeld(type)
      const isOvertaken = this.starts.length > 0 && isBehind
      assert(this.hasStarted(type) || !isFree || isOvertaken, 'it has not started, though a slot is free')
    }
    await this.starting(type, ahead)
    if (because === 'cap' && options.maxTypes === Infinity) assert(this.ends.includes(type), 'it has started above its cap')
  }

  async starting (type, ahead) {
    await this.pass(LONGEST_MS, type)
    assert(this.hasStarted(type), `it has not started: ${JSON.stringify(await this.queue.explain(type))}`)
    const served = new Set(this.starts.slice(0, this.starts.indexOf(type)))
    assert(served.size <= ahead, `${served.size} others were served before it: ${this.starts}`)
  }
}

module.exports = { ExplainRound, TYPES }
