'use strict'

// What is shown to Prometheus: as text, and by way of a registry of prom-client, which asks when it is scraped. It knows that library by
// two methods of its registries only.

const { typeError, describe } = require('../arguments/errors')
const { hasMethods } = require('../arguments/fields')
const DESCRIPTIONS = require('./descriptions')
const { Sources } = require('./sources')

const SETTLED = ['done', 'failed', 'cancelled']
const OUTCOMES = ['retried', 'throttled', 'postponed']

/**
 * Each has samples(view): what a Metrics has read → Samples; or, of types, each(type, view): those of one of them. Times are in seconds.
 * `aggregator` is what a cluster of prom-client makes of the values of its processes, where that is not their sum.
 */
const FAMILIES = [
  {
    name: 'fairlane_jobs_accepted_total',
    help: DESCRIPTIONS.accepted,
    type: 'counter',
    each: ({ accepted }) => [sample(accepted)]
  },
  {
    name: 'fairlane_jobs_settled_total',
    help: DESCRIPTIONS.settled,
    type: 'counter',
    each: type => SETTLED.map(state => sample(type[state], ['state', state]))
  },
  {
    name: 'fairlane_jobs_refused_total',
    help: DESCRIPTIONS.refused,
    type: 'counter',
    samples: ({ refused }) => [...refused].map(([code, count]) => sample(count, ['code', code]))
  },
  {
    name: 'fairlane_attempts_total',
    help: DESCRIPTIONS.attempts,
    type: 'counter',
    each: type => OUTCOMES.map(outcome => sample(type[outcome], ['outcome', outcome]))
  },
  {
    name: 'fairlane_joined_total',
    help: DESCRIPTIONS.joined,
    type: 'counter',
    samples: ({ joined }) => [sample(joined)]
  },
  {
    name: 'fairlane_jobs',
    help: DESCRIPTIONS.jobs,
    type: 'gauge',
    each: (type, { states }) => states.map(state => sample(type[state], ['state', state]))
  },
  {
    name: 'fairlane_overdue_runners',
    help: DESCRIPTIONS.overdue,
    type: 'gauge',
    each: ({ overdue }) => [sample(overdue)]
  },
  {
    name: 'fairlane_oldest_wait_seconds',
    help: DESCRIPTIONS.oldestWait,
    type: 'gauge',
    aggregator: 'max',
    each: ({ oldestWaitMs = 0 }) => [sample(oldestWaitMs / 1000)]
  },
  {
    name: 'fairlane_job_wait_seconds',
    help: 'How long jobs waited until they started.',
    type: 'histogram',
    each: ({ waitMs }, { boundsMs }) => histogram(waitMs, boundsMs)
  },
  {
    name: 'fairlane_job_run_seconds',
    help: 'How long jobs ran; each attempt counts.',
    type: 'histogram',
    each: ({ runMs }, { boundsMs }) => histogram(runMs, boundsMs)
  },
  {
    name: 'fairlane_cost_total',
    help: DESCRIPTIONS.cost,
    type: 'counter',
    each: ({ spent }, { hasCosts }) => hasCosts ? [sample(spent)] : []
  },
  {
    name: 'fairlane_slots',
    help: DESCRIPTIONS.slots,
    type: 'gauge',
    samples: ({ slots }) => [sample(slots)]
  },
  {
    name: 'fairlane_standstill_seconds',
    help: DESCRIPTIONS.standstill,
    type: 'gauge',
    aggregator: 'max',
    samples: ({ standstillMs }) => [sample(standstillMs / 1000)]
  },
  {
    name: 'fairlane_held_types',
    help: DESCRIPTIONS.held,
    type: 'gauge',
    samples: ({ heldTypes }) => heldTypes === undefined ? [] : [sample(heldTypes)]
  },
  {
    name: 'fairlane_fairness_ratio',
    help: DESCRIPTIONS.fairness,
    type: 'gauge',
    aggregator: 'average',
    samples: ({ fairness }) => fairness === undefined ? [] : [sample(fairness)]
  },
  {
    name: 'fairlane_starving_types',
    help: DESCRIPTIONS.starving,
    type: 'gauge',
    samples: ({ starving }) => [sample(starving.length)]
  }
]

/** What is registered at registries. */
const membersBy = new WeakMap()

module.exports = { register, textOf }

/**
 * Adds the metrics of a queue to those of a registry. For the second time it does nothing.
 * @param {object} registry of prom-client
 * @param {string} name of the queue
 * @param {object} owner who shows them
 * @param {() => object} read gives what is shown
 * @throws FAIRLANE_ERR_ARGUMENT if it is no registry, or has metrics of another queue of that name; what the registry throws
 */
