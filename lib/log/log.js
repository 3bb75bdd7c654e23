'use strict'

// HOT (bench: durable). Writes the log. Records are encoded at once into the buffer of the open group, and:
//
//   append ─▶ open group ──turn──▶ sealed ──write──▶ written ──sync──▶ settled       ack: 'disk'
//                                     │                └────────────▶ settled       ack: 'os'
//                                     └─ of the next segment: waits until this one is synced and the next one is there
//
// Promises: groups reach the file in order, each as one frame, all records of one append() in one frame. At most one sync is
// under way. A segment is synced before its successor is there. A failed write takes back all that was not written; what it has left in
// the folder is undone before anything else is written. A failed sync is the end, since nobody knows what the disk has then.
// It knows segments and groups. Which jobs are in them, and alive, is its owner's business, who counts them in `segments`.

const { FairlaneError } = require('../arguments/errors')
const { Buffers } = require('./buffers')
const { CLAIM } = require('./claims')
const { HEADER_BYTES, FRAME_BYTES, finishFrame } = require('./format')
const { Group } = require('./group')
const { Presence } = require('./presence')
const { Reserve } = require('./reserve')
const { createSegment, removeDurably, writeWhole } = require('./segments')
const { Syncer } = require('./syncer')
const { Turns } = require('./turns')

// Larger groups are written as several frames. With ack 'disk' the sync of the first goes on beside the encoding of the next.
const GROUP_BYTES = 2 ** 20
const SYNCED_GROUP_BYTES = 2 ** 19
const NOW = Promise.resolve()

class Log {
  /**
   * @param {object} files lib/log/files.js or what tests put in its place
   * @param {string} folder
   * @param {{ segmentBytes: number, ack: 'os' | 'disk', kind: 'bytes' | 'jobs' }} options
   * @param {{ segments: Map<number, { bytes: number, liveCount: number }>, tail: { segment: number, offset: number, fd: number } }} found
   *   what recovery found; the tail is synced
   * @param {{ nextSeq: () => number, settled: (group: Group, err?: Error) => void, revert: (group: Group) => void,
   *   takenBack: (err: Error) => void, spent: (err: Error) => void, failed: (err: Error) => void }} owner takenBack: all groups that a
   *   write which failed takes with it were reverted. spent: the reserve is made use of
   */
  constructor (files, folder, { segmentBytes, ack, kind }, { segments, tail }, owner) {
    this.files = files
    this.folder = folder
    this.segmentBytes = segmentBytes
    this.kind = kind
    this.waitsForDisk = ack === 'disk'
    this.groupBytes = this.waitsForDisk ? SYNCED_GROUP_BYTES : GROUP_BYTES
    this.owner = owner
    this.error = undefined

    this.bytes = 0 // of all files
    for (const segment of segments.values()) this.bytes += segment.bytes
    this.segments = segments // those that the files hold, and those that groups were encoded for
    this.fd = tail.fd
    this.segment = tail.segment // where the file ends
    this.offset = tail.offset
    this.nextSegment = tail.segment // where the next group begins
    this.nextOffset = tail.offset

    this.presence = new Presence(this)
    this.reserve = new Reserve(files, folder, segmentBytes, { stays: () => this.stays(), spent: err => owner.spent(ioError(err)) })
    this.isTorn = false // a write that failed may have left something behind the end of the file, or
    this.leftOver = undefined // ... a segment that could not be made whole, at this path
    this.group = undefined
    this.sealed = []
    this.syncer = new Syncer(this)
    this.isTurnDue = false
    this.turns = new Turns()
    this.early = [] // written, with ack 'os', and acknowledged in their turn, or when the event loop turns
    this.isSettlingDue = false
    this.settleInTurn = this.settleInTurn.bind(this)
    this.buffers = new Buffers()
    this.turn = this.turn.bind(this)
  }

  /**
   * Makes room for records of `length` bytes in one frame, which the caller is to write at once, at the place returned.
   * @param {number} claim what they may take of the reserve, as claims.js says
   * @returns {number} where in the buffer of `group`
   */
  append (length, recordsCount, claim) {
    if (this.group !== undefined && !this.fits(this.group, length)) this.writeEarly()
    const group = this.group ?? this.open(length)
    const at = group.length
    if (group.buffer.length < at + length) this.grow(group, at + length)
    group.length += length
    group.count += recordsCount
    group.ackAt = 0
    if (claim < group.claim) group.claim = claim
    return at
  }

  /**
   * Writes what is there now, blocking.
   * @param {boolean} isSynced also to the disk
   * @param {boolean} [sparesReserve] it fails on a full disk, as if there were no reserve
   */
  commitNow (isSynced, sparesReserve = false) {
    this.seal()
    while (
      this.sealed.length > 0 && this.isMended() &&
      (this.isNext() || (this.syncer.syncNow() && this.createNext(sparesReserve))) &&
      this.writeFirst(false, sparesReserve)
    );
    if (isSynced && this.error === undefined) this.syncer.syncNow()
    this.settleEarly()
  }

