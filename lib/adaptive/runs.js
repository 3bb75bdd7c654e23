'use strict'

// HOT (bench: metrics). What is told of each run: that it begins, of which type, and how it ends. It has the round know of it, and
// the class of the job; what only the caller's functions can say is put off until ask().

const { describe, describeThrown, warn, FairlaneError } = require('../arguments/errors')
const { isOf } = require('../arguments/fields')
const { Time } = require('../ledger/time')
const { Classes } = require('./classes')
const { RunRecorder } = require('./recorder')
const { Rounds } = require('./rounds')

const MOST_TYPES = 10000 // whose classes are kept, where a function says them

/** One of them. It is shown to nobody. */
class Run {
  constructor (name, jobClass, startedAt, epoch, teaches) {
    this.name = name // its type
    this.jobClass = jobClass // undefined: it has not been asked for
    this.startedAt = startedAt
    this.epoch = epoch
    this.teaches = teaches // it is one of the first of its class
  }

  /** Lists keep it in the place of the id of a job, or within an object that has that. */
  get id () {
    return this
  }
}

class Runs {
  /**
   * @param {object} options read
   * @param {() => void} whenDue has #look() called in a microtask, unless it will be
   */
  constructor ({ classOf, isOverload, ...limits }, whenDue) {
    this.classOf = classOf
    this.isOverload = isOverload
    this.whenDue = whenDue
    this.classes = new Classes()
    this.rounds = new Rounds(limits, this.classes)
    this.queue = undefined
    this.list = undefined // of a queue in memory
    this.time = undefined
    this.fullAt = -Infinity // when a job last started with which all slots were taken while others waited
    this.isOn = true
    this.isAwake = false // a microtask is due
    this.isOwed = false // a limit is to be set once the queue is not paused any more
    this.classByType = new Map() // where a function says it
    this.unasked = new Set() // types of which it has not
    this.failures = [] // runs that have failed, and their errors
    this.hasWarned = false
  }

  begin (queue, clock) {
    this.queue = queue
    this.time = new Time(clock, false)
  }

  stop () {
    this.isOn = false
    this.classByType.clear()
    this.unasked.clear()
    this.failures = []
  }

  /** In the place of a ledger, where there is none. */
  recorderOf (list) {
    this.list = list
    return new RunRecorder(this)
  }

  /** Jobs that are refused have no run. */
  refused () {}

  wake () {
    if (this.isAwake) return
    this.isAwake = true
    this.whenDue()
  }

  /** The class of a job that waits, if nobody has to be asked for it. */
  classOfWaiting (type) {
    return this.classOf === undefined ? this.classes.of(type, this.time.ms) : this.classByType.get(type)
  }

  /** @param {string} [type] @param {JobClass} [known] of that type @returns {Run | undefined} undefined: it is of no interest */
  started (type, known) {
    if (!this.isOn) return undefined
    if (this.isOwed) this.wake()
    const now = this.time.now()
    if (this.isFull()) this.fullAt = now
    const jobClass = known ?? this.classOfType(type, now)
    return new Run(type, jobClass, now, this.rounds.epoch, jobClass !== undefined && jobClass.starts())
  }

  /** It has ended well. */
  done (run) {
    if (!this.isOn || run === undefined) return
    this.count(run, this.time.now())
    if (this.rounds.isDue(this.time.ms)) this.wake()
  }

  /** It has ended badly, or is to be tried again. */
  failed (run, err) {
    if (!this.isOn || run === undefined) return
    this.failures.push({ run, err, endedAt: this.time.now() })
    this.wake()
  }

  /** Asks the caller's functions. What they throw is told once. */
  ask () {
    for (const type of this.unasked) this.classByType.set(type, this.classes.of(this.nameOf(type), this.time.ms))
    this.unasked.clear()
    for (const { run, err, endedAt } of this.failures.splice(0)) {
      if (this.rejects(err)) {
        if (run.epoch === this.rounds.epoch) this.rounds.rejected()
      } else if (isOf(err, FairlaneError) && err.code === 'FAIRLANE_ERR_TIMEOUT') {
        this.count(run, endedAt) // it would have taken longer still
      }
    }
  }

  /** Ends the round, if it is over. @returns {string | undefined} why the limit is another one now */
  close () {
    return this.rounds.isDue(this.time.ms) ? this.rounds.close(this.time.ms) : undefined
  }

  // private from here on

  classOfType (type, now) {
    return this.classOf === undefined || type === undefined ? this.classes.of(type, now) : this.classSaid(type)
  }

  count (run, now) {
    const { rounds } = this
    const jobClass = run.jobClass ?? this.classSaid(run.name)
    if (jobClass === undefined) return
    const root = Math.sqrt(Math.max(0, now - run.startedAt))
    const { baseline } = jobClass
    jobClass.lastMs = now
    if (baseline === 0) {
      if (run.teaches || (run.jobClass === undefined && jobClass.starts())) jobClass.begins(root, rounds.slow)
      return
    }
    jobClass.learn(root)
    if (!rounds.counts(run.epoch, now)) return
    rounds.ended(root, baseline, this.fullAt >= run.startedAt)
    if (rounds.isTrying) jobClass.tried(root)
  }

  /** Whether the job that starts is one of as many as may run, and others wait. Some lists count it itself among these. */
  isFull () {
    const { list, queue } = this
    return queue.running + 1 >= this.rounds.limit && (list === undefined ? queue.waiting : list.size) > 1
  }

  /** @returns {JobClass | undefined} undefined until the caller was asked */
  classSaid (type) {
    const known = this.classByType.get(type)
    if (known !== undefined) return known
    if (this.classByType.size >= MOST_TYPES) this.classByType.clear()
    this.unasked.add(type)
    this.wake()
    return undefined
  }

  nameOf (type) {
    try {
      const name = this.classOf(type)
      if (typeof name === 'string') return name
      this.blame(`classOf must return a string, but it returned ${describe(name)}. Such a type is a class of its own.`)
    } catch (err) {
      this.blame(`classOf must return a string, but it threw ${describeThrown(err)}. Such a type is a class of its own.`)
    }
    return type
  }

  rejects (err) {
    try {
      return this.isOverload(err) === true
    } catch (thrown) {
      this.blame(`isOverload threw ${describeThrown(thrown)}. Such errors do not count as overload.`)
      return false
    }
  }

  blame (what) {
    if (this.hasWarned) return
    this.hasWarned = true
    warn('FAIRLANE_ERR_OPTION', what)
  }
}

module.exports = { Runs }
