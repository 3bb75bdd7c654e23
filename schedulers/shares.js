'use strict'

// What those who observe a queue may ask of its scheduler. One of the caller's own has no caps, and all types weigh the same there.

const { Fair } = require('./fair')
const { Caps } = require('./options')
const { Weights } = require('./weights')

module.exports = { capOf, weightOf, namedTypes }

/** @returns {number} while so many jobs of a type run, no other one starts, whatever else waits; Infinity if there is no such number */
function capOf (scheduler, type) {
  if (scheduler === null || scheduler.hard === false) return Infinity
  const { caps, concurrency, maxTypeShare } = scheduler
  if (caps instanceof Caps) return scheduler.capOf(type)
  return scheduler instanceof Fair ? Object.assign(new Caps(maxTypeShare), { concurrency }).shareLimit() : Infinity
}

/** @returns {number} above 0 */
function weightOf (scheduler, type) {
  return scheduler?.weighting instanceof Weights ? scheduler.weightOf(type) : 1
}

/** @returns {string[]} the types that have a weight or a cap of their own */
function namedTypes (scheduler) {
  const weights = scheduler?.weighting instanceof Weights ? scheduler.weighting.weights : undefined
  const caps = scheduler?.caps instanceof Caps ? scheduler.caps.typeCaps : new Map()
  return [...new Set([...(weights instanceof Map ? weights.keys() : []), ...caps.keys()])]
}
