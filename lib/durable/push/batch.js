'use strict'

// Jobs that are written in one frame: after a crash all of it is there or nothing. New ones, and new records of live ones, which take the
// places of those that they have.

const format = require('../../log/format')

const { PUSH_BYTES, NO_TYPE } = format
const NONE = Buffer.alloc(0)

class Batch {
  /** @param {object} store */
  constructor (store) {
    this.store = store
    this.items = [] // { seq, parts, length, state }; seq 0: a new one; parts: its record, in pieces; without a state it has none
    this.count = 0 // of new ones
    this.bytes = 0
  }

  /**
   * Adds a job, for which there is no refusal().
   * @param {string | undefined} type
   * @param {boolean} isFront
   * @param {Uint8Array} head what the payload begins with
   * @param {boolean} hasOptions whether there are options in that
   * @param {Uint8Array} payload
   * @param {JobState} [state] which the job has from the beginning
   */
  add (type, isFront, head, hasOptions, payload, state) {
    const typeBytes = type === undefined ? NONE : Buffer.from(type)
    const start = Buffer.allocUnsafe(PUSH_BYTES)
    format.writePush(
      start, format.pushKind(isFront, hasOptions), 0, type === undefined ? NO_TYPE : typeBytes.length, head.length + payload.length, 0
    )
    this.count++
    this.put(0, [start, typeBytes, head, payload], state)
  }

  /** Gives a live job another head and payload. Its record is read, which blocks. Throws as store.record(). */
  replace (seq, head, payload) {
    const old = this.store.record(seq)
    const start = Buffer.from(old.subarray(0, format.payloadStart(old)))
    format.writeU32(start, head.length + payload.length, PUSH_BYTES - 4)
    this.put(seq, [start, head, payload], this.store.states.get(seq))
  }

  /** @returns {object} the group that all of it is in; new jobs have the numbers up to the store's next one */
  write () {
    const { store, items } = this
    const { log } = store
    const recordsCount = items.reduce((count, { state }) => count + (state === undefined ? 1 : 2), 0)
    let at = log.append(this.bytes, recordsCount, store.claims.push)
    const { group } = log
    for (const { seq, parts, length, state } of items) {
      let end = at
      for (const part of parts) {
        group.buffer.set(part, end)
        end += part.length
      }
      const number = seq === 0 ? store.nextSeq : seq
      if (seq === 0) this.place(group, at, length, state)
      else store.moved(seq, group, at, length)
      at = end
      if (state === undefined) continue
      state.write(group.buffer, number, at)
      at += state.bytes
    }
    if (this.count > 0) {
      store.live.counted(group.segment, this.count)
      if (group.firstSeq === 0) group.firstSeq = store.nextSeq - this.count
      group.endSeq = store.nextSeq
    }
    group.pushesCount++
    return group
  }

  // private from here on

  put (seq, parts, state) {
    let length = 0
    for (const part of parts) length += part.length
    this.items.push({ seq, parts, length, state })
    this.bytes += length + (state === undefined ? 0 : state.bytes)
  }

  place (group, at, length, state) {
    const { store } = this
    const seq = store.nextSeq++
    format.writeSeq(group.buffer, seq, at + 1)
    store.table.set(seq, group.segment, group.start + at, length)
    if (state !== undefined) store.live.setState(seq, state)
  }
}

module.exports = { Batch }
