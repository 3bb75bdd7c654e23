'use strict'

// What the two lists with a scheduler have in common: arrival numbers, flush generations, and manners towards schedulers,
// which are the caller's code: they may throw, lie, and call back into the queue.

const QList = require('qlist')
const { describe, warn } = require('../../arguments/errors')
const { COST } = require('../../job/cost')
const { generationOf } = require('./fifo')
const { TypeCounts } = require('./type-counts')

const NOTHING = new TypeCounts()

/**
 * Where waiting jobs of types are; the base of Lanes and Window. Fields and methods as in Fifo, which see. The lists bring
 * find(type), waitingJobs(type), takeOutWaiting(test, type), dropWaiting(ticket) and tellScheduler() of jobs that were taken out.
 */
class Scheduled {
  /**
   * @param {object} scheduler
   * @param {(type: string) => object} makeContext makes the runner's last argument for jobs of a type
   */
  constructor (scheduler, makeContext) {
    this.size = 0
    this.payload = undefined
    this.whenSettled = undefined
    this.origin = undefined
    this.context = undefined
    this.generation = 0
    this.gate = null
    this.costs = null
    this.cost = COST // of the job that take() gives out, as far as that is counted
    this.charge = undefined // ... and what it is charged
    this.delays = null
    this.recorder = null
    this.keepsTypes = false // those of jobs that are taken out, in the list of them

    this.scheduler = scheduler
    this.mayStall = Boolean(scheduler.mayStall)
    this.removals = [] // a lane, or type, for each job that was taken out and that the scheduler has not been told of
    this.makeContext = makeContext
    this.running = 0
    this.hasWarned = false
    this.hasWarnedOfStall = false
    this.whenStalled = undefined // of the queue, which nobody but the scheduler may know any more then
    this.scanCount = 0

    this.nextNumber = 0 // of the next job that is pushed
    this.firstNumber = 0 // of the last that was unshifted: those that waited then have higher ones
    this.skippedCount = 0 // numbers between these that no job was given
    this.newestGeneration = 0
    this.barriers = new QList() // of { generation, from, to }: the numbers of all jobs up to that generation
  }

  /** Jobs that were ever put in. */
  get pushedCount () {
    return this.nextNumber - this.firstNumber - this.skippedCount
  }

  /** As push and unshift, which tell the ticket of a job with extras where it is. */
  pushTicket (type, payload, ticket) {
    this.push(type, payload, ticket)
  }

  unshiftTicket (type, payload, ticket) {
    this.unshift(type, payload, ticket)
  }

  /** The scheduler is told new options. */
  configure (options) {
    if (this.costs !== null) this.costs.chooseAnew()
    if (typeof this.scheduler.configure === 'function') this.ask('configure', options)
  }

  /** The scheduler has other options. */
  configured () {
    if (this.costs !== null) this.costs.chooseAnew()
  }

  /**
   * From here on, jobs pushed or unshifted are of the given generation.
   * @param {number} generation
   * @param {number} flushCount how many barriers, this one included, are still of interest
   */
  barrier (generation, flushCount) {
    while (this.barriers.size() >= flushCount) this.barriers.shift()
    this.barriers.push({ generation: this.newestGeneration, from: this.firstNumber, to: this.nextNumber })
    this.newestGeneration = generation
  }

  /** No barrier is of interest any more: all jobs that wait have come after the last. */
  forgetBarriers () {
    this.barriers = new QList()
  }

  /** Where something of a type is counted: its lane, the one that it shares, or its delayed jobs; undefined if it has no jobs. */
  countsOf (type) {
    return this.find(type) ?? this.delays?.countsOf(type)
  }

  /** What stats(type) gives; a type without jobs and history has zeros. */
  statsOf (type) {
    const stats = (this.find(type) ?? NOTHING).stats()
    return this.delays === null ? stats : this.delays.addTo(stats, type)
  }

  /**
   * Calls visit(payload, whenSettled, generation, type) for each job in arrival order, delayed ones last. O(n), in Lanes O(n × log types).
   */
  forEach (visit) {
    this.forEachWaiting(undefined, visit)
    if (this.delays !== null) this.delays.forEach(visit)
  }

  /** As forEach, for the jobs of one type. In Lanes O(jobs in its lane). */
  forEachOf (type, visit) {
    this.forEachWaiting(type, visit)
    if (this.delays !== null) this.delays.forEach(visit, type)
  }

  /** Takes out all jobs. @returns {Fifo} a list of them */
  removeAll () {
    const removed = this.takeOutWaiting(() => true)
    return this.delays === null ? removed : this.delays.joined(removed, this.delays.list())
  }

  /** Takes out the jobs of one type. @returns {Fifo} a list of them */
  removeType (type) {
    const removed = this.takeOutWaiting((payload, jobType) => jobType === type, type)
    return this.delays === null ? removed : this.delays.joined(removed, this.delays.list(type))
  }

