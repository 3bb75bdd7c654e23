'use strict'

// A job that this process has taken from the broker.

const { jsonOf, ownOf } = require('../broker/received')

class TakenJob {
  /**
   * @param {object} supply
   * @param {{ job: object, name: string, sentAt: number, startBy: number }} answer of the broker, which may have been long on its way
   */
  constructor (supply, { job: json, name, sentAt, startBy }) {
    this.supply = supply
    this.name = name // its id at the broker
    this.json = json
    this.place = supply.place
    this.id = supply.place.idOf(name)
    this.own = ownOf(json.opts)
    this.data = undefined // parsed when it is run
    this.payload = undefined // decoded then
    this.takenAt = performance.now()
    this.renewedAt = sentAt // when its lease began at the earliest
    this.startBy = startBy // later its permit to start is over, by performance.now()
    this.delivery = undefined // its slot
    this.cost = json.cost ?? supply.parts.slots.unsaidCost // what it is charged, as far as anybody counts that
    this.attempt = 0
    this.number = 0 // that observers know it by, while it runs
    this.isEnding = false // the broker is being told of its end
  }

  /** For how long it has waited for its first start: at the broker by its clock, and here since then. */
  get waitedMs () {
    const { takenAt, dueAt } = this.json
    return takenAt - dueAt + performance.now() - this.takenAt
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