  /** Writes what is there now, so that what is appended next has a frame, and a failure, of its own. */
  commitAlone () {
    while (this.group !== undefined) this.commitNow(false)
  }

  /** What is appended next begins another segment, if there is anything in this one. */
  endSegment () {
    this.seal()
    if (this.nextOffset > HEADER_BYTES) this.beginNext()
  }

  /** Whether nothing is under way but syncs. */
  get isSettled () {
    return this.error === undefined && this.group === undefined && this.sealed.length === 0 && !this.isTorn
  }

  /** The last segment has another file, of that length, which says the same and is synced. */
  replace (fd, length) {
    this.syncer.leave()
    this.reserve.use(length - this.offset)
    this.bytes += length - this.offset
    this.fd = fd
    this.offset = this.nextOffset = length
    this.segments.get(this.segment).bytes = length
    this.syncer.replaced()
  }

  /** How many bytes a record with that claim may have now; any number while the reserve is not made use of. */
  roomFor (claim) {
    return this.reserve.left(claim) - (this.group?.length ?? FRAME_BYTES)
  }

  /** Whether all that was appended is on the disk. */
  get isSynced () {
    return this.group === undefined && this.sealed.length === 0 && this.syncer.isDone
  }

  /** @returns {Promise<void>} resolves when all that was appended up to now is on the disk; rejects if not, or not all */
  flush () {
    if (this.error !== undefined) return Promise.reject(this.error)
    this.seal()
    const barrier = new Group(this.nextSegment, this.nextOffset, undefined)
    barrier.length = 0
    this.sealed.push(barrier)
    this.due()
    return barrier.promise
  }

  /** Closes the file, which nothing may be appended to any more. */
  close () {
    this.syncer.leave()
    this.fd = -1
    this.presence.end()
  }

  /** Ends the log if its folder was removed or replaced. @returns {boolean} false then */
  stays () {
    return this.presence.check()
  }

  /** Whether nothing is left to be undone of writes that failed; tries to. */
  isMended () {
    if (!this.isTorn) return true
    // what is written already only waits for its turn
    if (this.sealed[0]?.buffer === undefined && this.sealed[0]?.segment === this.segment) return true
    const err = this.mend()
    if (err !== undefined) this.takeBack(err)
    return err === undefined
  }

  /** Ends the log: whatever waits fails. */
  fail (cause) {
    if (this.error !== undefined) return
    this.error = ioError(cause)
    const groups = [...this.early, ...this.syncer.takeAll(), ...this.sealed]
    if (this.group !== undefined) groups.push(this.group)
    this.early = this.sealed = []
    this.group = undefined
    this.close()
    this.owner.failed(this.error)
    for (const group of groups) this.settle(group, this.error)
  }

  // for the syncer

  writeOut () {
    while (this.sealed.length > 0 && this.isMended() && (this.isNext() || this.roll()) && this.writeFirst());
    if (this.error !== undefined) return
    this.syncer.syncDue()
  }

  settleEarly () {
    if (this.early.length === 0) return
    const groups = this.early
    this.early = []
    for (const group of groups) this.settle(group)
  }

  settle (group, err) {
    this.owner.settled(group, err)
    group.settle(err)
  }

  // private from here on

  /**
   * The group is full. It is written now if it can be, so that a burst of pushes takes no more memory than a group. All else is for its
   * turn, since who appends must find everything as it was: acknowledgement, another segment, and what follows if it cannot be written.
   */
  writeEarly () {
    this.seal()
    while (this.sealed.length > 0 && this.isNext() && !this.isTorn && this.writeFirst(true));
    this.syncer.syncWritten()
  }

  fits (group, length) {
    const end = group.length + length
    return end <= this.groupBytes && group.start + end <= this.segmentBytes
  }

  open (length) {
    if (this.nextOffset + FRAME_BYTES + length > this.segmentBytes && this.nextOffset > HEADER_BYTES) this.beginNext()
    this.group = new Group(this.nextSegment, this.nextOffset, this.buffers.take(FRAME_BYTES + length))
    this.due()
    return this.group
  }

  beginNext () {
    this.nextSegment++
    this.nextOffset = HEADER_BYTES
    this.segments.set(this.nextSegment, { bytes: 0, liveCount: 0 })
  }

  grow (group, length) {
    const { buffer } = group
    group.buffer = this.buffers.take(length)
    buffer.copy(group.buffer, 0, 0, group.length)
    this.buffers.giveBack(buffer)
  }

  due () {
    if (this.isTurnDue) return
    this.isTurnDue = true
    // 33 ns; queueMicrotask() took 87 (Node 20)
    NOW.then(this.turn)
  }

  turn () {
    this.isTurnDue = false
    if (this.error !== undefined) return
    if (this.early.length > 0 && !this.isSettlingDue) this.acknowledgeEarly()
    this.seal()
    this.writeOut()
  }

