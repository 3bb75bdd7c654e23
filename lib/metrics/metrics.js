'use strict'

// Counts and times of the jobs of a queue, by type. The meter counts what the queue's list tells; a Metrics shows it. How many jobs wait
// and run is asked of the ledger, so that nobody counts it twice. Its events come from the watch.

const EventEmitter = require('eventemitter3')
const { typeError } = require('../arguments/errors')
const { OBSERVE, RUNS_ONLY } = require('../core/internals')
const { Ledger } = require('../ledger/ledger')
const { WAITING, RUNNING, DELAYED, DEAD } = require('../ledger/segment')
const { Buckets } = require('./buckets')
const { Meter } = require('./meter')
const { readMetricsOptions, readSnapshotOptions } = require('./options')
const { Labels } = require('./labels')
const {
  Places, fit, DONE_LESS_RUNS, UNACCEPTED, FAILED, CANCELLED, RETRIED, USED: FORMER_USED, WAIT_SUM, RUN_SUM, SPENT, THROTTLED,
  POSTPONED, FIRST_BUCKET
} = require('./places')
const { meterBy } = require('./otel')
const { register, textOf } = require('./prometheus')
const { Timeline } = require('./timeline')
const { Totals } = require('./totals')
const { PLACE, USED } = require('./types')
const { Oldest, waitsBy } = require('./waits')
const { Watch } = require('./watch')
const shares = require('../../schedulers/shares')

const LIVE = ['waiting', 'running']

/**
 * To be given to one queue, in its option `observers`. What is documented of each method is in index.d.ts and docs/reference/observe.md.
 * Emits `starving` ({ type, waiting, sinceMs }) and `fed` ({ type }).
 */
class Metrics extends EventEmitter {
  #options
  #buckets
  #labels
  #places
  #watch = undefined
  #timeline = undefined
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

  /**
   * What has been counted and timed, by label. O(types with jobs). With options: of the types that come first, whatever their labels.
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  snapshot (options) {
    if (options !== undefined) return this.#ranked(readSnapshotOptions(options))
    const { name, boundsMs, fairness, starving, standstillMs, refused, types, waits } = this.#read(true)
    return {
      name,
      boundsMs,
      fairness,
      starving,
      standstillMs,
      types: types.map(({ at, delayed, dead, unaccepted, ...shown }) => {
        const waitMs = { ...shown.waitMs, ...this.#quantiles(shown.waitMs.buckets, waits.get(at)) }
        return { ...shown, accepted: shown.accepted - unaccepted, waitMs }
      }),
      refused: Object.fromEntries(refused)
    }
  }

  /** What happened in the last 15 minutes, in buckets of 10 s, the oldest first; those are left out in which nothing was to be done. */
  timeline () {
    return this.#timeline === undefined ? [] : this.#timeline.list()
  }

