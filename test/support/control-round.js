'use strict'

// One queue with everything that can end, refuse or hold back a job, and a naive model beside it: what each job was told, and
// whether that was due. Random operations come from outside and from inside runners, callbacks, drain, listeners, abort
// listeners, sources of map() and what waits for promises.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { internalsOf } = require('../../lib/core/internals')
const { checkInvariants, fakeClock } = require('../../lib/testing')
const { Expectations } = require('./expectations')
const { setPace } = require('./pace')
const { seeded } = require('./random')
const { turn } = require('./turns')

const TYPES = ['a', 'b', 'c', '__proto__']
const MAX_DEPTH = 3
const MOST_JOBS = 400
const CANCELLED = ['FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_ABORTED', 'FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_CLOSED']
const ENDS = ['atGate', 'atGate', 'atGate', 'promiseAtGate', 'promiseAtGate', 'atOnce', 'inMicrotask', 'throws', 'rejects']

/** A scheduler of the window protocol: the oldest job, the youngest, or none now and then. */
function windowScheduler (random, round) {
  const isOldestFirst = random.chance(0.5)
  return {
    waiting () {},
    start: () => round.toldOfStart(),
    done () {},
    removed () {},
    select (types) {
      if (isOldestFirst) return 0
      // the first job of the type that arrived last: a type's own order is kept
      const seen = new Map()
      for (let i = 0; i < types.size(); i++) if (types.peekAt(i) !== undefined && !seen.has(types.peekAt(i))) seen.set(types.peekAt(i), i)
      return [...seen.values()].at(-1)
    }
  }
}

/** One of the lane protocol: types take turns. */
function laneScheduler (random, round) {
  const lanes = new Set()
  const renew = (lane) => {
    lanes.delete(lane)
    if (lane.size > 0 && !lane.isPaused) lanes.add(lane)
  }
  return {
    queued: (lane) => lanes.add(lane),
    next: () => lanes.values().next().value,
    started: (lane) => {
      renew(lane)
      round.toldOfStart()
    },
    ended () {},
    removed: (lane) => { if (lane.size === 0) lanes.delete(lane) },
    paused: (lane) => lanes.delete(lane),
    resumed: renew
  }
}

const KINDS = {
  none: () => ({}),
  fair: () => ({ scheduler: 'fair' }),
  capped: () => ({ scheduler: 'capped' }),
  equal: () => ({ scheduler: 'equal' }),
  'equal, capped': (random) => ({ scheduler: 'equal', schedulerOptions: { maxTypeCap: 2, typeCaps: { a: 1 }, weights: { b: 1 + random.below(5) } } }),
  'capped, hard': () => ({ scheduler: 'capped', schedulerOptions: { hard: true, maxTypeShare: 1, maxTypeCap: 2, typeCaps: { a: 1 } } }),
  window: (random, round) => ({ scheduler: windowScheduler(random, round) }),
  lanes: (random, round) => ({ scheduler: laneScheduler(random, round) })
}

class Round extends Expectations {
  /** @param {number} seed @param {object[]} [observers] of the queue @param {Function} [make] makes the queue */
  constructor (seed, observers, make = fairlane) {
    super()
    const random = this.random = seeded(seed)
    this.seed = seed
    this.kind = random.pick(Object.keys(KINDS))
    this.hasTypes = this.kind !== 'none'
    this.hasLanes = !['none', 'window'].includes(this.kind)
    this.hasCaps = ['equal, capped', 'capped, hard'].includes(this.kind)
    this.usesMap = random.chance(0.3)
    this.clock = fakeClock()
    this.controller = new AbortController()
    this.options = {
      ...KINDS[this.kind](random, this),
      concurrency: random.pick([1, 2, 5]),
      maxTypes: this.hasLanes && random.chance(0.3) ? 2 : undefined,
      maxWaiting: random.pick([Infinity, Infinity, 0, 3, 20]),
      maxWaitingPerType: this.hasTypes && random.chance(0.3) ? { a: 2, b: 5 } : undefined,
      maxWaitMs: random.pick([undefined, undefined, 40]),
      timeoutMs: random.pick([undefined, undefined, 30]),
      onTimeout: random.pick(['hold', 'release']),
      asyncContext: random.chance(0.3) ? 'push' : 'queue',
      signal: random.chance(0.3) ? this.controller.signal : undefined
    }
    this.closeChance = random.pick([0, 0.005])
    this.storage = new AsyncLocalStorage()

    this.jobs = []
    this.arrivals = [] // jobs that wait, in the order in which they arrived; those of map() not
    this.live = new Set() // jobs whose runner goes on
    this.gates = []
    this.counts = { accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0 }
    this.controllers = Array.from({ length: 4 }, () => new AbortController())
    this.pausedTypes = new Set()
    this.waits = [] // promises and flushes: { what, isFired, isDue, since }
    this.mappings = []
    this.abandonAt = Infinity // when close() gives all up
    this.advancesFrom = Infinity // while the clock goes on: since when
    this.closing = undefined
    this.toldCounts = {} // by event, of those that somebody listens to
    this.levels = []
    this.depth = 0
    this.randomCount = 0
    this.isInRunner = false
    this.isInQuietCall = false
    this.startlessDepth = 0
    this.isStarting = false
    this.chosenAt = undefined // the next to start, if its scheduler took time to be told
    this.isChosenBefore = false // the next to start: before limits were set that it does not keep
    this.lastStarts = 0
    this.startedCount = 0
    this.drainCount = 0
    this.drainEventCount = 0

    const runner = (job, done, context) => job.run(done, context)
    this.queue = this.storage.run('maker', () => make(runner, { ...this.options, clock: this.clock, observers }))
    const { dispatch, tickets } = internalsOf(this.queue)
    this.dispatch = dispatch
    this.telling = dispatch.telling
    this.deadlines = tickets.deadlines
    this.isSliced = random.chance(0.4) // whether it takes turns of the event loop to tell many
    setPace(this.queue, this.isSliced ? random.pick(['one in a turn', 'three in a turn']) : 'all at once')
    this.turnsTelling = 0
    this.queue.drain = () => this.drained()
    this.listen()
  }

