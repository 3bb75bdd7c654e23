'use strict'

// Gives disk space back: removes the oldest segments when nothing in them is alive, and moves what is alive in the oldest to
// the end when the log has grown too far beyond its live jobs. Only ever the oldest: so a record never outlives another
// one that takes it back. What has gone bad on the disk is moved as what it is: docs/decisions/0099-damage-is-moved.md.

const { join } = require('node:path')
const { warn } = require('../arguments/errors')
const { Slice } = require('../platform/slice')
const { FRAME_BYTES, HEADER_BYTES, TRIM, TRIM_BYTES, segmentName } = require('./format')
const { Frames } = require('./frames')
const { removeDurably } = require('./segments')
const { LONG_WORK, nextTurn } = require('./turns')

// So long after a failure it is not tried again.
const RETRY_MS = 100
// Of moving a job, in pieces of LONG_WORK.
const MOVE_PIECES = 5
// Of a frame that takes room of the reserve, with jobs that are not far from each other.
const LEAST_MOVED_BYTES = 2 ** 13
// A segment in which there is nothing but that others are gone.
const LEAST_BYTES = HEADER_BYTES + FRAME_BYTES + TRIM_BYTES
// What comes into the place of the last segment takes this part of its room at most.
const GAIN = 3 / 4

class Compactor {
  constructor (store) {
    this.store = store
    this.segmentBytes = store.log.segmentBytes
    this.running = undefined
    this.isStopped = false
    this.failedAt = -Infinity // the time when moving failed
    this.oldest = 0 // the id of the oldest segment
    this.oldestSegment = undefined
    this.slice = new Slice(LONG_WORK)
    this.findOldest()
  }

