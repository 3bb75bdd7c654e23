'use strict'

// The statistics that results are made of.

const DRAWS = 2000

/**
 * @param {number[]} values at least one
 * @returns {number} the middle value; the mean of the two middle ones when their number is even
 */
function median (values) {
  const sorted = values.slice().sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * What the rounds of a measurement are said to be. Whatever disturbs a measurement of time makes it longer, so the best of many short
 * rounds comes nearest to what the code itself takes. Waits, memory and shares have no such side: of these it is the median.
 * @param {number[]} values at least one
 * @param {{ best?: boolean, higherIsBetter?: boolean }} [metric]
 * @returns {{ value: number, min: number, max: number, spread: number }} spread: how far the best quarter of the rounds reaches from the
 *   value, or else half the range of all; as a part of the value
 */
function summary (values, { best = false, higherIsBetter = false } = {}) {
  const min = Math.min(...values)
  const max = Math.max(...values)
  const value = best ? (higherIsBetter ? max : min) : median(values)
  const reach = best ? Math.abs(percentile(values, higherIsBetter ? 75 : 25) - value) : (max - min) / 2
  return { value, min, max, spread: value === 0 ? 0 : reach / Math.abs(value) }
}

/**
 * Gives each contender of a cell, under the key of each metric, what its rounds are said to be, and the ratio of that to ours.
 * @param {Object<string, { rounds: object[] }>} contenders by name
 * @param {object[]} metrics of the case
 */
function summarise (contenders, metrics) {
  for (const metric of metrics) {
    for (const contender of Object.values(contenders)) {
      const values = contender.rounds.map((round) => round[metric.key]).filter((value) => value !== undefined)
      if (values.length > 0) contender[metric.key] = summary(values, metric)
    }
    const own = contenders[referenceOf(contenders)]?.[metric.key]
    if (metric.noRatio || !own || own.value === 0) continue
    for (const contender of Object.values(contenders)) {
      if (contender[metric.key]) contender[metric.key].ratio = contender[metric.key].value / own.value
    }
  }
}

/**
 * The nearest-rank percentile.
 * @param {number[]} values
 * @param {number} percent 0 to 100
 * @returns {number} NaN when there are no values
 */
function percentile (values, percent) {
  if (values.length === 0) return NaN
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)]
}

/**
 * How a measurement of new code stands to that of old code, and how sure that is: an interval by bootstrap. Rounds are drawn with what was
 * measured beside them, so that what disturbed both counts for neither.
 * @param {number[]} olds by round
 * @param {number[]} news by round
 * @param {{ higherIsBetter?: boolean }} [metric]
 * @returns {{ old: number, new: number, ratio: number, from: number, to: number }} the means of the best quarters, their ratio (above 1 is
 *   worse), and where it lies in 98 of 100 draws
 */
function ratioInterval (olds, news, { higherIsBetter = false } = {}) {
  const { length } = olds
  const ratioOf = (rounds) => {
    const [old, now] = [olds, news].map((values) => meanOfBest(rounds.map((i) => values[i]), higherIsBetter))
    return { old, new: now, ratio: higherIsBetter ? old / now : now / old }
  }
  const random = generator(length)
  const ratios = Float64Array.from({ length: DRAWS }, () => ratioOf(olds.map(() => Math.floor(random() * length))).ratio).sort()
  return { ...ratioOf(olds.map((_, i) => i)), from: ratios[Math.floor(0.01 * DRAWS)], to: ratios[Math.ceil(0.99 * DRAWS) - 1] }
}

function meanOfBest (values, higherIsBetter) {
  const sorted = Float64Array.from(values).sort()
  if (higherIsBetter) sorted.reverse()
  const best = sorted.subarray(0, Math.ceil(values.length / 4))
  return best.reduce((sum, value) => sum + value, 0) / best.length
}

/**
 * Numbers from 0 to 1 that are the same each time, so that the same rounds have the same verdict: a linear congruential generator of D. H.
 * Lehmer (1951).
 */
function generator (seed) {
  let state = seed + 1
  return () => (state = state * 48271 % 2147483647) / 2147483647
}

/**
 * @param {number[]} values positive ones
 * @returns {number}
 */
function geometricMean (values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)
}

/**
 * @param {Object<string, any>} contenders of a cell, by name
 * @returns {string | undefined} the name of the one that the others' ratios are to: where all wait for the disk, ours that does
 */
function referenceOf (contenders) {
  return ['fairlane', 'fairlane, disk'].find((name) => contenders[name] !== undefined)
}

module.exports = { median, summary, summarise, percentile, ratioInterval, geometricMean, referenceOf }