  get isAbandoned () {
    return this.clock.now() >= this.abandonAt
  }

  get description () {
    const scheduler = this.kind
    const { options, isSliced, usesMap, closeChance } = this
    return JSON.stringify({ ...options, scheduler, isSliced, signal: options.signal !== undefined, usesMap, closeChance })
  }

  /** @param {number} steps */
  async play (steps) {
    const { random } = this
    for (let i = 0; i < steps && this.jobs.length < MOST_JOBS; i++) {
      this.act(random)
      if (random.chance(0.4)) await this.nextTurn()
      if (random.chance(0.02)) await this.expectNoIdleSlots()
      this.rethrow()
    }
    await this.finish()
  }

  // ---- operations ----

  act (random) {
    if (this.failure || this.depth >= MAX_DEPTH) return
    this.depth++
    const { queue } = this
    const kind = random.next()
    if (kind < 0.40) this.push(random)
    else if (kind < 0.58) this.endGate(random)
    else if (kind < 0.66) this.advance(random.below(15))
    else if (kind < 0.71) this.abort(random)
    else if (kind < 0.73) this.quietly(() => queue.pause())
    else if (kind < 0.78) this.resume(random)
    else if (kind < 0.81) this.fflush(random)
    else if (kind < 0.83) this.onIdle()
    else if (kind < 0.86) this.ready(random)
    else if (kind < 0.88) this.remove(random)
    else if (kind < 0.90) this.clear(random)
    else if (kind < 0.93) this.pauseType(random)
    else if (kind < 0.96) this.resumeType(random)
    else if (kind < 0.98) this.map(random)
    else if (kind < 0.99) this.compare()
    else if (random.chance(this.closeChance / 0.01)) this.close(random)
    this.check()
    this.depth--
  }

  push (random) {
    if (this.isStarting) return // it would come before the job that was chosen already
    const { queue } = this
    const job = new Job(this, this.hasTypes ? random.pick(TYPES) : undefined, this.newRandom())
    const { options, type } = job
    const expected = this.refusalOf(job)
    const accepted = queue.stats().accepted
    this.storage.run(job, () => this.quietly(() => {
      if (options !== undefined) {
        queue.add(job, { ...options, type }).then((result) => job.settled(undefined, result), (error) => job.settled(error))
      } else {
        const method = (job.isUnshifted ? 'unshift' : 'push') + (this.hasTypes ? 'Type' : '')
        const args = this.hasTypes ? [type, job] : [job]
        this.expect(queue[method](...args, (error, result) => job.settled(error, result)) === queue, 'push returns the queue')
      }
    }))
    const isAccepted = queue.stats().accepted > accepted
    if (expected !== undefined) this.expect(isAccepted === (expected === ''), `a job is ${isAccepted ? 'accepted' : 'refused'}, not ${expected || 'accepted'}`)
    this.counts[isAccepted ? 'accepted' : 'rejected']++
    if (!isAccepted) {
      job.state = 'refused'
      return
    }
    job.state = 'waiting'
    job.number = queue.stats().accepted
    this.arrivals[job.isUnshifted ? 'unshift' : 'push'](job)
    const free = Math.max(0, queue.concurrency - queue.running)
    this.expect(queue.waiting <= this.options.maxWaiting + free, 'maxWaiting holds')
  }

