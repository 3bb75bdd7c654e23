'use strict'

// Gives disk space back: removes the oldest segments when nothing in them is alive, and moves what is alive in the oldest to
// the end when the log has grown too far beyond its live jobs. Only ever the oldest: so a record never outlives another
// one that takes it back.

const { TRIM, TRIM_BYTES, segmentName } = require('./format')
const { GROUP_BYTES } = require('./log')
const { join } = require('node:path')

class Compactor {
  constructor (store) {
    this.store = store
    this.segmentBytes = store.log.segmentBytes
    this.running = undefined
    this.isStopped = false
    this.blockedAt = 0 // the segment in which moving failed
    this.groupBytes = Math.min(GROUP_BYTES, store.log.reserve.bytes) / 2 // of moved jobs: the reserve must do for one group
    this.oldest = 0 // the id of the oldest segment
    this.oldestSegment = undefined
    this.findOldest()
  }

  /** Begins if there is something to do. */
  look () {
    if (this.running !== undefined || this.isStopped || !(this.isOldestDead() || this.isTooLong())) return
    this.running = this.run().catch(err => this.met(err)).finally(() => { this.running = undefined })
  }

  /** Ends after the step that is under way. */
  async stop () {
    this.isStopped = true
    await this.running
  }

  /** Moves all live jobs out of damaged segments, and removes those. */
  async rewriteBefore (end) {
    this.isStopped = true
    while (this.oldest < end) await this.clear(this.oldest)
    this.isStopped = false
  }

  // private from here on

  /** Kept, since it is asked for after each group. */
  findOldest () {
    [this.oldest, this.oldestSegment] = this.store.log.segments.entries().next().value
  }

  isOldestDead () {
    return this.oldestSegment.liveCount === 0 && this.oldest < this.store.log.segment
  }

  /** The rule: the log takes at most twice its live jobs and two segments. */
  isTooLong () {
    const { log, liveBytes } = this.store
    if (log.bytes <= 2 * liveBytes + 2 * this.segmentBytes || this.oldest >= log.segment) return false
    return this.blockedAt !== log.segment && !log.reserve.isSpent
  }

  async run () {
    // not in the middle of settling a group, from where look() was called
    await undefined
    while (!this.isStopped && (this.isOldestDead() || this.isTooLong())) await this.clear(this.oldest)
  }

  async clear (id) {
    const { store } = this
    const { log } = store
    for (const seq of store.table.seqsIn(id)) {
      if (log.reserve.isSpent) throw log.reserve.fullError
      // whether the job is alive is known, and written, in one go: it can not finish in between
      const group = store.move(seq)
      if (group.length >= this.groupBytes) await log.flush()
    }
    const ids = this.deadFrom(id)
    const at = log.append(TRIM_BYTES, 1)
    log.group.buffer[at] = TRIM
    log.group.buffer.writeUInt32LE(ids.at(-1), at + 1)
    await log.flush()
    this.remove(ids)
  }

  /** The segments from this one on in which nothing is alive. */
  deadFrom (id) {
    const { log } = this.store
    const ids = [id]
    for (let next = id + 1; next < log.segment && log.segments.get(next)?.liveCount === 0; next++) ids.push(next)
    return ids
  }

  remove (ids) {
    const { files, folder, log, reader } = this.store
    for (const id of ids) {
      try {
        reader.forget(id)
        files.remove(join(folder, segmentName(id)))
        // each for itself: a crash must not bring back one whose successor is gone
        files.syncFolder(folder)
      } catch (err) {
        log.fail(err)
        throw log.error
      }
      log.bytes -= log.segments.get(id).bytes
      log.segments.delete(id)
      this.findOldest()
    }
    log.reserve.restore()
  }

  /** Jobs were not moved: it is tried again when the disk has room, or in another segment. */
  met (err) {
    const { log } = this.store
    if (log.error === undefined && err.code === 'FAIRLANE_ERR_CORRUPT') log.fail(err)
    if (!log.reserve.isSpent) this.blockedAt = log.segment
  }
}

module.exports = { Compactor }
