'use strict'

// Jobs on disk: which are alive, where their records lie, and the log that they are written to. It numbers jobs and keeps what it is told
// of them; in which order they are taken, by whom, and what their states mean, is its owner's business. openStore() is in opening.js.

const { FairlaneError } = require('../arguments/errors')
const { writeAcks, writeOneAck } = require('./acks')
const { claimsOf } = require('./claims')
const { writeClosed } = require('./closed')
const { Compactor } = require('./compaction')
const { Condenser } = require('./condensing')
const { corrupt, wasDamaged } = require('./damage')
const { Log, ioError } = require('./log')
const { Reader, WINDOW_BYTES } = require('./reader')
const { Unwritten } = require('./unwritten')
const format = require('./format')

const {
  DAMAGED, PUSH_BYTES, NO_TYPE, MAX_TYPE_BYTES, MAX_FRAME_BYTES, segmentName
} = format
// Of a large record, so much is read for its type: mostly all of that.
const HEAD_BYTES = 1024
const NONE = Buffer.alloc(0)
const ignore = () => {}
// An owner who does not listen.
const NOBODY = Object.freeze({
  safe: ignore, settled: ignore, failed: ignore, unfinished: ignore, unwritable: ignore, full: ignore, freed: ignore, ended: ignore
})

class Store {
  constructor (files, folder, options, taken, found, owner) {
    this.files = files
    this.folder = folder
    this.taken = taken
    this.owner = { ...NOBODY, ...owner }
    this.live = found.live
    this.table = found.live.table
    this.states = found.live.states
    this.nextSeq = found.nextSeq
    this.numbers = found.numbers
    this.recovered = { jobs: found.live.jobsCount, cut: found.cut, dropped: found.dropped }
    this.unwritten = new Unwritten(this)
    // a queue of bytes is refused what cannot be written; what becomes of a job has happened
    this.isOfJobs = options.kind === 'jobs'
    this.claims = claimsOf(options.kind)
    this.reader = new Reader(files, folder)
    this.log = new Log(files, folder, options, { segments: found.live.segments, tail: found.tail }, {
      nextSeq: () => this.nextSeq,
      settled: (group, err) => this.settled(group, err),
      revert: group => this.revert(group),
      takenBack: err => { if (this.unwritten.size > 0) this.owner.unwritable(err) },
      spent: err => this.owner.full(err),
      failed: err => this.failed(err)
    })
    this.condenser = new Condenser(this)
    this.compactor = new Compactor(this)
    this.released = undefined // a promise: the lock is, or is being
  }

  /** The bytes of what was pushed of live jobs: their types, and their payloads with the stamps that these begin with. */
  get payloadBytes () {
    return this.table.bytes - this.table.size * PUSH_BYTES
  }

  /** @returns {FairlaneError | undefined} FAIRLANE_ERR_IO while the disk is full, so that what room is left is for acknowledgements */
  fullness () {
    const err = this.log.reserve.fullness()
    if (err !== undefined) return ioError(err)
  }

  /**
   * @returns {FairlaneError | undefined} why no push can be: FAIRLANE_ERR_TOO_LARGE if so many payloads of so many bytes fit into no frame,
   *   FAIRLANE_ERR_IO while the disk is full, or there are no numbers for them
   */
  refusal (count, bytes, type = '') {
    const typeBytes = Buffer.byteLength(type)
    const length = bytes + count * (PUSH_BYTES + typeBytes)
    if (typeBytes > MAX_TYPE_BYTES) return tooLarge('type', typeBytes, MAX_TYPE_BYTES)
    if (length > MAX_FRAME_BYTES) return tooLarge('push', length, MAX_FRAME_BYTES)
    return this.fullness() ?? this.numberless(count)
  }

  /** @returns {FairlaneError | undefined} FAIRLANE_ERR_IO if so many numbers cannot be set aside */
  numberless (count) {
    const endSeq = this.nextSeq + count
    if (endSeq <= this.numbers.limit) return undefined
    if (!this.log.stays()) return this.log.error
    try {
      this.numbers.setAside(endSeq)
    } catch (err) {
      return ioError(err)
    }
  }

