'use strict'

// What there is work of, in a process that runs jobs: a supply of each type that may have jobs, or has some here.

const { Matching } = require('./matching')
const { Supply } = require('./supply')

class Crew {
  /** @param {object} parts broker, and those that supplies are given */
  constructor ({ broker, ...parts }) {
    this.broker = broker
    this.parts = { ...parts, matching: new Matching() }
    this.supplies = new Map() // by type
    parts.prefetch.whenStale(takenBefore => this.returnPrefetched(takenBefore))
    parts.taking.whenHeldUp(isHeldUp => {
      if (isHeldUp) this.returnPrefetched(Infinity)
      else this.topUpAll()
    })
  }

  /** There may be jobs of a type. */
  expectJobs (type) {
    if (!this.parts.taking.isStopped) this.supplyOf(type).expectJobs()
  }

  supplyOf (type) {
    let supply = this.supplies.get(type)
    if (supply === undefined) {
      const place = this.broker.place(type)
      place.usersCount++
      supply = new Supply(place, this.parts)
      this.supplies.set(type, supply)
    }
    return supply
  }

  /** A job was cancelled. @param {object | undefined} place undefined: there can be no such type */
  cancelled (place, name) {
    this.supplies.get(place?.type)?.cancelled(name)
  }

  /** The limits of a type have changed: what was prefetched of it was taken by the old ones. @returns {Promise<void> | undefined} */
  changed (place) {
    return this.supplies.get(place?.type)?.recheck()
  }

  /** Other limits count for some types; undefined: for all. O(types). */
  recheckAll (names) {
    const some = names === undefined ? this.supplies.values() : names.map(name => this.supplies.get(this.broker.placeOf(name)?.type))
    for (const supply of some) supply?.recheck()
  }

  /** A partition has the limits that this process knows, and may be asked again. O(types). */
  recheckPartition (partition) {
    for (const supply of this.supplies.values()) {
      if (supply.place.partition === partition) supply.askAgain()
    }
  }

  /** A place of a type under its cap is free. */
  freed (place) {
    this.supplies.get(place?.type)?.freed()
  }

  /** Units of a rate of cost are free that a job of the type was charged. */
  given (place) {
    this.supplies.get(place?.type)?.askAgain()
  }

  /** @param {object} [partition] of these types only */
  topUpAll (partition) {
    for (const supply of this.supplies.values()) {
      if (partition === undefined || supply.place.partition === partition) supply.topUp()
    }
  }

  /** Gives jobs back that were prefetched before a time. @returns {Promise<any>} */
  returnPrefetched (takenBefore) {
    return Promise.all([...this.supplies.values()].map(supply => supply.returnPrefetched(takenBefore)))
  }

  /** @returns {Promise<void>} resolves when the broker was told of all that has ended, and nothing is asked any more */
  async whenTold () {
    for (;;) {
      const calling = [...this.supplies.values()].filter(({ isCalling }) => isCalling)
      if (calling.length === 0) return
      await Promise.all(calling.map(supply => supply.whenTold()))
    }
  }

  /** Lets go of all timers. */
  stop () {
    for (const supply of this.supplies.values()) supply.stop()
  }

  /** Forgets types that have nothing. O(types). */
  forget () {
    for (const [type, supply] of this.supplies) {
      if (!supply.isIdle) continue
      supply.stop()
      supply.place.usersCount--
      this.supplies.delete(type)
    }
  }

  /** Slots for which the broker is being asked. O(types). */
  get askersCount () {
    return [...this.supplies.values()].reduce((sum, supply) => sum + supply.askersCount, 0)
  }
}

module.exports = { Crew }
