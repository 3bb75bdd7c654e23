'use strict'

// What is shown to OpenTelemetry: observable instruments of a meter, which asks when it collects. It knows that library by three methods of
// its meters only.
//
// There is no observable histogram in its API. So quantiles are shown as gauges: those of the times since the meter has asked before, and
// of those who wait by now.

const { readPart } = require('../arguments/fields')
const DESCRIPTIONS = require('./descriptions')
const { Sources } = require('./sources')

const METHODS = ['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback']
const STATES = ['done', 'failed', 'cancelled']
const OUTCOMES = ['retried', 'throttled', 'postponed']

const COUNTERS = {
  'fairlane.jobs.accepted': { description: DESCRIPTIONS.accepted, unit: '{job}' },
  'fairlane.jobs.settled': { description: DESCRIPTIONS.settled, unit: '{job}' },
  'fairlane.jobs.refused': { description: DESCRIPTIONS.refused, unit: '{job}' },
  'fairlane.cost': { description: DESCRIPTIONS.cost, unit: '1' },
  'fairlane.attempts': { description: DESCRIPTIONS.attempts, unit: '{attempt}' },
  'fairlane.joined': { description: DESCRIPTIONS.joined, unit: '{job}' }
}
const GAUGES = {
  'fairlane.jobs': { description: DESCRIPTIONS.jobs, unit: '{job}' },
  'fairlane.overdue': { description: DESCRIPTIONS.overdue, unit: '{job}' },
  'fairlane.job.wait.oldest': { description: DESCRIPTIONS.oldestWait, unit: 's' },
  'fairlane.job.wait.p50': { description: 'How long jobs waited until they started, or have waited so far: the median.', unit: 's' },
  'fairlane.job.wait.p99': { description: 'How long jobs waited until they started, or have waited so far: the 99th percentile.', unit: 's' },
  'fairlane.job.run.p50': { description: 'How long jobs ran: the median.', unit: 's' },
  'fairlane.job.run.p99': { description: 'How long jobs ran: the 99th percentile.', unit: 's' },
  'fairlane.slots': { description: DESCRIPTIONS.slots, unit: '{job}' },
  'fairlane.standstill': { description: DESCRIPTIONS.standstill, unit: 's' },
  'fairlane.held': { description: DESCRIPTIONS.held, unit: '{type}' },
  'fairlane.fairness': { description: DESCRIPTIONS.fairness, unit: '1' },
  'fairlane.starving': { description: DESCRIPTIONS.starving, unit: '{type}' }
}

/** What is registered at meters. */
const shownBy = new WeakMap()

module.exports = { meterBy }

/**
 * Has a meter observe the metrics of a queue. For the second time it does nothing.
 * @param {object} meter of OpenTelemetry
 * @param {string} name of the queue
 * @param {object} owner who shows them
 * @param {() => object} read gives what is shown
 * @throws FAIRLANE_ERR_ARGUMENT if it is no meter, or has metrics of another queue of that name; what the meter throws
 */
function meterBy (meter, name, owner, read) {
  readPart(meter, METHODS, 'meter: the argument must be an OpenTelemetry meter', 'FAIRLANE_ERR_ARGUMENT')
  const sources = shownBy.get(meter) ?? new Sources()
  const add = sources.adding(name, owner, read)
  if (!shownBy.has(meter)) {
    observe(meter, sources)
    shownBy.set(meter, sources)
  }
  add()
}

function observe (meter, sources) {
  const instruments = new Map()
  for (const [name, options] of Object.entries(COUNTERS)) instruments.set(name, meter.createObservableCounter(name, options))
  for (const [name, options] of Object.entries(GAUGES)) instruments.set(name, meter.createObservableGauge(name, options))
  const recent = new Recent()
  meter.addBatchObservableCallback(result => {
    recent.turn()
    for (const view of sources.views()) {
      show(view, recent, (name, value, attributes) => result.observe(instruments.get(name), value, { queue: view.name, ...attributes }))
    }
  }, [...instruments.values()])
}

function show (view, recent, tell) {
  for (const type of view.types) {
    const about = { type: type.type }
    tell('fairlane.jobs.accepted', type.accepted, about)
    if (view.hasCosts) tell('fairlane.cost', type.spent, about)
    for (const state of STATES) tell('fairlane.jobs.settled', type[state], { ...about, state })
    for (const outcome of OUTCOMES) tell('fairlane.attempts', type[outcome], { ...about, outcome })
    for (const state of view.states) tell('fairlane.jobs', type[state], { ...about, state })
    tell('fairlane.overdue', type.overdue, about)
    tell('fairlane.job.wait.oldest', (type.oldestWaitMs ?? 0) / 1000, about)
    for (const kind of ['wait', 'run']) {
      const ended = recent.since(JSON.stringify([view.name, type.type, kind]), type[`${kind}Ms`].buckets)
      const pending = kind === 'wait' ? view.waits.get(type.at) : undefined
      const counts = pending === undefined ? ended : ended.map((count, i) => count + pending[i])
      for (const [name, share] of [['p50', 0.5], ['p99', 0.99]]) {
        const ms = view.quantile(share, counts)
        if (ms !== undefined) tell(`fairlane.job.${kind}.${name}`, ms / 1000, about)
      }
    }
  }
  for (const [code, count] of view.refused) tell('fairlane.jobs.refused', count, { code })
  tell('fairlane.joined', view.joined)
  tell('fairlane.standstill', view.standstillMs / 1000)
  if (view.heldTypes !== undefined) tell('fairlane.held', view.heldTypes)
  if (view.slots !== Infinity) tell('fairlane.slots', view.slots) // exporters cannot write that
  if (view.fairness !== undefined) tell('fairlane.fairness', view.fairness)
  tell('fairlane.starving', view.starving.length)
}

/** Counts since the last look. */
class Recent {
  constructor () {
    this.before = new Map() // by what is counted
    this.now = new Map() // the same, of this look
  }

  /** The next look begins: what was not seen in the last one is forgotten. */
  turn () {
    this.before = this.now
    this.now = new Map()
  }

  /** @param {string} key @param {number[]} counts that rise, unless a place has begun anew @returns {number[]} */
  since (key, counts) {
    const before = this.before.get(key)
    this.now.set(key, counts)
    const isSame = before !== undefined && counts.every((count, i) => count >= before[i])
    return isSame ? counts.map((count, i) => count - before[i]) : counts
  }
}
