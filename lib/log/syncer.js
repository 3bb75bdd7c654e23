'use strict'

// HOT (bench: durable). Has the disk write what the system has of the log, one sync after the other:
//
//   add() ─▶ written ──sync()──▶ syncing ──the disk has it──▶ settled
//
// A sync settles what was written before it began. One that fails ends the log.

// With ack 'os' the system is made to write now and then: a power failure loses less, and a new segment waits less.
const UNSYNCED_BYTES = 2 ** 23

class Syncer {
  /** @param {object} log with its tail, which is synced */
  constructor (log) {
    this.log = log
    this.segment = log.segment // the disk has this segment up to this offset, and all segments before it
    this.offset = log.offset
    this.written = [] // groups that wait for the next sync
    this.syncing = [] // those that the sync under way will settle
    this.fd = -1 // of the file that is being synced; -1: none is
    this.cutsCount = 0
  }

  /** Whether the disk has all that the file has. */
  get isDone () {
    return this.segment === this.log.segment && this.offset === this.log.offset
  }

  /** A group was written that the disk is to have. */
  add (group) {
    this.written.push(group)
  }

  /** Begins a sync if a group waits for it. */
  syncWritten () {
    if (this.written.length > 0) this.sync()
  }

  /** ... or if much is not synced. */
  syncDue () {
    if (this.written.length > 0 || this.log.offset - this.offset >= UNSYNCED_BYTES) this.sync()
  }

  /** Has the system write to the disk all that is in the file now, unless a sync is under way: its end begins another one. */
  sync () {
    if (this.fd !== -1) return
    const { log, cutsCount } = this
    const { fd, segment, offset } = log
    this.fd = fd
    this.syncing = this.written
    this.written = []
    log.files.sync(fd, err => {
      this.fd = -1
      if (fd !== log.fd) log.files.close(fd)
      if (log.error !== undefined) return
      if (err) log.fail(err)
      else this.synced(segment, cutsCount === this.cutsCount ? offset : 0)
    })
  }

  /** As sync(), blocking. @returns {boolean} false if it failed */
  syncNow () {
    const { log } = this
    try {
      log.files.syncNow(log.fd)
    } catch (err) {
      log.fail(err)
      return false
    }
    this.offset = log.offset
    for (const group of this.takeAll()) log.settle(group)
    return true
  }

  /** The log has another segment: its name is synced, the content is not. */
  begun () {
    this.segment = this.log.segment
    this.offset = 0
  }

  /**
   * The end of the file was cut off. A crash may forget that, so the segment is to be synced before there is another one, and by a sync
   * that begins from here on.
   */
  cut () {
    this.offset = 0
    this.cutsCount++
  }

  /** The file is another one, and synced: groups that wait for the disk are settled. */
  replaced () {
    this.cut()
    this.offset = this.log.offset
    for (const group of this.takeAll()) this.log.settle(group)
  }

  /** Closes the file; if it is being synced, the end of that does. */
  leave () {
    if (this.log.fd !== this.fd) this.log.files.close(this.log.fd)
  }

  /** @returns {object[]} all groups that were not settled; they are the caller's to settle */
  takeAll () {
    const groups = [...this.syncing, ...this.written]
    this.syncing = []
    this.written = []
    return groups
  }

  // private from here on

  synced (segment, offset) {
    const { log } = this
    // syncNow() may have been further meanwhile
    if (segment === this.segment && offset > this.offset) this.offset = offset
    const groups = this.syncing
    this.syncing = []
    log.settleEarly()
    for (const group of groups) log.settle(group)
    log.writeOut()
  }
}

module.exports = { Syncer }
