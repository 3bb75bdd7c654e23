'use strict'

// Looks which types of a partition are ready. Messages say so, but messages can be lost: so it looks when a connection is there again,
// every half minute, and in short intervals after a node was lost or has come back, since that node does not pass on messages at once.
//
//   there ──a call failed──▶ away: nothing of the partition is asked for, or calls that wait for a lost node would take all slots
//     ▲                       │
//     └────── it answers ─────┘ asked after 50 ms, 100 ms … 1 s

const { isPassing } = require('../broker/failures')

const PERIOD_MS = 30000
const FIRST_ALARM_MS = 500
const FIRST_AWAY_MS = 50
const LONGEST_AWAY_MS = 1000
const MOST_AT_ONCE = 500 // types in an answer

class Scout {
  /**
   * @param {object} broker
   * @param {object} partition
   * @param {{ found: (name: string) => void, back: (partition: object) => void }} hooks
   */
  constructor (broker, partition, hooks) {
    this.broker = broker
    this.partition = partition
    this.hooks = hooks
    this.ms = PERIOD_MS // until it looks once more after it has looked
    this.timer = undefined
    this.isOver = false
  }

  /** Looks now, and from then on in intervals. @returns {Promise<void>} rejects with what the broker refuses the look with */
  async look () {
    clearTimeout(this.timer)
    try {
      if (this.broker.isReady) await this.scan()
    } catch (err) {
      if (!this.failed(err)) throw err
    } finally {
      this.wait()
    }
  }

  /** Messages may have been lost, and may be for a while. */
  alarm () {
    if (this.partition.isAway) return
    this.ms = FIRST_ALARM_MS
    this.wait()
  }

  /** A call to the partition has failed. @returns {boolean} whether by what passes */
  failed (err) {
    if (!isPassing(err)) return false
    if (this.partition.isAway) return true
    this.partition.isAway = true
    this.ms = FIRST_AWAY_MS
    this.wait()
    return true
  }

  stop () {
    this.isOver = true
    clearTimeout(this.timer)
  }

  // private from here on

  async scan () {
    let cursor = '0'
    do {
      const [next, names] = await this.broker.client.sscan(this.partition.ready, cursor, 'COUNT', MOST_AT_ONCE)
      cursor = next
      for (const name of names) this.hooks.found(name)
    } while (cursor !== '0' && !this.isOver)
    if (!this.partition.isAway) return
    this.partition.isAway = false
    this.ms = FIRST_ALARM_MS
    this.hooks.back(this.partition)
  }

  wait () {
    clearTimeout(this.timer)
    if (this.isOver) return
    this.timer = setTimeout(() => this.look().catch(ignore), this.ms * (0.75 + Math.random() / 2))
    this.ms = Math.min(2 * this.ms, this.partition.isAway ? LONGEST_AWAY_MS : PERIOD_MS)
  }
}

/** One for each partition. */
class Scouts {
  /** @param {{ broker: object }} parts */
  constructor ({ broker }) {
    this.hooks = undefined
    const hooks = { found: name => this.hooks.found(name), back: partition => this.hooks.back(partition) }
    this.all = new Map(broker.partitions.map(partition => [partition, new Scout(broker, partition, hooks)]))
  }

  /** @param {{ found: (name: string) => void, back: (partition: object) => void }} hooks a type is ready; a partition answers again */
  tell (hooks) {
    this.hooks = hooks
  }

  /** @returns {Promise<any>} rejects with what the broker refuses a look with */
  look () {
    return Promise.all([...this.all.values()].map(scout => scout.look()))
  }

  lookAgain () {
    for (const scout of this.all.values()) scout.look().catch(ignore)
  }

  alarm () {
    for (const scout of this.all.values()) scout.alarm()
  }

  /** As that of the partition's. */
  failed (partition, err) {
    return this.all.get(partition).failed(err)
  }

  stop () {
    for (const scout of this.all.values()) scout.stop()
  }
}

function ignore () {}

module.exports = { Scout, Scouts }
