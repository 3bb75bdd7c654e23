'use strict'

// What those who observe a queue may ask of its scheduler. One of the caller's own has no caps, and all types weigh the same there; of the
// order in which it serves them nothing is known.

const { Fair } = require('./fair')
const { Caps } = require('./options')
const { Weights } = require('./weights')

module.exports = { capOf, capOfLane, groupOf, mayPrecede, weightOf, namedTypes, namedGroups, takesCaps, takesWeights }

/** @returns {number} while so many jobs of a type run, no other one starts, whatever else waits; Infinity if there is no such number */
function capOf (scheduler, type) {
  return capOfLane(scheduler, { type, isShared: false })
}

/** The same of a lane, which types may share. @param {{ type: string, isShared: boolean }} lane */
function capOfLane (scheduler, lane) {
  if (scheduler === null || scheduler.hard === false) return Infinity
  const { caps, concurrency, maxTypeShare } = scheduler
  if (caps instanceof Caps) return caps.limitOf(lane)
  return scheduler instanceof Fair ? Object.assign(new Caps(maxTypeShare), { concurrency }).shareLimit() : Infinity
}

/**
 * @param {object} [lane] where the type is now, if it is anywhere
 * @returns {{ group: string | undefined, running: number, cap: number } | undefined} the group of a type, how many slots that has, and may
 *   have; undefined where there are no groups
 */
function groupOf (scheduler, type, lane) {
  return typeof scheduler?.groupStats === 'function' ? scheduler.groupStats(type, lane) : undefined
}

/**
 * Whether a lane may be served before another one whose first job waits, as things stand; where that is not known, true.
 * @param {boolean} mayGrow jobs may come to other lanes: their time has not come, or limits hold them back
 */
function mayPrecede (scheduler, other, lane, mayGrow) {
  const isOurs = scheduler.caps instanceof Caps || scheduler instanceof Fair
  return isOurs ? scheduler.precedes(other, lane, mayGrow) : true
}

/** @returns {number} above 0: what a type gets of the slots, relative to others that wait */
function weightOf (scheduler, type) {
  if (scheduler?.weighting instanceof Weights && typeof scheduler.shareOf === 'function') return scheduler.shareOf(type)
  return scheduler?.weighting instanceof Weights ? scheduler.weightOf(type) : 1
}

/** @returns {string[]} the types that have a weight or a cap of their own */
function namedTypes (scheduler) {
  const weights = scheduler?.weighting instanceof Weights ? scheduler.weighting.weights : undefined
  return namesIn(weights, scheduler?.caps instanceof Caps ? scheduler.caps.typeCaps : new Map())
}

/** @param {object} scheduler with groups @returns {string[]} the groups that have a weight or a cap of their own */
function namedGroups ({ groupWeights, groupCaps = new Map() }) {
  return namesIn(groupWeights, groupCaps)
}

function namesIn (weights, caps) {
  return [...new Set([...(weights instanceof Map ? weights.keys() : []), ...caps.keys()])]
}

/** Whether configure({ typeCaps }) changes the caps of single types. */
function takesCaps (scheduler) {
  return scheduler?.caps instanceof Caps
}

/** Whether configure({ weights }) changes the weights of single types; where a function gives them, it would take its place. */
function takesWeights (scheduler) {
  return scheduler?.weighting instanceof Weights && scheduler.weighting.weights instanceof Map
}
