'use strict'

// What holds for a type in all processes, and what is asked of the broker about types: settings, counts, and jobs that wait, many at once.

const { HELD_MAX } = require('./scripts')

const MOST_AT_ONCE = 100 // types that are asked about with one call
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

class Globals {
  /**
   * @param {object} broker
   * @param {object} announcer
   * @param {(place: object) => void} changed told here at once of what the others are told
   */
  constructor (broker, announcer, changed) {
    this.broker = broker
    this.announcer = announcer
    this.changed = changed
  }

  async pause (type) {
    const place = this.broker.place(type)
    await this.broker.soon(() => place.backend.pause(true))
    await this.tellChanged(place)
  }

  async resume (type) {
    const place = this.broker.place(type)
    await this.broker.soon(() => place.backend.pause(false))
    await this.tell(place)
  }

  /** @param {number} cap Infinity: none */
  async setCap (type, cap) {
    const place = this.broker.place(type)
    await this.set(place, 'cap', cap === Infinity ? {} : { concurrency: cap }, ['concurrency'])
    await this.tell(place)
  }

  /** @param {{ limit: number, intervalMs: number } | null} rate */
  async setRate (type, rate) {
    const place = this.broker.place(type)
    await this.set(place, 'rate', rate === null ? {} : { max: rate.limit, duration: rate.intervalMs }, ['max', 'duration'])
    if (rate === null) await this.broker.soon(() => place.backend.removeRateLimitKey())
    await this.tell(place)
  }

  /** No job of the type is taken for so long. */
  async hold (type, ms) {
    const place = this.broker.place(type)
    await this.broker.soon(() => this.broker.hold(place, ms))
    this.changed(place)
  }

  /** @param {string} [type] */
  async stats (type) {
    if (type === undefined) {
      const all = await this.countAll()
      const sum = { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 }
      for (const { waiting, delayed, running, dead } of all) {
        sum.waiting += waiting
        sum.delayed += delayed
        sum.running += running
        sum.dead += dead
        if (waiting + delayed + running + dead > 0) sum.types++
      }
      return sum
    }
    const place = this.broker.place(type)
    const [{ type: omitted, ...counts }] = await this.countsOf([place])
    const [concurrency, max, duration, isPaused] = await this.broker.soon(() =>
      place.backend.getQueueMetaFields(['concurrency', 'max', 'duration', 'paused']))
    return {
      ...counts,
      types: counts.waiting + counts.delayed + counts.running + counts.dead > 0 ? 1 : 0,
      cap: concurrency === null ? Infinity : Number(concurrency),
      rate: max === null || Number(max) === HELD_MAX ? null : { limit: Number(max), intervalMs: Number(duration) },
      paused: isPaused !== null
    }
  }

  /** The types that have jobs, the largest first. */
  async types (limit) {
    const all = (await this.countAll()).filter(sizeOf)
    return all.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, limit)
  }

  /** Takes away what waits and is delayed, of a type or of all. @returns {Promise<number>} how many */
  async clear (type) {
    const places = type === undefined ? await this.allPlaces() : [this.broker.place(type)]
    let count = 0
    for (const place of places) {
      const [{ waiting, delayed }] = await this.countsOf([place])
      if (waiting + delayed === 0) continue
      await this.broker.soon(() => place.backend.drain(true))
      count += waiting + delayed
    }
    return count
  }

  /** @returns {Promise<void>} resolves when nothing waits, is delayed or runs; asks in ever longer intervals */
  async whenIdle () {
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      const { waiting, delayed, running } = await this.stats()
      if (waiting + delayed + running === 0) return
      await this.broker.rest(Infinity, ms)
    }
  }

  /** All types that have, or had, anything at the broker. @returns {Promise<object[]>} their places */
  async allPlaces () {
    const names = []
    for (const partition of this.broker.partitions) names.push(...await this.broker.soon(() => this.broker.client.smembers(partition.types)))
    return names.map(name => this.broker.placeOf(name)).filter(place => place !== undefined)
  }

  /** There may be jobs of the type that nobody knows of. */
  announce (place) {
    return this.broker.soon(() => this.announcer.announce(place))
  }

  // private from here on

  async tell (place) {
    await this.announce(place)
    await this.tellChanged(place)
  }

  /** Those too that wait until a limit is over. */
  async tellChanged (place) {
    this.changed(place)
    await this.broker.soon(() => this.broker.client.publish(place.partition.wake, JSON.stringify({ changed: place.name })))
  }

  /** Writes what a call sets, so that no option replaces it. */
  set (place, what, fields, names) {
    const key = place.key('meta')
    const missing = names.filter(name => !(name in fields))
    return this.broker.soon(() => {
      const calls = this.broker.client.multi().hset(key, { [`fairlane:${what}`]: 1, ...fields })
      if (missing.length > 0) calls.hdel(key, ...missing)
      return calls.exec()
    })
  }

  async countAll () {
    const byPartition = new Map(this.broker.partitions.map(partition => [partition, []]))
    for (const place of await this.allPlaces()) byPartition.get(place.partition).push(place)
    const counts = []
    for (const places of byPartition.values()) {
      for (let at = 0; at < places.length; at += MOST_AT_ONCE) counts.push(...await this.countsOf(places.slice(at, at + MOST_AT_ONCE)))
    }
    return counts
  }

  /** @param {object[]} places of one partition */
  async countsOf (places) {
    const answers = await this.broker.soon(() => {
      const calls = this.broker.client.pipeline()
      for (const place of places) {
        calls.llen(place.key('wait')).zcard(place.key('prioritized')).zcard(place.key('delayed')).llen(place.key('active')).zcard(place.key('failed'))
      }
      return calls.exec().then(allOf)
    })
    return places.map(({ type }, index) => {
      const [wait, prioritized, delayed, running, dead] = answers.slice(5 * index)
      return { type, waiting: wait + prioritized, delayed, running, dead }
    })
  }
}

function sizeOf ({ waiting, delayed, running, dead }) {
  return waiting + delayed + running + dead
}

/** The answers of a pipeline; throws if there is an error among them. */
function allOf (answers) {
  return answers.map(([err, answer]) => {
    if (err) throw err
    return answer
  })
}

module.exports = { Globals }
