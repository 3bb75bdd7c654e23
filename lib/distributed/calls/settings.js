'use strict'

// Settings of BullMQ's of a type. They are at the broker before the first job of the type is, and again when the broker may have forgotten
// the type since.

class Settings {
  /**
   * @param {{ broker: object }} parts
   * @param {{ leaseMs: number }} options
   */
  constructor ({ broker }, { leaseMs }) {
    this.broker = broker
    this.validMs = leaseMs / 4 // the keeper forgets a type that had no push for twice as long
  }

  /** Whether they are sure to be there. They stay so for a while, as long as it is asked. */
  isPrepared (place) {
    const now = performance.now()
    if (now - place.preparedAt >= this.validMs || place.epoch !== this.broker.epoch) return false
    place.preparedAt = now
    return true
  }

  /** @returns {Promise<void>} */
  prepare (place) {
    const now = performance.now()
    const { epoch } = this.broker
    return this.broker.client.fairlanePrepare(place.key('meta')).then(() => {
      place.preparedAt = now
      place.epoch = epoch
    })
  }
}

module.exports = { Settings }
