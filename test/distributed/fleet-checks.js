'use strict'

// What a fleet's processes have noted, and what must hold of their runs.

const assert = require('node:assert')

module.exports = { micros, runsIn, mostStarts, mostStartsPerType, mostAtOnce }

/** @returns {number} by a clock that all processes of the machine have, and that goes as the broker's does */
function micros () {
  return Number(process.hrtime.bigint() / 1000n)
}

/**
 * A runner whose lease may be over is not counted: so a run counts until its process was ended or stopped, or got no time, and not at all
 * if it was told that its lease is over without that.
 * @param {Map<number, string>} logs by process, what fleet-process.js writes
 * @param {Map<number, { from: number, to: number }>} faults when a process was ended or stopped
 * @returns {{ start: number, end: number, type: string, pid: number, isLost: boolean }[]} in the order of their starts
 */
function runsIn (logs, faults) {
  return [...logs].flatMap(([pid, log]) => runsOf(log, faults.get(pid)).map(run => ({ ...run, pid }))).sort((a, b) => a.start - b.start)
}

function runsOf (log, fault) {
  const breaks = fault === undefined ? [] : [fault]
  const runs = []
  const running = new Map()
  for (const line of log.split('\n').slice(0, -1)) {
    const [what, ...words] = line.split(' ')
    const time = Number(words.at(-1))
    if (what === 'gap') {
      breaks.push({ from: Number(words[0]), to: time })
    } else if (what === 'start') {
      const run = { start: time, end: Infinity, type: words[1], isLost: false }
      runs.push(run)
      running.set(words[0], run)
    } else if (what === 'end') {
      const run = running.get(words[0])
      run.end = Math.min(run.end, time)
    } else {
      running.get(words[0]).isLost = true
    }
  }
  for (const run of runs) {
    const ends = breaks.filter(({ from, to }) => run.start < to && run.end > from).map(({ from }) => Math.max(run.start, from))
    if (run.isLost && ends.length === 0) ends.push(run.start)
    run.end = Math.min(run.end, ...ends)
  }
  return runs
}

/** In no stretch of intervalMs more than limit start. */
function mostStarts ({ limit, intervalMs }) {
  return runs => {
    for (let at = limit; at < runs.length; at++) {
      const ms = (runs[at].start - runs[at - limit].start) / 1000
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

/** Never more than so many run, and once as many. */
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