  /** Begins if there is something to do. */
  look () {
    if (this.isStopped || !this.isDue()) return
    if (this.running !== undefined) {
      // a disk that has become full during a long step may use up the reserve before that ends
      if (this.store.condenser.isToBegin) queueMicrotask(() => this.store.condenser.begin())
      return
    }
    this.running = this.run().catch(() => this.met()).finally(() => { this.running = undefined })
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

  /** Whether what is moved takes room of the reserve, which was found to be enough if nothing else does. */
  get usesReserve () {
    return this.store.log.reserve.isLent
  }

  // private from here on

  /** Kept, since it is asked for after each group. */
  findOldest () {
    [this.oldest, this.oldestSegment] = this.store.log.segments.entries().next().value
  }

  isDue () {
    return this.mayClear() || this.store.condenser.isDue()
  }

  mayClear () {
    return this.isOldestDead() || this.isTooLong()
  }

  isOldestDead () {
    return this.oldestSegment.liveCount === 0 && this.mayGo(0)
  }

  /**
   * Whether the oldest segment may go, if so many bytes of it are moved. While the disk is full the last one may too, since a small disk
   * may have no room for another one; but only if what is behind it then takes less.
   */
  mayGo (bytes) {
    const { log } = this.store
    if (this.oldest < log.segment) return true
    return log.reserve.isSpent && this.oldest === log.nextSegment && bytes + LEAST_BYTES <= GAIN * log.offset
  }

  /** The rule: the log takes at most twice its live jobs and two segments. While the reserve is made use of, whatever gives room. */
  isTooLong () {
    const { claims, live, log } = this.store
    const left = log.reserve.left(claims.move)
    if (left === Infinity && log.bytes <= 2 * live.bytes + 2 * this.segmentBytes) return false
    if (!this.mayGo(0) || performance.now() - this.failedAt <= RETRY_MS) return false
    return left === Infinity || this.fitsInto(left)
  }

  /** Whether all that is alive in the oldest segment takes no more room: a part of it, moved, would give none back. O(live jobs). */
  fitsInto (left) {
    const { store, store: { states, table } } = this
    let bytes = FRAME_BYTES
    for (const seq of table.seqsIn(this.oldest)) {
      table.find(seq)
      bytes += table.length + (store.stateToWrite(states.get(seq))?.bytes ?? 0)
    }
    const fits = bytes <= left && this.mayGo(bytes)
    if (!fits) this.failedAt = performance.now()
    return fits
  }

  async run () {
    // not in the middle of settling a group, from where look() was called
    await undefined
    while (!this.isStopped && this.isDue()) {
      if (this.mayClear()) await this.clear(this.oldest)
      else this.store.condenser.run()
    }
  }

  async clear (id) {
    const { store, store: { log } } = this
    if (id === log.nextSegment) {
      log.endSegment()
      log.commitNow(false)
    }
    const frames = new Frames(store.files, store.folder, id, log.segments.get(id).bytes)
    log.reserve.isLent = log.reserve.isSpent // as isTooLong() has found, or nothing in it is alive
    try {
      await this.moveAll(this.whole(id, frames))
      // what is still there was in none that is whole
      const count = await this.moveAll(this.damaged(id, frames))
      if (count > 0) warnOfDamage(count, frames.path)
    } finally {
      frames.close()
      this.leaveReserve()
    }
    log.commitAlone()
    this.checkEnd(id)
    // ends that could not be written are undone by now
    if (log.segments.get(id).liveCount > 0) return
    const ids = this.deadFrom(id)
    const at = log.append(TRIM_BYTES, 1, store.claims.trim)
    log.group.buffer[at] = TRIM
    log.group.buffer.writeUInt32LE(ids.at(-1), at + 1)
    await log.flush()
    this.remove(ids)
  }

  /** Jobs may start again from the reserve: while one was emptied into it they were not. */
  leaveReserve () {
    if (!this.usesReserve) return
    this.store.log.reserve.isLent = false
    this.store.owner.freed()
  }

  /**
   * Whether what is written now comes into another segment: a write that has failed may have taken back that this one has ended. Throws if
   * not.
   */
  checkEnd (id) {
    if (id === this.store.log.nextSegment) throw new Error('the segment goes on')
  }

  /** The live jobs of a segment whose records are as they were written; and numbers, as Frames.pushes() gives them. */
  * whole (id, frames) {
    const { table, log } = this.store
    if (log.segments.get(id).liveCount === 0) return
    for (const found of frames.pushes()) {
      if (typeof found === 'number') yield found
      else if (table.find(found.seq) && table.segment === id && table.offset === found.offset) yield found
      if (log.segments.get(id).liveCount === 0) return
    }
  }

  /** Those that are still in it. */
  * damaged (id, frames) {
    const { table, log } = this.store
    if (log.segments.get(id).liveCount === 0) return
    for (const seq of table.seqsIn(id)) {
      table.find(seq)
      yield { seq, record: frames.damaged(seq, table.offset, table.length) }
    }
  }

  /**
   * @param {Iterator<{ seq: number, record: Buffer } | number>} found in the segment
   * @returns {Promise<number>} how many jobs were moved
   */
  async moveAll (found) {
    let all = 0
    for (;;) {
      const { count, isLast } = this.moveSome(found)
      all += count
      if (isLast) return all
      await (count > 0 ? this.store.log.flush() : nextTurn(this.slice))
    }
  }

  /**
   * Writes some live jobs again, and nothing else with them: what meets a full disk then is theirs alone. The reserve is not for them.
   * @returns {{ count: number, isLast: boolean }} how many
   */
  moveSome (found) {
    const { store } = this
    const { log } = store
    // it may have failed since this was due
    if (log.error !== undefined) throw log.error
    if (log.reserve.isSpent && !this.usesReserve) throw new Error('the disk has become full meanwhile')
    log.commitAlone()
    this.checkEnd(this.oldest)
    this.slice.begin()
    let group
    let count = 0
    let sinceJob = 0 // pieces of work
    let isLast = true
    // whether the job is alive is known, and written, in one go: it cannot finish in between
    for (let next = found.next(); !next.done; next = found.next()) {
      const { value } = next
      const isJob = typeof value !== 'number'
      if (isJob) {
        group = store.move(value.seq, value.record)
        count++
      }
      isLast = false
      sinceJob = isJob ? 0 : sinceJob + value
      const isOver = this.slice.isOver(isJob ? MOVE_PIECES : value)
      if (group?.length >= log.groupBytes / 2 || (isOver && !(this.usesReserve && mayGoOn(group, sinceJob)))) break
      isLast = true
    }
    if (group !== undefined) {
      log.commitNow(false, true)
      if (group.error !== undefined) throw group.error
    }
    return { count, isLast }
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
  met () {
    this.failedAt = performance.now()
  }
}

/** Frames take room of the reserve, too: on a busy machine a slice alone would have few jobs. */
function mayGoOn (group, sinceJob) {
  return group !== undefined && group.length < LEAST_MOVED_BYTES && sinceJob < LONG_WORK.pieces
}

function warnOfDamage (count, path) {
  warn('FAIRLANE_WARN_DAMAGE', `A durable queue found damage: ${count} ${count === 1 ? 'job' : 'jobs'} can no longer be read (${path})`)
}

module.exports = { Compactor }