  /** Has a registry of prom-client show all, beside those of other queues. @throws FAIRLANE_ERR_ARGUMENT, and what the registry throws */
  register (registry) {
    register(registry, fit(this.#options.name), this, () => this.#read(false))
  }

  /** Has a meter of OpenTelemetry observe all, beside those of other queues. @throws FAIRLANE_ERR_ARGUMENT, and what the meter throws */
  meter (meter) {
    const quantile = (share, counts) => this.#buckets.quantile(share, counts)
    meterBy(meter, fit(this.#options.name), this, () => ({ ...this.#read(true), quantile }))
  }

  /** @returns {Uint8Array} all in the text format of Prometheus. O(types with jobs). */
  toText () {
    return textOf(this.#read(false))
  }

  /**
   * @param {object} queue
   * @param {object | undefined} ledger the queue's, if another observer has made it
   * @param {{ clock: object, hasIds?: boolean, hasDelays?: boolean, eachHead?: Function }} options hasIds: the queue has ids of its own,
   *   and dead letters; hasDelays: jobs may be delayed in it; eachHead: as of Meter, where its list is not observed
   * @returns {object} the queue's ledger
   */
  #observe (queue, ledger, { clock, hasIds = false, hasDelays = true, eachHead }) {
    if (this.#meter !== undefined) throw typeError('FAIRLANE_ERR_OPTION', 'observers: these Metrics already observe another queue')
    this.#labels.askFor(queue.scheduler)
    ledger = joined(ledger, clock, this.#options.clock === 'exact')
    this.#queue = queue
    this.#states = [...LIVE, ...(hasDelays ? ['delayed'] : []), ...(hasIds ? ['dead'] : [])]
    const { windowMs, starveMs } = this.#options
    this.#meter = new Meter(ledger, { places: this.#places, buckets: this.#buckets, labels: this.#labels }, () => {
      if (this.#watch.isOn) return
      this.#timeline.look()
      this.#watch.begin()
    })
    if (eachHead !== undefined) this.#meter.eachHead = eachHead
    const timeline = this.#timeline = new Timeline({ meter: this.#meter, buckets: this.#buckets })
    const about = { queue, clock, meter: this.#meter, windowMs, starveMs, shares, timeline }
    this.#watch = new Watch(about, (event, told) => this.emit(event, told))
    this.#placeNamed(queue.scheduler)
    return this.#meter
  }

  /** Types with a weight or a cap of their own have their places before others come; where groups are counted, groups have. */
  #placeNamed (scheduler) {
    const labels = this.#options.labelOf === 'group'
      ? shares.namedGroups(scheduler).map(fit)
      : shares.namedTypes(scheduler).map(type => this.#labels.known(type) ?? this.#labels.labelFor(type))
    for (const label of labels) this.#places.placeOf(label, 0)
  }

  /** @param {boolean} hasWaits whether to count the jobs that wait by their age */
  #read (hasWaits) {
    const { name, bucketsMs } = this.#options
    const { byLabel, otherLabel } = this.#places
    const known = { name: fit(name), boundsMs: [...bucketsMs] }
    if (this.#meter === undefined) return { ...known, ...NOTHING }
    const meter = this.#meter
    meter.label()
    const { records, types: { cells } } = meter
    const ms = records.time.read()
    const live = this.#countLive(ms)
    const types = [...byLabel.values()].map(place => this.#shown(place, live.get(place.at) ?? new Live()))
    this.#places.wasRead(({ at, label }) => label !== otherLabel && !live.has(at), ms)
    const { joined = 0, heldTypes } = this.#queue.stats?.() ?? NO_STATS
    return {
      ...known,
      fairness: this.#watch.fairness.index,
      starving: this.#watch.starvation.list(ms),
      standstillMs: new Totals(meter, ms).standstillMs,
      states: this.#states,
      hasCosts: this.#meter.costs !== undefined,
      slots: this.#queue.concurrency,
      refused: records.refusedCounts,
      joined,
      heldTypes,
      waits: hasWaits ? waitsBy(meter, ms, number => cells[number + PLACE]) : NO_WAITS,
      types
    }
  }

  /** @returns {Map<number, Live>} by place: jobs that have not ended, dead letters, and runners that go on, where there are any */
  #countLive (ms) {
    const { records: { names }, overdue, types: { cells }, originMs } = this.#meter
    const live = new Map()
    const liveAt = at => {
      if (!live.has(at)) live.set(at, new Live())
      return live.get(at)
    }
    const oldest = new Oldest(this.#meter)
    const counts = [0, 0, 0, 0, 0, 0, 0, 0]
    for (const number of names.numbers.values()) {
      counts.fill(0)
      names.addTo(counts, number)
      if (counts[WAITING] + counts[RUNNING] + counts[DELAYED] + counts[DEAD] === 0) {
        this.#meter.release(number)
        continue
      }
      const ofPlace = liveAt(cells[number + PLACE])
      ofPlace.add(counts, cells[number + USED] + counts[RUNNING] * (ms - originMs))
      if (counts[WAITING] > 0) ofPlace.oldestMs = Math.max(ofPlace.oldestMs, oldest.msOf(number, ms))
    }
    for (const [at, { count, slotMs }] of overdue.by('at', ms)) liveAt(at).addOverdue(count, slotMs)
    return live
  }

  #shown ({ label, at }, { waiting, running, delayed, dead, overdue, oldestMs, usedMs }) {
    const { cells, bucketCount, firstOfRun } = this.#places
    const histogram = (sum, first) => {
      const buckets = Array.from(cells.subarray(at + first, at + first + bucketCount))
      return { sum: cells[at + sum], p50: undefined, p99: undefined, buckets }
    }
    const runMs = histogram(RUN_SUM, firstOfRun)
    const [done, failed, cancelled, unaccepted] = [
      runMs.buckets.reduce((sum, count) => sum + count, cells[at + DONE_LESS_RUNS]),
      cells[at + FAILED], cells[at + CANCELLED], cells[at + UNACCEPTED]
    ]
    return {
      at,
      type: label,
      isType: this.#labels.isType(label),
      waiting,
      running,
      overdue,
      delayed,
      dead,
      accepted: done + failed + cancelled + unaccepted + waiting + running - overdue + delayed,
      unaccepted,
      done,
      failed,
      cancelled,
      retried: cells[at + RETRIED],
      throttled: cells[at + THROTTLED],
      postponed: cells[at + POSTPONED],
      oldestWaitMs: waiting > 0 ? oldestMs : undefined,
      slotMs: cells[at + FORMER_USED] + usedMs,
      spent: cells[at + SPENT],
      waitMs: histogram(WAIT_SUM, FIRST_BUCKET),
      runMs: { ...runMs, ...this.#quantiles(runMs.buckets) }
    }
  }

  /** @param {number[]} [more] counts of times that have not come to their end */
  #quantiles (counts, more) {
    const all = more === undefined ? counts : counts.map((count, i) => count + more[i])
    return { p50: this.#buckets.quantile(0.5, all), p99: this.#buckets.quantile(0.99, all) }
  }

  #ranked (wishes) {
    const { nothingBy, rankedBy } = require('./top')
    const name = fit(this.#options.name)
    if (this.#meter === undefined) return { name, ...nothingBy(wishes) }
    const [meter, queue, watch, buckets, timeline] = [this.#meter, this.#queue, this.#watch, this.#buckets, this.#timeline]
    return { name, ...rankedBy({ meter, queue, watch, buckets, timeline, wishes }) }
  }
}

const NO_STATS = {} // of what stands for a queue
const NO_WAITS = new Map()
const NOTHING = Object.freeze({
  states: LIVE,
  hasCosts: false,
  slots: 0,
  starving: [],
  standstillMs: 0,
  refused: new Map(),
  joined: 0,
  heldTypes: undefined,
  waits: NO_WAITS,
  types: []
})

/** What is live of a place. */
class Live {
  constructor () {
    this.waiting = this.running = this.delayed = this.dead = this.overdue = 0
    this.usedMs = 0
    this.oldestMs = 0 // for how long the job has waited that has waited longest of those that are to start next
  }

  add (counts, usedMs) {
    this.usedMs += usedMs
    this.waiting += counts[WAITING]
    this.running += counts[RUNNING]
    this.delayed += counts[DELAYED]
    this.dead += counts[DEAD]
  }

  addOverdue (count, usedMs) {
    this.usedMs += usedMs
    this.running += count
    this.overdue += count
  }
}

/**
 * Has an observer join the ledger of a queue, or make it.
 * @param {object | undefined} ledger the queue's, if another observer has made it
 * @returns {object} the ledger; the observer itself wants no records of ended jobs
 */
function joined (ledger, clock, isExact) {
  const wishes = { keep: 0, keepMs: -Infinity, isExact }
  if (ledger !== undefined) {
    ledger.records.widen(wishes)
    return ledger
  }
  const made = new Ledger(wishes)
  made.begin(clock)
  return made
}

module.exports = { Metrics }