function register (registry, name, owner, read) {
  if (!hasMethods(registry, ['registerMetric', 'getSingleMetric'])) {
    throw typeError('FAIRLANE_ERR_ARGUMENT', `register: the registry must be a prom-client Registry, not ${describe(registry)}`)
  }
  const { families, sources } = membersOf(registry)
  const add = sources.adding(name, owner, read)
  for (const family of families) family.joins(registry)
  add()
}

function membersOf (registry) {
  let members = membersBy.get(registry)
  if (members === undefined) {
    const sources = new Sources()
    membersBy.set(registry, members = { sources, families: FAMILIES.map(family => new RegisteredFamily(family, sources)) })
  }
  return members
}

/** A metric as a registry knows it. */
class RegisteredFamily {
  #name
  #family
  #sources

  constructor ({ name, help, type, aggregator = 'sum', ...family }, sources) {
    this.#name = name
    this.name = name // the registry sets it to one without `_total` if it speaks OpenMetrics
    this.help = help
    this.type = type
    this.aggregator = aggregator
    this.#family = family
    this.#sources = sources
  }

  joins (registry) {
    if (registry.getSingleMetric(this.#name) === this) return
    this.name = this.#name
    registry.registerMetric(this)
  }

  get () {
    const { name, help, type, aggregator } = this
    const values = []
    for (const view of this.#sources.views()) {
      eachSample(this.#family, view, ({ suffix, label, value }, type) => {
        values.push({ metricName: suffix === '' ? undefined : name + suffix, labels: labelsOf(label, view.name, type), value })
      })
    }
    return { name, help, type, aggregator, values }
  }

  /** For resetMetrics() of a registry: what is counted is not the registry's. */
  reset () {}
}

/** @returns {Uint8Array} */
function textOf (view) {
  const out = new Bytes()
  const queue = escaped(view.name)
  const texts = view.types.map(({ type }) => `queue="${queue}",type="${escaped(type)}"`)
  for (const { name, help, type, ...family } of FAMILIES) {
    out.add(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`)
    eachSample(family, view, ({ suffix, label, value }, type, at) => {
      const own = label === undefined ? '' : `${label[0]}="${escaped(label[1])}",`
      out.add(`${name}${suffix}{${own}${at === undefined ? `queue="${queue}"` : texts[at]}} ${numberText(value)}\n`)
    })
  }
  return out.all()
}

const CHUNK = 2 ** 16

/** Text as bytes: as one text it may be longer than texts can be. */
class Bytes {
  constructor () {
    this.encoder = new TextEncoder()
    this.text = ''
    this.chunks = []
    this.length = 0
  }

  add (text) {
    this.text += text
    if (this.text.length >= CHUNK) this.flush()
  }

  all () {
    this.flush()
    const all = new Uint8Array(this.length)
    let at = 0
    for (const chunk of this.chunks) {
      all.set(chunk, at)
      at += chunk.length
    }
    return all
  }

  // private from here on

  flush () {
    const chunk = this.encoder.encode(this.text)
    this.text = ''
    this.chunks.push(chunk)
    this.length += chunk.length
  }
}

/** Calls visit(sample, label of the type, its place in view.types) for each sample of a family. */
function eachSample ({ each, samples }, view, visit) {
  if (samples !== undefined) {
    for (const one of samples(view)) visit(one)
    return
  }
  for (let at = 0; at < view.types.length; at++) {
    const type = view.types[at]
    for (const one of each(type, view)) visit(one, type.type, at)
  }
}

/** As prom-client wants them. @param {[string, string] | undefined} label of its own @param {string} [type] */
function labelsOf (label, queue, type) {
  const labels = label === undefined ? { queue } : { [label[0]]: label[1], queue }
  if (type !== undefined) labels.type = type
  return labels
}

const SPECIAL = /[\\"\n]/

function escaped (text) {
  return SPECIAL.test(text) ? text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : text
}

function numberText (value) {
  return value === Infinity ? '+Inf' : String(value)
}

function histogram ({ sum, buckets }, boundsMs) {
  let count = 0
  const samples = buckets.map((inBucket, i) => {
    count += inBucket
    return sample(count, ['le', numberText((boundsMs[i] ?? Infinity) / 1000)], '_bucket')
  })
  samples.push(sample(sum / 1000, undefined, '_sum'), sample(count, undefined, '_count'))
  return samples
}

/** @param {number} value @param {[string, string]} [label] beside those that say whose it is */
function sample (value, label, suffix = '') {
  return { suffix, label, value }
}
