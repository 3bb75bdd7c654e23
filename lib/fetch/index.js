'use strict'

// A fetch whose calls wait in a queue in memory, each type in a lane of its own: no tenant delays another, limits of the other side are
// kept, and whoever is told to come back later does. It runs wherever fetch does, and loads nothing but the core.

const { readFunction } = require('../arguments/fields')
const { Calls } = require('./calls')
const { readOptions } = require('./options')

module.exports = { fairFetch }

/**
 * @param {(input: any, init?: any) => Promise<any>} fetch that is called: that of the runtime, or one like it
 * @param {object} [options] those of a queue in memory but for `settleBy`; `type`, `until`
 * @returns {Function} to be called as that fetch, with `fairlane` beside the rest of `init`. Its `queue` is the queue
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function fairFetch (fetch, options) {
  const calls = new Calls(readFunction(fetch, 'fairFetch: fetch', 'FAIRLANE_ERR_ARGUMENT'), readOptions(options))
  const fair = (input, init) => calls.fetch(input, init)
  for (const name of Object.keys(fetch)) { // what some runtimes have beside it
    Object.defineProperty(fair, name, { value: fetch[name], configurable: true, enumerable: true, writable: true })
  }
  fair.queue = calls.queue
  return fair
}
