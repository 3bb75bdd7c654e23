'use strict'

// What a process keeps of a type that it has to do with: where it is at the broker, and what was counted of it here.

const { publicId } = require('./names')

class Place {
  /**
   * @param {string} type
   * @param {string} name as it is part of keys
   * @param {object} partition
   * @param {object} backend BullMQ's, of the type
   */
  constructor (type, name, partition, backend) {
    this.type = type
    this.name = name
    this.partition = partition
    this.backend = backend
    this.usedAt = 0 // when it was last asked for, by performance.now()
    this.usersCount = 0 // parts of the queue that keep it; it is not forgotten before they let go
    this.preparedAt = -Infinity // when it was last sure that the broker has its settings
    this.epoch = -1 // ... of the connection that said so
    this.counts = { accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0, retried: 0, lost: 0 }
    this.running = 0
  }

  /** A key of BullMQ's. */
  key (what) {
    return this.backend.toKey(what)
  }

  idOf (jobName) {
    return publicId(this.name, jobName)
  }
}

module.exports = { Place }
