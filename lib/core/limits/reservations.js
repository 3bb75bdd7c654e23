'use strict'

// Limits of queues whose jobs start some time after they were given a slot: on disk, when they are safe. What counts against a rate is the
// start. Until then the slot has a place in the window, so that there never are too many.
//
//   slot ──reserve──▶ place ─┬─ start() ──▶ counted from now on
//                            └─ giveBack() ──▶ free

const { Gate } = require('./gate')
const { Limiter } = require('./limiter')
const { Limits } = require('./limits')

class ReservingGate extends Gate {
  constructor (places, ...rest) {
    super(...rest)
    this.places = places
  }

  count () {
    const { limit } = this
    if (limit === undefined) return
    limit.reserve()
    this.places.push({ owner: this, limit })
  }

  start ({ limit }) {
    limit.release()
    limit.add(this.clock.now())
  }

  giveBack ({ limit }) {
    limit.release()
    this.change()
  }
}

/** The place of one job in the limits of types: one, and more if its type gets a limit of its own meanwhile. */
class Place {
  constructor (owner, type) {
    this.owner = owner
    this.type = type
    this.limits = new Map() // key → limit
  }

  reserve (key, limit) {
    limit.reserve()
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

  count (key, limit, type) {
    const place = new Place(this, type)
    place.reserve(key, limit)
    this.reserved.add(place)
    this.places.push(place)
  }

  start (place) {
    this.reserved.delete(place)
    for (const [key, limit] of place.limits) {
      limit.release()
      super.count(key, limit)
    }
  }

  giveBack (place) {
    this.reserved.delete(place)
    for (const [key, limit] of place.limits) {
      limit.release()
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
    this.placesOf = new Map() // job → its places
  }

  /** The job that the list has given out last has a slot. @param {object} job what stands for it from here on */
  took (job) {
    if (this.places.length > 0) this.placesOf.set(job, this.places.splice(0))
  }

  /** It starts now. */
  starts (job) {
    for (const place of this.leave(job)) place.owner.start(place)
  }

  /** It has given its slot back. */
  gaveBack (job) {
    for (const place of this.leave(job)) place.owner.giveBack(place)
  }

  // private from here on

  leave (job) {
    const places = this.placesOf.get(job) ?? []
    this.placesOf.delete(job)
    return places
  }
}

module.exports = { ReservingLimiter }
