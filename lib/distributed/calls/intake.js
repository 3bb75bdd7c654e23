'use strict'

// Pushes until the broker has them and others are told. What is pushed of a type while a call for it is on its way goes with the next
// one, so there is one call for each type and turn at most, and jobs of a type arrive in their order.
//
//   push ──▶ outlet of its type ──together──▶ stored ──announce──▶ told ──▶ promise resolves
//                    ▲                                    │
//                    └── the broker was away: both again, with the same ids

const { describe, typeFullError } = require('../../arguments/errors')
const { spread } = require('../../platform/jitter')
const { PACE, Slice } = require('../../platform/slice')
const { isPassing, brokerError } = require('../broker/failures')
const { Pace } = require('../broker/pace')
const { MOST_CHARS, MOST_JOBS, entryOf } = require('../broker/pushes')

const LONGEST_RETRY_MS = 60000
const LONGEST_WAIT_MS = 1000 // of map(), until it is looked again whether a job would be taken in
const MOST_CALLS = 100 // that are made in a turn
const LOOK_AFTER_MS = 50 // how old what is known of a full type may be before it is looked at

/** The jobs of a type that are on their way to the broker, and what is known of those that wait there. */
class Outlet {
  constructor (place) {
    this.place = place
    this.waiting = [] // entries that are not on their way yet
    this.batch = [] // ... that are
    this.isSending = false
    this.known = 0 // jobs of the type that waited when the broker last said so
    this.knownAt = 0
    this.sent = 0 // jobs that were pushed here since, and are not in that
    this.announcedCount = 0 // jobs that are about to be pushed
    this.perMs = 1 / 1000 // how many of them left in a ms, as far as that was seen
    this.isLooking = false
  }

  /** The broker says how many jobs wait; of those pushed here all but `unsentCount` are in that. */
  learn (waiting, unsentCount, now) {
    const gone = this.known + this.sent - unsentCount - waiting
    if (this.knownAt > 0 && gone > 0 && now > this.knownAt) this.perMs = gone / (now - this.knownAt)
    this.known = waiting
    this.knownAt = now
    this.sent = unsentCount
  }
}

class Intake {
  /**
   * @param {{ broker: object, announcer: object, limits: object, pushes: object }} parts limits: of all processes
   * @param {{ maxWaitingPerType: { all: number, byType: Map<string, number> } }} options
   */
  constructor ({ broker, announcer, limits, pushes }, { maxWaitingPerType }) {
    this.broker = broker
    this.fleet = limits
    this.announcer = announcer
    this.pushes = pushes
    this.limits = maxWaitingPerType
    this.isLimited = maxWaitingPerType.all !== Infinity || maxWaitingPerType.byType.size > 0
    this.outlets = new Map() // by type, of those that have jobs on their way, or a limit
    this.starts = new Pace(MOST_CALLS) // of outlets that begin to send
    this.calls = new Pace(MOST_CALLS)
    this.pendingCount = 0
  }

  /** @returns {FairlaneError | undefined} FAIRLANE_ERR_TYPE_FULL, if so many more jobs of the type would be more than may wait */
  refusal (place, count = 1) {
    if (!this.isLimited) return undefined
    const limit = this.limits.byType.get(place.type) ?? this.limits.all
    const known = this.outlets.get(place.type)
    const waiting = known === undefined ? 0 : known.known + known.sent + known.announcedCount
    if (waiting + count <= limit) return undefined
    const outlet = this.outletOf(place)
    this.lookAt(outlet)
    const retryAfterMs = spread(Math.min(Math.max(Math.ceil((waiting - limit + count) / outlet.perMs), 1), LONGEST_RETRY_MS))
    return typeFullError({ type: place.type, waiting, limit, retryAfterMs })
  }

  /** @throws FAIRLANE_ERR_ARGUMENT as Fleet.checkCost() */
  checkCost (type, cost) {
    this.fleet.checkCost(type, cost)
  }

  /** Jobs that were not refused are pushed in a moment, or come to nothing. @returns {() => void} until that is called they count */
  expect (place, count = 1) {
    if (!this.isLimited) return ignore
    const outlet = this.outletOf(place)
    outlet.announcedCount += count
    return () => { outlet.announcedCount -= count }
  }

  /** The broker has said how many jobs of a type wait. */
  learn (place, waiting) {
    if (!this.isLimited) return
    const outlet = this.outletOf(place)
    outlet.learn(waiting, outlet.waiting.length + outlet.batch.length, performance.now())
  }

  /** What map() asks of jobs of a type. @param {() => boolean} isClosed */
  mapping (place, isClosed) {
    const refusal = () => isClosed() ? undefined : this.refusal(place) // add() refuses what comes to a closed queue
    return {
      accepts: () => refusal() === undefined,
      ready: () => this.broker.pause(Math.min(refusal()?.retryAfterMs ?? 0, LONGEST_WAIT_MS)),
      slice: () => new Slice(PACE)
    }
  }

  /**
   * @param {object} place
   * @param {object} job as entryOf() of broker/pushes.js, and `limits`
   * @returns {Promise<[string, number]>} as Pushes.push(), when the broker has it and others are told; rejects with FAIRLANE_ERR_BROKER
   */
  push (place, job) {
    const outlet = this.outletOf(place)
    const deadline = performance.now() + this.broker.pushTimeoutMs
    this.pendingCount++
    outlet.sent++
    return new Promise((resolve, reject) => {
      outlet.waiting.push({ job: entryOf({ ...job, opts: optsOf(job.limits) }), chars: job.data.length, deadline, resolve, reject })
      if (outlet.isSending) return
      outlet.isSending = true
      queueMicrotask(() => this.starts.run(() => this.send(outlet)))
    })
  }

