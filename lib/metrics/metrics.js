'use strict'

// Counts and times of the jobs of a queue, by type. The meter counts what the queue's list tells; a Metrics shows it. How many jobs wait
// and run is asked of the ledger, so that nobody counts it twice. Its events come from the watch.

const EventEmitter = require('eventemitter3')
const { typeError } = require('../arguments/errors')
const { OBSERVE, RUNS_ONLY } = require('../core/internals')
const { WAITING, RUNNING, DELAYED, DEAD } = require('../ledger/segment')
const { joined } = require('./between')
const { Buckets } = require('./buckets')
const { Meter } = require('./meter')
const { readMetricsOptions } = require('./options')
const { Labels } = require('./labels')
const {
  Places, fit, DONE_LESS_RUNS, UNACCEPTED, FAILED, CANCELLED, RETRIED, USED: FORMER_USED, WAIT_SUM, RUN_SUM, FIRST_BUCKET
} = require('./places')
const { meterBy } = require('./otel')
const { register, textOf } = require('./prometheus')
const { PLACE, USED } = require('./types')
const { Watch } = require('./watch')
const shares = require('../../schedulers/shares')

const LIVE = ['waiting', 'running']

/**
 * To be given to one queue, in its option `observers`. What is documented of each method is in index.d.ts and docs/observe.md.
 * Emits `starving` ({ type, waiting, sinceMs }) and `fed` ({ type }).
 */