  /**
   * Writes jobs in one frame, for which there is no refusal(): all of them will be there after a crash, or none.
   * @param {Uint8Array[]} payloads at least one
   * @param {string} [type]
   * @param {boolean} [isFront]
   * @param {Uint8Array} [head] what each payload begins with
   * @param {boolean} [hasOptions] whether there are options in that
   * @returns {object} the group that they are in
   */
  push (payloads, type, isFront = false, head = NONE, hasOptions = false) {
    const kind = format.pushKind(isFront, hasOptions)
    const typeBytes = type === undefined ? NONE : Buffer.from(type)
    const typeLength = type === undefined ? NO_TYPE : typeBytes.length
    const headAt = PUSH_BYTES + typeBytes.length
    const headBytes = headAt + head.length
    let length = headBytes * payloads.length
    for (let i = 0; i < payloads.length; i++) length += payloads[i].length
    let at = this.log.append(length, payloads.length, this.claims.push)
    const { group } = this.log
    const { buffer } = group
    for (let i = 0; i < payloads.length; i++) {
      const payload = payloads[i]
      const seq = this.nextSeq++
      format.writePush(buffer, kind, seq, typeLength, head.length + payload.length, at)
      if (typeBytes.length > 0) buffer.set(typeBytes, at + PUSH_BYTES)
      if (head.length > 0) buffer.set(head, at + headAt)
      buffer.set(payload, at + headBytes)
      this.table.set(seq, group.segment, group.start + at, headBytes + payload.length)
      at += headBytes + payload.length
    }
    this.live.counted(group.segment, payloads.length)
    if (group.firstSeq === 0) group.firstSeq = this.nextSeq - payloads.length
    group.endSeq = this.nextSeq
    group.pushesCount++
    return group
  }

  /**
   * Writes that a live job is finished; runs of them take little room.
   * @returns {object} the group that this is in
   */
  ack (seq) {
    const group = writeOneAck(this.log, seq, this.claims.ack)
    this.finish(seq, group)
    return group
  }

  /**
   * Writes in one frame that live jobs are finished: after a crash all of them are, or none.
   * @param {number[]} seqs at least one; the more of them follow each other, the less room it takes
   * @returns {object} the group that this is in
   */
  ackAll (seqs) {
    if (seqs.length === 1) return this.ack(seqs[0])
    const group = writeAcks(this.log, seqs, this.claims.ack)
    for (const seq of seqs) this.finish(seq, group)
    return group
  }

  /** Writes that jobs are finished which the table does not have any more. @param {number[]} seqs ascending, at least one */
  ackAgain (seqs) {
    const { before } = writeAcks(this.log, seqs, this.claims.ack)
    for (const seq of seqs) before.push(seq, 0, 0, 0, false)
    if (this.condenser.content !== undefined) for (const seq of seqs) this.condenser.ended(seq)
  }

  /** Notes that a live job is finished, which cannot be written now. */
  ackLater (seq) {
    this.table.find(seq)
    this.forget(seq)
    this.unwritten.add(seq)
  }

  /**
   * Writes what a live job has come to; while the reserve is made use of, without the text of its error.
   * @param {JobState} state
   * @returns {object} the group that this is in
   */
  setState (seq, state) {
    const written = this.stateToWrite(state)
    const group = this.writeState(seq, written, false)
    this.live.setState(seq, state)
    this.unwritten.isCut(seq, written !== state)
    return group
  }

  /**
   * Writes a state of a live job.
   * @param {boolean} isKnown the log says it in other words: if this cannot be written, nothing is missing
   */
  writeState (seq, state, isKnown) {
    const at = this.log.append(state.bytes, 1, state.claim)
    const { group } = this.log
    this.table.find(seq)
    this.noteBefore(group, seq, isKnown)
    this.condenser.content?.states.add(seq)
    state.write(group.buffer, seq, at)
    return group
  }

  /** Notes what a live job has come to, which cannot be written now. */
  setStateLater (seq, state) {
    this.live.setState(seq, state)
    this.unwritten.add(seq)
  }

  /**
   * The record of a live job. Blocks if it has to be read.
   * @param {number} [most] so many bytes of it are enough
   * @returns {Buffer} to be used at once
   * @throws FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_IO
   */
  found (seq, most) {
    const { log, table } = this
    table.find(seq)
    if (table.segment > log.segment || (table.segment === log.segment && table.offset >= log.offset)) {
      log.commitNow(false)
      // it is where it was if that failed
      table.find(seq)
    }
    const { segment, offset, length } = table
    let record
    try {
      record = this.reader.record(segment, offset, length, log.segments.get(segment).bytes, most)
    } catch (err) {
      throw ioError(err)
    }
    if (!format.isPush(record[0]) || format.readSeq(record, 1) !== seq) {
      throw corrupt(this.folder, segmentName(segment), offset, `this is not the record of job ${seq}`)
    }
    return record
  }

  /** The type of a live job, or undefined. However long its payload is, that is not read. Throws as found(). */
  typeOf (seq) {
    const head = this.found(seq, HEAD_BYTES)
    const length = format.payloadStart(head)
    return format.typeOf(length > head.length ? this.found(seq, length) : head)
  }

  /** As found(), of a job whose payload is what was pushed. */
  record (seq) {
    const record = this.found(seq)
    if (record[0] === DAMAGED) throw corrupt(this.folder, segmentName(this.table.segment), this.table.offset, wasDamaged(seq))
    return record
  }