  /** By the contract, from what the queue shows: '' if it is to be accepted, undefined if the model can not tell (shared lanes). */
  refusalOf ({ type, options }) {
    const { queue } = this
    if (options?.signal?.aborted) return 'ABORTED'
    if (queue.closed) return 'CLOSED'
    const room = this.options.maxWaiting + Math.max(0, queue.concurrency - queue.running) - queue.waiting
    if (room <= 0) return 'QUEUE_FULL'
    if (type === undefined) return ''
    if (this.options.maxTypes !== undefined) return undefined
    const { maxWaitingPerType = {} } = this.options
    const limit = Object.hasOwn(maxWaitingPerType, type) ? maxWaitingPerType[type] : Infinity // not of '__proto__'
    return queue.stats(type).waiting < Math.min(limit, Math.max(1, 4 * room)) ? '' : 'TYPE_FULL'
  }

  advance (ms) {
    const before = this.advancesFrom
    this.advancesFrom = Math.min(before, this.clock.now())
    this.clock.advance(ms)
    this.advancesFrom = before
  }

  endGate (random) {
    if (this.gates.length > 0) this.gates.splice(random.below(this.gates.length), 1)[0]()
  }

  abort (random) {
    const i = random.below(this.controllers.length)
    this.startingNothing(() => this.controllers[i].abort(`reason ${i}`))
    if (random.chance(0.8)) this.controllers[i] = new AbortController()
  }

  /** A scheduler may do anything, too. */
  toldOfStart () {
    if (!this.random.chance(0.05)) return
    const { isAbandoned: wasAbandoned, isStarting: wasStarting } = this // a lane that moves tells of its running jobs
    const before = this.limits()
    this.isStarting = true // the job still counts as waiting, and is in no list
    this.chosenAt = this.clock.now()
    this.abort(this.random)
    this.isStarting = wasStarting
    this.isChosenBefore = this.limits() !== before
    if (!wasAbandoned && this.isAbandoned) this.lastStarts = 1 // of the job that was chosen before
  }

  limits () {
    return [this.queue.concurrency, ...this.pausedTypes].join()
  }

  resume (random) {
    this.quietly(() => {
      if (random.chance(0.5)) this.queue.resume(random.pick([undefined, 1, 2, 5]))
      else this.queue.concurrency = random.pick([1, 2, 5, '3', 0])
    })
  }

  fflush (random) {
    const before = this.jobs.filter((job) => job.mapped === undefined && (job.state === 'waiting' || job.state === 'running'))
    const isDue = () => before.every((job) => job.isOver) && (!this.usesMap || this.queue.length === 0)
    const wait = this.watch('fflush', isDue)
    const inside = this.newRandom()
    const flushed = () => {
      this.expect(!wait.isFired, 'an fflush fires once')
      wait.isFired = true
      this.expectTold(before, 'an fflush fires')
      this.maybeActLast(inside)
    }
    this.quietly(() => {
      if (random.chance(0.5)) this.queue.fflush(flushed)
      else this.queue.fflush().then(flushed)
    })
  }

  onIdle () {
    const before = this.jobs.filter((job) => job.isAccepted)
    this.waitFor('onIdle', () => this.queue.onIdle().then(() => this.expectTold(before, 'onIdle resolves')), () => this.queue.length === 0)
  }

  /** Callbacks have been called; what awaits add() may be yet to come. */
  expectTold (jobs, what) {
    for (const job of jobs) {
      if (job.mapped !== undefined) continue
      this.expect(job.options === undefined ? job.isOver : job.mayBeOver(), `${what} before job ${job.id} was told`)
    }
  }

  ready (random) {
    const type = this.hasTypes && random.chance(0.7) ? random.pick(TYPES) : undefined
    const probe = { type, options: undefined }
    this.waitFor('ready', () => this.queue.ready(type), () => ['', 'CLOSED'].includes(this.refusalOf(probe)), (error) => {
      this.expect(error.code === 'FAIRLANE_ERR_CLOSED' && this.queue.closed, 'ready rejects on close only')
    })
  }

  waitFor (what, call, isDue, rejected = (error) => this.expect(false, error.message)) {
    const wait = this.watch(what, isDue)
    this.quietly(call).catch(rejected).then(() => {
      wait.isFired = true
      this.maybeAct(this.newRandom())
    })
  }

  watch (what, isDue) {
    const wait = { what, isDue, isFired: false, turnsDue: 0 }
    this.waits.push(wait)
    return wait
  }

