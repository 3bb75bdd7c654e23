'use strict'

// A first-in-first-out queue of bytes on disk. Payloads are taken at least once (reserve, then ack), or at most once (pop).
//
//   push ─▶ written, safe ─▶ taken ─▶ acked: gone
//                ▲             │
//                └── release ──┘
//
// Promises: what a push acknowledged is there after a crash, what an ack or pop acknowledged does not come back; order by
// number. Only numbers are in memory.

const { closedError, queueFullError, typeError, rangeError, describe } = require('../arguments/errors')
const { elementsOf, isArray, isBytes, readPositiveCount } = require('../arguments/fields')
const { Admission } = require('./admission')
const { files } = require('./files')
const { lock } = require('./lock')
const { openStore } = require('./opening')
const { readOptions, readPath } = require('./options')
const { removeStore } = require('./removal')

const SYSTEM = { files, lock }
const OPENED_BY_OPEN = Symbol('open')
// So many numbers are put one by one among those that were released: sorting all takes longer than moving some.
const FEW = 16

class PersistentQueue {
  #store
  #admission
  #waitsForDisk

  #safeSeq // jobs below may be taken
  #cursor // jobs below were taken once
  #reserved = new Set()
  #released = [] // numbers below the cursor, in order
  #error // what a call is refused with from now on
  #closing

  /**
   * Opens the queue in a folder, which is made if need be. One process may have it open. Options are in index.d.ts.
   * @returns {Promise<PersistentQueue>} rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_IO
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
   */
  static open (path, options, environment = SYSTEM) {
    const read = readOptions(options)
    return open(readPath(path), read, environment)
  }

  /**
   * Removes a queue that nobody has open: its files, and the folder if there are no others in it.
   * @returns {Promise<void>} rejects with FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_IO
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  static remove (path, environment = SYSTEM) {
    return removeStore(readPath(path), environment)
  }

  constructor (key, store, options) {
    if (key !== OPENED_BY_OPEN) throw typeError('FAIRLANE_ERR_ARGUMENT', 'use PersistentQueue.open() to make a PersistentQueue')
    this.#store = store
    this.#admission = new Admission(store, options, { stampBytes: 0, refusal: () => store.log.error ?? store.fullness() })
    this.#waitsForDisk = options.ack === 'disk'
    this.#safeSeq = store.nextSeq
    this.#cursor = store.table.first(store.nextSeq)
    store.ownedBy({
      safe: endSeq => { this.#safeSeq = endSeq },
      settled: group => this.#admission.settled(group),
      unfinished: seq => this.#reserved.add(seq),
      failed: err => { this.#error = err }
    })
  }

  /** Payloads that were pushed and are not finished: waiting ones, and reserved ones. */
  get length () {
    return this.#admission.count
  }

  /** The bytes of those. */
  get bytes () {
    return this.#admission.bytes
  }

  /** What opening found: `jobs`, what a crash had left half written (`cut`), and what was damaged (`dropped`, with repair). */
  get recovered () {
    return this.#store.recovered
  }

  /** Bytes of all segments. */
  diskBytes () {
    return this.#store.log.bytes
  }

  /**
   * Puts payloads at the end; several are there after a crash together or not at all. They are copied at once.
   * @param {Uint8Array | Uint8Array[]} payloads
   * @returns {Promise<void>} resolves when they are safe; rejects with FAIRLANE_ERR_QUEUE_FULL (then nothing is written),
   *   FAIRLANE_ERR_TOO_LARGE, FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  push (payloads) {
    const read = readPayloads(payloads)
    const bytes = bytesOf(read)
    const refusal = this.#refusal(read, bytes)
    if (refusal !== undefined) return Promise.reject(refusal)
    if (read.length === 0) return Promise.resolve()
    if (!this.#admission.mayWrite) return this.#buffer(read.map(payload => Buffer.from(payload)), bytes)
    return this.#write(read).promise
  }

  /**
   * As push, blocking until they are safe.
   * @throws as push rejects and throws; FAIRLANE_ERR_QUEUE_FULL also if maxInflightOps pushes are unacknowledged
   */
  pushSync (payloads) {
    const read = readPayloads(payloads)
    const bytes = bytesOf(read)
    const refusal = this.#refusal(read, bytes)
    if (refusal !== undefined) throw refusal
    if (read.length === 0) return
    const { inflightCount, maxInflightOps, mayWrite } = this.#admission
    if (!mayWrite) throw full({ what: 'pushes under way', waiting: inflightCount, limit: maxInflightOps })
    this.#commitNow(this.#write(read))
  }

