'use strict'

// A job that this process has taken from the broker.

const { jsonOf } = require('../broker/received')

class TakenJob {
  /**
   * @param {object} supply
   * @param {string} name its id at the broker
   * @param {object} json as BullMQ's backends give it
   * @param {number} askedAt when the broker was asked, by performance.now(): the answer may have been long on its way
   */
  constructor (supply, name, json, askedAt) {
    this.supply = supply
    this.name = name
    this.json = json
    this.place = supply.place
    this.id = supply.place.idOf(name)
    this.data = undefined // parsed when it is run
    this.takenAt = performance.now()
    this.renewedAt = askedAt // when its lease began at the earliest
    this.delivery = undefined // its slot
    this.attempt = 0
    this.number = 0 // that observers know it by, while it runs
    this.isEnding = false // the broker is being told of its end
  }

  /** The process that waits for its result; undefined if none does. */
  get inbox () {
    const { inbox } = Object(this.data ?? jsonOf(this.json.data))
    return typeof inbox === 'string' ? inbox : undefined
  }

  /** @returns {object} @throws SyntaxError if the broker has something else */
  parsed () {
    return (this.data ??= Object(JSON.parse(this.json.data)))
  }
}

module.exports = { TakenJob }