  remove (random) {
    const inside = this.newRandom()
    const modulus = 2 + random.below(10)
    this.cancelling((job) => job.id % modulus === 0, () => this.queue.remove(({ type, payload }) => {
      this.expect(type === payload.type, 'remove tells the type')
      if (inside.chance(0.02)) this.act(inside)
      return payload.id % modulus === 0
    }))
  }

  clear (random) {
    const type = this.hasTypes && random.chance(0.7) ? random.pick(TYPES) : undefined
    this.cancelling((job) => type === undefined || job.type === type, () => this.queue.clear({ type }))
  }

  cancelling (test, call) {
    if (this.isStarting) return // the job that was chosen already can not be cancelled
    const chosen = this.arrivals.filter((job) => job.state === 'waiting' && test(job))
    for (const job of chosen) job.clearCount++
    const count = this.startingNothing(call)
    const waiting = new Set([...this.queue.jobs()].map(({ payload }) => payload))
    const spared = chosen.filter((job) => waiting.has(job))
    for (const job of spared) job.clearCount--
    // the test of remove() may have moved jobs from a shared lane to one of their own
    this.expect(spared.length === 0 || this.options.maxTypes !== undefined, 'it cancels all that it should')
    if (!this.usesMap) this.expect(count <= chosen.length, `it says that it cancelled ${count}, not ${chosen.length}`)
  }

  pauseType (random) {
    const type = random.pick(TYPES)
    if (!this.hasLanes || this.queue.closed) return
    this.quietly(() => this.queue.pauseType(type))
    this.pausedTypes.add(type)
  }

  resumeType (random) {
    const type = random.pick(TYPES)
    if (!this.hasLanes) return
    this.quietly(() => this.queue.resumeType(type))
    this.pausedTypes.delete(type)
  }

  map (random) {
    if (this.usesMap && this.mappings.length < 5) this.mappings.push(new Mapped(this, this.newRandom()))
  }

  compare () {
    if (this.isStarting || this.arrivals.some((job) => job.mayBeOver())) return // they are being cancelled
    const waiting = [...this.queue.jobs()].filter(({ payload }) => payload.mapped === undefined)
    const isArrival = ({ type, payload }, i) => payload === this.arrivals[i] && type === payload.type
    this.expect(waiting.length === this.arrivals.length && waiting.every(isArrival),
      'jobs() gives the waiting jobs in the order of their arrival')
  }

  close (random) {
    const { queue } = this
    const isFirst = this.closing === undefined
    const drain = random.chance(0.5)
    const timeoutMs = random.pick([undefined, undefined, 5, 50])
    this.closing ??= { isOver: false }
    if (!drain) this.abandonAt = -Infinity
    else if (timeoutMs !== undefined) this.abandonAt = Math.min(this.abandonAt, this.clock.now() + timeoutMs)
    this.pausedTypes.clear()
    if (drain === false && timeoutMs === undefined && this.options.signal !== undefined && random.chance(0.5)) this.controller.abort('over')
    if (!drain && timeoutMs === undefined) this.closing.turnsLeft ??= 4
    const closed = this.startingNothing(() => queue.close({ drain, timeoutMs }))
    this.expect(queue.closed && !queue.paused, 'a closed queue is not paused')
    if (isFirst) {
      closed.then((count) => {
        this.closing.isOver = true
        this.expect(count === this.closing.count, 'close() and the event tell the same number')
      })
    }
  }

  listen () {
    const { queue, random } = this
    const inside = this.newRandom()
    queue.on('saturated', () => { this.levels.push('saturated'); this.maybeAct(inside) })
    queue.on('unsaturated', () => { this.levels.push('unsaturated'); this.maybeAct(inside) })
    queue.on('drain', () => {
      this.expect(++this.drainEventCount <= this.drainCount, 'the drain event comes after drain')
      this.maybeActLast(inside)
    })
    queue.once('close', (count) => {
      this.expect(this.closing !== undefined, 'nothing closes by itself')
      this.closing.count = count
      this.expect(count === queue.running + queue.stats().overrun, 'close tells how many runners had not ended')
      this.expect(queue.waiting === 0, 'nothing waits when it has closed')
      this.expectTold(this.jobs.filter((job) => job.isAccepted), 'it closes')
      this.maybeActLast(inside)
    })
    if (random.chance(0.3)) {
      for (const event of ['done', 'failed', 'cancelled'].filter(() => random.chance(0.5))) {
        this.toldCounts[event] = 0
        queue.on(event, ({ error, type, payload }) => {
          this.toldCounts[event]++
          this.expect(Boolean(error) === (event !== 'done') && payload.type === type, `${event} tells error, type and payload`)
          this.check()
          this.maybeAct(inside)
        })
      }
    }
  }

