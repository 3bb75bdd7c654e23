'use strict'

// What a process that runs jobs hears of types: which are ready, whose jobs are cancelled, what limits them, and where a place is free.
// Of many processes some ask for a type that has become ready; the others look a little later whether that was enough, and if not, some
// more ask.

const { randomInt } = require('node:crypto')
const { PACE, Slice } = require('../../platform/slice')
const { readWake } = require('../broker/received')

const MOST_ASKING = 8 // processes that ask for a type that has become ready, on average
const MORE_ASKING = 4 // times as many, each time that it is looked and it still is
const LOOK_AFTER_MS = 100 // the others look then
const MOST_AT_ONCE = 500 // types that are asked about with one call

class Wakes {
  /** @param {{ broker: object, crew: object, scouts: object, starts: object }} parts */
  constructor ({ broker, crew, scouts, starts }) {
    this.broker = broker
    this.crew = crew
    this.starts = starts
    this.early = [] // names that were heard of before the queue was open; undefined from then on
    this.heard = new Map() // partition → name that others may ask for → { rank, most }: this process asks below that rank
    this.lookTimer = undefined
    this.isStopped = false
    scouts.tell({ found: name => this.found(name), back: partition => crew.topUpAll(partition) })
  }

  /** @returns {Promise<void>} resolves when messages come. Types that they name are kept until begin() */
  async open () {
    for (const partition of this.broker.partitions) {
      await this.broker.listen(partition.wake, message => this.hear(partition, message))
    }
  }

  /** From now on the crew is told. */
  begin () {
    const names = this.early
    this.early = undefined
    this.foundSome(names, 0)
  }

  stop () {
    this.isStopped = true
    clearTimeout(this.lookTimer)
  }

  /** A type may have jobs, by its name at the broker. */
  found (name) {
    if (this.early !== undefined) {
      this.early.push(name)
      return
    }
    const place = this.broker.placeOf(name)
    if (place !== undefined) this.crew.expectJobs(place.type)
  }

  // private from here on

  /** @returns {boolean} whether the message makes sense */
  hear (partition, message) {
    const wake = readWake(message)
    if (wake === undefined) return false
    const { workersCount, names = [], cancelled, changed, by, freed, given, limits } = wake
    for (const name of names) this.heed(partition, name, workersCount <= MOST_ASKING ? 0 : randomInt(workersCount), MOST_ASKING)
    if (cancelled !== undefined) this.crew.cancelled(this.broker.placeOf(cancelled[0]), cancelled[1])
    // this process has looked already if the change is its own: what it has taken since then would go back, and count for its rate
    if (changed !== undefined && by !== this.broker.token) this.crew.changed(this.broker.placeOf(changed))
    if (limits !== undefined) this.starts.noticed(partition, limits)
    if (freed !== undefined) this.crew.freed(this.broker.placeOf(freed))
    if (given !== undefined) this.crew.given(this.broker.placeOf(given))
    return true
  }

  heed (partition, name, rank, most) {
    if (this.isStopped) return
    if (rank < most) {
      this.found(name)
      return
    }
    if (!this.heard.has(partition)) this.heard.set(partition, new Map())
    this.heard.get(partition).set(name, { rank, most })
    this.lookTimer ??= setTimeout(() => this.look(), LOOK_AFTER_MS)
  }

  async look () {
    this.lookTimer = undefined
    const heard = [...this.heard]
    this.heard.clear()
    await Promise.all(heard.map(async ([partition, names]) => {
      const all = [...names.keys()]
      for (let at = 0; at < all.length; at += MOST_AT_ONCE) {
        const some = all.slice(at, at + MOST_AT_ONCE)
        const answers = await this.broker.client.smismember(partition.ready, ...some).catch(() => some.map(() => 1))
        some.forEach((name, index) => {
          const { rank, most } = names.get(name)
          if (answers[index] === 1) this.heed(partition, name, rank, most * MORE_ASKING)
        })
      }
    }))
  }

  /** As many of these as a slice takes, and the others in later turns. */
  foundSome (names, from) {
    const slice = new Slice(PACE)
    let at = from
    while (at < names.length && !slice.isOver()) this.found(names[at++])
    if (at < names.length) setImmediate(() => this.foundSome(names, at))
  }
}

module.exports = { Wakes }
