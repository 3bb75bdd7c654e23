'use strict'

// The files of a log as they are at one moment, for who reads it without its lock, while another process may write it. A log grows at its
// end and goes at its beginning, file by file, and what its first file still has is moved to the end before that goes. So:
//
//   list ─▶ open the last one, note its length ─▶ open the others ─▶ what they have is the log at the moment of that length
//    ▲            │ there is another one behind it     │ one is gone
//    └────────────┴────────────────────────────────────┘
//
// What goes later is read by its descriptor. It has the part of the file layer that reading needs, and changes nothing: files are opened
// for reading, which users may do who may not write.

const fs = require('node:fs')
const { basename, join } = require('node:path')
const { CLOSED_NAME } = require('./closed')
const { HEADER_BYTES, SEGMENT_NAME, headerDefect, kindOf, segmentName } = require('./format')

// Of looks at a folder that changes between them. Between two steps of one there is the time of a system call.
const MOST_LOOKS = 1000

class Snapshot {
  /** @param {string[]} names of all files @param {Map<string, { fd: number, bytes: number }>} opened by name */
  constructor (names, opened) {
    this.names = names
    this.opened = opened
    this.bytesOf = new Map([...opened.values()].map(({ fd, bytes }) => [fd, bytes]))
  }

  /**
   * @param {string} folder
   * @returns {Promise<Snapshot>} rejects with what the file system fails with, if there is no such folder, too
   */
  static async take (folder) {
    for (let looksCount = 1; ; looksCount++) {
      const snapshot = look(folder, looksCount === MOST_LOOKS)
      if (snapshot !== undefined) return snapshot
      if (looksCount === MOST_LOOKS) throw new Error(`the folder changed while it was read, ${MOST_LOOKS} times in a row`)
      await new Promise(setImmediate)
    }
  }

  /** What the payloads are, as the first segment says whose header is whole. @returns {'bytes' | 'jobs' | undefined} */
  get kind () {
    const header = Buffer.alloc(HEADER_BYTES)
    for (const [name, { fd }] of this.opened) {
      if (!SEGMENT_NAME.test(name)) continue
      const count = this.read(fd, header, 0, HEADER_BYTES, 0)
      if (headerDefect(header.subarray(0, count), parseInt(name)) === undefined) return kindOf(header)
    }
    return undefined
  }

  // as the file layer

  list () {
    return this.names
  }

  open (path) {
    return this.opened.get(basename(path)).fd
  }

  /** Files stay open until end(). */
  close () {}

  size (fd) {
    return this.bytesOf.get(fd)
  }

  read (fd, buffer, offset, length, position) {
    return fs.readSync(fd, buffer, offset, length, position)
  }

  /** Lets go of all files. */
  end () {
    closeAll(this.opened)
  }
}

/**
 * @param {boolean} isLast a hole between the segments is none that others have made just now
 * @returns {Snapshot | undefined} undefined if the folder was changed meanwhile
 */
function look (folder, isLast) {
  const names = fs.readdirSync(folder)
  const ids = names.filter(name => SEGMENT_NAME.test(name)).map(name => parseInt(name)).sort((a, b) => a - b)
  const wasClosed = names.includes(CLOSED_NAME)
  // of files that come and go while it is listed, a folder shows some
  if (!isLast && ids.length > 0 && ids.at(-1) - ids[0] >= ids.length) return undefined
  const opened = new Map()
  try {
    if (ids.length > 0) open(folder, segmentName(ids.at(-1)), opened)
    if (isThere(folder, segmentName((ids.at(-1) ?? 0) + 1)) || isThere(folder, CLOSED_NAME) !== wasClosed) return closeAll(opened)
    for (const id of ids.slice(0, -1)) open(folder, segmentName(id), opened)
    if (wasClosed) open(folder, CLOSED_NAME, opened)
    return new Snapshot(names, opened)
  } catch (err) {
    closeAll(opened)
    if (err.code === 'ENOENT') return undefined
    throw err
  }
}

function open (folder, name, opened) {
  const fd = fs.openSync(join(folder, name), 'r')
  opened.set(name, { fd, bytes: fs.fstatSync(fd).size })
}

function isThere (folder, name) {
  return fs.existsSync(join(folder, name))
}

function closeAll (opened) {
  for (const { fd } of opened.values()) fs.closeSync(fd)
  opened.clear()
}

module.exports = { Snapshot }
