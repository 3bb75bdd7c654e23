'use strict'

// Reads a log from its first byte to its last, and finds out which jobs are alive. A crash may have left anything behind the last
// sync: that is none of it. Anything else that isn't whole is damage, and said. Nothing is changed: what comes of it is the business of who
// opens the log (recovery.js), or looks at one that others have open (snapshot.js).

const { join } = require('node:path')
const { callSafely } = require('../platform/clock')
const { Slice } = require('../platform/slice')
const { CLOSED_NAME, readClosed } = require('./closed')
const { corrupt, otherVersion, wasDamaged } = require('./damage')
const { LiveJobs } = require('./live-jobs')
const { LONG_WORK, nextTurn } = require('./turns')
const format = require('./format')

const { HEADER_BYTES, SEGMENT_NAME, segmentName } = format
// There from the first change that a repair makes until its last: what was damaged may be gone, and nobody has been told.
const REPAIR_NAME = 'repair'
const READ_BYTES = 2 ** 20
// So many records are visited, and bytes searched, before the event loop may turn.
const MOST_RECORDS = 2 ** 12
const SCAN_BYTES = 2 ** 14
// Of a byte that is read and of one that is searched, in pieces of LONG_WORK.
const BYTE_PIECES = 2 ** -10
const SCAN_PIECES = 0.05

/**
 * @param {object} files
 * @param {string} folder which is there
 * @param {{ repair?: boolean, kind: 'bytes' | 'jobs', onProgress?: (progress: { bytes: number, totalBytes: number }) => void,
 *   observer?: { push: Function }, readState?: (bytes: Buffer, at: number, length: number) => object }} options repair: goes on behind
 *   what is damaged, and keeps what is whole. readState: of a log whose jobs have states
 * @returns {Promise<Reading>}
 * @throws FAIRLANE_ERR_CORRUPT with `file` and `offset`, FAIRLANE_ERR_VERSION with `file`
 */
async function readLog (files, folder, { repair = false, kind, onProgress, observer, readState }) {
  const reading = new Reading(files, folder, repair, kind, observer, readState)
  // before all else: of a format that nobody knows here nobody can say whether it is damaged
  await reading.checkVersions()
  reading.checkRepair()
  await reading.readClosed()
  const ids = reading.ids()
  const sizes = []
  for (const id of ids) sizes.push(await reading.sizeOf(id))
  const totalBytes = sizes.reduce((sum, size) => sum + size, 0)
  let bytes = 0
  for (const [i, id] of ids.entries()) {
    await reading.readSegment(id, sizes[i], i === ids.length - 1)
    bytes += sizes[i]
    if (onProgress !== undefined) callSafely(onProgress, { bytes, totalBytes })
    await nextTurn(reading.slice)
  }
  reading.checkEnds()
  if (repair) reading.dropDamaged()
  return reading
}

class Reading {
  constructor (files, folder, repair, kind, observer = { push () {} }, readState = () => undefined) {
    this.files = files
    this.folder = folder
    this.repair = repair
    this.kind = kind
    this.observer = observer
    this.readState = readState
    this.names = files.list(folder)
    this.live = new LiveJobs()
    this.segments = this.live.segments
    this.nextSeq = 1
    this.trimmed = 0
    this.cut = undefined // { file, offset, bytes } that a crash left
    this.dropped = [] // of the same, damaged
    this.closed = undefined // what a file of that name says
    this.synced = { segment: 0, offset: 0 } // the highest mark
    this.segment = 0 // being read
    this.damaged = new Set() // jobs whose records say so: damage that was moved
    this.isOld = false // the last one is of a version that is not written to
    this.unfinished = undefined // the name of a last segment that a crash left without a header
    this.slice = new Slice(LONG_WORK)
  }

  checkRepair () {
    if (this.names.includes(REPAIR_NAME)) this.damage(REPAIR_NAME, 0, 0, 'a repair did not finish, so nobody knows what it dropped')
  }

