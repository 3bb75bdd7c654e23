'use strict'

// What is shown to Prometheus: as text, and by way of a registry of prom-client, which asks when it is scraped. It knows that library by
// two methods of its registries only.

const { typeError, describe } = require('../arguments/errors')
const { hasMethods } = require('../arguments/fields')
const { Sources } = require('./sources')

/**
 * Each has samples(view): what a Metrics has read → [{ suffix, labels, value }]. Times are in seconds. `aggregator` is what a cluster of
 * prom-client makes of the values of its processes, where that is not their sum.
 */
const FAMILIES = [
  {
    name: 'fairlane_jobs_accepted_total',
    help: 'Jobs that the queue has taken in.',
    type: 'counter',
    samples: view => byType(view, ({ accepted }) => [sample({}, accepted)])
  },
  {
    name: 'fairlane_jobs_settled_total',
    help: 'Jobs that have ended, by their state.',
    type: 'counter',
    samples: view => byType(view, type => ['done', 'failed', 'cancelled'].map(state => sample({ state }, type[state])))
  },
  {
    name: 'fairlane_jobs_refused_total',
    help: 'Jobs that the queue has not taken in, by the code of the error.',
    type: 'counter',
    samples: ({ name, refused }) => [...refused].map(([code, count]) => sample({ queue: name, code }, count))
  },
  {
    name: 'fairlane_jobs',
    help: 'Jobs that have not ended, and dead letters, by their state.',
    type: 'gauge',
    samples: view => byType(view, type => view.states.map(state => sample({ state }, type[state])))
  },
  {
    name: 'fairlane_job_wait_seconds',
    help: 'For how long jobs waited until they started.',
    type: 'histogram',
    samples: view => byType(view, ({ waitMs }) => histogram(waitMs, view.boundsMs))
  },
  {
    name: 'fairlane_job_run_seconds',
    help: 'For how long jobs ran.',
    type: 'histogram',
    samples: view => byType(view, ({ runMs }) => histogram(runMs, view.boundsMs))
  },
  {
    name: 'fairlane_slots',
    help: 'How many jobs may run at once.',
    type: 'gauge',
    samples: ({ name, slots }) => [sample({ queue: name }, slots)]
  },
  {
    name: 'fairlane_fairness_ratio',
    help: 'How evenly slot time was shared: 1 is evenly, by weight.',
    type: 'gauge',
    aggregator: 'min',
    samples: ({ name, fairness }) => fairness === undefined ? [] : [sample({ queue: name }, fairness)]
  },
  {
    name: 'fairlane_starving_types',
    help: 'Types with waiting jobs of which none has started for long, while others have.',
    type: 'gauge',
    samples: ({ name, starving }) => [sample({ queue: name }, starving.length)]
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
    throw typeError('FAIRLANE_ERR_ARGUMENT', `register: the registry must be one of prom-client, not ${describe(registry)}`)
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
  #samples
  #sources

  constructor ({ name, help, type, aggregator = 'sum', samples }, sources) {
    this.#name = name
    this.name = name // the registry sets it to one without `_total` if it speaks OpenMetrics
    this.help = help
    this.type = type
    this.aggregator = aggregator
    this.#samples = samples
    this.#sources = sources
  }

  joins (registry) {
    if (registry.getSingleMetric(this.#name) === this) return
    this.name = this.#name
    registry.registerMetric(this)
  }

  get () {
    const { name, help, type, aggregator } = this
    const values = this.#sources.views().flatMap(view => this.#samples(view))
      .map(({ suffix, labels, value }) => ({ metricName: suffix === '' ? undefined : name + suffix, labels, value }))
    return { name, help, type, aggregator, values }
  }

  /** For resetMetrics() of a registry: what is counted is not the registry's. */
  reset () {}
}

/** @returns {Uint8Array} */
function textOf (view) {
  const lines = []
  for (const { name, help, type, samples } of FAMILIES) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    for (const { suffix, labels, value } of samples(view)) lines.push(`${name}${suffix}{${labelText(labels)}} ${numberText(value)}`)
  }
  return new TextEncoder().encode(`${lines.join('\n')}\n`)
}

function labelText (labels) {
  return Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`).join()
}

function escaped (text) {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
}

function numberText (value) {
  return value === Infinity ? '+Inf' : String(value)
}

/** The samples of each type, with labels that say whose they are. */
function byType (view, samplesOf) {
  return view.types.flatMap(type => samplesOf(type).map(({ suffix, labels, value }) => {
    return sample({ ...labels, queue: view.name, type: type.type }, value, suffix)
  }))
}

function histogram ({ sum, buckets }, boundsMs) {
  let count = 0
  const samples = buckets.map((inBucket, i) => {
    count += inBucket
    return sample({ le: numberText((boundsMs[i] ?? Infinity) / 1000) }, count, '_bucket')
  })
  return [...samples, sample({}, sum / 1000, '_sum'), sample({}, count, '_count')]
}

function sample (labels, value, suffix = '') {
  return { suffix, labels, value }
}
