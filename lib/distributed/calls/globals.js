'use strict'

// What limits a type in all processes, and what is asked of the broker about types: settings, counts, and jobs that wait, many at once.

const { clearedError } = require('../../arguments/errors')
const { inGroups } = require('../broker/groups')
const { keysToTake } = require('../broker/takes')

const COUNT = { wait: 'LLEN', active: 'LLEN', prioritized: 'ZCARD', delayed: 'ZCARD', failed: 'ZCARD' } // of BullMQ's keys of a type
const COUNTED = Object.keys(COUNT)
const MOST_AT_ONCE = 500 // types that are asked about with one call
const MOST_CLEARED = 100 // ... that are cleared together
const MOST_DEAD = 1000 // dead letters that are deleted with one call
const LATER_MS = 24 * 3600 * 1000 // by how much clocks of processes may differ: dead letters are deleted that died before a time
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

class Globals {
  /**
   * @param {{ broker: object, announcer: object, removal: object, worker: object | null }} parts worker: told at once of what other
   *   processes are told; null in a process that runs no jobs
   */
  constructor ({ broker, announcer, removal, worker }) {
    this.broker = broker
    this.announcer = announcer
    this.removal = removal
    this.worker = worker
    this.asked = new Map() // type → promise of its counts, of those that are asked for in this turn
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

  /** No job of the type is taken for so long; 0 ends that. */
  async hold (type, ms) {
    const place = this.broker.place(type)
    await this.broker.soon(() => this.broker.hold(place, ms))
    this.worker?.changed(place)
  }

  /** Of all types together. O(types). */
  async counts () {
    const sum = { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 }
    for (const { waiting, delayed, running, dead } of await this.countAll()) {
      sum.waiting += waiting
      sum.delayed += delayed
      sum.running += running
      sum.dead += dead
      if (waiting + running + dead > 0) sum.types++
    }
    return sum
  }

  /** Of one type, with what limits it. Who asks twice in a turn (a page does, for the limits and for explain()) has one answer. */
  async countsOfType (type) {
    const known = this.asked.get(type) ?? this.askForCounts(type)
    if (this.asked.size === 0) queueMicrotask(() => this.asked.clear())
    this.asked.set(type, known)
    return { ...await known }
  }

  /** The types that have jobs, the largest first. */
  async types (limit) {
    const all = (await this.countAll()).filter(sizeOf)
    return all.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, limit)
  }

  /**
   * Takes away what waits and is delayed, of a type or of all; with `dead` the dead letters, too.
   * @returns {Promise<number>} how many
   */
  async clear ({ type, dead, reason }) {
    const error = clearedError(reason === undefined ? undefined : { cause: reason })
    let count = 0
    for await (const places of this.somePlaces(type)) {
      const counts = await this.countsOf(places)
      const found = places.map((place, index) => ({ place, waiting: counts[index].waiting, dead: dead ? counts[index].dead : 0 }))
      for (const group of inGroups(found.filter(({ waiting, dead }) => waiting + dead > 0), MOST_CLEARED, () => 1)) {
        count += sumOf(await Promise.all(group.map(({ place, ...counts }) => this.clearType(place, counts, error))))
      }
    }
    return count
  }

  /** @returns {Promise<void>} resolves when nothing waits, is delayed or runs; asks in ever longer intervals */
  async whenIdle () {
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      const { waiting, running } = await this.counts()
      if (waiting + running === 0) return
      await this.broker.pause(ms)
    }
  }

  /**
   * The places of a type, or of all types that have, or had, anything at the broker: some of one partition at a time. Between these the
   * event loop has its turn, since each of them is asked about.
   * @param {string} [type]
   * @returns {AsyncGenerator<object[]>}
   */
  async * somePlaces (type) {
    if (type !== undefined) {
      yield [this.broker.place(type)]
      return
    }
    for (const partition of this.broker.partitions) {
      const names = await this.broker.soon(() => this.broker.client.smembers(partition.types))
      for (let at = 0; at < names.length; at += MOST_AT_ONCE) {
        yield names.slice(at, at + MOST_AT_ONCE).map(name => this.broker.placeOf(name)).filter(place => place !== undefined)
      }
    }
  }

  /** @param {object[]} places of one partition @returns {Promise<object[]>} what is counted of each: delayed jobs wait, too */
  async countsOf (places) {
    const answers = await this.count(places, COUNTED)
    return places.map(({ type }, index) => {
      const at = COUNTED.length * index
      const [wait, running, prioritized, delayed, dead] = answers.slice(at, at + COUNTED.length)
      return { type, waiting: wait + prioritized + delayed, delayed, running, dead }
    })
  }

  /** @param {string[]} names of COUNT @returns {Promise<number[]>} how many are in these, of one place after the other */
  count (places, names) {
    const keys = places.flatMap(place => names.map(name => place.key(name)))
    const call = ['fairlaneCount', keys.length, ...keys, ...names.map(name => COUNT[name])]
    return this.broker.soon(async () => (await this.broker.askAll([call]))[0])
  }

  async askForCounts (type) {
    const place = this.broker.place(type)
    const [[{ type: omitted, ...counts }], limits] = await Promise.all([this.countsOf([place]), this.limitsOf(place)])
    return { ...counts, ...limits }
  }

  /** Tells processes of a type that may have jobs. */
  announce (place) {
    return this.broker.soon(() => this.announcer.announce(place))
  }

  // private from here on

  async limitsOf (place) {
    const { broker } = this
    const { partition: { limits }, name } = place
    const [isPaused, heldMs, [ownCap, cap, ownRates, rates]] = await broker.soon(() => broker.askAll([
      ['hexists', place.key('meta'), 'paused'],
      ['fairlaneHeld', ...keysToTake(place), place.key(''), name, '', 0, ''],
      ['hmget', limits, `cap:${name}`, 'cap', `rates:${name}`, 'rates']
    ]))
    return {
      cap: Number(ownCap ?? cap) || Infinity,
      rate: rateOf(JSON.parse(ownRates ?? rates ?? '[]')),
      paused: isPaused === 1,
      heldMs
    }
  }

  /** @returns {Promise<number>} how many jobs are gone */
  async clearType (place, { waiting, dead }, error) {
    let count = waiting > 0 ? await this.removal.clear(place, error) : 0
    for (let left = dead; left > 0;) {
      const gone = await this.broker.soon(() => place.backend.cleanJobsByState('failed', Date.now() + LATER_MS, MOST_DEAD))
      if (gone.length === 0) break // others delete them, too
      count += gone.length
      left -= gone.length
    }
    return count
  }

  async tell (place) {
    await this.announce(place)
    await this.tellChanged(place)
  }

  /** Those too that wait until a limit is over. */
  async tellChanged (place) {
    this.worker?.changed(place)
    await this.broker.soon(() => this.broker.publishChanged(place))
  }

  async countAll () {
    const counts = []
    for await (const places of this.somePlaces()) counts.push(...await this.countsOf(places))
    return counts
  }
}

/** One as it is, several in an array, null for none. */
function rateOf (rates) {
  return rates.length > 1 ? rates : rates[0] ?? null
}

function sizeOf ({ waiting, running, dead }) {
  return waiting + running + dead
}

function sumOf (numbers) {
  return numbers.reduce((sum, number) => sum + number, 0)
}

module.exports = { Globals }