  /** A job's payload, in memory that nobody else uses. Throws as record(). */
  payload (seq) {
    const record = this.record(seq)
    const start = format.payloadStart(record)
    if (record.length > WINDOW_BYTES) return record.subarray(start)
    const payload = Buffer.allocUnsafe(record.length - start)
    record.copy(payload, 0, start)
    return payload
  }

  /** No room is given back any more. @returns {Promise<void>} resolves when all that was appended is synced, or has failed */
  async rest () {
    await this.compactor.stop()
    // Pushes that find the disk full fail alone, and nothing of them is left to write. What was appended meanwhile is to be synced too.
    while (this.log.error === undefined && (!await this.log.flush().then(() => true, () => false) || !this.log.isSynced));
  }

  /** Writes all to the disk and ends the log; then another process may open it. Rejects with FAIRLANE_ERR_IO. */
  async close () {
    await this.rest()
    if (this.log.error === undefined && this.log.stays()) {
      // a segment that could not be removed is no end that recovery would expect
      const isWhole = this.log.leftOver === undefined
      this.log.close()
      this.owner.ended()
      if (isWhole) writeClosed(this.files, this.folder, this.log.segment, this.log.offset, this.nextSeq)
    }
    await this.release()
  }

  /** From here on this owner is told, of what openStore() says: one whose parts need the store. */
  ownedBy (owner) {
    this.owner = { ...NOBODY, ...owner }
  }

  // private from here on

  /**
   * Moves a job to the end of the log, with its state.
   * @param {Buffer} record that of the job, which was checked, or one that says it is damaged
   */
  move (seq, record) {
    const { claims, log } = this
    const state = this.stateToWrite(this.states.get(seq))
    const claim = log.reserve.isLent ? claims.ack : claims.move
    const at = log.append(record.length + (state === undefined ? 0 : state.bytes), state === undefined ? 1 : 2, claim)
    const { group } = log
    group.buffer.set(record, at)
    if (state !== undefined) state.write(group.buffer, seq, at + record.length)
    this.moved(seq, group, at, record.length)
    this.unwritten.isCut(seq, state !== this.states.get(seq))
    return group
  }

  /** A state, or what is written of it while room is short. */
  stateToWrite (state) {
    return this.log.reserve.isSpent ? state?.cut : state
  }

  /** The record of a live job is in another place now, in a group. */
  moved (seq, group, at, length) {
    this.table.find(seq)
    this.noteBefore(group, seq, true)
    this.live.move(seq, group.segment, group.start + at, length)
  }

  finish (seq, group) {
    this.table.find(seq)
    this.noteBefore(group, seq, false)
    this.forget(seq)
  }

  /** Where a job was that was just looked up, in case the group cannot be written. */
  noteBefore (group, seq, isMoved) {
    const { segment, offset, length } = this.table
    group.before.push(seq, segment, offset, length, isMoved)
  }

  /** Takes out the job that was just looked up. */
  forget (seq) {
    this.live.remove(seq)
    this.unwritten.forget(seq)
    if (this.condenser.content !== undefined) this.condenser.ended(seq)
  }

  settled (group, err) {
    if (err === undefined) {
      if (group.endSeq > 0) this.owner.safe(group.endSeq)
      this.compactor.look()
    }
    this.owner.settled(group)
  }

  /**
   * A group was not written, and the log goes on: as if it had not been encoded, but that what became of jobs has become of them.
   * Groups behind it were reverted already.
   */
  revert ({ firstSeq, endSeq, before }) {
    for (let i = before.length - 5; i >= 0; i -= 5) {
      const [seq, segment, offset, length, isMoved] = before.slice(i, i + 5)
      const wasFinished = !this.table.find(seq)
      if (!wasFinished || !this.isOfJobs) this.putBack(seq, segment, offset, length, wasFinished)
      if (this.isOfJobs && !isMoved) this.unwritten.add(seq)
    }
    for (let seq = firstSeq; seq < endSeq; seq++) {
      this.table.find(seq)
      this.forget(seq)
    }
  }

  /** A job is where it was before. */
  putBack (seq, segment, offset, length, wasFinished) {
    if (wasFinished) {
      this.live.add(seq, segment, offset, length)
      this.owner.unfinished(seq)
    } else {
      this.live.move(seq, segment, offset, length)
    }
  }

  failed (err) {
    this.owner.failed(err)
    // an error of this is that of close(), too
    this.release().catch(() => {})
  }

  release () {
    if (this.released === undefined) {
      this.reader.close()
      this.released = this.taken.release().catch(err => { throw ioError(err) })
    }
    return this.released
  }
}

function tooLarge (what, bytes, max) {
  return new FairlaneError('FAIRLANE_ERR_TOO_LARGE', `A ${what} of ${bytes} bytes is too large: it may have at most ${max}`)
}

module.exports = { Store }
