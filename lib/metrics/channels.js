'use strict'

// An observer that publishes what becomes of each job of a queue on channels of node:diagnostics_channel.

const { OBSERVE } = require('../core/internals')
const { Metrics } = require('./metrics')
const { readChannelsOptions } = require('./options')
const { Publisher } = require('./publisher')

/** To be given to one queue. */
class Channels {
  #metrics
  #isObserving = false

  constructor (options) {
    this.#metrics = new Metrics({ ...options, maxTypes: 0 })
  }

  /** Attaches it to a queue; undefined once it is. */
  get [OBSERVE] () {
    return this.#isObserving ? undefined : this.#observe
  }

  /** As that of Metrics, which tell of types that starve. */
  #observe (queue, ledger, read) {
    const publisher = new Publisher(this.#metrics[OBSERVE](queue, ledger, read), queue)
    this.#isObserving = true
    for (const event of ['starving', 'fed']) this.#metrics.on(event, told => publisher.starves(event, told))
    return publisher
  }
}

/** @param {{ starveMs?: number, windowMs?: number, clock?: string }} [options] as of Metrics @throws FAIRLANE_ERR_OPTION */
function channels (options) {
  return new Channels(readChannelsOptions(options))
}

module.exports = { channels }
