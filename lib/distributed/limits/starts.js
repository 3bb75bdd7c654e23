'use strict'

// Whether jobs may start in this process, by what limits the whole queue: the gate for that is loaded and made when there is a rate or a
// globalConcurrency.

const { OF_COPIES, nameIn } = require('./terms')

class Starts {
  /**
   * @param {{ broker: object, limits: object, stage: object }} parts
   * @param {{ token: string, leaseMs: number }} options
   */
  constructor (parts, options) {
    this.parts = parts
    this.options = options
    this.gate = null
    this.running = undefined // gives deliveries of jobs that run: as of tell(), before there can be a gate
    this.lost = undefined
    this.countCosts = undefined
    parts.limits.follow({ changed: () => this.follow(), inLine: ignore, freed: tokens => this.gate?.freed(tokens) })
  }

  /**
   * @param {{ running: () => Iterable<object>, lost: () => void, changed: (names: string[] | undefined) => void,
   *   inLine: (partition: object) => void, countCosts: () => void }} hooks running: deliveries of jobs that run. lost: called when the
   *   places of all that runs are others'. changed: ... when other limits count for some types, undefined: for all. inLine: as of
   *   Fleet.follow(). countCosts: called when there is a rate of cost of the whole queue
   */
  tell ({ running, lost, changed, inLine, countCosts }) {
    this.running = running
    this.lost = lost
    this.countCosts = countCosts
    this.parts.limits.follow({
      changed (fields, isHeld) {
        const names = fields.filter(field => OF_COPIES.test(field)).map(nameIn)
        if (isHeld || names.includes(undefined)) changed(undefined)
        else if (names.length > 0) changed(names)
      },
      inLine,
      freed: ignore
    })
  }

  /** As Fleet.noticed(). */
  noticed (partition, generation) {
    return this.parts.limits.noticed(partition, generation)
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

  /** Nothing more starts. */
  stop () {
    return this.gate === null ? undefined : this.gate.stop()
  }

  /** The places of runners that have ended are free. */
  leave () {
    return this.gate === null ? undefined : this.gate.renew()
  }

  // private from here on

  follow () {
    const { values } = this.parts.limits.terms
    if (this.gate === null) {
      if (!values.has('rate') && !values.has('concurrency')) return
      const { Gate } = require('./gate')
      this.gate = new Gate(this.parts, this.options, () => this.lost(), () => this.countCosts())
    }
    this.gate.update(values, this.running())
    this.parts.stage.list.gate = this.gate.isOn ? this.gate : null
  }
}

function ignore () {}

module.exports = { Starts }