  /** The segments that are there, in order, without a hole. */
  ids () {
    const ids = this.names.filter(name => SEGMENT_NAME.test(name)).map(name => parseInt(name)).sort((a, b) => a - b)
    for (let i = 1; i < ids.length; i++) {
      if (ids[i] !== ids[i - 1] + 1) this.damage(segmentName(ids[i - 1] + 1), 0, 0, 'a segment is missing')
    }
    return ids
  }

  async checkVersions () {
    for (const name of this.names.filter(name => SEGMENT_NAME.test(name))) {
      const header = await this.read(name, HEADER_BYTES)
      if (format.isOtherVersion(header)) throw otherVersion(join(this.folder, name), format.versionOf(header))
    }
  }

  sizeOf (id) {
    return this.opened(segmentName(id), fd => this.files.size(fd))
  }

  async readSegment (id, size, isLast) {
    const bytes = await this.read(segmentName(id), size)
    const defect = format.headerDefect(bytes, id)
    this.segment = id
    this.segments.set(id, { bytes: size, liveCount: 0 })
    if (defect !== undefined) {
      if (isLast && this.isUnfinished(bytes, id) && !await this.wasSynced(bytes, 0, id)) return this.removeLast(id, size)
      this.damage(segmentName(id), 0, Math.min(HEADER_BYTES, size), defect)
    } else {
      const kind = format.kindOf(bytes)
      if (kind !== this.kind) {
        throw corrupt(this.folder, segmentName(id), 10, `it holds ${kind ?? 'something else'}, and was opened as a log of ${this.kind}`)
      }
      this.isOld = format.isOldVersion(bytes)
      this.nextSeq = Math.max(this.nextSeq, format.baseSeqOf(bytes))
      this.checkEnd(id - 1, format.previousEndOf(bytes))
    }
    await this.readFrames(bytes, id, isLast)
  }

  /** A segment ends where its successor says, if it is there. */
  checkEnd (id, end) {
    const segment = this.segments.get(id)
    if (segment !== undefined && segment.bytes !== end) {
      this.damage(segmentName(id), Math.min(end, segment.bytes), 0, `the segment ended at ${end}`)
    }
  }

  async readFrames (bytes, id, isLast) {
    const visitor = this.visitor(bytes)
    let at = HEADER_BYTES
    while (at < bytes.length) {
      let isWhole = format.isFrameAt(bytes, at, id)
      if (isWhole) {
        this.noteMark(bytes, at)
        const records = format.recordsOf(bytes, at)
        do {
          const { count, next } = records
          isWhole = format.visitRecords(bytes, records, visitor, MOST_RECORDS)
          if (this.slice.isOver(count - records.count + BYTE_PIECES * (records.next - next))) await nextTurn(this.slice)
        } while (isWhole && records.next < records.end)
        at = isWhole ? records.end : at
      }
      if (isWhole) continue
      if (isLast && !await this.wasSynced(bytes, at, id)) {
        this.cut = { file: segmentName(id), offset: at, bytes: bytes.length - at }
        this.segments.get(id).bytes = at
        return
      }
      const next = await this.findFrame(bytes, at + 1, id)
      this.damage(segmentName(id), at, next - at, 'no whole frame begins here')
      at = next
    }
  }

  visitor (bytes) {
    return {
      push: (seq, kind, at, length) => this.push(seq, kind, bytes, at, length),
      ack: (seq, count) => this.ack(seq, count),
      state: (seq, at, length) => this.setState(seq, this.readState(bytes, at, length)),
      trim: segment => { this.trimmed = Math.max(this.trimmed, segment) }
    }
  }

  /** As that of format, to the end, in slices. */
  async findFrame (bytes, at, id) {
    while (at < bytes.length) {
      const end = Math.min(at + SCAN_BYTES, bytes.length)
      at = format.findFrame(bytes, at, end, id)
      if (at < end) return at
      if (this.slice.isOver(SCAN_PIECES * SCAN_BYTES)) await nextTurn(this.slice)
    }
    return bytes.length
  }