  drained () {
    this.drainCount++
    this.expect(this.queue.length === 0, 'drain comes when the queue is empty')
    this.expectTold(this.jobs.filter((job) => job.isAccepted), 'drain comes')
    this.check()
    this.maybeActLast(this.newRandom())
  }

  // ---- checks ----

  /** What must be true at any time. */
  check () {
    if (this.failure || this.isStarting) return
    try {
      checkInvariants(this.queue)
    } catch (error) {
      this.fail(error)
      return
    }
    this.arrivals = this.arrivals.filter((job) => job.state === 'waiting')
    if (this.arrivals.length > this.queue.waiting) this.expectReasons()
    const { accepted, rejected } = this.queue.stats()
    if (!this.usesMap) this.expect(accepted === this.counts.accepted || this.isInQuietCall, 'accepted is exact')
    if (!this.usesMap) this.expect(rejected === this.counts.rejected || this.isInQuietCall, 'rejected is exact')
  }

  /** Jobs have left the list without being told yet: there must be a reason. */
  expectReasons () {
    const waiting = new Set([...this.queue.jobs()].map(({ payload }) => payload))
    for (const job of this.arrivals) {
      if (!waiting.has(job)) this.expect(job.mayBeOver(), `job ${job.id} does not wait any more, for no reason`)
    }
  }

  /** What must be true once all that follows at once is over. */
  async nextTurn () {
    await turn()
    this.check()
    if (this.failure) return
    const { queue } = this
    this.expectTelling()
    if (this.dispatch.untoldCount > 0 || this.deadlines.isLate) return
    const now = this.clock.now()
    for (const job of this.jobs) if (job.mapped === undefined && job.isAccepted && !job.isOver) this.expect(!job.isDue(now), `job ${job.id} should be over, not ${job.state}`)
    const holding = [...this.live].filter((job) => !job.isReleased)
    this.expect(queue.running === holding.length, `running is ${queue.running}, not ${holding.length}`)
    this.expect(queue.stats().overrun === this.live.size - holding.length, 'overrun is exact')
    this.expect(this.levels.every((level, i) => level === (i % 2 === 0 ? 'saturated' : 'unsaturated')), 'saturated and unsaturated alternate')
    if (!this.usesMap) {
      const { done, failed, cancelled } = queue.stats()
      const counts = { ...this.counts }
      delete counts.accepted
      delete counts.rejected
      try {
        assert.deepEqual({ done, failed, cancelled }, counts)
      } catch (error) {
        this.fail(error)
      }
      this.compare()
    }
    for (const mapped of this.mappings) mapped.check()
    if (this.closing?.turnsLeft !== undefined) this.expect(this.closing.isOver || --this.closing.turnsLeft > 0, 'it closes though runners go on')
    this.expectWaits()
  }

  /** Jobs have settled, or waits come to their end, that are to be told in later turns. */
  get isTelling () {
    return this.dispatch.untoldCount > 0 || !this.telling.batches.isEmpty() || this.deadlines.isLate
  }

  expectTelling () {
    const { dispatch, queue } = this
    this.turnsTelling = this.isTelling ? this.turnsTelling + 1 : 0
    this.expect(dispatch.untoldCount === 0 || this.isSliced, 'all are told at once')
    this.expect(this.turnsTelling < 5 * MOST_JOBS, 'what is to be told comes to its end')
    if (this.usesMap) return
    const { done, failed, cancelled } = queue.stats()
    const { counts } = this
    this.expect(done + failed + cancelled === counts.done + counts.failed + counts.cancelled + dispatch.untoldCount, 'who has settled was told, or is to be')
  }

  expectWaits () {
    this.waits = this.waits.filter((wait) => !wait.isFired)
    if (this.isTelling) return
    for (const wait of this.waits) {
      wait.turnsDue = wait.isDue() ? wait.turnsDue + 1 : 0
      this.expect(wait.turnsDue < (this.isSliced ? 4 + 2 * TYPES.length : 4), `${wait.what} is overdue`)
    }
  }

  /** A slot is free while a job waits that may start: only for a few turns in which none starts. */
  async expectNoIdleSlots () {
    if (this.hasCaps) return
    for (let idleTurns = 0; idleTurns < 20; idleTurns++) {
      const startable = [...this.queue.jobs()].some(({ type }) => !this.pausedTypes.has(type))
      if (!startable || this.queue.running >= this.queue.concurrency || this.failure) return
      const before = this.startedCount
      await this.nextTurn()
      if (this.startedCount > before) idleTurns = 0 // where a turn starts one job only, as many may come and end
    }
    this.expect(false, 'a slot is free and jobs wait')
  }