  /**
   * Takes out the jobs for which test(payload, type) is true. If test throws, none.
   * test may push and unshift and even remove and clear; it must not take. If test pauses a type that shares a lane, the jobs of that type
   * move to a lane of their own, and are not taken out.
   * @returns {Fifo} a list of them
   */
  remove (test) {
    const { delays } = this
    if (delays === null) return this.takeOutWaiting(test)
    const found = delays.passing(test) // first: where test throws, none is removed
    return delays.joined(this.takeOutWaiting(test), found)
  }

  /** The jobs that were removed have been counted: all parts are told of them. */
  tellRemovals (verdict) {
    if (this.recorder !== null) this.recorder.tellRemovals(verdict)
    this.tellScheduler()
    if (this.delays !== null) this.delays.letGo()
    if (this.gate !== null && this.size === 0) this.gate.rest()
  }

  /** Takes out the job of a ticket. O(1) amortised, in Window O(log n), and what the scheduler takes. */
  drop (ticket) {
    if (this.delays !== null && ticket.isDelayed) this.delays.drop(ticket)
    else this.dropWaiting(ticket)
    if (this.gate !== null && this.size === 0) this.gate.rest()
  }

  // protected from here on

  forEachWaiting (only, visit) {
    for (const { payload, whenSettled, number, type } of this.waitingJobs(only)) {
      if (only === undefined || type === only) visit(payload, whenSettled, generationOf(whenSettled, this.generationOf(number)), type)
    }
  }

  /**
   * The generation of the job with an arrival number. O(log barriers).
   * Each barrier's range of numbers contains those of the barriers before it.
   */
  generationOf (number) {
    const { barriers } = this
    if (barriers.isEmpty()) return this.newestGeneration
    let low = 0
    let high = barriers.size()
    while (low < high) {
      const middle = (low + high) >> 1
      const { from, to } = barriers.peekAt(middle)
      if (number >= from && number < to) high = middle
      else low = middle + 1
    }
    return low < barriers.size() ? barriers.peekAt(low).generation : this.newestGeneration
  }

  /**
   * Calls a method of the scheduler, and warns if that throws. What is called for each job, or each time a type comes or goes, has a
   * try/catch in its own place instead, where the call is up to twice as fast (docs/decisions/0048-guarded-calls.md).
   * @returns what the method returned, or `otherwise` if it threw
   */
  ask (method, subject, otherwise) {
    try {
      return this.scheduler[method](subject)
    } catch (err) {
      this.blameThrow(method, err)
      return otherwise
    }
  }

  /** @param {object | string} from the lane, or type, from which a waiting job was taken out */
  tellRemoved (from) {
    if (typeof this.scheduler.removed !== 'function') return
    try {
      this.scheduler.removed(from)
    } catch (err) {
      this.blameThrow('removed', err)
    }
  }

  /** A job of a lane that runs, since a time, is charged so many units more, or fewer. */
  tellCharged (lane, difference, startedAt) {
    if (typeof this.scheduler.charged !== 'function') return
    try {
      this.scheduler.charged(lane, difference, startedAt)
    } catch (err) {
      this.blameThrow('charged', err)
    }
  }

  /** Warns, once, that the scheduler did what it must not. */
  blame (what, stack) {
    if (this.hasWarned) return
    this.hasWarned = true
    warn('FAIRLANE_ERR_SCHEDULER', `The scheduler's ${what}. The queue carries on: where the scheduler gives no valid answer, the ` +
      'oldest waiting job starts. A lane scheduler that keeps failing is not asked again until configure() or resume(). ' +
      'Further cases are not reported.', stack)
  }

  blameThrow (method, err) {
    if (this.hasWarned) return
    let what, stack
    try {
      what = err instanceof Error ? String(err.message) : describe(err)
      stack = err.stack
    } catch {
      what = 'a value that cannot be described'
    }
    this.blame(`${method}() threw ${what}`, stack)
  }

  /**
   * The scheduler lets no job start. Warns, once, if none runs whose end would make the queue ask again.
   * @param {number} waitingCount the jobs that it could start
   * @returns {boolean} whether to start the oldest nonetheless: it has failed before, and may not know of the jobs
   */
  stall (waitingCount) {
    if (this.running > 0 || waitingCount === 0) return false
    this.whenStalled?.()
    if (this.hasWarned) return true
    if (!this.hasWarnedOfStall && !this.mayStall) this.warnOfStall()
    return false
  }

  warnOfStall () {
    this.hasWarnedOfStall = true
    warn('FAIRLANE_ERR_SCHEDULER', 'The scheduler lets no job start, although jobs are waiting and none is running. ' +
      'It is asked again at the next push, configure() or resume().')
  }
}

module.exports = { Scheduled }
