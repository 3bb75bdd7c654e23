'use strict'

// Limits of queues whose jobs start some time after they were given a slot: on disk, when they are safe. What counts against a rate is the
// start. Until then the slot has a place in the window, so that there never are too many.
//
//   slot ──reserve──▶ place ─┬─ start() ──▶ counted from now on
//                            └─ giveBack() ──▶ free

const { COST } = require('../../job/cost')
const { Gate } = require('./gate')
const { Limiter } = require('./limiter')
const { Limits } = require('./limits')

class ReservingGate extends Gate {
  constructor (places, ...rest) {
    super(...rest)
    this.places = places
  }

  count (charge) {
    const { limit } = this
    this.wanted = COST
    if (limit === undefined) return
    const units = unitsOf(charge)
    limit.reserve(units)
    this.places.push({ owner: this, limit, units })
  }

  start ({ limit, units }, charge) {
    limit.release(units)
    limit.add(this.clock.now(), charge?.units, charge?.mark)
  }

  giveBack ({ limit, units }) {
    limit.release(units)
    this.change()
  }
}

/** The place of one job in the limits of types: one, and more if its type gets a limit of its own meanwhile. */
class Place {
  constructor (owner, type, units) {
    this.owner = owner
    this.type = type
    this.units = units
    this.limits = new Map() // key → limit
  }

  reserve (key, limit) {
    limit.reserve(this.units)
    this.limits.set(key, limit)
  }
}

class ReservingLimits extends Limits {
  constructor (places, whenFreed, ...rest) {
    super(...rest)
    this.places = places
    this.whenFreed = whenFreed // given the key of the limit
    this.reserved = new Set() // all places; their limits are not forgotten
    this.isReached = true // by places, perhaps: these are not counted where it would be told
  }

  count (key, limit, type, charge) {
    const place = new Place(this, type, unitsOf(charge))
    place.reserve(key, limit)
    this.reserved.add(place)
    this.places.push(place)
  }

  start (place, charge) {
    this.reserved.delete(place)
    for (const [key, limit] of place.limits) {
      limit.release(place.units)
      super.count(key, limit, place.type, charge)
    }
  }

  giveBack (place) {
    this.reserved.delete(place)
    for (const [key, limit] of place.limits) {
      limit.release(place.units)
      this.whenFreed(key)
    }
  }

  inherit (type, sharedKey) {
    const isKnown = this.find(type) !== undefined
    super.inherit(type, sharedKey)
    const limit = this.find(type)
    if (isKnown || limit === undefined) return
    for (const place of this.reserved) if (place.type === type) place.reserve(type, limit)
  }

  // private from here on

  /** O(slots) where there is none, or none that has started a job lately. */
  find (key) {
    return super.find(key) ?? this.reservedOf(key)
  }

  reservedOf (key) {
    for (const { limits } of this.reserved) if (limits.has(key)) return limits.get(key)
    return undefined
  }
}

/** A Limiter by which a job is counted when it starts. */
class ReservingLimiter extends Limiter {
  constructor (internals, ...rest) {
    const places = []
    const { list, dispatch } = internals
    const whenFreed = key => {
      list.holds.adjustOf(key)
      dispatch.wake()
    }
    super(internals, ...rest, {
      gate: (...args) => new ReservingGate(places, ...args),
      limits: (...args) => new ReservingLimits(places, whenFreed, ...args)
    })
    this.places = places // of the job that the list has given out last
    this.reservations = new Map() // job → its places, and what it is charged
  }

  /** The job that the list has given out last has a slot. @param {object} job what stands for it from here on */
  took (job) {
    const { list: { costs, charge }, places } = this
    if (costs === null && places.length === 0) return
    if (costs !== null) charge.isReserved = true
    this.reservations.set(job, { places: places.splice(0), charge })
  }

  /** It starts now. @returns {number | undefined} what it is charged; undefined: costs are not counted */
  starts (job) {
    const { places, charge } = this.leave(job)
    charge?.start()
    for (const place of places) place.owner.start(place, charge)
    return charge?.units
  }

  /** It has given its slot back. */
  gaveBack (job) {
    for (const place of this.leave(job).places) place.owner.giveBack(place)
  }

  // private from here on

  leave (job) {
    const reservation = this.reservations.get(job) ?? NOTHING
    this.reservations.delete(job)
    return reservation
  }
}

const NOTHING = { places: [], charge: undefined }

/** What a job is to be charged when it starts. */
function unitsOf (charge) {
  return charge === undefined ? COST : charge.units
}

module.exports = { ReservingLimiter }
