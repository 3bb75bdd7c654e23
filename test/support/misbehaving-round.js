'use strict'

// One queue with a scheduler that does what none should: now and then each of its methods throws, or calls the queue in any
// way, and next() and select() give anything. Beside it the most naive model: which jobs have started and what they were told.

const { isDeepStrictEqual } = require('node:util')
const fairlane = require('../..')
const { checkInvariants, fakeClock } = require('../../lib/testing')
const { Expectations } = require('./expectations')
const { seeded } = require('./random')
const { turn } = require('./turns')

const TYPES = ['a', 'b', 'c', 'd']
const MAX_DEPTH = 3
const SLOTS = 2
const MOST_TURNS = 300
const CANCELLED = ['FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_CLOSED']
const FULL = ['FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_TYPE_FULL']
const REFUSED = [...FULL, 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_ABORTED']
const WRONG = [undefined, null, {}, -1, 3, 0.5, NaN, 1e9, 'x']

/** What the caller's code may do, the likelier the more often it is here. */
const ACTIONS = [
  ...new Array(24).fill('push'), ...new Array(12).fill('end'), ...new Array(6).fill('resume'), ...new Array(5).fill('resumeType'),
  ...new Array(5).fill('tick'), ...new Array(5).fill('abort'), 'pause', 'pause', 'pause', 'pauseType', 'pauseType', 'pauseType',
  'clear', 'clear', 'remove', 'remove', 'setConcurrency', 'fflush', 'fflush', 'onIdle', 'ready', 'configure', 'throw'
]
const ENDS = ['atGate', 'atGate', 'atGate', 'promiseAtGate', 'promiseAtGate', 'atOnce', 'throws', 'inMicrotask', 'rejects']

class MisbehavingRound extends Expectations {
  /** @param {number} seed */
  constructor (seed) {
    super()
    const random = this.random = seeded(seed)
    this.thrown = new Error('of the caller')
    this.isWindow = random.chance(0.5)
    this.evil = random.pick([0.02, 0.15])
    this.closeChance = random.pick([0, 0.005])
    this.isMute = random.chance(0.2) // a lane scheduler that never says which job is to start
    this.clock = fakeClock()
    this.jobs = []
    this.refusedCount = 0
    this.gates = []
    this.controllers = []
    this.waits = new Set() // of { what }: promises and flushes that have not come
    this.drainedAt = 0 // how many jobs had settled then
    this.depth = 0
    this.isOver = false // from here on nobody calls the queue
    this.hasClosed = false

    this.scheduler = this.isWindow ? this.windowScheduler() : this.laneScheduler()
    this.options = {
      concurrency: SLOTS,
      maxTypes: this.isWindow ? undefined : random.pick([undefined, undefined, 2]),
      asyncContext: random.chance(0.3) ? 'push' : 'queue',
      timeoutMs: random.pick([undefined, undefined, 7]),
      onTimeout: random.pick(['hold', 'release']),
      maxWaitMs: random.pick([undefined, undefined, undefined, 20]),
      maxWaiting: random.pick([undefined, undefined, 6]),
      maxWaitingPerType: random.pick([undefined, undefined, undefined, 4])
    }
    const { options, scheduler, clock } = this
    const queue = fairlane((job, done, context) => this.run(job, done, context), { ...options, scheduler, clock })
    this.queue = queue
    queue.drain = () => this.drained()
    queue.on('close', () => { this.hasClosed = true })
    for (const event of ['saturated', 'unsaturated', 'drain', 'close']) queue.on(event, () => this.act())
    if (random.chance(0.5)) queue.on(random.pick(['done', 'failed', 'cancelled']), () => this.act())
  }

  get description () {
    const { isWindow, evil, closeChance, isMute } = this
    return JSON.stringify({ ...this.options, isWindow, evil, closeChance, isMute })
  }

  /** @param {number} steps */
  async play (steps) {
    for (let i = 0; i < steps; i++) {
      try {
        this.act()
      } catch (error) {
        this.expect(error === this.thrown, error.stack)
      }
      checkInvariants(this.queue)
      if (this.random.chance(0.4)) await turn()
      this.rethrow()
    }
    await this.finish()
  }

  // ---- the scheduler ----

  windowScheduler () {
    const { random } = this
    return {
      ...this.methods('waiting', 'start', 'done', 'removed', 'configure'),
      select: (types) => {
        this.misbehave()
        if (random.chance(this.evil)) return random.pick(WRONG)
        for (let i = 0; i < types.size(); i++) if (types.peekAt(i) !== undefined && random.chance(0.5)) return i
        return 0
      }
    }
  }

  laneScheduler () {
    const { random } = this
    const lanes = new Set()
    const know = (lane) => {
      lanes.add(lane)
      this.misbehave()
    }
    return {
      needsClock: random.chance(0.5),
      ...this.methods('ended', 'removed', 'configure', 'paused'),
      queued: know,
      started: know,
      resumed: know,
      next: () => {
        this.misbehave()
        if (this.isMute) throw this.thrown
        if (random.chance(this.evil)) return random.pick([...WRONG, ...lanes])
        return random.pick([...lanes].filter((lane) => lane.size > 0 && !lane.isPaused))
      },
      forget: () => {
        this.misbehave()
        return random.chance(0.8)
      },
      isNamed: () => {
        this.misbehave()
        return random.chance(0.1)
      }
    }
  }

  methods (...names) {
    return Object.fromEntries(names.map((name) => [name, () => this.misbehave()]))
  }

  misbehave () {
    if (!this.random.chance(this.evil)) return
    this.act()
    if (this.random.chance(0.3)) throw this.thrown
  }

  // ---- what the caller's code does ----

  act () {
    const { random } = this
    if (this.queue === undefined || this.isOver || this.depth === MAX_DEPTH) return
    this.depth++
    try {
      if (random.chance(this.closeChance)) this.close()
      else this[random.pick(ACTIONS)]()
    } catch (error) {
      this.expect(error === this.thrown, error.stack)
      throw error
    } finally {
      this.depth--
    }
  }

  push () {
    const { random, queue, jobs } = this
    const job = { id: jobs.length, isAdded: random.chance(0.3), isStarted: false, isLate: false, isRefused: false, outcome: undefined }
    jobs.push(job)
    const { closed } = queue
    const openCount = this.openRefusals()
    this.put(job)
    // the scheduler, asked for its lane, may push others, and may close the queue: then the job is refused, or runs all the same
    job.isRefused = this.openRefusals() > openCount
    if (job.isRefused) this.refusedCount++
    job.isLate = queue.closed
    this.expect(job.isRefused || !closed, `job ${job.id} is accepted, and the queue was closed`)
  }

  put (job) {
    const { random, queue } = this
    const type = random.pick(TYPES)
    if (!job.isAdded) {
      queue[random.pick(['pushType', 'pushType', 'unshiftType'])](type, job, (error) => this.told(job, error))
      return
    }
    const controller = new AbortController()
    if (random.chance(0.05)) controller.abort()
    this.controllers.push(controller)
    const { signal } = controller
    const told = (error) => this.told(job, error)
    const unshift = random.chance(0.3)
    const timeoutMs = random.pick([undefined, undefined, 5])
    const maxWaitMs = random.pick([undefined, undefined, 10])
    this.hear(queue.add(job, { type, signal, unshift, timeoutMs, maxWaitMs }).then(() => told(), told))
  }

  end () {
    const { random, gates } = this
    if (gates.length > 0) gates.splice(random.below(gates.length), 1)[0](random.chance(0.2) ? new Error('of a job') : null)
  }

  abort () {
    const { random, controllers } = this
    if (controllers.length > 0) controllers.splice(random.below(controllers.length), 1)[0].abort()
  }

  clear () {
    this.queue.clear({ type: this.random.pick([undefined, ...TYPES]) })
  }

  remove () {
    this.queue.remove(() => {
      if (this.random.chance(0.1)) this.act()
      return this.random.chance(0.2)
    })
  }

  fflush () {
    const running = this.jobs.filter((job) => job.isStarted && job.outcome === undefined)
    const waiting = [...this.queue.jobs()].map(({ payload }) => payload)
    const arrived = this.awaits('fflush')
    this.queue.fflush(() => {
      arrived()
      // promises come later
      for (const job of [...running, ...waiting]) this.expect(job.isAdded || job.outcome !== undefined, `fflush comes before job ${job.id} was told`)
      this.act()
    })
  }

  onIdle () {
    this.hear(this.queue.onIdle().then(this.awaits('onIdle')).then(() => this.act()))
  }

  ready () {
    const arrived = this.awaits('ready')
    this.hear(this.queue.ready(this.random.pick([undefined, ...TYPES])).then(arrived, arrived).then(() => this.act()))
  }

  close () {
    const { random, queue } = this
    const arrived = this.awaits('close')
    this.hear(queue.close({ drain: random.chance(0.5), timeoutMs: random.pick([undefined, 50]) }).then(arrived))
  }

  pause () { this.queue.pause() }
  resume () { this.queue.resume(1 + this.random.below(SLOTS)) }
  setConcurrency () { this.queue.concurrency = this.random.below(SLOTS + 1) }
  pauseType () { if (!this.isWindow) this.queue.pauseType(this.random.pick(TYPES)) }
  resumeType () { if (!this.isWindow) this.queue.resumeType(this.random.pick(TYPES)) }
  configure () { this.scheduler.configure({}) }
  tick () { this.clock.advance(this.random.below(8)) }
  throw () { throw this.thrown }

  // ---- the jobs ----

  run (job, done, context) {
    this.expect(!job.isStarted, `job ${job.id} starts once`)
    this.expect(!this.hasClosed || job.isLate, `job ${job.id} starts, and the queue has closed`)
    this.expect(job.outcome === undefined, `job ${job.id} starts, and was told ${job.outcome} before`)
    this.expect(this.queue.running <= SLOTS, `${this.queue.running} jobs run`)
    job.isStarted = true
    if (this.random.chance(0.2)) context.signal.onabort = () => this.act()
    this.act()
    return this[this.random.pick(ENDS)](done)
  }

  atOnce (done) { done(null, 1) }
  atGate (done) { this.gates.push(done) }
  promiseAtGate () { return new Promise((resolve, reject) => this.gates.push((error) => error ? reject(error) : resolve())) }
  throws () { throw this.thrown }
  async inMicrotask () { await null }
  async rejects () {
    await null
    throw this.thrown
  }

  /** The callback, or what the promise comes to. */
  told (job, error) {
    this.expect(job.outcome === undefined, `job ${job.id} is told ${error?.code}, and was told ${job.outcome} before`)
    this.expect(job.isRefused ? REFUSED.includes(error?.code) : !FULL.includes(error?.code), `job ${job.id} is ${job.isRefused ? '' : 'not '}refused, and told ${error?.code}`)
    job.outcome = job.isRefused ? 'refused' : outcomeOf(error)
    this.act()
  }

  drained () {
    const { accepted, done, failed, cancelled } = this.queue.stats()
    this.expect(this.queue.length === 0, 'drain comes when the queue is empty')
    this.drainedAt = done + failed + cancelled
    this.expect(accepted === this.drainedAt, 'drain comes when all have settled')
    this.act()
  }

  // ---- the end ----

  async finish () {
    const { queue, gates } = this
    this.isOver = true
    for (let i = 0; i < MOST_TURNS && (queue.length > 0 || gates.length > 0); i++) {
      if (!this.isWindow) for (const type of TYPES) queue.resumeType(type)
      queue.resume(SLOTS)
      for (const end of gates.splice(0)) end()
      await turn()
    }
    await turn()
    await turn()
    checkInvariants(queue)
    const { accepted, rejected, waiting, running, types, misuse, overrun, ...ends } = queue.stats()
    const none = { overdue: 0, delayed: 0, retried: 0, throttled: 0, joined: 0, heldTypes: 0, spent: 0, groups: 0 }
    const count = (outcome) => this.jobs.filter((job) => job.outcome === outcome).length
    const counts = { done: count('done'), failed: count('failed'), cancelled: count('cancelled'), ...none }
    this.expect(waiting + running + types === 0, `at the end ${waiting} jobs wait and ${running} run, of ${types} types`)
    this.expect(count(undefined) === 0, `${count(undefined)} jobs are not told`)
    this.expect(accepted + rejected === this.jobs.length && rejected === count('refused'), `${rejected} are counted as refused, not ${count('refused')}`)
    this.expect(isDeepStrictEqual(ends, counts), `it counts ${JSON.stringify(ends)}, not ${JSON.stringify(counts)}`)
    this.expect(this.drainedAt === accepted, `the last drain came after ${this.drainedAt} jobs, not ${accepted}`)
    this.expect(misuse + overrun === 0, `misuse is ${misuse}, overrun ${overrun}`)
    this.expect(this.waits.size === 0, `${[...this.waits][0]?.what} has not come`)
    this.expect(this.clock.timerCount === 0, 'no timer is set')
    this.rethrow()
  }

  // ---- support ----

  /** How many refusals the queue counts beyond those of the jobs that are known to be refused. */
  openRefusals () {
    return this.queue.stats().rejected - this.refusedCount
  }

  /** @returns {() => void} to be called when it has come, once */
  awaits (what) {
    const wait = { what }
    this.waits.add(wait)
    return () => this.expect(this.waits.delete(wait), `${what} comes once`)
  }

  /** What is thrown where a promise has come is nobody's. */
  hear (promise) {
    promise.catch((error) => this.expect(error === this.thrown, error.stack))
  }
}

function outcomeOf (error) {
  if (!error) return 'done'
  return CANCELLED.includes(error.code) ? 'cancelled' : 'failed'
}

module.exports = { MisbehavingRound }
