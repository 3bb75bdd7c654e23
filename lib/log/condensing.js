'use strict'

// Gives room of the reserve back without freeing a segment. While the disk is full, the log gets a segment of its own for what becomes of
// jobs: attempts, states, ends. Most of that is soon outdated. It is written anew then, as what it comes to, into a file that takes its
// place:
//
//   12 | attempt 7 | attempt 8 | end 7 | retry 8 | attempt 9 | end 9 | …          12 | end 7 | retry 8 | end 9 | …
//                                                                       ──rename──▶
// Whichever of the two files a crash leaves, both say the same. Where a file cannot take the place of one that is open (Windows), the log
// does without. All numbers between the first and the last job that has ended, and is not alive, are written as ended: those that ended
// before too.

const { writeAck } = require('./acks')
const format = require('./format')
const { Frames } = require('./frames')
const { replaceSegment } = require('./segments')

const { ACK_BYTES, FRAME_BYTES, HEADER_BYTES, TRIM, TRIM_BYTES } = format
// Parts of the reserve: used before the segment is begun, so that a disk which is full for a moment makes none; used before it is
// condensed; and used since then before it is again. By so much it is to become shorter, too: early, since there must be room for both.
const BEGIN = 1 / 16
const FIRST = 1 / 5
const AGAIN = 1 / 16

/** What a segment has from its first record on. */
class Content {
  constructor (segment) {
    this.segment = segment
    this.states = new Set() // jobs whose states are in it
    this.from = Infinity // the numbers of jobs that have ended are from here
    this.to = 0 // ... to here
  }
}

class Condenser {
  constructor (store) {
    this.store = store
    this.content = undefined // of the segment that can be condensed, if there is one
    this.dueAt = 0 // when more than that of the reserve is used
    this.leftAt = 0 // how much was, when that was done or of no use
  }

  /** A job is not alive any more. */
  ended (seq) {
    const { content } = this
    if (seq < content.from) content.from = seq
    if (seq > content.to) content.to = seq
  }

  /** There is no room for what is to be written: whatever gives some is worth it. */
  hurry () {
    this.dueAt = this.leftAt
  }

  /** Whether there is something to do. */
  isDue () {
    const { reserve } = this.store.log
    if (!reserve.isSpent) {
      this.content = undefined
      return false
    }
    return reserve.usedBytes > (this.isToBegin ? BEGIN * reserve.bytes : this.dueAt)
  }

  /** Whether what becomes of jobs is still written behind other records, where nothing gives its room back. */
  get isToBegin () {
    const { log } = this.store
    return log.reserve.isSpent && this.content?.segment !== log.nextSegment
  }

  /** From here on it is written into a segment of its own. Not to be called while a group is settled. */
  begin () {
    if (!this.isToBegin || !this.isDue()) return
    const { log } = this.store
    log.commitAlone()
    log.endSegment()
    this.content = new Content(log.nextSegment)
    this.leftAt = 0
    this.dueAt = FIRST * log.reserve.bytes
  }

  run () {
    if (this.isToBegin) {
      this.begin()
      return
    }
    const { log } = this.store
    log.commitAlone()
    const { bytes } = log.reserve
    // nothing may be under way to a file that is replaced
    if (log.segment === log.nextSegment && log.isSettled && this.condense()) this.store.owner.freed()
    this.leftAt = log.reserve.usedBytes
    this.dueAt = Math.max(FIRST * bytes, this.leftAt + AGAIN * bytes)
  }

  // private from here on

  /** @returns {boolean} whether there is more room */
  condense () {
    const { store } = this
    const { files, folder, log, reader } = store
    const image = new Image(store, Math.min(log.offset - AGAIN * log.reserve.bytes, log.reserve.left(store.claims.condensed)))
    let fd
    try {
      if (!this.fill(image) || !log.stays()) return false
      fd = replaceSegment(files, folder, log.segment, image.finish())
    } catch (err) {
      if (err.isUnknown) log.fail(err.cause)
      return false // there is no room, or no descriptor
    }
    reader.forget(log.segment)
    log.replace(fd, image.length)
    for (const [seq, at, length] of image.places) {
      store.table.find(seq)
      store.live.move(seq, log.segment, at, length)
    }
    for (const seq of image.cut) store.unwritten.isCut(seq, true)
    this.content.states = image.states
    return true
  }