  /**
   * Takes payloads from the front for good: they do not come back, even if the process dies before it has worked on them.
   * @param {number} [max=1]
   * @returns {Promise<Buffer[]>} at most max, [] if the queue is empty; resolves when it is safe that they are gone, all of them after a
   *   crash or none; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_CLOSED: then they are back at the front
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  pop (max = 1) {
    readMax(max)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    try {
      const { seqs, payloads, group } = this.#pop(max)
      if (group === undefined) return this.#store.log.turns.resolve(payloads)
      return group.promise.then(() => payloads, err => {
        this.#unpop(seqs)
        throw err
      })
    } catch (err) {
      return Promise.reject(err)
    }
  }

  /** As pop, blocking. @returns {Buffer[]} */
  popSync (max = 1) {
    readMax(max)
    if (this.#error !== undefined) throw this.#error
    const { seqs, payloads, group } = this.#pop(max)
    if (group === undefined) return payloads
    try {
      this.#commitNow(group)
    } catch (err) {
      this.#unpop(seqs)
      throw err
    }
    return payloads
  }

  /**
   * What pop would give, without taking it.
   * @param {number} [max=1]
   * @returns {Promise<Buffer[]>} rejects as pop
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  peek (max = 1) {
    readMax(max)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    const seqs = this.#released.slice(0, max)
    const { table } = this.#store
    for (let at = this.#cursor; seqs.length < max; at++) {
      at = table.next(at, this.#safeSeq)
      if (at >= this.#safeSeq) break
      seqs.push(at)
    }
    try {
      return this.#store.log.turns.resolve(seqs.map(seq => this.#store.payload(seq)))
    } catch (err) {
      return Promise.reject(err)
    }
  }

  /**
   * Takes payloads from the front until ack() finishes them; release(), or the end of the process, puts them back.
   * @param {number} [max=1]
   * @returns {Promise<{ id: number, payload: Buffer }[]>} rejects as pop
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  reserve (max = 1) {
    readMax(max)
    if (this.#error !== undefined) return Promise.reject(this.#error)
    try {
      const { seqs, payloads } = this.#take(max)
      for (const seq of seqs) this.#reserved.add(seq)
      return this.#store.log.turns.resolve(seqs.map((id, i) => ({ id, payload: payloads[i] })))
    } catch (err) {
      return Promise.reject(err)
    }
  }

  /**
   * Finishes reserved payloads; after a crash all of them are finished or none.
   * @param {number | number[]} ids
   * @returns {Promise<void>} resolves when it is safe that they are gone; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED: then they
   *   are still reserved
   * @throws FAIRLANE_ERR_ARGUMENT if one is not reserved; then none is finished
   */
  ack (ids) {
    const seqs = this.#readReserved(ids, 'ack')
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (seqs.length === 0) return Promise.resolve()
    for (const seq of seqs) this.#reserved.delete(seq)
    return this.#store.ackAll(seqs).promise
  }

  /**
   * Puts reserved payloads back to where they were.
   * @param {number | number[]} ids
   * @throws FAIRLANE_ERR_ARGUMENT if one is not reserved; then none is put back
   */
  release (ids) {
    const seqs = this.#readReserved(ids, 'release')
    for (const seq of seqs) this.#reserved.delete(seq)
    this.#putBack(seqs)
  }

  /** @returns {Promise<void>} resolves when all calls up to now are on the disk; rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CLOSED */
  async flush () {
    if (this.#error !== undefined) throw this.#error
    if (this.#admission.bufferedCount > 0) await new Promise(resolve => this.#admission.afterBuffered(resolve))
    await this.#store.log.flush()
  }

  /**
   * Acknowledges what was pushed, refuses what comes now, and lets another process open the queue. Reserved payloads
   * are back when it is opened again.
   * @returns {Promise<void>} rejects with FAIRLANE_ERR_IO
   */
  close () {
    if (this.#closing === undefined) this.#closing = this.#close()
    return this.#closing
  }

  async #close () {
    this.#error ??= closedError()
    await this.#admission.writeBuffered()
    await this.#store.close()
    if (this.#store.log.error !== undefined) throw this.#store.log.error
  }

  #refusal (payloads, bytes) {
    if (this.#error !== undefined) return this.#error
    if (payloads.length === 0) return undefined
    const refusal = this.#store.refusal(payloads.length, bytes)
    if (refusal !== undefined) return refusal
    const lack = this.#admission.lack(payloads.length, bytes)
    if (lack !== undefined) return full(lack)
  }

  #write (payloads) {
    const group = this.#store.push(payloads)
    this.#admission.inflightCount++
    return group
  }

  #buffer (payloads, bytes) {
    return new Promise((resolve, reject) => this.#admission.buffer(payloads.length, bytes, error => {
      const refusal = error ?? this.#store.numberless(payloads.length)
      if (refusal === undefined) this.#write(payloads).promise.then(resolve, reject)
      else reject(refusal)
    }))
  }

