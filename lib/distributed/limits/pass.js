'use strict'

// What a token was given its slot with, while the queue has a rate or a globalConcurrency: a permit, a place, units, or all of these.

class Pass {
  /** @param {object} gate @param {{ until: number, mark: string } | undefined} permit */
  constructor (gate, permit, hasPlace) {
    this.gate = gate
    this.permit = permit
    this.hasPlace = hasPlace
    this.charge = undefined // units, of a rate of cost
    this.hasBegun = false
    this.hasEnded = false
  }

  /** Its runner is about to be called. @returns {boolean} false if it must not be: it is too late for that */
  begin (cost) {
    this.hasBegun = this.gate.mayBegin(this, cost)
    return this.hasBegun
  }

  /** The runner says what the job has cost so far. */
  spent (units) {
    if (this.charge !== undefined) this.gate.purse?.correct(this.charge, units)
  }

  /** The slot was given back, or the runner has ended. A second time is none. */
  end () {
    if (this.hasEnded) return
    this.hasEnded = true
    this.gate.ended(this)
  }

  /** @param {(err?: any, result?: any) => void} done of its slot @returns {typeof done} that ends it before */
  ending (done) {
    return (err, result) => {
      this.end()
      done(err, result)
    }
  }
}

module.exports = { Pass }