  /** @returns {boolean} whether it has room for all, and all is whole */
  fill (image) {
    const { store: { compactor, table, states }, content: { from, to } } = this
    if (!this.copyJobs(image) || ![...this.content.states].every(seq => image.state(seq, states.get(seq)))) return false
    for (let seq = from; seq <= to;) {
      const next = table.next(seq, to + 1)
      if (next > seq && !image.end(seq, next - seq)) return false
      seq = next + 1
    }
    return image.trim(compactor.oldest - 1)
  }

  /** The live jobs of the segment; each frame is checked before it is copied. */
  copyJobs (image) {
    const { files, folder, log, table } = this.store
    const { segment } = this.content
    const { bytes, liveCount } = log.segments.get(segment)
    if (liveCount === 0) return true
    const frames = new Frames(files, folder, segment, bytes)
    try {
      for (const found of frames.pushes()) {
        const isHere = found.seq !== undefined && table.find(found.seq) && table.segment === segment && table.offset === found.offset
        if (isHere && !image.job(found.seq, found.record)) return false
      }
    } finally {
      frames.close()
    }
    return image.places.length === liveCount
  }
}

/** The bytes of a segment that is written anew: a header and one frame. */
class Image {
  constructor (store, maxLength) {
    this.store = store
    this.buffer = Buffer.allocUnsafe(Math.max(0, Math.floor(maxLength)))
    this.length = HEADER_BYTES + FRAME_BYTES
    this.count = 0
    this.places = [] // [seq, offset, length] of jobs
    this.states = new Set() // jobs whose states are in it
    this.cut = [] // ... without their texts
  }

  /** A job, and its state. */
  job (seq, record) {
    const at = this.take(record.length)
    if (at === 0) return false
    this.buffer.set(record, at)
    this.places.push([seq, at, record.length])
    return this.state(seq, this.store.states.get(seq))
  }

  /** The state of a job, once. A job that is not alive has none. */
  state (seq, state) {
    if (state === undefined || this.states.has(seq)) return true
    const { cut } = state
    const at = this.take(cut.bytes)
    if (at === 0) return false
    cut.write(this.buffer, seq, at)
    this.states.add(seq)
    if (cut !== state) this.cut.push(seq)
    return true
  }

  /** Jobs that are not alive. */
  end (seq, count) {
    const at = this.take(ACK_BYTES)
    if (at === 0) return false
    writeAck(this.buffer, seq, count, at)
    return true
  }

  /** Segments that are no more. */
  trim (segment) {
    const at = this.take(TRIM_BYTES)
    if (at === 0) return false
    this.buffer[at] = TRIM
    format.writeU32(this.buffer, segment, at + 1)
    return true
  }

  /** @returns {Buffer} all of it */
  finish () {
    const { buffer, count, length, store: { log, nextSeq } } = this
    const { kind, segment, segments } = log
    format.encodeHeader(segment, nextSeq, segments.get(segment - 1)?.bytes ?? 0, kind).copy(buffer)
    // what is in it is synced before anybody can find it there
    format.finishFrame(buffer.subarray(HEADER_BYTES), length - HEADER_BYTES, segment, HEADER_BYTES, count, segment, 0)
    return buffer.subarray(0, length)
  }

  // private from here on

  /** @returns {number} where there is room for so many bytes; 0 if there is none */
  take (length) {
    const at = this.length
    if (at + length > this.buffer.length) return 0
    this.length += length
    this.count++
    return at
  }
}

module.exports = { Condenser }
