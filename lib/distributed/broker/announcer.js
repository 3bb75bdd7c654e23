'use strict'

// Tells processes of types that have jobs. While a call is on its way, the next one gathers: types of a partition share calls.

const MOST_TOLD = 500 // types that others are told of with one call

class Announcer {
  /** @param {{ broker: object }} parts */
  constructor ({ broker }) {
    this.broker = broker
    this.batches = new Map() // partition → what gathers behind the call that is on its way
  }

  /** @returns {Promise<number>} how many jobs of the type wait then */
  announce (place) {
    const gathering = this.batches.get(place.partition)
    return new Promise((resolve, reject) => {
      const entry = { place, resolve, reject }
      if (gathering !== undefined) {
        gathering.push(entry)
        return
      }
      this.batches.set(place.partition, [entry])
      queueMicrotask(() => this.send(place.partition))
    })
  }

  // private from here on

  async send (partition) {
    for (;;) {
      const gathered = this.batches.get(partition)
      if (gathered.length === 0) break
      this.batches.set(partition, gathered.slice(MOST_TOLD))
      await this.tell(partition, gathered.slice(0, MOST_TOLD))
    }
    this.batches.delete(partition)
  }

  async tell (partition, batch) {
    const places = [...new Set(batch.map(({ place }) => place))]
    try {
      const waiting = await this.broker.announce(partition, places)
      const counts = new Map(places.map((place, at) => [place, waiting[at]]))
      for (const { place, resolve, reject } of batch) {
        const count = counts.get(place)
        if (typeof count === 'number') resolve(count)
        else reject(new Error(count))
      }
    } catch (err) {
      for (const { reject } of batch) reject(err)
    }
  }
}

module.exports = { Announcer }
