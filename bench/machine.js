'use strict'

// How busy this machine is, and who else keeps it so: a measurement beside other work says more of that work than of the queue.

const fs = require('node:fs')
const os = require('node:os')
const { performance } = require('node:perf_hooks')

/** For how long the machine is watched before a run. */
const LOOK_MS = 2000

/** Of one core: what an idle system takes itself. */
const MOST_BUSY = 0.15

const TICKS_PER_SECOND = 100 // of /proc, on every Linux that Node runs on
const READINGS = { now: () => performance.now(), allSeconds, ownSeconds }
const CPU_TIME_FIELDS = [11, 12, 13, 14] // of what follows the name in /proc/self/stat: utime, stime, and those of children that have ended

/** @returns {Promise<number>} how many cores are busy now, without what this process takes */
async function busyCores (lookMs = LOOK_MS) {
  const watch = watchOthers()
  await new Promise((resolve) => setTimeout(resolve, lookMs))
  return watch()
}

/**
 * @param {{ now: () => number, allSeconds: () => number, ownSeconds: () => number }} [readings] CPU time of all processes, and of this one
 *   and its children that have ended, since whenever
 * @returns {() => number} how many cores others have taken since the call, children that still run among them
 */
function watchOthers ({ now, allSeconds, ownSeconds } = READINGS) {
  const othersSeconds = () => allSeconds() - ownSeconds()
  const begun = now()
  const before = othersSeconds()
  return () => Math.max(0, othersSeconds() - before) / ((now() - begun) / 1000)
}

function allSeconds () {
  return os.cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000
}

/** Where the system does not tell what ended children took, they count as others. */
function ownSeconds () {
  let fields
  try {
    fields = fs.readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  return CPU_TIME_FIELDS.reduce((sum, i) => sum + Number(fields[i]), 0) / TICKS_PER_SECOND
}

/** Rounded for a result file and for people. */
function inTenths (cores) {
  return Math.round(cores * 10) / 10
}

module.exports = { busyCores, watchOthers, inTenths, MOST_BUSY }
