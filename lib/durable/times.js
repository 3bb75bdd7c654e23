'use strict'

// The times of a schedule, in ms since 1970: by a cron expression, which the package croner reads, or every so many ms.

const { typeError } = require('../errors')
const { peerError } = require('../peers')

const RANGE = '^11.0'

/** Multiples of an interval since 1970, so that they are the same whenever the queue is opened. */
class Interval {
  /** @param {number} ms a positive integer */
  constructor (ms) {
    this.ms = ms
  }

  /** The first time after one. */
  after (time) {
    return this.upTo(time) + this.ms
  }

  /** The last one up to a time, that included. */
  upTo (time) {
    return Math.floor(time / this.ms) * this.ms
  }
}

/** Those of a cron expression. Infinity, or -Infinity, where there is none. */
class Calendar {
  /** @throws FAIRLANE_ERR_PEER, and FAIRLANE_ERR_OPTION if there are no times of such an expression or in such a time zone */
  constructor (expression, timezone, name, load) {
    const Cron = loadCroner(load)
    try {
      this.cron = new Cron(expression, { timezone })
      this.after(0) // it looks at the time zone only when it is asked
    } catch (cause) {
      throw Object.assign(typeError('FAIRLANE_ERR_OPTION', `schedules: ${name} has no times that croner understands. ${cause.message}`), { cause })
    }
    if (this.cron.getPattern() === undefined) throw typeError('FAIRLANE_ERR_OPTION', `schedules: cron of ${name} is a date, and must be an expression`)
  }

  after (time) {
    return this.cron.nextRun(new Date(time))?.getTime() ?? Infinity
  }

  upTo (time) {
    return this.cron.previousRuns(1, new Date(time + 1))[0]?.getTime() ?? -Infinity
  }
}

/**
 * @param {{ cron?: string, timezone?: string, everyMs?: number }} schedule as read; either cron or everyMs
 * @param {string} name of it
 * @param {() => { Cron: Function }} [load]
 * @returns {Interval | Calendar}
 */
function timesOf ({ cron, timezone, everyMs }, name, load = () => require('croner')) {
  return cron === undefined ? new Interval(everyMs) : new Calendar(cron, timezone, name, load)
}

/** @returns {Function} the class; throws FAIRLANE_ERR_PEER if the package is not installed, or another version */
function loadCroner (load) {
  let Cron
  try {
    Cron = load().Cron
  } catch (cause) {
    throw needed('which is not installed', { cause })
  }
  if (Cron?.prototype?.previousRuns !== undefined) return Cron
  throw needed('and finds a version that lacks what is needed')
}

function needed (why, options) {
  return peerError('A schedule with a cron expression', 'croner', RANGE, why, options)
}

module.exports = { timesOf }
