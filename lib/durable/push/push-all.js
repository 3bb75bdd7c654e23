'use strict'

// Pushes of several jobs at once: they are written in one frame, so after a crash all of them are there or none. None is taken in unless
// all are.
//
// Those with keys come to what they would one after the other: a new job, a share in one (of the queue, or a new one that comes before), or
// a change of that. Each job is written once, as the last of them leaves it.

const { encode } = require('../../job/serializers')
const { NONE, headOf, optionsOf, putOff, refusalOf } = require('./job-options')
const { idOf } = require('./keys')
const { sizeOf, stampOf, STAMP_BYTES } = require('./serialize')

const NOTHING = Buffer.alloc(0)
const PILE_BYTES = 2 ** 18

/**
 * Encoded payloads, in memory that they share: each in its own keeps the garbage collector busy for longer than encoding takes (Node 20,
 * 100,000 payloads of 50 bytes).
 */
class Pile {
  constructor () {
    this.bytes = NOTHING
    this.used = 0
  }

  /** @returns {Uint8Array} a copy; or what is too large to be copied for that */
  put (encoded) {
    const { length } = encoded
    if (length > PILE_BYTES / 16) return encoded
    if (this.used + length > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow(PILE_BYTES)
      this.used = 0
    }
    this.bytes.set(encoded, this.used)
    this.used += length
    return this.bytes.subarray(this.used - length, this.used)
  }
}

/** One of the pushes. */
class Push {
  /**
   * @param {JobOptions} options
   * @param {Uint8Array} stamp the time of the push
   * @param {Error | undefined} tooLong why its key cannot be written
   */
  constructor (type, jobOptions, encoded, options, stamp, tooLong) {
    this.type = type
    this.jobOptions = jobOptions
    this.encoded = encoded
    this.options = options
    this.stamp = stamp
    this.tooLong = tooLong
    this.delayMs = options.delayMs // of the job, if it is new, before others put it off
    this.entry = undefined // of its key, if a job of the queue has taken it
    this.change = undefined // which it makes of that job, if it does
    this.twin = undefined // the push of the new job that has its key
    this.seq = 0 // of the new job
  }

  /** What is written before the payload. */
  get head () {
    return this.tooLong === undefined && this.options !== NONE ? headOf(this.stamp, this.options) : this.stamp
  }
}

