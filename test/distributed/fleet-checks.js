'use strict'

// What must hold of the runs of a fleet.

const assert = require('node:assert')

module.exports = { mostStarts, mostStartsPerType, mostAtOnce }

/** In no stretch of intervalMs more than limit start. */
function mostStarts ({ limit, intervalMs }) {
  return runs => {
    for (let at = limit; at < runs.length; at++) {
      const { start, late } = runs[at - limit]
      const ms = (runs[at].start - start + late) / 1000
      assert(ms >= intervalMs, `${limit + 1} starts in ${ms} ms`)
    }
  }
}

/** ... of each type. */
function mostStartsPerType (rate) {
  return runs => {
    const byType = new Map(runs.map(({ type }) => [type, []]))
    for (const run of runs) byType.get(run.type).push(run)
    for (const some of byType.values()) mostStarts(rate)(some)
  }
}

/** Never more than so many run. */
function mostAtOnce (limit) {
  return runs => {
    const changes = runs.flatMap(({ start, end }) => [[start, 1], [end, -1]]).sort(([a, change], [b, other]) => a - b || change - other)
    let count = 0
    let most = 0
    for (const [, change] of changes) {
      count += change
      most = Math.max(most, count)
    }
    assert.equal(most, limit)
  }
}
