'use strict'

// What the options of this process limit a type to in all processes. It is at the broker before the first job of the type is, and again
// when the broker may have forgotten the type since.

class Settings {
  /**
   * @param {{ broker: object }} parts
   * @param {{ globalTypeCap: number, globalTypeCaps: Map<string, number>, globalTypeRates: Map<string, object>, leaseMs: number }} options
   */
  constructor ({ broker }, { globalTypeCap, globalTypeCaps, globalTypeRates, leaseMs }) {
    this.broker = broker
    this.cap = globalTypeCap
    this.caps = globalTypeCaps
    this.rates = globalTypeRates
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
    const cap = this.caps.get(place.type) ?? this.cap
    const { limit = '', intervalMs = '' } = this.rates.get(place.type) ?? {}
    return this.broker.client.fairlanePrepare(place.key('meta'), cap === Infinity ? '' : cap, limit, intervalMs).then(() => {
      place.preparedAt = now
      place.epoch = epoch
    })
  }
}

module.exports = { Settings }
