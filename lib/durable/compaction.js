'use strict'

// Gives disk space back: removes the oldest segments when nothing in them is alive, and moves what is alive in the oldest to
// the end when the log has grown too far beyond its live jobs. Only ever the oldest: so a record never outlives another
// one that takes it back.

const { join } = require('node:path')
const { FRAME_BYTES, TRIM, TRIM_BYTES, segmentName } = require('./format')
const { CLAIM } = require('./reserve')
const { removeDurably } = require('./segments')

// So long after a failure it is not tried again.
const RETRY_MS = 100

class Compactor {
  constructor (store) {
    this.store = store
    this.segmentBytes = store.log.segmentBytes
    this.running = undefined
    this.isStopped = false
    this.failedAt = -Infinity // the time when moving failed
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

  /** The rule: the log takes at most twice its live jobs and two segments. While the reserve is made use of, whatever gives room. */
  isTooLong () {
    const { live, log, moveClaim } = this.store
    const left = log.reserve.left(moveClaim)
    if (left === Infinity && log.bytes <= 2 * live.bytes + 2 * this.segmentBytes) return false
    if (this.oldest >= log.segment || performance.now() - this.failedAt <= RETRY_MS) return false
    return left === Infinity || this.fitsInto(left)
  }

  /** Whether all that is alive in the oldest segment takes no more room: a part of it, moved, would give none back. O(live jobs). */
  fitsInto (left) {
    const { states, table } = this.store
    for (const seq of table.seqsIn(this.oldest)) {
      table.find(seq)
      left -= table.length + (states.has(seq) ? states.get(seq).bytes + FRAME_BYTES : 0)
    }
    if (left < FRAME_BYTES) this.failedAt = performance.now()
    return left >= FRAME_BYTES
  }

  async run () {
    // not in the middle of settling a group, from where look() was called
    await undefined
    while (!this.isStopped && (this.isOldestDead() || this.isTooLong())) await this.clear(this.oldest)
  }

  async clear (id) {
    const { store } = this
    const { log } = store
    const seqs = store.table.seqsIn(id)
    while (this.moveSome(seqs)) await log.flush()
    const ids = this.deadFrom(id)
    log.commitAlone()
    const at = log.append(TRIM_BYTES, 1, CLAIM.ALL)
    log.group.buffer[at] = TRIM
    log.group.buffer.writeUInt32LE(ids.at(-1), at + 1)
    await log.flush()
    this.remove(ids)
  }

  /**
   * Writes some live jobs again, and nothing else with them: what meets a full disk then is theirs alone. The reserve is not for them.
   * @param {Iterator<number>} seqs
   * @returns {boolean} whether there may be more
   */
  moveSome (seqs) {
    const { store } = this
    const { log } = store
    // it may have failed since this was due
    if (log.error !== undefined) throw log.error
    log.commitAlone()
    let group
    let next
    do {
      // whether the job is alive is known, and written, in one go: it cannot finish in between
      next = seqs.next()
      if (!next.done) group = store.move(next.value)
    } while (!next.done && group.length < log.groupBytes / 2)
    if (group !== undefined) {
      log.commitNow(false, true)
      if (group.error !== undefined) throw group.error
    }
    return !next.done
  }

  /** The segments from this one on in which nothing is alive. */
  deadFrom (id) {
    const { log } = this.store
    const ids = [id]
    for (let next = id + 1; next < log.segment && log.segments.get(next)?.liveCount === 0; next++) ids.push(next)
    return ids
  }

  remove (ids) {
    const { files, folder, log, owner, reader } = this.store
    for (const id of ids) {
      try {
        if (!log.stays()) throw log.error
        reader.forget(id)
        // each for itself: a crash must not bring back one whose successor is gone
        removeDurably(files, folder, join(folder, segmentName(id)))
      } catch (err) {
        if (err.isUnknown) log.fail(err.cause)
        throw err
      }
      log.bytes -= log.segments.get(id).bytes
      log.segments.delete(id)
      this.findOldest()
    }
    log.reserve.restore()
    owner.freed()
  }

  /** The disk may be full: then later, since jobs were not moved. */
  met (err) {
    const { log } = this.store
    if (log.error === undefined && err.code === 'FAIRLANE_ERR_CORRUPT') log.fail(err)
    this.failedAt = performance.now()
  }
}

module.exports = { Compactor }