  async finish () {
    const { queue } = this
    for (const mapped of this.mappings) mapped.isLeaving = mapped.random.chance(0.5)
    this.close(this.random)
    for (let i = 0; !this.closing.isOver && !this.failure; i++) {
      this.expect(i < 2000, 'the queue closes')
      if (i > 100 && this.random.chance(0.1)) this.close(this.random)
      await this.release()
    }
    for (let i = 0; i < 5 || this.gates.length > 0 || this.isTelling; i++) await this.release()
    this.rethrow()
    for (const { id, state, mapped } of this.jobs) this.expect(mapped !== undefined || state === 'settled' || state === 'told', `job ${id} is ${state} at the end`)
    for (const mapped of this.mappings) mapped.finish()
    this.expect(this.waits.length === 0, `${this.waits[0]?.what} has not fired`)
    const { overrun, misuse, types } = queue.stats()
    for (const [event, count] of Object.entries(this.toldCounts)) this.expect(count === queue.stats()[event], `${count} jobs are told as ${event}`)
    assert.deepEqual([queue.length, overrun, misuse, types, this.timersLeft()], [0, 0, 0, 0, 0])
    this.rethrow()
    this.storage.disable()
  }

  timersLeft () {
    return this.clock.timerCount
  }

  async release () {
    for (const end of this.gates.splice(0)) end()
    await this.nextTurn()
    this.advance(1)
    this.rethrow()
  }

  // ---- support ----

  newRandom () {
    return seeded(this.seed + ++this.randomCount)
  }

  maybeAct (random) {
    while (random.chance(0.2)) this.act(random)
  }

  /** Where a call has done its work, and an end that comes now may start the next job at once. */
  maybeActLast (random) {
    const depth = this.startlessDepth
    this.startlessDepth = 0
    this.maybeAct(random)
    this.startlessDepth = depth
  }

  /** Calls what promises to start nothing and to call nothing back. */
  quietly (call) {
    const before = this.isInQuietCall
    this.isInQuietCall = true
    try {
      return call()
    } finally {
      this.isInQuietCall = before
    }
  }

  /** Calls what may call back, and starts nothing meanwhile. */
  startingNothing (call) {
    this.startlessDepth++
    try {
      return call()
    } finally {
      this.startlessDepth--
    }
  }
}

/** One job: what it asks for, how its runner ends, and what it was told. */
class Job {
  constructor (round, type, random, mapped) {
    const { options } = round
    this.round = round
    this.id = round.jobs.length
    this.type = type
    this.random = random
    this.mapped = mapped
    this.isUnshifted = mapped === undefined && random.chance(0.2)
    this.options = mapped === undefined && random.chance(0.5) ? { unshift: this.isUnshifted } : undefined
    if (this.options !== undefined) {
      if (random.chance(0.6)) this.options.signal = random.pick(round.controllers).signal
      if (random.chance(0.3)) this.options.timeoutMs = random.pick([1 + random.below(30), Infinity])
      if (random.chance(0.3)) this.options.maxWaitMs = random.pick([1 + random.below(30), Infinity])
    }
    this.timeoutMs = this.options?.timeoutMs ?? options.timeoutMs ?? Infinity
    this.maxWaitMs = this.options?.maxWaitMs ?? options.maxWaitMs ?? Infinity
    this.end = random.pick(ENDS)
    this.fails = random.chance(0.2)
    this.result = { of: this.id }
    this.error = new Error(`job ${this.id}`)
    this.state = 'made'
    this.since = this.acceptedAt = round.clock.now()
    this.startedAt = undefined
    this.told = undefined // { at, error } once it was
    this.clearCount = 0 // calls that cancel it
    this.ended = undefined // how its runner did
    this.context = undefined
    this.aborted = () => round.maybeAct(this.random)
    round.jobs.push(this)
  }

  get isAccepted () {
    return this.state === 'waiting' || this.state === 'running' || this.state === 'settled'
  }

  get isOver () {
    return this.state === 'settled'
  }

  get isCleared () {
    return this.clearCount > 0
  }

  get isAborted () {
    return this.options?.signal?.aborted === true
  }

  /** Its slot was taken away. */
  get isReleased () {
    return this.round.options.onTimeout === 'release' && this.context.signal.reason?.code === 'FAIRLANE_ERR_TIMEOUT'
  }

  /** Something has come over it that ends it at once. */
  isDue (now) {
    const limit = this.state === 'waiting' ? this.maxWaitMs : this.timeoutMs
    return this.isAborted || this.isCleared || this.round.isAbandoned || this.ended !== undefined ||
      (this.mapped === undefined && now - this.since >= limit)
  }

