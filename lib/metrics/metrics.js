'use strict'

// Counts and times of the jobs of a queue, by type. The meter counts what the queue's list tells; a Metrics shows it. How many jobs wait and run
// is asked of the ledger, so that nobody counts it twice.

const { typeError } = require('../errors')
const { OBSERVE } = require('../core/internals')
const { Ledger } = require('../ledger/ledger')
const { WAITING, RUNNING, DELAYED, DEAD } = require('../ledger/segment')
const { Buckets } = require('./buckets')
const { Meter } = require('./meter')
const { readMetricsOptions } = require('./options')
const { Places, labelOf, ACCEPTED, UNACCEPTED, DONE, FAILED, CANCELLED, RETRIED, RUNNING_SINCE, WAIT_SUM, RUN_SUM, FIRST_BUCKET } = require('./places')
const { register, textOf } = require('./prometheus')

const LIVE = ['waiting', 'running']

/** To be given to one queue, in its option `observers`. What is documented of each method is in index.d.ts and docs/observe.md. */
class Metrics {
  #options
  #buckets
  #places
  #meter = undefined // of the queue that it observes
  #queue = undefined
  #states = LIVE // that a job of the queue may be in while it has not ended, or as a dead letter

  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options) {
    this.#options = readMetricsOptions(options)
    this.#buckets = new Buckets(this.#options.bucketsMs)
    this.#places = new Places(this.#options, this.#buckets.count)
  }

  /** Attaches it to a queue; undefined once it is. */
  get [OBSERVE] () {
    return this.#meter === undefined ? this.#observe : undefined
  }

  /** What has been counted and timed. O(types with jobs). */
  snapshot () {
    const { name, boundsMs, refused, types } = this.#read()
    return {
      name,
      boundsMs,
      types: types.map(({ delayed, dead, unaccepted, ...shown }) => ({ ...shown, accepted: shown.accepted - unaccepted })),
      refused: Object.fromEntries(refused)
    }
  }

  /** Has a registry of prom-client show all, beside those of other queues. @throws FAIRLANE_ERR_ARGUMENT, and what the registry throws */
  register (registry) {
    register(registry, labelOf(this.#options.name), this, () => this.#read())
  }

  /** @returns {Uint8Array} all in the text format of Prometheus. O(types with jobs). */
  toText () {
    return textOf(this.#read())
  }

  /**
   * @param {object} queue
   * @param {object | undefined} ledger the queue's, if another observer has made it
   * @param {{ clock: object, hasIds?: boolean, returns?: boolean }} options hasIds: the queue has ids of its own, and dead letters; returns: jobs may be delayed
   * @returns {object} the queue's ledger
   */
  #observe (queue, ledger, { clock, hasIds = false, returns = hasIds }) {
    if (this.#meter !== undefined) throw typeError('FAIRLANE_ERR_OPTION', 'observers: the Metrics observe another queue')
    const wishes = { keep: 0, keepMs: 0, isExact: this.#options.clock === 'exact' }
    if (ledger === undefined) {
      ledger = new Ledger(wishes)
      ledger.begin(clock)
    } else {
      ledger.records.widen(wishes)
    }
    this.#queue = queue
    this.#states = [...LIVE, ...(returns ? ['delayed'] : []), ...(hasIds ? ['dead'] : [])]
    this.#meter = new Meter(ledger, this.#places, this.#buckets)
    return this.#meter
  }

  #read () {
    const { name, bucketsMs } = this.#options
    const { byLabel, otherLabel } = this.#places
    if (this.#meter === undefined) return { name: labelOf(name), boundsMs: [...bucketsMs], states: LIVE, slots: 0, refused: new Map(), types: [] }
    const { records } = this.#meter
    const nowMs = records.time.read()
    const live = this.#countLive()
    const types = [...byLabel.values()].map(place => this.#shown(place, live.get(place.at) ?? new Live(), nowMs))
    this.#places.wasRead(({ at, label }) => label !== otherLabel && !live.has(at), nowMs)
    return {
      name: labelOf(name),
      boundsMs: [...bucketsMs],
      states: this.#states,
      slots: this.#queue.concurrency,
      refused: records.refusedCounts,
      types
    }
  }

  /** @returns {Map<number, Live>} by place: jobs that have not ended, and dead letters, where there are any */
  #countLive () {
    const { records: { names } } = this.#meter
    const live = new Map()
    for (const number of names.numbers.values()) {
      const counts = [0, 0, 0, 0, 0, 0, 0, 0]
      names.addTo(counts, number)
      if (counts[WAITING] + counts[RUNNING] + counts[DELAYED] + counts[DEAD] === 0) {
        this.#places.release(number >> 3)
        continue
      }
      const at = this.#places.byType[number >> 3]
      if (!live.has(at)) live.set(at, new Live())
      live.get(at).add(counts)
    }
    return live
  }

  #shown ({ label, at }, { waiting, running, delayed, dead }, nowMs) {
    const { cells, bucketCount, firstOfRun } = this.#places
    const { originMs } = this.#meter
    const histogram = (sum, first) => {
      const counts = [...cells.subarray(at + first, at + first + bucketCount)]
      return { sum: cells[at + sum], p50: this.#buckets.quantile(0.5, counts), p99: this.#buckets.quantile(0.99, counts), buckets: counts }
    }
    return {
      type: label,
      waiting,
      running,
      delayed,
      dead,
      accepted: cells[at + ACCEPTED],
      unaccepted: cells[at + UNACCEPTED],
      done: cells[at + DONE],
      failed: cells[at + FAILED],
      cancelled: cells[at + CANCELLED],
      retried: cells[at + RETRIED],
      slotMs: cells[at + RUN_SUM] + cells[at + RUNNING_SINCE] + running * (nowMs - originMs),
      waitMs: histogram(WAIT_SUM, FIRST_BUCKET),
      runMs: histogram(RUN_SUM, firstOfRun)
    }
  }
}

/** What is live of a place. */
class Live {
  constructor () {
    this.waiting = this.running = this.delayed = this.dead = 0
  }

  add (counts) {
    this.waiting += counts[WAITING]
    this.running += counts[RUNNING]
    this.delayed += counts[DELAYED]
    this.dead += counts[DEAD]
  }
}

module.exports = { Metrics }
