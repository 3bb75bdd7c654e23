'use strict'

// HOT (bench: distributed). Asks the broker for jobs of a type, where it may be asked.

const { describe } = require('../../arguments/errors')

class Requests {
  /**
   * @param {{ broker: object, scouts: object, standby: object, takes: object, taking: object }} parts
   * @param {{ leaseMs: number }} options
   */
  constructor ({ broker, scouts, standby, takes, taking }, { leaseMs }) {
    this.broker = broker
    this.standby = standby
    this.takes = takes
    this.taking = taking
    this.scouts = scouts
    this.leaseMs = leaseMs
  }

  /** Whether a partition may be asked for jobs now. */
  mayAsk (partition) {
    return this.taking.isOn && !partition.isAway && this.broker.isReady
  }

  /** @returns {Promise<object | undefined>} an Answer; undefined if there is none: what it may have taken is free after a lease */
  async ask (place) {
    try {
      return await this.takes.take(place)
    } catch (err) {
      this.failed(place, err)
      return undefined
    }
  }

  /** Other processes start the next job of a type in so many ms: it is asked again if they have not. */
  standBy (supply, ms) {
    this.standby.add(supply, ms)
  }

  /** ... or before that. */
  standByNoMore (supply) {
    this.standby.remove(supply)
  }

  /** A call for jobs of a type has failed. */
  failed ({ partition, type }, err) {
    if (!this.scouts.failed(partition, err)) this.broker.troubles.refused(`jobs of the type ${describe(type)}`, err, type)
  }
}

module.exports = { Requests }
