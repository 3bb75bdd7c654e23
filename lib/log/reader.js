'use strict'

// HOT (bench: durable). Reads records back. Jobs are taken in about the order in which they were written, those of each type for
// itself, so a read fetches what lies behind it too; the next ones are then found in memory. There are several such windows, since
// types that are served at different speeds drift apart: with one, 200,000 jobs of 10 types under 'equal' ran 27,000 a second, with
// these 76,000 (1 KB, instant runner, Node 20).

const { join } = require('node:path')
const { segmentName } = require('./format')

const WINDOW_BYTES = 2 ** 16
const MAX_WINDOWS = 16
const MAX_OPEN = 16

/** What was read of `segment`, from `start` to `end`. */
class Window {
  constructor () {
    this.bytes = Buffer.allocUnsafeSlow(WINDOW_BYTES)
    this.segment = 0 // none
    this.start = 0
    this.end = 0
  }

  holds (segment, offset, length) {
    return segment === this.segment && offset >= this.start && offset + length <= this.end
  }
}

class Reader {
  constructor (files, folder) {
    this.files = files
    this.folder = folder
    this.fds = new Map() // segment → descriptor, the one used longest ago first
    this.windows = [] // the one used last first
  }

  /**
   * The record at a place. Blocks for a read if it isn't in a window.
   * @param {number} end where the segment ends: what a write that failed has left behind that must not be kept
   * @param {number} [most] so many bytes of it are enough
   * @returns {Buffer} to be used at once: the next read writes over it, unless it is longer than WINDOW_BYTES
   */
  record (segment, offset, length, end, most = length) {
    if (length > WINDOW_BYTES) return this.readAlone(segment, offset, Math.min(length, most))
    const window = this.find(segment, offset, length) ?? this.fill(segment, offset, length, end)
    const at = offset - window.start
    return window.bytes.subarray(at, at + length)
  }

  /** A segment is no more. */
  forget (segment) {
    for (const window of this.windows) if (window.segment === segment) window.segment = 0
    const fd = this.fds.get(segment)
    if (fd === undefined) return
    this.fds.delete(segment)
    this.files.close(fd)
  }

  close () {
    for (const segment of [...this.fds.keys()]) this.forget(segment)
  }

  // private from here on

  find (segment, offset, length) {
    const { windows } = this
    for (let i = 0; i < windows.length; i++) {
      const window = windows[i]
      if (!window.holds(segment, offset, length)) continue
      for (let at = i; at > 0; at--) windows[at] = windows[at - 1]
      windows[0] = window
      return window
    }
  }

  fill (segment, offset, length, end) {
    const window = this.windows.length < MAX_WINDOWS ? new Window() : this.windows.pop()
    this.windows.unshift(window)
    window.segment = 0 // if the read fails
    const count = this.files.read(this.open(segment), window.bytes, 0, Math.min(WINDOW_BYTES, end - offset), offset)
    if (count < length) throw endOfFile()
    window.segment = segment
    window.start = offset
    window.end = offset + count
    return window
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

module.exports = { Reader, WINDOW_BYTES }
