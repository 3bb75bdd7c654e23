'use strict'

// What a server does to those who call it, and who these are, in phases. A server is that of the http case (../server.js): it answers in
// 4 ms while at most `capacity` calls are in flight, as the square of the load above that, and refuses at once from `mostInFlight` on.

const { randomNumbers } = require('../simulation')

const SERVICE_MS = 4
const NORMAL = { capacity: 50, mostInFlight: 500, slower: 1, types: { quick: 1 }, bursts: undefined }

/** By their names: how long jobs take, as a multiple of what they take on average. */
const DRAWS = {
  even: random => 0.5 + random(), // give or take half
  skewed: random => Math.exp(0.5 * gauss(random) - 0.125), // lognormal
  exponential: random => -Math.log(1 - random()),
  heavy: random => (1 - random()) ** (-1 / 1.5) / 3 // Pareto, of an infinite variance
}

/** By id: phases, of which each says what is not normal in it. least: what is asked of ours, of the best fixed limit. */
const SCENARIOS = {
  capacity: {
    label: 'the capacity of the server halves, and recovers',
    draw: 'skewed',
    phases: [['50', {}], ['25', { capacity: 25 }], ['50 again', {}]]
  },
  refusals: {
    label: 'the server refuses above 60, 30, and 60 calls',
    draw: 'skewed',
    phases: [['60', { mostInFlight: 60 }], ['30', { mostInFlight: 30 }], ['60 again', { mostInFlight: 60 }]]
  },
  costly: {
    label: 'a tenant comes and stays whose jobs take 100 times as long; jobs of the other one',
    draw: 'skewed',
    phases: [['before', {}], ['comes', { types: { quick: 1, costly: 100 } }], ['stays', { types: { quick: 1, costly: 100 } }]]
  },
  slower: {
    label: 'jobs take three times as long, for good, whatever the load',
    draw: 'exponential',
    phases: [['before', {}], ['after', { slower: 3 }], ['later', { slower: 3 }]]
  },
  bursts: {
    label: 'bursts of jobs with idle times between them; per second that is not idle',
    draw: 'exponential',
    phases: [
      ['20,000 each 6 s', { bursts: { everyMs: 6000, count: 20000 } }],
      ['2,000 each second', { bursts: { everyMs: 1000, count: 2000 } }],
      ['20,000, capacity 25', { bursts: { everyMs: 6000, count: 20000 }, capacity: 25 }]
    ]
  },
  tails: {
    label: 'times with heavy tails; the capacity halves, and recovers',
    draw: 'heavy',
    least: { mean: 0.7, each: 0.3 },
    phases: [['50', {}], ['25', { capacity: 25 }], ['50 again', {}]]
  }
}

for (const scenario of Object.values(SCENARIOS)) {
  scenario.phases = scenario.phases.map(([label, changes]) => ({ label, ...NORMAL, ...changes }))
  scenario.least ??= { mean: 0.85, each: 0.6 }
}

/** @returns {(job: { type: string }, phase: object, inFlight: number) => number} how long the server takes, in ms */
function serviceOf (draw, seed) {
  const random = randomNumbers(seed)
  return ({ type }, { capacity, slower, types }, inFlight) => {
    const load = Math.max(1, inFlight / capacity)
    return SERVICE_MS * types[type] * slower * load * load * DRAWS[draw](random)
  }
}

function gauss (random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

module.exports = { SCENARIOS, serviceOf }
