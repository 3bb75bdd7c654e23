'use strict'

// HOT (bench: add). Notices slots that nobody can reach any more. To register one with the engine, and to take it back, costs more than all
// else about it. So only those are registered that are held for long: until then the slot is kept here, and cannot get lost.
//
//   granted ──▶ young ──▶ registered ──collected──▶ lose()
//                  └── released ─┴──▶ over

const { systemClock } = require('../../platform/clock')

const YOUNG_MS = 1000
// From so many on they are looked at before their time: most are over by then, and what is over is not to pile up.
const MOST_YOUNG = 1024

/** Of all queues. */
class LostSlots {
  /** @param {object} [clock] @param {{ register: Function, unregister: Function }} [registry] as of the engine */
  constructor (clock = systemClock, registry = makeRegistry()) {
    this.clock = clock
    this.registry = registry
    this.young = [] // Acquisitions, with their slots; some are over
    this.timer = undefined
    this.sweep = this.sweep.bind(this)
  }

  /** A slot is given out. @param {object} acquisition with its `slot`, until that may get lost */
  watch (acquisition) {
    if (this.young.push(acquisition) > MOST_YOUNG) this.sweep()
    else if (this.timer === undefined) this.begin()
  }

  /** It was registered, and is over. */
  unwatch (acquisition) {
    this.registry.unregister(acquisition)
  }

  // private from here on

  /** The timer keeps no process alive. */
  begin () {
    this.timer = this.clock.setTimeout(this.sweep, YOUNG_MS)
    this.timer.unref?.()
  }

  sweep () {
    const { registry, young } = this
    this.clock.clearTimeout(this.timer)
    this.timer = undefined
    this.young = []
    for (const acquisition of young) {
      const { slot } = acquisition
      if (slot === undefined) continue
      registry.register(slot, acquisition, acquisition)
      acquisition.slot = undefined
      acquisition.isRegistered = true
    }
  }
}

/* istanbul ignore next: a runtime has it, or lost slots stay taken there */
function makeRegistry () {
  return typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry(acquisition => { acquisition.lose() })
    : { register () {}, unregister () {} }
}

module.exports = { LostSlots }
