'use strict'

// What the cases of fairness have in common: loads by chance, the same each time, and what is told of who got the slots.

const { simulate, exactMs, randomNumbers } = require('./simulation')

const SEED = 1
const QUIET_GAP_MS = 100 // the mean time between the jobs of a quiet type

/**
 * Simulates a load, and tells the result.
 * @param {string} contender
 * @param {number} scale 1, or less for a quick run
 * @param {{ load: (means: { scale: number, jobMs: (ms: number) => number, random: () => number }) => object, tell: (types: Map) => object,
 *   options?: object }} scenario jobMs: gives or takes half; options: of the scheduler
 */
async function play (contender, scale, { load, tell, options: schedulerOptions }) {
  const random = randomNumbers(SEED)
  const jobMs = (ms) => exactMs(ms * (0.5 + random()))
  return tell(await simulate(contender, { ...load({ scale, jobMs, random }), schedulerOptions }))
}

/** The jobs of quiet types until then: Poisson processes of 10 per second each. */
function quietArrivals (types, ms, endMs, { jobMs, random }) {
  const arrivals = []
  const gap = () => -QUIET_GAP_MS * Math.log(1 - random())
  for (const type of types) {
    for (let atMs = gap(); atMs < endMs; atMs += gap()) arrivals.push({ type, ms: jobMs(ms), atMs: exactMs(atMs) })
  }
  return arrivals.sort((a, b) => a.atMs - b.atMs)
}

/** Tells the share of the types whose names begin so, in percent: of the slot time, or of what else is got of each. */
function tellShareOf (prefix, gotOf = ({ slotMs }) => slotMs) {
  return (types) => {
    mustBeBacklogged(types)
    let own = 0
    let all = 0
    for (const [type, told] of types) {
      const got = gotOf(told)
      all += got
      if (type.startsWith(prefix)) own += got
    }
    return { share: 100 * own / all }
  }
}

/** A type that had nothing to run for a while got less for that reason. */
function mustBeBacklogged (types) {
  for (const [type, { waiting }] of types) if (waiting === 0) throw new Error(`all jobs of ${type} have started before the end`)
}

module.exports = { play, quietArrivals, tellShareOf, mustBeBacklogged }
