'use strict'

// Looks after jobs whose processes are gone, and types without jobs. One process at a time walks over all types that have anything,
// every half lease: jobs whose processes are gone go back, what is due or was forgotten is announced, jobs that have waited for
// too long end, results that were kept long enough go, and so do the keys of types without jobs.

const { describe } = require('../../arguments/errors')
const { isPassing } = require('../broker/failures')
const { isOfRunner, leavePlace } = require('./overdue')
const { HAS_ACTIVE, HAS_COMPLETED, HAS_LATE, HAS_WAITING, KEYS_OF_TYPE } = require('../broker/scripts')

const MOST_AT_ONCE = 100 // types in a script
const MOST_RESULTS = 1000

class Keeper {
  /**
   * @param {{ announcer: object, broker: object, late: object }} parts
   * @param {{ leaseMs: number, resultTtlMs: number, token: string }} options
   */
  constructor ({ announcer, broker, late }, { leaseMs, resultTtlMs, token }) {
    this.broker = broker
    this.announcer = announcer
    this.late = late
    this.periodMs = leaseMs / 2
    this.resultTtlMs = resultTtlMs
    this.token = token
    this.timer = undefined
    this.isOver = false
    this.walking = undefined
  }

  begin () {
    this.timer = setTimeout(() => {
      this.walking = this.walkAll().finally(() => { if (!this.isOver) this.begin() })
    }, this.periodMs * (1 + Math.random() / 20))
  }

  /** @returns {Promise<void> | undefined} resolves when a walk that goes on has ended */
  stop () {
    this.isOver = true
    clearTimeout(this.timer)
    return this.walking
  }

  // private from here on

  async walkAll () {
    if (this.isOver || !this.broker.isReady) return
    await Promise.all(this.broker.partitions.map(partition => this.walk(partition).catch(err => this.failed(err))))
  }

  /** What fails now is done by the next walk: what would fail then, too, is told. */
  failed (err, type) {
    if (isPassing(err)) return
    this.broker.troubles.refused(type === undefined ? 'the check of all types' : `the check of the type ${describe(type)}`, err, type)
  }

  async walk (partition) {
    const { client } = this.broker
    const isMine = await client.set(partition.key('keeper'), this.token, 'PX', Math.floor(this.periodMs), 'NX')
    if (isMine === null) return
    await client.zremrangebyscore(partition.workers, '-inf', Date.now())
    let cursor = '0'
    do {
      const [next, names] = await client.sscan(partition.types, cursor, 'COUNT', MOST_AT_ONCE)
      cursor = next
      for (let at = 0; at < names.length && !this.isOver; at += MOST_AT_ONCE) {
        await this.lookAt(partition, names.slice(at, at + MOST_AT_ONCE))
      }
    } while (cursor !== '0' && !this.isOver)
    if (!this.isOver) await client.set(partition.walked, Date.now())
  }

  async lookAt (partition, names) {
    const { client } = this.broker
    const now = Date.now()
    const { types, ready, workers, wake, prefix } = partition
    const keys = [types, ready, workers, ...names.flatMap(name => KEYS_OF_TYPE.map(key => `${prefix}:${name}:${key}`))]
    const found = await client.fairlaneWalk(keys.length, ...keys, 'PUBLISH', wake, now + this.periodMs, now - this.resultTtlMs, ...names)
    await Promise.all(names.map((name, at) => this.tendTo(name, found[at], now, found[names.length])))
  }

  /** @param {number | string} found bits, or the text of an error: then there may be anything  @param {number} brokerNow its time */
  async tendTo (name, found, now, brokerNow) {
    const isNothing = found === 0 || (found === HAS_WAITING && !this.late.isLimited)
    const place = isNothing ? undefined : this.broker.placeOf(name)
    if (place === undefined) return
    const isKnown = typeof found === 'number'
    if (!isKnown) this.failed(new Error(found), place.type)
    try {
      await this.tend(place, isKnown ? found : HAS_ACTIVE, now, brokerNow)
    } catch (err) {
      this.failed(err, place.type)
    }
  }

  async tend (place, bits, now, brokerNow) {
    if (bits & HAS_LATE) await this.late.endOwn(place, brokerNow)
    if (bits & HAS_WAITING && this.late.isLimited) await this.late.endOthers(place, brokerNow)
    if (bits & HAS_COMPLETED) await place.backend.cleanJobsByState('completed', now - this.resultTtlMs, MOST_RESULTS)
    if (bits & HAS_ACTIVE) {
      const moved = await place.backend.moveStalledJobsToWait()
      const jobs = moved.filter(name => !isOfRunner(name))
      if (jobs.length > 0) await this.announcer.announce(place)
      // a process that takes one before that takes it away
      await Promise.all(moved.filter(isOfRunner).map(name => leavePlace(this.broker, place, name, '', false)))
    }
  }
}

module.exports = { Keeper }
