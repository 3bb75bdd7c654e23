'use strict'

// Question: how much of what a server can do does a queue get out of it, whose limit is adapted to the server?
//
// Nothing is timed: the real queue runs in virtual time before a server that is a formula (../adaptive/), so the answer is the same
// everywhere, and the result file has no Node version. The best fixed limit is looked for in each phase of a scenario by itself: nobody
// knows it beforehand, and no one limit is the best in all phases. With a control that is `fairlane` here.

const { adaptive } = require('../../lib/adaptive')
const { versionOf } = require('../contenders')
const { randomNumbers } = require('../simulation')
const { FIXED, FIRST, LEAST, MOST, limitersWith } = require('../adaptive/limiters')
const { SCENARIOS } = require('../adaptive/scenarios')
const { simulate } = require('../adaptive/simulation')

const PHASE_MS = 60000
const EVERY_MS = 3000 // of the charts
const SEED = 1
const BEST = 'best fixed'
const SHOWN = ['fixed 48', 'AIMD', 'Vegas', 'gradient2']

module.exports = {
  name: 'adaptive',
  page: 'docs/benchmarks/adaptive.md',
  isDeterministic: true,
  title: 'What adapts a limit, and how well',
  about: 'Simulated in virtual time with the real queue: jobs that went well per second, in each phase of 60 s. The server answers in 4 ms while at most ' +
    '50 calls are in flight, and as the square of the load above that. The best fixed limit is that of the phase, which nobody knows beforehand. AIMD, ' +
    'Vegas and gradient2 are short implementations of our own from their papers and documentation.',
  metrics: [
    ...[1, 2, 3].map((phase) => ({ key: `phase${phase}`, label: `phase ${phase}`, unit: '/s', higherIsBetter: true, noRatio: true })),
    { key: 'refused', label: 'calls that the server refused', unit: '%', noRatio: true },
    { key: 'mean', label: 'of the best fixed limit, mean of the phases', unit: '', noRatio: true },
    { key: 'worst', label: 'the worst phase', unit: '', noRatio: true }
  ],
  figures: Object.entries(SCENARIOS).flatMap(([id, { phases }]) => [
    ...phases.map(({ label }, i) => ({ id, key: `phase${i + 1}`, label })),
    ...id === 'refusals' ? [{ id, key: 'refused', label: 'calls refused, %' }] : []
  ]),

  cells ({ quick }) {
    return Object.entries(SCENARIOS).map(([id, { label }]) => ({
      id,
      label,
      phaseMs: quick ? 2000 : PHASE_MS,
      everyMs: quick ? 1000 : EVERY_MS,
      contenders: [...[...limitersWith(undefined).keys()], 'fairlane'].map((name) => ({ name })),
      weight: 1
    }))
  },

  prepare: () => ({ subtitle: 'jobs that went well per second' }),

  versionOf: (name) => name === 'fairlane' ? versionOf('fairlane') : null,

  async measure ({ id, phaseMs, everyMs }, contender) {
    const adapted = contender === 'fairlane'
      ? { control: adaptive({ least: LEAST, most: MOST, first: FIRST }) }
      : { limiter: limitersWith(randomNumbers(SEED)).get(contender)() }
    const { okPerSecond, refused, limits, times } = await simulate(SCENARIOS[id], { phaseMs, everyMs, seed: SEED, ...adapted })
    const [phase1, phase2, phase3] = okPerSecond
    return { phase1, phase2, phase3, refused: 100 * refused, limits, times }
  },

  /** Of fixed limits the best is kept, and the one that people choose. */
  derive (contenders) {
    const fixed = FIXED.map((limit) => ({ limit, ...contenders[`fixed ${limit}`].rounds[0] }))
    const best = Object.fromEntries(['phase1', 'phase2', 'phase3'].map((phase) => {
      return [phase, Math.max(...fixed.map((round) => round[phase]))]
    }))
    const { refused } = fixed.reduce((a, b) => b.phase2 > a.phase2 ? b : a)
    const kept = [...SHOWN, 'fairlane'].map((name) => [name, contenders[name]])
    for (const name of Object.keys(contenders)) delete contenders[name]
    Object.assign(contenders, { [BEST]: { rounds: [{ ...best, refused }] } }, Object.fromEntries(kept))
    for (const { rounds: [round] } of Object.values(contenders)) {
      const shares = Object.keys(best).map((phase) => round[phase] / best[phase])
      round.mean = shares.reduce((a, b) => a + b) / shares.length
      round.worst = Math.min(...shares)
    }
  }
}
