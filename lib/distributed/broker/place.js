'use strict'

// What a process keeps of a type that it has to do with: where it is at the broker, and what was counted of it here.

const { publicId } = require('../names')

class Place {
  /**
   * @param {string} type
   * @param {string} name as it is part of keys
   * @param {object} partition
   * @param {object} root BullMQ's backend, which makes those of types
   */
  constructor (type, name, partition, root) {
    this.type = type
    this.name = name
    this.partition = partition
    this.root = root
    this.lists = new Map() // names of keys → these keys
    this.ownBackend = undefined // made when it is needed: of many types that a process hears of it asks for few at once
    this.usedAt = 0 // when it was last asked for, by performance.now()
    this.usersCount = 0 // parts of the queue that keep it; it is not forgotten before they let go
    this.counts = { accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0, retried: 0, throttled: 0, joined: 0, lost: 0, spent: 0 }
    this.running = 0
  }

  /** BullMQ's, of the type. */
  get backend () {
    return (this.ownBackend ??= this.root.forQueue(this.name, this.partition.prefix))
  }

  /** A key of BullMQ's. */
  key (what) {
    return `${this.partition.prefix}:${this.name}:${what}`
  }

  /** Some keys, by a list of their names that is always the same. */
  keysOf (names) {
    let keys = this.lists.get(names)
    if (keys === undefined) {
      keys = names.map(name => this.key(name))
      this.lists.set(names, keys)
    }
    return keys
  }

  idOf (jobName) {
    return publicId(this.name, jobName)
  }
}

module.exports = { Place }