  /** @returns {Promise<void>} resolves when every push up to now is stored or was rejected */
  flush () {
    if (this.pendingCount === 0) return Promise.resolve()
    const all = [...this.outlets.values()].flatMap(({ waiting, batch }) => [...batch, ...waiting])
    return Promise.all(all.map(entry => new Promise(resolve => {
      const { resolve: stored, reject } = entry
      entry.resolve = answer => { stored(answer); resolve() }
      entry.reject = err => { reject(err); resolve() }
    }))).then(ignore)
  }

  /** Tells of jobs of a type that were not pushed by this queue. */
  async announce (place) {
    await this.broker.soon(() => this.announcer.announce(place))
  }

  /** Forgets what it knows of types without jobs on their way. O(types). */
  forget (now) {
    for (const [type, outlet] of this.outlets) {
      const isUsed = outlet.isSending || outlet.isLooking || outlet.announcedCount > 0
      if (!isUsed && now - outlet.knownAt > LONGEST_RETRY_MS) this.drop(type, outlet)
    }
  }

  // private from here on

  outletOf (place) {
    let outlet = this.outlets.get(place.type)
    if (outlet === undefined) {
      outlet = new Outlet(place)
      this.outlets.set(place.type, outlet)
      place.usersCount++
    }
    return outlet
  }

  drop (type, { place }) {
    this.outlets.delete(type)
    place.usersCount--
  }

  async send (outlet) {
    while (outlet.waiting.length > 0) {
      outlet.batch = take(outlet.waiting)
      await this.store(outlet, outlet.batch)
      outlet.batch = []
    }
    outlet.isSending = false
    if (!this.isLimited) this.drop(outlet.place.type, outlet)
  }

  /** Stores jobs together; if the broker refuses that, each for itself: it may be one of them that it refuses. */
  async store (outlet, batch) {
    const { deadline } = batch[0]
    const number = this.pushes.next()
    try {
      const what = `A push of the type ${describe(outlet.place.type)}`
      const { waiting, answers } = await this.broker.until(deadline, () => this.storeAndAnnounce(outlet.place, batch, number), { what })
      outlet.learn(waiting, outlet.waiting.length, performance.now())
      batch.forEach(({ resolve }, at) => resolve(answers[at]))
      this.pendingCount -= batch.length
    } catch (err) {
      if (batch.length > 1 && !isAway(err)) {
        for (const entry of batch) await this.store(outlet, [entry])
      } else if (batch.length > 1) {
        // the first ones are late, also if a timer is early by less than a ms: those behind them may have some time left
        const now = Math.max(performance.now(), deadline)
        const late = batch.filter(entry => entry.deadline <= now || this.broker.isClosed)
        this.refuse(outlet, late, err)
        const rest = batch.filter(entry => !late.includes(entry))
        if (rest.length > 0) await this.store(outlet, rest)
      } else {
        this.refuse(outlet, batch, err)
      }
    }
  }

  refuse (outlet, batch, err) {
    const error = brokerError(err)
    outlet.sent = Math.max(0, outlet.sent - batch.length)
    this.pendingCount -= batch.length
    for (const { reject } of batch) reject(error)
  }

  /** @returns {Promise<{ waiting: number, answers: [string, number][] }>} how many jobs of the type wait then; of each as Pushes.push() */
  async storeAndAnnounce (place, batch, number) {
    for (;;) {
      const { epoch } = this.broker
      const answers = await this.calls.run(() => this.pushes.push(place, batch.map(({ job }) => job), number))
      const waiting = await this.announcer.announce(place)
      // a broker that was away between the two may have come back without the jobs that it said to have
      if (epoch === this.broker.epoch) return { waiting, answers }
    }
  }

  /** Learns anew how many jobs of a full type wait: it has no pushes whose answers say so. */
  lookAt (outlet) {
    if (outlet.isLooking || outlet.isSending || performance.now() - outlet.knownAt < LOOK_AFTER_MS || !this.broker.isReady) return
    outlet.isLooking = true
    const keys = [outlet.place.key('wait'), outlet.place.key('prioritized')]
    this.broker.client.fairlaneCount(2, ...keys, 'LLEN', 'ZCARD').then(
      ([first, others]) => outlet.learn(first + others, outlet.waiting.length, performance.now()),
      ignore // the next push asks again
    ).finally(() => { outlet.isLooking = false })
  }
}

/** In the words of BullMQ, where it has one. */
function optsOf (limits) {
  if (limits === undefined) return undefined
  const { maxAttempts, timeoutMs, maxWaitMs, schedule } = limits
  const opts = {}
  if (maxAttempts !== undefined) opts.attempts = asJson(maxAttempts)
  if (timeoutMs !== undefined) opts.timeoutMs = asJson(timeoutMs)
  if (maxWaitMs !== undefined) opts.maxWaitMs = asJson(maxWaitMs)
  if (schedule !== undefined) opts.schedule = schedule
  return opts
}

function asJson (limit) {
  return Math.min(limit, Number.MAX_SAFE_INTEGER)
}

/** Takes from the front what fits into one call. */
function take (waiting) {
  let count = 0
  let chars = 0
  const hasRoom = () => count === 0 || chars + waiting[count].chars <= MOST_CHARS
  while (count < waiting.length && count < MOST_JOBS && hasRoom()) chars += waiting[count++].chars
  return waiting.splice(0, count)
}

/** Whether an error says that the broker is away, not that it refuses the call. */
function isAway (err) {
  return err.code === 'FAIRLANE_ERR_BROKER' || isPassing(err)
}

function ignore () {}

module.exports = { Intake, optsOf }