class PushAll {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ serialize: object, now: () => number }} options now: in ms since 1970
   */
  constructor ({ keys, refusals, report: { counts }, results, retries, sharing, stage, writing }, { serialize, now }) {
    this.keys = keys
    this.refusals = refusals
    this.counts = counts
    this.results = results
    this.retries = retries
    this.sharing = sharing
    this.stage = stage
    this.writing = writing
    this.serializer = serialize
    this.now = now
  }

  /**
   * @param {{ type: string | undefined, payload: any, jobOptions: object | undefined }[]} jobs
   * @returns {Promise<number[]>} their numbers, when all are safe; rejects as Intake.push()
   * @throws FAIRLANE_ERR_ARGUMENT: then none is pushed
   */
  push (jobs) {
    const now = this.now()
    const stamp = Buffer.from(stampOf(now))
    const pile = new Pile()
    const pushes = jobs.map(job => this.prepare(job, now, stamp, pile))
    // those that are buffered were pushed before
    this.writing.writeNow()
    const changes = new Map() // entry → Change
    let fresh
    try {
      fresh = this.freshOf(pushes, changes, now)
      if (fresh.length + changes.size === 0) return this.numbersOf(pushes, undefined)
      const error = this.refusal(fresh, [...changes.values()])
      if (error !== undefined) return this.refusals.tellAll(pushes, error)
      return this.numbersOf(pushes, this.write(fresh, [...changes.values()]))
    } catch (err) {
      return Promise.reject(err) // a record that is to be changed cannot be read
    }
  }

  // private from here on

  /** @param {Promise<void> | undefined} safe when the new jobs are */
  async numbersOf (pushes, safe) {
    const shared = pushes.filter(({ seq }) => seq === 0).map(push => this.numberOf(push, safe))
    const [, ...numbers] = await Promise.all([safe, ...shared])
    let i = 0
    return pushes.map(({ seq }) => seq === 0 ? numbers[i++] : seq)
  }

  prepare ({ type, payload, jobOptions }, now, stamp, pile) {
    const encoded = pile.put(encode(this.serializer, payload))
    const options = jobOptions === undefined ? NONE : optionsOf(jobOptions, now)
    return new Push(type, jobOptions, encoded, options, stamp, refusalOf(options))
  }

  /** Those that are new jobs. What others make of jobs of the queue goes into the changes. Throws if the record of one cannot be read. */
  freshOf (pushes, changes, now) {
    const first = new Map()
    return pushes.filter(push => {
      const { type, jobOptions, options: { key } } = push
      if (key === undefined) return true
      push.entry = this.sharing.find(type, jobOptions)
      if (push.entry !== undefined) {
        if (!this.sharing.isJoin(push.entry, jobOptions)) this.change(push, changes)
        return false
      }
      const id = idOf(type, key)
      push.twin = first.get(id)
      if (push.twin === undefined) first.set(id, push)
      else if (jobOptions.onDuplicate !== 'join') this.replace(push.twin, push, now)
      return push.twin === undefined
    })
  }

  /** A push changes a job of the queue. */
  change (push, changes) {
    const { sharing } = this
    const { entry, encoded, jobOptions } = push
    if (!changes.has(entry)) changes.set(entry, sharing.begin(entry))
    push.change = changes.get(entry)
    sharing.add(push.change, encoded, jobOptions)
  }

  /** A push changes a new job. */
  replace (twin, { encoded, jobOptions: { cost, onDuplicate, delayMs = twin.delayMs, maxDelayMs } }, now) {
    twin.encoded = encoded
    if (cost !== twin.options.cost) twin.options = { ...twin.options, cost }
    if (onDuplicate !== 'postpone' || twin.delayMs === 0) return
    twin.options = putOff(twin.options, Math.min(delayMs, maxDelayMs), now)
  }

  /** @returns {Error | undefined} why not all can be taken in, each of which counts for those behind it; counted once */
  refusal (fresh, changes) {
    const { dispatch } = this.stage
    let bytes = 0
    let frameBytes = 0
    for (const change of changes) {
      const { type, encoded } = change
      bytes += change.growth
      frameBytes += sizeOf(type, change.bytes.length + encoded.length)
      const error = this.refusals.count(this.sharing.refusal(change, bytes))
      if (error !== undefined) return error
    }
    let counted = 0
    let error
    for (const { type, head, encoded, tooLong } of fresh) {
      bytes += sizeOf(type, head.length - STAMP_BYTES + encoded.length)
      frameBytes += sizeOf(type, head.length + encoded.length)
      error = this.refusals.of(type, bytes, counted + 1) ??
        (tooLong === undefined ? this.refusals.ofRecords(1, head.length + encoded.length, type) : this.refusals.count(tooLong))
      if (error !== undefined) break
      counted++
      dispatch.delayed++
      this.retries.countType(type, 1)
    }
    dispatch.delayed -= counted
    for (const { type } of fresh.slice(0, counted)) this.retries.countType(type, -1)
    return error ?? this.refusals.ofRecords(fresh.length + changes.length, frameBytes)
  }

  /**
   * @returns {Promise<void>} when the new jobs are safe. Throws if the record of a job that is to be changed cannot be read; then nothing
   *   is written
   */
  write (fresh, changes) {
    const { sharing } = this
    const batch = this.writing.batch()
    for (const change of changes) sharing.put(batch, change)
    for (const { type, head, encoded, options } of fresh) batch.add(type, false, head, options !== NONE, encoded)
    const group = this.writing.writeBatch(batch)
    let seq = group.endSeq - fresh.length
    for (const push of fresh) {
      const { type, options, delayMs } = push
      push.seq = seq++
      this.counts.accept(type)
      if (options.key !== undefined) this.keys.take(type, push.seq, { ...options, delayMs })
    }
    const safe = this.writing.trackAll(fresh, group)
    for (const change of changes) change.promise = sharing.follow(change, group)
    // placing may start others, which finds all of them written
    for (const push of fresh) this.place(push)
    return safe
  }

  /** One that was put off to now is delayed nonetheless: it comes behind all that wait. */
  place ({ type, seq, options, delayMs }) {
    if (delayMs > 0) this.retries.placeLater(seq, type, false, options, options.delayMs)
    else this.retries.placeNew(seq, type, false, options)
  }

  /** Of one that shares a job. */
  numberOf ({ type, entry, change, twin }, safe) {
    if (twin !== undefined) return this.joined(type, safe.then(() => twin.seq), twin.seq)
    if (change !== undefined) return this.joined(type, change.promise, entry.job)
    const { job, promise } = this.sharing.join(entry, type)
    this.results.keep(job)
    return promise
  }

  joined (type, promise, seq) {
    this.counts.note('joined', type)
    this.results.keep(seq)
    return promise
  }
}

module.exports = { PushAll }