  /** It may have settled, though it has not been told. */
  mayBeOver () {
    const { round } = this
    return this.isOver || this.isCleared || this.isDue(round.clock.now())
  }

  /** The runner. */
  run (done, context) {
    const { round, type } = this
    const { queue, storage } = round
    round.expect(!round.isInQuietCall && round.startlessDepth === 0, 'nothing starts inside a call')
    round.expect(!round.isInRunner, 'no runner starts inside another')
    round.expect(this.state === (this.mapped ? 'made' : 'waiting'), `job ${this.id} starts while ${this.state}`)
    // the time limit of close() may be among what is due and not told yet: in later turns, or since the clock went on
    const mayBeDue = round.deadlines.isLate || round.advancesFrom < round.abandonAt
    const isLate = round.isAbandoned && !mayBeDue && round.lastStarts-- === 0
    round.expect(!isLate, 'nothing starts once all was given up')
    const { isChosenBefore } = round
    round.isChosenBefore = false
    round.expect(isChosenBefore || (queue.concurrency > 0 && queue.running <= queue.concurrency), 'no start above the concurrency')
    round.expect(isChosenBefore || !round.pausedTypes.has(type), 'no start of a paused type')
    round.expect(context.type === type, 'the runner is told the type')
    const first = round.arrivals.find((job) => job.type === type && job.state === 'waiting')
    if (!this.mapped) round.expect(first === this || first?.isDue(round.clock.now()), `job ${this.id} starts in the order of its type`)
    round.expect(!context.signal.aborted || round.isAbandoned, 'a job starts with a signal that has not aborted')
    round.expect(storage.getStore() === (round.options.asyncContext === 'push' && !this.mapped ? this : storage.getStore()), 'a job runs in the context of its push')
    if (round.options.asyncContext !== 'push') round.expect(storage.getStore() === 'maker', 'a job runs in the context of the queue')
    this.state = 'running'
    this.since = this.startedAt = round.clock.now()
    this.chosenAt = round.chosenAt
    round.chosenAt = undefined
    this.context = context
    round.live.add(this)
    round.startedCount++
    this.expectCaps()
    round.check()
    context.signal.addEventListener('abort', this.aborted)
    round.isInRunner = true
    try {
      round.maybeAct(this.random)
      if (this.random.chance(0.05)) this.abortItself()
      return this[this.end](done)
    } finally {
      round.isInRunner = false
    }
  }

  abortItself () {
    const { controllers } = this.round
    const i = controllers.findIndex(({ signal }) => signal === this.options?.signal)
    if (i === -1) return
    controllers[i].abort('by its runner')
    controllers[i] = new AbortController()
  }

  expectCaps () {
    const { round, type } = this
    if (!round.hasCaps) return
    const cap = type === 'a' ? 1 : 2
    const count = [...round.live].filter((job) => job.type === type && job.ended === undefined && !job.isReleased).length
    round.expect(count <= cap || round.dispatch.untoldCount > 0, `${count} jobs of type ${type} run`)
  }

  /** The callback, or what the promise comes to. */
  settled (error, result) {
    const { round } = this
    const { storage, options, counts } = round
    round.expect(!round.isInQuietCall || this.options !== undefined, 'no callback is called inside a call that starts nothing')
    round.expect(storage.getStore() === (options.asyncContext === 'push' || this.options !== undefined ? this : 'maker'), `job ${this.id} is told in its context`)
    if (this.state === 'refused') {
      round.expect(this.isRefusal(error), `job ${this.id} is refused with ${error?.code}`)
      this.state = 'told'
    } else {
      round.expect(this.state === 'waiting' || this.state === 'running', `job ${this.id} settles once, not while ${this.state}`)
      this.expectReason(error, result)
      counts[CANCELLED.includes(error?.code) ? 'cancelled' : error ? 'failed' : 'done']++
      this.state = 'settled'
      this.told = { at: round.clock.now(), error }
    }
    round.check()
    round.maybeAct(this.random)
  }

  isRefusal (error) {
    if (error?.code === 'FAIRLANE_ERR_ABORTED') return this.isAborted && error.cause === this.options.signal.reason
    if (error?.code === 'FAIRLANE_ERR_CLOSED') return this.round.queue.closed
    return ['FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_TYPE_FULL'].includes(error?.code) && error.retryAfterMs >= 1 && error.type === this.type
  }

