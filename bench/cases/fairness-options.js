'use strict'

// Question: what do groupOf and chargeBy change in who gets the slots, in loads in which they matter?
//
// As the case fairness: simulated in virtual time with ten slots, so the answer is the same everywhere. Types are named 'group/user'.

const { entriesFor } = require('../contenders')
const { play, quietArrivals, tellShareOf } = require('../shares')
const { percentile } = require('../statistics')
const { typeNames } = require('../types')

const GROUPS = { groupOf: (type) => type.split('/')[0] }

/** By id of the cell: the load, scaled down by a quick run, the options, and what is told of the result. */
const SCENARIOS = {
  users: {
    label: '`groupOf`: customer A has 1,000 users, B has one',
    options: GROUPS,
    load ({ scale, jobMs }) {
      const users = typeNames(1000).map((name) => ({ type: `A/${name}`, count: Math.max(12, 30 * scale), ms: 10 }))
      return { backlog: jobsOf([...users, { type: 'B/one', count: 14000 * scale, ms: 10 }], jobMs), untilMs: 20000 * scale }
    },
    tell: tellShareOf('B/')
  },

  'flood-inside': {
    label: '`groupOf`: a user of A floods, nine of A send 10 jobs per second each, fifty of B have much to do',
    options: GROUPS,
    load ({ scale, jobMs, random }) {
      const endMs = 60000 * scale
      const flood = { type: 'A/flood', count: 60000 * scale, ms: 10 }
      const busy = typeNames(50).map((name) => ({ type: `B/${name}`, count: Math.ceil(1500 * scale), ms: 10 }))
      return { backlog: jobsOf([flood, ...busy], jobMs), arrivals: quiet('A', 9, endMs, { jobMs, random }), untilMs: endMs }
    },
    tell: tellWaitOf('A/quiet')
  },

  'small-group': {
    label: '`groupOf`: the one user of a small customer sends 10 jobs per second, 1,000 of another have jobs of 50 ms',
    options: GROUPS,
    load ({ scale, jobMs, random }) {
      const endMs = 60000 * scale
      const busy = typeNames(1000).map((name) => ({ type: `A/${name}`, count: Math.ceil(20 * scale), ms: 50 }))
      return { backlog: jobsOf(busy, jobMs), arrivals: quiet('B', 1, endMs, { jobMs, random }), untilMs: endMs }
    },
    tell: tellWaitOf('B/quiet')
  },

  units: {
    label: "`chargeBy: 'cost'`: jobs of one type cost 100 units, those of another 1, and take as long",
    options: { chargeBy: 'cost' },
    load: ({ scale, jobMs }) => costly(scale, jobMs, { ms: 10, cost: 100 }, { ms: 10, cost: 1 }),
    tell: tellShareOf('A/', ({ units }) => units)
  },

  held: {
    label: "`chargeBy: 'cost*time'`: jobs of one type hold 10 units for 40 ms, those of another 2 for 10 ms",
    options: { chargeBy: 'cost*time' },
    load: ({ scale, jobMs }) => costly(scale, jobMs, { ms: 40, cost: 10 }, { ms: 10, cost: 2 }),
    tell: tellShareOf('A/', ({ heldMs }) => heldMs)
  }
}

module.exports = {
  name: 'fairness-options',
  page: 'docs/benchmarks/schedulers.md',
  isDeterministic: true,
  title: 'Who gets the slots, with groups and costs',
  about: 'Simulated in virtual time with the real queues: ten slots, jobs of 10 ms give or take half where nothing else is said. The column ' +
    '`equal` is without the option that the row names.',
  metrics: [
    { key: 'p99Ms', label: 'p99', unit: 'ms', noRatio: true },
    { key: 'share', label: 'share', unit: '%', noRatio: true }
  ],
  figures: [
    { id: 'users', key: 'share', label: 'share of B, %', ideal: '50' },
    { id: 'flood-inside', key: 'p99Ms', label: 'p99 of the waits of the nine, ms', ideal: '' },
    { id: 'small-group', key: 'p99Ms', label: 'p99 of its waits, ms', ideal: '' },
    { id: 'units', key: 'share', label: 'share of all units of the first, %', ideal: '50' },
    { id: 'held', key: 'share', label: 'share of units × time of the first, %', ideal: '50' }
  ],

  cells ({ quick }) {
    return Object.entries(SCENARIOS).map(([id, { label }]) => ({
      id,
      label,
      scale: quick ? 0.05 : 1,
      contenders: entriesFor(['equal', 'equal, with the option'], 'setImmediate'),
      weight: 1
    }))
  },

  measure: ({ id, scale }, contender) => play(contender, scale, SCENARIOS[id])
}

/** Jobs of the types in turn. */
function jobsOf (types, jobMs) {
  const jobs = []
  for (let i = 0; types.some(({ count }) => i < count); i++) {
    for (const { type, count, ms, cost } of types) if (i < count) jobs.push({ type, ms: jobMs(ms), cost })
  }
  return jobs
}

function costly (scale, jobMs, first, second) {
  const types = [{ type: 'A/one', count: 10000 * scale, ...first }, { type: 'B/one', count: 20000 * scale, ...second }]
  return { backlog: jobsOf(types, jobMs), untilMs: 10000 * scale }
}

/** The jobs of so many quiet users of a group. */
function quiet (group, count, endMs, means) {
  return quietArrivals(Array.from({ length: count }, (_, user) => `${group}/quiet ${user}`), 10, endMs, means)
}

function tellWaitOf (prefix) {
  return (types) => ({ p99Ms: percentile([...types].flatMap(([type, { waitsMs }]) => type.startsWith(prefix) ? waitsMs : []), 99) })
}
