'use strict'

// For programs written for quickq 0.10: require('fairlane/compat/quickq') in the place of require('quickq').
// A Queue that also takes what quickq takes. What differs on purpose is in docs/reference/migrating.md.

const { Queue } = require('../../index.js')
const { copyOf, readFields } = require('../arguments/fields')

/** A queue as quickq makes it; it has everything else that a Queue has, too. */
class QuickQueue extends Queue {
  /** As quickq(). */
  constructor (runner, options) {
    super(typeof runner === 'function' ? callRunner : runner, readOptions(options))
    const queue = this
    function callRunner (payload, done) {
      runner.call(queue, payload, done)
    }
  }

  push (payload, callback) {
    return super.push(payload, callback || undefined)
  }

  unshift (payload, callback) {
    return super.unshift(payload, callback || undefined)
  }

  pushType (type, payload, callback) {
    return super.pushType(type ?? String(type), payload, callback || undefined)
  }

  unshiftType (type, payload, callback) {
    return super.unshiftType(type ?? String(type), payload, callback || undefined)
  }

  fflush (callback) {
    if (callback) super.fflush(callback)
    return this
  }

  enqueue (payload, callback) {
    return this.push(payload, callback)
  }

  append (payload, callback) {
    return this.push(payload, callback)
  }

  prepend (payload, callback) {
    return this.unshift(payload, callback)
  }
}

/**
 * @param {(payload: any, done: (err?: any, result?: any) => void) => void} runner what it returns is ignored
 * @param {object | number | string} [options] or the concurrency alone
 * @param {number | string} [options.concurrency=10] 0 and other falsy values count as absent
 * @param {'fair' | 'capped' | 'equal' | object} [options.scheduler] falsy values count as absent
 * @param {object} [options.schedulerOptions]
 * @returns {QuickQueue} with or without new
 * @throws FAIRLANE_ERR_RUNNER, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function quickq (runner, options) {
  return new QuickQueue(runner, options)
}

quickq.prototype = QuickQueue.prototype

/** As quickq reads them: falsy values are absent, other names mean nothing, and a scheduler that is no object is an error. */
function readOptions (options) {
  if (typeof options !== 'object' || options === null) return { settleBy: 'callback', concurrency: options || undefined }
  const given = readFields(options, ['concurrency', 'scheduler', 'schedulerOptions'], 'FAIRLANE_ERR_OPTION')
  const { concurrency, scheduler } = given
  return {
    settleBy: 'callback',
    concurrency: concurrency || undefined,
    scheduler: scheduler || undefined,
    schedulerOptions: readSchedulerOptions(given)
  }
}

/** 'capped' has quickq's maxScanLength, and no use for it: it looks at types, not at jobs. */
function readSchedulerOptions ({ scheduler, schedulerOptions }) {
  if (!schedulerOptions || !['fair', 'capped', 'equal'].includes(scheduler)) return undefined
  if (scheduler !== 'capped') return schedulerOptions
  const { maxScanLength, ...others } = copyOf(schedulerOptions, 'FAIRLANE_ERR_OPTION')
  return others
}

module.exports = quickq