  expectReason (error, result) {
    const { round } = this
    const { code } = error ?? {}
    const hasRun = this.state === 'running'
    const ms = round.clock.now() - this.since
    const isRight = {
      FAIRLANE_ERR_TIMEOUT: () => hasRun && ms >= this.timeoutMs,
      FAIRLANE_ERR_MAX_WAIT: () => !hasRun && ms >= this.maxWaitMs,
      FAIRLANE_ERR_ABORTED: () => this.isAborted && error.cause === this.options.signal.reason,
      FAIRLANE_ERR_CLEARED: () => !hasRun && this.isCleared,
      FAIRLANE_ERR_CLOSED: () => round.isAbandoned
    }[code] ?? (() => this.ended === 'result' ? !error && result === this.result : this.ended === 'error' && error === this.error)
    round.expect(isRight(), `job ${this.id} ends by ${code ?? error} while ${this.state}, its runner ${this.ended}`)
    if (hasRun && code !== undefined) round.expect(this.context.signal.aborted, `the runner of job ${this.id} is told of ${code}`)
    if (hasRun && code === undefined && !round.isAbandoned) round.expect(!this.context.signal.aborted, 'no signal aborts after a good end')
  }

  // How runners end, by name.

  ends () {
    this.context.signal.removeEventListener('abort', this.aborted)
    this.ended = this.fails ? 'error' : 'result'
    this.round.live.delete(this)
  }

  callDone (done) {
    this.ends()
    if (this.fails) done(this.error)
    else done(null, this.result)
  }

  atOnce (done) { this.callDone(done) }
  atGate (done) { this.round.gates.push(() => this.callDone(done)) }
  inMicrotask (done) { queueMicrotask(() => this.callDone(done)) }

  promiseAtGate () {
    return new Promise((resolve, reject) => {
      this.round.gates.push(() => {
        this.ends()
        if (this.fails) reject(this.error)
        else resolve(this.result)
      })
    })
  }

  throws () {
    this.fails = true
    this.ends()
    throw this.error
  }

  async rejects () {
    await null
    this.throws()
  }
}

/** One map() and its consumer, who may leave at any time. */
class Mapped {
  constructor (round, random) {
    this.round = round
    this.random = random
    this.type = round.hasTypes ? random.pick(TYPES) : undefined
    this.isOrdered = random.chance(0.5)
    this.isSettled = random.chance(0.5)
    this.count = random.below(20)
    this.taken = []
    this.given = 0
    this.isClosed = false
    this.isOver = false
    this.isLeaving = false
    const source = { [random.pick([Symbol.iterator, Symbol.asyncIterator])]: () => this }
    this.results = round.queue.map(source, {
      type: this.type, ordered: this.isOrdered, settled: this.isSettled, maxPending: random.pick([undefined, 1, 5])
    })
    this.consume()
  }

  next () {
    const { round } = this
    if (this.taken.length === this.count) return { done: true, value: undefined }
    round.maybeAct(this.random)
    const job = new Job(round, this.type, this.random, this)
    this.taken.push(job)
    return { done: false, value: job }
  }

  return () {
    this.round.expect(!this.isClosed, 'a source is closed once')
    this.isClosed = true
    this.round.maybeAct(this.random)
    return { done: true }
  }

  async consume () {
    const { round, results } = this
    try {
      for (;;) {
        const leaving = this.random.chance(0.05)
        const next = results.next()
        if (leaving || this.isLeaving) {
          next.catch(() => {})
          await results.return()
          break
        }
        const { done, value } = await next
        if (done) break
        this.expectResult(value)
        round.maybeAct(this.random)
      }
    } catch (error) {
      const isOwn = this.taken.some((job) => job.error === error)
      round.expect(isOwn || /^FAIRLANE_ERR_(CLOSED|CLEARED|TIMEOUT|MAX_WAIT)$/.test(error.code), `map throws ${error.message}`)
      round.expect(isOwn ? !this.isSettled : true, 'map throws no failure of a job if it is to give it')
    }
    this.isOver = true
  }

  expectResult (value) {
    const { round } = this
    const job = this.isOrdered
      ? this.taken[this.given]
      : this.taken.find(({ result, error }) => result === (value.value ?? value) || error === value.reason)
    this.given++
    if (!this.isSettled) round.expect(value === job?.result, 'map gives results, in order')
    else if (value.status === 'fulfilled') round.expect(value.value === job?.result, 'map gives results as they settled')
    else if (value.reason.code === undefined) round.expect(value.reason === job?.error, 'map gives failures as they settled')
  }

  check () {
    const isWaiting = this.isOver && [...this.round.queue.jobs()].some(({ payload }) => payload.mapped === this)
    this.round.expect(!isWaiting, 'nothing of a map() waits once that is over')
  }

  finish () {
    const { round } = this
    round.expect(this.isOver, 'a consumer of map comes to its end')
    round.expect(this.isClosed || this.taken.length === this.count, 'a source that is not through is closed')
  }
}

module.exports = { Round }
