'use strict'

// Whether jobs may start in this process, by what limits the whole queue: the gate for that is loaded and made when there is a rate or a
// globalConcurrency.

class Starts {
  /**
   * @param {{ broker: object, fleet: object, stage: object }} parts
   * @param {{ token: string, leaseMs: number }} options
   */
  constructor (parts, options) {
    this.parts = parts
    this.options = options
    this.gate = null
    this.running = () => [] // deliveries of jobs that run
    this.lost = ignore
    parts.fleet.follow({ changed: () => this.follow(), inLine: ignore })
  }

  /** @param {{ running: () => Iterable<object>, lost: () => void }} hooks what runs; called when the places of all that runs are others' */
  tell ({ running, lost }) {
    this.running = running
    this.lost = lost
    this.follow()
  }

  /** Whether jobs wait for permits or places. */
  get isBinding () {
    return this.gate !== null && this.gate.isOn && this.gate.isWaitedFor
  }

  /** The pass of the token that gets its slot now; undefined: it needs none. */
  takePass () {
    return this.gate === null ? undefined : this.gate.takePass()
  }

  renew () {
    return this.gate === null ? undefined : this.gate.renew()
  }

  stop () {
    return this.gate === null ? undefined : this.gate.stop()
  }

  // private from here on

  follow () {
    const { values } = this.parts.fleet.terms
    if (this.gate === null) {
      if (!values.has('rate') && !values.has('concurrency')) return
      const { Gate } = require('./gate')
      this.gate = new Gate(this.parts, this.options, () => this.lost())
    }
    this.gate.update(values, this.running())
    this.parts.stage.list.gate = this.gate.isOn ? this.gate : null
  }
}

function ignore () {}

module.exports = { Starts }
