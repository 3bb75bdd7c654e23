'use strict'

// The times of a schedule, in ms since 1970: by a cron expression, which the package croner reads, or every so many ms.

const { rangeError, typeError } = require('../arguments/errors')
const { peerError } = require('../platform/peers')

const RANGE = '^11.0'
const OPTION = 'FAIRLANE_ERR_OPTION'
// A compiled expression takes 80 KB and 0.25 ms (croner 11), so there are only so many at a time. Most are asked once in a time of theirs.
const MOST_COMPILED = 32

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

/** Those of a schedule that is paused. */
const NEVER = { after: () => Infinity, upTo: () => -Infinity }

/** Those of a cron expression. Infinity, or -Infinity, where there is none. */
class Calendar {
  constructor (calendars, expression, timezone) {
    this.calendars = calendars
    this.expression = expression
    this.timezone = timezone
    this.from = Infinity // from here on, and before the next time, there is none
    this.next = -Infinity
  }

  after (time) {
    if (time >= this.from && time < this.next) return this.next
    this.next = this.calendars.compiled(this).nextRun(new Date(time))?.getTime() ?? Infinity
    this.from = time
    return this.next
  }

  upTo (time) {
    return this.calendars.compiled(this).previousRuns(1, new Date(time + 1))[0]?.getTime() ?? -Infinity
  }
}

/** The calendars of a queue: one for each expression in each time zone. */
class Calendars {
  /** @param {() => { Cron: Function }} [load] */
  constructor (load = () => require('croner')) {
    this.load = load
    this.Cron = undefined
    this.byKey = new Map()
    this.crons = new Map() // those that are compiled, the one used longest ago first
    this.checked = new Set() // parts of expressions, and time zones
  }

  /**
   * @throws FAIRLANE_ERR_PEER; FAIRLANE_ERR_OPTION, or the code that is given, if there are no times of such an expression, or in that zone
   */
  of (expression, timezone, name, code = OPTION) {
    this.Cron ??= loadCroner(this.load)
    const key = `${timezone}\n${expression}`
    let calendar = this.byKey.get(key)
    if (calendar === undefined) {
      this.check(expression, timezone, name, code)
      this.byKey.set(key, calendar = new Calendar(this, expression, timezone))
    }
    return calendar
  }

  /** @returns {object} of croner */
  compiled (calendar) {
    const cron = this.crons.get(calendar) ?? new this.Cron(calendar.expression, { timezone: calendar.timezone })
    this.crons.delete(calendar)
    this.crons.set(calendar, cron)
    if (this.crons.size > MOST_COMPILED) this.crons.delete(this.crons.keys().next().value)
    return cron
  }

  // private from here on

  /** Croner reads each part for itself, so thousands of expressions are right if their parts are, of which there are few. */
  check (expression, timezone, name, code) {
    const parts = partsOf(expression)
    try {
      for (const part of parts) this.checkOnce(part, () => this.look(part, 'UTC', name, code))
      // it looks at the time zone only when it is asked
      this.checkOnce(`in ${timezone}`, () => this.look('* * * * *', timezone, name, code))
    } catch (cause) {
      if (cause.code === code) throw cause
      throw typeError(code, `schedules: croner cannot read the cron or timezone of ${name}. ${cause.message}`, { cause })
    }
  }

  checkOnce (what, look) {
    if (this.checked.has(what)) return
    look()
    this.checked.add(what)
  }

  look (expression, timezone, name, code) {
    const cron = new this.Cron(expression, { timezone })
    if (cron.getPattern() === undefined) throw typeError(code, `schedules: cron of ${name} must be a cron expression, not a date`)
    if (cron.nextRun(new Date(0)) === null) throw rangeError(code, `schedules: cron of ${name} never comes due`)
  }
}

/** Expressions that are right if one is: one for each part of the time of day, and one for the date. */
function partsOf (expression) {
  const parts = expression.match(/\S+/g) ?? []
  if (parts.length < 5 || parts.length > 7) return [expression] // a name, a date, or wrong
  const [second, minute, hour, ...date] = parts.length === 5 ? ['0', ...parts] : parts
  return [`${second} * * * * *`, `* ${minute} * * * *`, `* * ${hour} * * *`, `0 0 0 ${date.join(' ')}`]
}

/**
 * @param {{ cron?: string, timezone?: string, everyMs?: number }} schedule as read; either cron or everyMs
 * @param {string} name of it
 * @param {Calendars} calendars of the queue
 * @param {string} [code] of what is wrong
 * @returns {Interval | Calendar}
 */
function timesOf ({ cron, timezone, everyMs }, name, calendars, code) {
  return cron === undefined ? new Interval(everyMs) : calendars.of(cron, timezone, name, code)
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
  throw needed('but the installed version lacks what it needs')
}

function needed (why, options) {
  return peerError('A schedule with a cron expression', 'croner', RANGE, why, options)
}

module.exports = { Calendars, NEVER, timesOf }
