'use strict'

// A job queue on a simulated disk and a clock that the test moves, with gates for a runner: what the tests of job queues work with.

const { durable } = require('../../lib/durable')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { SimulatedDisk } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')

const EPOCH = 1e12 // ms since 1970 when the clock says 0
const EVENTS = ['done', 'failed', 'retry', 'cancelled']

class Bench {
  constructor () {
    this.disk = new SimulatedDisk()
    this.clock = fakeClock()
    this.gate = gates()
    this.epoch = EPOCH // what Date.now() says when the clock says 0
    this.events = [] // [name, id, …] of all queues, in order
    this.queue = undefined
  }

  /** Opens the queue on the disk. Without a runner in the options it has gates. */
  async open ({ runner = this.gate.runner, ...options } = {}) {
    const environment = { files: this.disk, lock: unlocked, now: () => this.epoch + this.clock.now() }
    const { clock } = this
    this.queue = await durable(runner, { path: FOLDER, ack: 'os', segmentBytes: 4096, clock, ...options }, environment)
    for (const event of EVENTS) this.queue.on(event, about => this.events.push([event, about]))
    return this.queue
  }

  /** Opens it as a new process would after kill -9. The old queue is left behind. */
  reopenAfterKill (options) {
    this.disk = this.disk.afterKill()
    this.gate = gates()
    return this.open(options)
  }

  /** Closes the queue, with its jobs left on disk, and opens it again. */
  async reopen (options) {
    await this.queue.close({ timeoutMs: 0 })
    this.gate = gates()
    return this.open(options)
  }

  /** The ids of events of a name. */
  idsOf (name) {
    return this.events.filter(([event]) => event === name).map(([, { id }]) => id)
  }
}

/** From here on a disk ends no sync until the function that it returns is called. */
function holdSyncs (disk) {
  const held = []
  const { sync } = disk
  disk.sync = (fd, callback) => held.push([fd, callback])
  return () => {
    disk.sync = sync
    for (const [fd, callback] of held) disk.sync(fd, callback)
  }
}

module.exports = { Bench, EPOCH, holdSyncs }
