'use strict'

// A segment that is to be emptied, read from its first frame to its last. Each frame is checked before anything of it is given out, and
// what is given out is what was checked: a copy of bytes that went bad would get a checksum of its own.

const { join } = require('node:path')
const { HEADER_BYTES, FRAME_BYTES, findFrame, isFrameAt, markDamaged, recordsOf, segmentName, visitRecords } = require('./format')

const CHUNK_BYTES = 2 ** 18
const SCAN_BYTES = 2 ** 14
// Of a byte that is read and checked, and of one that is searched, in pieces of LONG_WORK.
const BYTE_PIECES = 2 ** -8
const SCAN_PIECES = 0.05

class Frames {
  /**
   * @param {object} files
   * @param {string} folder
   * @param {number} id of the segment
   * @param {number} end where it ends
   */
  constructor (files, folder, id, end) {
    this.files = files
    this.path = join(folder, segmentName(id))
    this.id = id
    this.end = end
    this.fd = undefined
    this.at = HEADER_BYTES // of the next frame
    this.isLost = false // what is here is no whole frame, and the next one is not found yet
    this.start = 0 // of what was read
    this.bytes = Buffer.alloc(0)
  }

  /**
   * The records of jobs in whole frames; each is to be used before the next one is asked for. @throws what files throw
   * @returns {Iterator<{ seq: number, offset: number, record: Buffer } | number>} between them, how much work it was to come here, in
   *   pieces of LONG_WORK
   */
  * pushes () {
    let found
    const visitor = { push: (seq, kind, at, length) => { found = { seq, at, length } }, ack () {}, state () {}, trim () {} }
    while (this.at < this.end) {
      const { at } = this
      const frame = this.next()
      yield frame === undefined ? SCAN_PIECES * SCAN_BYTES : 1 + BYTE_PIECES * frame.length
      if (frame === undefined) continue
      for (const records = recordsOf(frame, 0); records.next < records.end;) {
        found = undefined
        if (!visitRecords(frame, records, visitor, 1)) break
        if (found !== undefined) yield { seq: found.seq, offset: at + found.at, record: frame.subarray(found.at, found.at + found.length) }
      }
    }
  }

  /** What is in the place of a record that is in no whole frame, as a DAMAGED record. */
  damaged (seq, offset, length) {
    const record = Buffer.alloc(length)
    this.read(record, offset, length) // less if the end of the file is missing
    markDamaged(record, seq)
    return record
  }

  close () {
    if (this.fd !== undefined) this.files.close(this.fd)
  }

  // private from here on

  /** Goes on by a frame, or by some of what is none. @returns {Buffer | undefined} the frame */
  next () {
    const { at, id } = this
    if (!this.isLost && this.fetch(FRAME_BYTES)) {
      const length = this.bytes.readUInt32LE(at - this.start)
      if (this.fetch(length) && isFrameAt(this.bytes, at - this.start, id, this.start)) {
        this.at += length
        return this.bytes.subarray(at - this.start, at - this.start + length)
      }
    }
    this.isLost = true
    // all of what is left, since a frame may be as long
    this.fetch(this.end - at)
    const from = at - this.start
    const to = Math.min(from + SCAN_BYTES, this.bytes.length)
    const found = findFrame(this.bytes, from, to, id, this.start)
    this.isLost = found === to
    this.at = to === this.bytes.length && this.isLost ? this.end : this.start + found
    return undefined
  }

  /** Has so many bytes from here on in memory. @returns {boolean} false if the segment has no more, or the file */
  fetch (length) {
    const { at, end } = this
    if (at + length > end) return false
    if (at + length <= this.start + this.bytes.length) return true
    const bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(length, CHUNK_BYTES), end - at))
    this.bytes = bytes.subarray(0, this.read(bytes, at, bytes.length))
    this.start = at
    return this.bytes.length >= length
  }

  /** @returns {number} how many bytes there were */
  read (bytes, offset, length) {
    this.fd ??= this.files.open(this.path)
    let done = 0
    let count
    do {
      count = this.files.read(this.fd, bytes, done, length - done, offset + done)
      done += count
    } while (count > 0 && done < length)
    return done
  }
}

module.exports = { Frames }
