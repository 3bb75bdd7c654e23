'use strict'

// The few statistics that results are made of.

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
 * @param {number[]} values at least one
 * @returns {{ median: number, min: number, max: number }}
 */
function summary (values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
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

module.exports = { median, summary, percentile, geometricMean, referenceOf }
