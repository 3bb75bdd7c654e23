'use strict'

// Bursts of jobs through a queue that is observed, by ourselves or by hand, and what that adds.

const { recorded } = require('./recorders')
const { typeNames } = require('../types')

const CONCURRENCY = 10
const BURST = 10000
const TYPES = typeNames(10)

module.exports = { BURST, CONCURRENCY, addedTo, createLoad }

/** Bursts of jobs into one queue, each from one loop. */
function createLoad (recorder, style, scheduler) {
  let pushedCount = 0
  let startedCount = 0
  const runners = {
    sync (id, done) { startedCount++; done() },
    setImmediate (id, done) { startedCount++; setImmediate(done) }
  }
  const { queue, push } = recorded(recorder, runners[style], { concurrency: CONCURRENCY, scheduler })
  return {
    /** @returns {Promise<number>} ns a job */
    async burst () {
      const begun = performance.now()
      for (let i = 0; i < BURST; i++) push(++pushedCount, TYPES[i % TYPES.length])
      await queue.onIdle()
      return (performance.now() - begun) * 1e6 / BURST
    },

    check () {
      const { done } = queue.stats()
      if (startedCount !== pushedCount || done !== pushedCount) throw new Error(`miscounted: ${pushedCount} jobs, ${startedCount} started, ${done} done`)
    }
  }
}

/** Round by round: what was taken less what it takes without an observer. */
function addedTo ({ fairlane, ...others }) {
  for (const { rounds } of Object.values(others)) {
    rounds.forEach((round, i) => {
      const without = fairlane?.rounds[i]?.least
      if (round.least !== undefined && without !== undefined) round.added = round.least - without
    })
  }
}
