'use strict'

// HOT (bench: durable). Reads records back. Jobs are taken in about the order in which they were written, so a read
// fetches what lies behind it too; the next ones are then found in memory.

const { join } = require('node:path')
const { segmentName } = require('./format')

const WINDOW_BYTES = 2 ** 18
const MAX_OPEN = 16

class Reader {
  constructor (files, folder) {
    this.files = files
    this.folder = folder
    this.fds = new Map() // segment → descriptor, the one used longest ago first

    // what the window shows: bytes of `segment` from `start` to `end`
    this.window = undefined
    this.segment = 0
    this.start = 0
    this.end = 0
  }

  /**
   * The record at a place. Blocks for a read if it isn't in the window.
   * @returns {Buffer} to be used at once: the next read writes over it
   */
  record (segment, offset, length) {
    if (segment !== this.segment || offset < this.start || offset + length > this.end) {
      if (length > WINDOW_BYTES) return this.readAlone(segment, offset, length)
      this.window ??= Buffer.allocUnsafeSlow(WINDOW_BYTES)
      this.segment = 0 // if the read fails
      const count = this.files.read(this.open(segment), this.window, 0, WINDOW_BYTES, offset)
      if (count < length) throw endOfFile()
      this.segment = segment
      this.start = offset
      this.end = offset + count
    }
    const at = offset - this.start
    return this.window.subarray(at, at + length)
  }

  /** A segment is no more. */
  forget (segment) {
    if (this.segment === segment) this.segment = 0
    const fd = this.fds.get(segment)
    if (fd === undefined) return
    this.fds.delete(segment)
    this.files.close(fd)
  }

  close () {
    for (const segment of [...this.fds.keys()]) this.forget(segment)
  }

  readAlone (segment, offset, length) {
    const bytes = Buffer.allocUnsafeSlow(length)
    if (this.files.read(this.open(segment), bytes, 0, length, offset) < length) throw endOfFile()
    return bytes
  }

  open (segment) {
    let fd = this.fds.get(segment)
    if (fd === undefined) {
      fd = this.files.open(join(this.folder, segmentName(segment)))
      if (this.fds.size === MAX_OPEN) this.forget(this.fds.keys().next().value)
    } else {
      this.fds.delete(segment)
    }
    this.fds.set(segment, fd)
    return fd
  }
}

function endOfFile () {
  return new Error('the file ends before the record')
}

module.exports = { Reader }