  #commitNow (group) {
    this.#store.log.commitNow(this.#waitsForDisk)
    if (group.error !== undefined) throw group.error
  }

  #pop (max) {
    const { seqs, payloads } = this.#take(max)
    return { seqs, payloads, group: seqs.length === 0 ? undefined : this.#store.ackAll(seqs) }
  }

  /** What could not be popped is there again. */
  #unpop (seqs) {
    for (const seq of seqs) this.#reserved.delete(seq)
    this.#putBack(seqs)
  }

  /** Takes numbers and payloads from the front; if a payload cannot be read, none. */
  #take (max) {
    const seqs = this.#released.splice(0, max)
    const { table } = this.#store
    while (seqs.length < max) {
      const seq = table.next(this.#cursor, this.#safeSeq)
      this.#cursor = seq
      if (seq === this.#safeSeq) break
      seqs.push(seq)
      this.#cursor = seq + 1
    }
    try {
      return { seqs, payloads: seqs.map(seq => this.#store.payload(seq)) }
    } catch (err) {
      this.#putBack(seqs)
      throw err
    }
  }

  #putBack (seqs) {
    if (seqs.length > FEW) this.#released = this.#released.concat(seqs).sort((a, b) => a - b)
    else for (const seq of seqs) insert(this.#released, seq)
  }

  #readReserved (ids, method) {
    const seqs = isArray(ids) ? elementsOf(ids, `${method}: the array`, 'FAIRLANE_ERR_ARGUMENT') : [ids]
    for (const seq of seqs) {
      if (!this.#reserved.has(seq)) throw rangeError('FAIRLANE_ERR_ARGUMENT', `${method}: the id ${describe(seq)} is not reserved`)
    }
    if (new Set(seqs).size < seqs.length) throw rangeError('FAIRLANE_ERR_ARGUMENT', `${method}: the array has an id twice`)
    return seqs
  }
}

async function open (path, options, environment) {
  return new PersistentQueue(OPENED_BY_OPEN, await openStore(path, { ...options, kind: 'bytes' }, environment), options)
}

/** Into an ascending array. */
function insert (seqs, seq) {
  let at = seqs.length
  if (at > 0 && seq < seqs[at - 1]) {
    let low = 0
    while (low < at) {
      const middle = (low + at) >> 1
      if (seqs[middle] < seq) low = middle + 1
      else at = middle
    }
  }
  seqs.splice(at, 0, seq)
}

function readPayloads (payloads) {
  const read = isArray(payloads) ? elementsOf(payloads, 'push: the array', 'FAIRLANE_ERR_ARGUMENT') : [payloads]
  for (const payload of read) {
    if (!isBytes(payload)) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', `push takes a Buffer, a Uint8Array or an array of them, not ${describe(payload)}`)
    }
  }
  return read
}

function bytesOf (payloads) {
  let bytes = 0
  for (const { length } of payloads) bytes += length
  return bytes
}

function readMax (max) {
  readPositiveCount(max, 'max', 'FAIRLANE_ERR_ARGUMENT')
}

function full ({ what, waiting, limit }) {
  return queueFullError({ waiting, limit }, `The queue is full: it holds ${waiting} ${what} (limit: ${limit})`)
}

module.exports = { PersistentQueue }
