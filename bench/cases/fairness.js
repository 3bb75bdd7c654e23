'use strict'

// Question: how are slots and waits shared out among types, in loads in which it matters?
//
// Nothing is timed: the real queues run in virtual time (bench/simulation.js), so the answer is the same everywhere, and the
// result file has no Node version. Ten slots; jobs take 10 ms, or 100 times that where it says so, give or take half of it.
// A share is that of all slot time up to the end of the simulation, during which every type always has jobs waiting.
// The index is Jain's for n types that got x1 … xn: (Σx)² / (n Σx²), 1 if all are equal, 1/n if one has all.

const { entriesFor } = require('../contenders')
const { mustBeBacklogged, play, quietArrivals, tellShareOf } = require('../shares')
const { SLOTS } = require('../simulation')
const { percentile } = require('../statistics')
const { typeNames } = require('../types')

const CONTENDERS = ['quickq fair', 'fair', 'capped', 'equal']
const SHORT_MS = 10
const LONG_MS = 1000

const WITHOUT_WEIGHTS = 'has no weights'

/** By id of the cell: the load, scaled down by a quick run, and what is told of the result. */
const SCENARIOS = {
  flood: {
    load ({ scale, jobMs, random }) {
      const flood = 1e5 * scale
      const endMs = flood * SHORT_MS / SLOTS
      const arrivals = quietArrivals(typeNames(9), SHORT_MS, endMs, { jobMs, random })
      return { backlog: jobsOf([{ type: 'flood', count: flood, ms: SHORT_MS }], jobMs), arrivals }
    },
    tell (types) {
      const waits = [...types].flatMap(([type, { waitsMs }]) => type === 'flood' ? [] : waitsMs)
      return { p50Ms: percentile(waits, 50), p99Ms: percentile(waits, 99) }
    }
  },

  backlogs: {
    load ({ scale, jobMs }) {
      const backlog = [{ type: 'large', count: 1e5 * scale, ms: SHORT_MS }, { type: 'small', count: 1e4 * scale, ms: SHORT_MS }]
      return { backlog: jobsOf(backlog, jobMs), untilMs: 1e4 * scale }
    },
    tell (types) {
      mustBeBacklogged(types)
      return { jain: jainIndex([...types.values()].map(({ slotMs }) => slotMs)) }
    }
  },

  'one-slow': {
    load ({ scale, jobMs }) {
      return { backlog: inTurn(10, 1, 1e4 * scale, jobMs), untilMs: 1e5 * scale }
    },
    tell: tellShareOf('slow')
  },

  'ten-slow': {
    load ({ scale, jobMs }) {
      return { backlog: inTurn(90, 10, 1200 * scale, jobMs), untilMs: 1e5 * scale }
    },
    tell: tellShareOf('slow')
  },

  weights: {
    load ({ scale, jobMs }) {
      const types = ['weight 10', ...typeNames(30)]
      const backlog = []
      for (let i = 0; i < 6000 * scale; i++) for (const type of types) backlog.push({ type, ms: jobMs(SHORT_MS) })
      return { backlog, untilMs: 2e4 * scale, weights: { 'weight 10': 10 } }
    },
    tell: tellShareOf('weight 10')
  }
}

const LABELS = {
  flood: 'one type queues 100,000 jobs, nine send 10 per second each',
  backlogs: 'two types with 100,000 and 10,000 jobs waiting',
  'one-slow': "one of 11 types has jobs that take 100 times as long as the others'",
  'ten-slow': 'ten of 100 types have such jobs',
  weights: 'one type has the weight 10, thirty have 1'
}

module.exports = {
  name: 'fairness',
  page: 'docs/benchmarks/schedulers.md',
  isDeterministic: true,
  title: 'Who gets the slots',
  about: 'Simulated in virtual time with the real queues: ten slots, jobs of 10 ms give or take half. A share is that of all slot ' +
    "time. Jain's index is 1 where all get the same, and 0.5 where one of two gets everything.",
  metrics: [
    { key: 'p50Ms', label: 'p50', unit: 'ms', noRatio: true },
    { key: 'p99Ms', label: 'p99', unit: 'ms', noRatio: true },
    { key: 'jain', label: 'index', unit: '', noRatio: true },
    { key: 'share', label: 'share', unit: '%', noRatio: true }
  ],
  figures: [
    { id: 'flood', key: 'p50Ms', label: 'median wait of the nine, ms', ideal: '' },
    { id: 'flood', key: 'p99Ms', label: 'p99 of it, ms', ideal: '' },
    { id: 'backlogs', key: 'jain', label: "Jain's index", ideal: '1' },
    { id: 'one-slow', key: 'share', label: 'its share, %', ideal: '9.1' },
    { id: 'ten-slow', key: 'share', label: 'their share, %', ideal: '10' },
    { id: 'weights', key: 'share', label: 'its share, %', ideal: '25' }
  ],

  cells ({ quick }) {
    return Object.keys(SCENARIOS).map((id) => ({
      id,
      label: LABELS[id],
      scale: quick ? 0.02 : 1,
      contenders: entriesFor(CONTENDERS, 'setImmediate').map((entry) => {
        return id === 'weights' && entry.name !== 'equal' ? { ...entry, note: WITHOUT_WEIGHTS } : entry
      }),
      weight: 1
    }))
  },

  measure: ({ id, scale }, contender) => play(contender, scale, SCENARIOS[id])
}

/** Jobs of one type after the other. */
function jobsOf (groups, jobMs) {
  return groups.flatMap(({ type, count, ms }) => Array.from({ length: count }, () => ({ type, ms: jobMs(ms) })))
}

/** So many jobs of each type, the types in turn. */
function inTurn (quickTypes, slowTypes, count, jobMs) {
  const types = [
    ...Array.from({ length: slowTypes }, (_, i) => ({ type: `slow ${i}`, ms: LONG_MS })),
    ...typeNames(quickTypes).map((type) => ({ type, ms: SHORT_MS }))
  ]
  const jobs = []
  for (let i = 0; i < count; i++) for (const { type, ms } of types) jobs.push({ type, ms: jobMs(ms) })
  return jobs
}

function jainIndex (values) {
  const sum = values.reduce((a, b) => a + b)
  return sum * sum / (values.length * values.reduce((a, b) => a + b * b, 0))
}