class Metrics extends EventEmitter {
  #options
  #buckets
  #labels
  #places
  #watch = undefined
  #meter = undefined // of the queue that it observes
  #queue = undefined
  #states = LIVE // that a job of the queue may be in while it has not ended, or as a dead letter

  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options) {
    super()
    this.#options = readMetricsOptions(options)
    this.#buckets = new Buckets(this.#options.bucketsMs)
    this.#places = new Places(this.#options, this.#buckets.count)
    this.#labels = new Labels(this.#options.labelOf, this.#places.otherLabel)
  }

  /** Attaches it to a queue; undefined once it is. */
  get [OBSERVE] () {
    return this.#meter === undefined ? this.#observe : undefined
  }

  get [RUNS_ONLY] () {
    return true
  }

  /** What has been counted and timed. O(types with jobs). */
  snapshot () {
    const { name, boundsMs, fairness, starving, refused, types } = this.#read()
    return {
      name,
      boundsMs,
      fairness,
      starving,
      types: types.map(({ delayed, dead, unaccepted, ...shown }) => ({ ...shown, accepted: shown.accepted - unaccepted })),
      refused: Object.fromEntries(refused)
    }
  }

  /** Has a registry of prom-client show all, beside those of other queues. @throws FAIRLANE_ERR_ARGUMENT, and what the registry throws */
  register (registry) {
    register(registry, fit(this.#options.name), this, () => this.#read())
  }

  /** Has a meter of OpenTelemetry observe all, beside those of other queues. @throws FAIRLANE_ERR_ARGUMENT, and what the meter throws */
  meter (meter) {
    const quantile = (share, counts) => this.#buckets.quantile(share, counts)
    meterBy(meter, fit(this.#options.name), this, () => ({ ...this.#read(), quantile }))
  }

  /** @returns {Uint8Array} all in the text format of Prometheus. O(types with jobs). */
  toText () {
    return textOf(this.#read())
  }

  /**
   * @param {object} queue
   * @param {object | undefined} ledger the queue's, if another observer has made it
   * @param {{ clock: object, hasIds?: boolean, hasDelays?: boolean }} options hasIds: the queue has ids of its own, and dead letters;
   *   hasDelays: jobs may be delayed in it
   * @returns {object} the queue's ledger
   */
  #observe (queue, ledger, { clock, hasIds = false, hasDelays = true }) {
    if (this.#meter !== undefined) throw typeError('FAIRLANE_ERR_OPTION', 'observers: the Metrics observe another queue')
    ledger = joined(ledger, clock, this.#options.clock === 'exact')
    this.#queue = queue
    this.#states = [...LIVE, ...(hasDelays ? ['delayed'] : []), ...(hasIds ? ['dead'] : [])]
    const { windowMs, starveMs } = this.#options
    this.#meter = new Meter(ledger, { places: this.#places, buckets: this.#buckets, labels: this.#labels }, () => {
      if (!this.#watch.isOn) this.#watch.begin()
    })
    this.#watch = new Watch({ queue, clock, meter: this.#meter, windowMs, starveMs, shares }, (event, told) => this.emit(event, told))
    this.#placeNamed(shares.namedTypes(queue.scheduler))
    return this.#meter
  }

  /** Types with a weight or a cap of their own have their places before others come. */
  #placeNamed (types) {
    for (const type of types) this.#places.placeOf(this.#labels.known(type) ?? this.#labels.labelFor(type), 0)
  }

  #read () {
    const { name, bucketsMs } = this.#options
    const { byLabel, otherLabel } = this.#places
    if (this.#meter === undefined) {
      return { name: fit(name), boundsMs: [...bucketsMs], states: LIVE, slots: 0, starving: [], refused: new Map(), types: [] }
    }
    this.#meter.label()
    const { records } = this.#meter
    const nowMs = records.time.read()
    const live = this.#countLive(nowMs)
    const types = [...byLabel.values()].map(place => this.#shown(place, live.get(place.at) ?? new Live()))
    this.#places.wasRead(({ at, label }) => label !== otherLabel && !live.has(at), nowMs)
    return {
      name: fit(name),
      boundsMs: [...bucketsMs],
      fairness: this.#watch.fairness.index,
      starving: this.#watch.starvation.list(nowMs),
      states: this.#states,
      slots: this.#queue.concurrency,
      refused: records.refusedCounts,
      types
    }
  }

  /** @returns {Map<number, Live>} by place: jobs that have not ended, and dead letters, where there are any */
  #countLive (nowMs) {
    const { records: { names }, types, originMs } = this.#meter
    const live = new Map()
    for (const number of names.numbers.values()) {
      const counts = [0, 0, 0, 0, 0, 0, 0, 0]
      names.addTo(counts, number)
      if (counts[WAITING] + counts[RUNNING] + counts[DELAYED] + counts[DEAD] === 0) {
        this.#meter.release(number)
        continue
      }
      const at = types.cells[number + PLACE]
      if (!live.has(at)) live.set(at, new Live())
      live.get(at).add(counts, types.cells[number + USED] + counts[RUNNING] * (nowMs - originMs))
    }
    return live
  }

  #shown ({ label, at }, { waiting, running, delayed, dead, usedMs }) {
    const { cells, bucketCount, firstOfRun } = this.#places
    const histogram = (sum, first) => {
      const counts = [...cells.subarray(at + first, at + first + bucketCount)]
      return { sum: cells[at + sum], p50: this.#buckets.quantile(0.5, counts), p99: this.#buckets.quantile(0.99, counts), buckets: counts }
    }
    const runMs = histogram(RUN_SUM, firstOfRun)
    const [done, failed, cancelled, unaccepted] = [
      runMs.buckets.reduce((sum, count) => sum + count, cells[at + DONE_LESS_RUNS]),
      cells[at + FAILED], cells[at + CANCELLED], cells[at + UNACCEPTED]
    ]
    return {
      type: label,
      isType: this.#labels.isType(label),
      waiting,
      running,
      delayed,
      dead,
      accepted: done + failed + cancelled + unaccepted + waiting + running + delayed,
      unaccepted,
      done,
      failed,
      cancelled,
      retried: cells[at + RETRIED],
      slotMs: cells[at + FORMER_USED] + usedMs,
      waitMs: histogram(WAIT_SUM, FIRST_BUCKET),
      runMs
    }
  }
}

/** What is live of a place. */
class Live {
  constructor () {
    this.waiting = this.running = this.delayed = this.dead = 0
    this.usedMs = 0
  }

  add (counts, usedMs) {
    this.usedMs += usedMs
    this.waiting += counts[WAITING]
    this.running += counts[RUNNING]
    this.delayed += counts[DELAYED]
    this.dead += counts[DEAD]
  }
}

module.exports = { Metrics }