  push (seq, kind, bytes, at, length) {
    if (this.live.table.find(seq)) this.live.remove(seq)
    this.live.add(seq, this.segment, at, length)
    if (kind === format.DAMAGED) this.damaged.add(seq)
    if (seq >= this.nextSeq) this.nextSeq = seq + 1
    this.observer.push(seq, kind, bytes.subarray(at, at + length))
  }

  ack (seq, count) {
    this.nextSeq = Math.max(this.nextSeq, seq + count)
    for (const end = seq + count; seq < end; seq++) {
      if (this.live.table.find(seq)) this.live.remove(seq)
    }
  }

  setState (seq, state) {
    this.nextSeq = Math.max(this.nextSeq, seq + 1)
    if (state !== undefined && this.live.table.find(seq)) this.live.setState(seq, state)
  }

  noteMark (bytes, at) {
    const segment = bytes.readUInt32LE(at + 12)
    const offset = bytes.readUInt32LE(at + 16)
    if (segment > this.synced.segment || (segment === this.synced.segment && offset > this.synced.offset)) {
      this.synced = { segment, offset }
    }
  }

  /** Whether what isn't whole at `at` had been synced: frames behind it may tell. */
  async wasSynced (bytes, at, id) {
    let next = at
    while ((next = await this.findFrame(bytes, next + 1, id)) < bytes.length) this.noteMark(bytes, next)
    return this.synced.segment > id || (this.synced.segment === id && this.synced.offset > at)
  }

  /** Whether these may be the bytes of a header that a crash left half written: the right ones, or none. */
  isUnfinished (bytes, id) {
    return [format.OLDEST_VERSION, format.VERSION].some(version => {
      const header = format.encodeHeader(id, 0, 0, this.kind, version)
      return bytes.subarray(0, 16).every((byte, i) => byte === 0 || byte === header[i])
    })
  }

  /** A crash came between the making of a segment and its header. */
  removeLast (id, size) {
    this.cut = { file: segmentName(id), offset: 0, bytes: size }
    this.segments.delete(id)
    this.unfinished = segmentName(id)
  }

  /** Nothing may be missing at either end. */
  checkEnds () {
    const [first = this.trimmed + 1] = this.segments.keys()
    if (first > this.trimmed + 1) this.damage(segmentName(this.trimmed + 1), 0, 0, 'a segment is missing')
    if (this.closed === undefined) return
    const { segment, offset } = this.closed
    const last = [...this.segments.keys()].at(-1)
    if (last !== segment || this.segments.get(last).bytes !== offset) {
      this.damage(segmentName(segment), offset, 0, 'the log was closed with its end here, and now ends elsewhere')
    }
  }

  /** A repair takes out what was found damaged before and moved; who opens the queue without one finds it in its place. */
  dropDamaged () {
    const { table } = this.live
    for (const seq of this.damaged) {
      if (!table.find(seq)) continue
      this.damage(segmentName(table.segment), table.offset, table.length, wasDamaged(seq))
      this.live.remove(seq)
    }
  }

  async readClosed () {
    if (!this.names.includes(CLOSED_NAME)) return
    this.closed = readClosed(String(await this.read(CLOSED_NAME, 64)))
    if (this.closed === undefined) return
    this.synced = this.closed // all of it was
  }

  read (name, size) {
    return this.opened(name, async fd => {
      const bytes = Buffer.allocUnsafeSlow(size)
      let done = 0
      let count
      do {
        count = this.files.read(fd, bytes, done, Math.min(READ_BYTES, size - done), done)
        done += count
        if (this.slice.isOver(BYTE_PIECES * count)) await nextTurn(this.slice)
      } while (count > 0)
      return bytes.subarray(0, done)
    })
  }

  async opened (name, use) {
    const fd = this.files.open(join(this.folder, name))
    try {
      return await use(fd)
    } finally {
      this.files.close(fd)
    }
  }

  /** Throws, or with repair makes a note. */
  damage (file, offset, bytes, what) {
    if (!this.repair) throw corrupt(this.folder, file, offset, what)
    this.dropped.push({ file, offset, bytes, what })
  }
}

module.exports = { readLog, REPAIR_NAME }