  seal () {
    const { group } = this
    if (group === undefined) return
    finishFrame(group.buffer, group.length, group.segment, group.start, group.count, this.syncer.segment, this.syncer.offset)
    this.group = undefined
    this.nextOffset += group.length
    this.sealed.push(group)
  }

  /** Whether the first sealed group is of this segment. */
  isNext () {
    return this.sealed[0].segment === this.segment
  }

  /** Writes the first sealed group. @returns {boolean} false if that failed */
  writeFirst (isEarly = false, sparesReserve = false) {
    const group = this.sealed[0]
    if (!isEarly && !this.presence.isRecent()) return false
    try {
      if (group.length > this.reserve.left(group.claim)) throw this.reserve.fullError
      writeWhole(this.files, this.fd, group.buffer, group.length, group.start)
    } catch (err) {
      if (isEarly) return false
      if (!sparesReserve && group.claim !== CLAIM.NONE && this.reserve.giveUp(err)) return this.writeFirst()
      this.reserve.met(err)
      if (err.code === 'EFBIG') this.segmentBytes = Math.min(this.segmentBytes, this.files.size(this.fd))
      this.takeBack(err)
      return false
    }
    // pop() leaves the array its memory
    if (this.sealed.length === 1) this.sealed.pop()
    else this.sealed.shift()
    this.reserve.use(group.length)
    this.offset += group.length
    this.bytes += group.length
    this.segments.get(this.segment).bytes = this.offset
    const isBarrier = group.buffer === undefined
    if (!isBarrier) this.buffers.giveBack(group.buffer)
    group.buffer = undefined
    if (this.waitsForDisk || isBarrier) this.syncer.add(group)
    else if (isEarly) this.early.push(group)
    else this.acknowledge(group)
    return true
  }

  /** Settles a group that the system has; in a turn of its own if one is due, and then those behind it too. */
  acknowledge (group) {
    if (this.early.length === 0 && !this.turns.isDue()) return this.settle(group)
    this.early.push(group)
    this.settleLater()
  }

  acknowledgeEarly () {
    if (this.turns.isDue()) this.settleLater()
    else this.settleEarly()
  }

  settleLater () {
    if (this.isSettlingDue) return
    this.isSettlingDue = true
    setImmediate(this.settleInTurn)
  }

  settleInTurn () {
    this.isSettlingDue = false
    this.turns.noted()
    this.settleEarly()
  }

  /** Goes on to the next segment if this one is synced; else has it synced first. @returns {boolean} whether it has */
  roll () {
    if (this.syncer.isDone) return this.createNext()
    this.syncer.sync()
    return false
  }

  /** @returns {boolean} false if that failed */
  createNext (sparesReserve = false) {
    if (!this.stays()) return false
    const id = this.segment + 1
    const { claim } = this.sealed[0]
    let fd
    try {
      fd = createSegment(this.files, this.folder, id, { baseSeq: this.owner.nextSeq(), previousEnd: this.offset, kind: this.kind })
    } catch (err) {
      this.leftOver = err.leftOver
      if (err.isUnknown) {
        this.fail(err.cause)
        return false
      }
      if (!sparesReserve && claim !== CLAIM.NONE && this.leftOver === undefined && this.reserve.giveUp(err)) return this.createNext()
      this.reserve.met(err)
      this.takeBack(err)
      return false
    }
    this.syncer.leave()
    this.fd = fd
    this.segment = id
    this.offset = HEADER_BYTES
    this.bytes += HEADER_BYTES
    this.reserve.use(HEADER_BYTES)
    this.syncer.begun()
    return true
  }

  /**
   * Undoes what writes that failed have left. Nothing of a group may stay in the file, since later frames, shorter ones, would be
   * written over a part of it.
   * @returns {Error | undefined} why it cannot be, now
   */
  mend () {
    try {
      if (this.leftOver !== undefined) removeDurably(this.files, this.folder, this.leftOver)
      this.leftOver = undefined
      this.files.truncate(this.fd, this.offset)
    } catch (err) {
      if (err.isUnknown) this.fail(err.cause)
      return err
    }
    this.syncer.cut()
    this.isTorn = false
  }

  /** A group could not be written: it and those behind it fail. */
  takeBack (err) {
    this.isTorn = true
    if (this.error === undefined) this.mend()
    if (this.error !== undefined) return
    this.seal()
    const groups = this.sealed
    this.sealed = []
    this.nextSegment = this.segment
    this.nextOffset = this.offset
    for (let i = groups.length - 1; i >= 0; i--) this.owner.revert(groups[i])
    for (const id of this.segments.keys()) {
      if (id > this.segment) this.segments.delete(id)
    }
    // others may append from here on
    const error = ioError(err)
    this.owner.takenBack(error)
    for (const group of groups) this.settle(group, error)
  }
}

function ioError (cause) {
  return new FairlaneError('FAIRLANE_ERR_IO', `Reading or writing the queue's files failed: ${cause.message}`, { cause })
}

module.exports = { Log, ioError }
