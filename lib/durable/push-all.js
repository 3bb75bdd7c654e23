'use strict'

// Pushes of several jobs at once: they are written in one frame, so after a crash all of them are there or none. None is taken in unless all are.

const { encode } = require('../serializers')
const { Batch } = require('./batch')
const { NONE, headOf, optionsOf, refusalOf } = require('./job-options')
const { sizeOf, stampOf, STAMP_BYTES } = require('./serialize')

class PushAll {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ serialize: object, now: () => number }} options now: in ms since 1970
   */
  constructor ({ admission, counts, intake, keys, results, retries, stage, store, waiting }, { serialize, now }) {
    this.admission = admission
    this.counts = counts
    this.intake = intake
    this.keys = keys
    this.results = results
    this.retries = retries
    this.stage = stage
    this.store = store
    this.waiting = waiting
    this.serializer = serialize
    this.now = now
  }

  /**
   * @param {{ type: string | undefined, payload: any, said: object | undefined }[]} jobs
   * @returns {Promise<number[]>} their numbers, when all are safe; rejects as Intake.push()
   * @throws FAIRLANE_ERR_ARGUMENT: then none is pushed
   */
  push (jobs) {
    const now = this.now()
    const prepared = jobs.map(job => this.prepare(job, now))
    // those that are held were pushed before
    this.admission.writeNow()
    const fresh = this.freshOf(prepared)
    if (fresh.length > 0) {
      const { error, type } = this.refusal(fresh)
      if (error !== undefined) return this.intake.refuse(type, error).promise
      this.write(fresh)
    }
    return Promise.all(prepared.map(job => this.numberOf(job)))
  }

  // private from here on

  prepare ({ type, payload, said }, now) {
    const encoded = encode(this.serializer, payload)
    const options = said === undefined ? NONE : optionsOf(said, now)
    const tooLong = refusalOf(options)
    const head = tooLong === undefined && said !== undefined ? headOf(stampOf(now), options) : Buffer.from(stampOf(now))
    return { type, said, encoded, options, head, tooLong, entry: undefined, twin: undefined, seq: 0 }
  }

  /** Those that share no job by their keys, with one that is there or one that comes before. */
  freshOf (prepared) {
    const first = new Map()
    return prepared.filter(job => {
      const { type = '', options: { key } } = job
      if (key === undefined) return true
      job.entry = this.intake.sharedBy(job.type, job.said)
      const id = JSON.stringify([type, key])
      job.twin = first.get(id)
      if (job.twin === undefined) first.set(id, job)
      return job.entry === undefined && job.twin === undefined
    })
  }

  /** @returns {{ error: Error | undefined, type: string | undefined }} why not all can be taken in, each of which counts for those behind it */
  refusal (jobs) {
    const { dispatch } = this.stage
    let bytes = 0
    let frameBytes = 0
    let counted = 0
    let error
    for (const { type, head, encoded, tooLong } of jobs) {
      bytes += sizeOf(type, head.length - STAMP_BYTES + encoded.length)
      frameBytes += sizeOf(type, head.length + encoded.length)
      error = this.intake.refusal(type, bytes, counted + 1) ??
        this.intake.countRejected(tooLong ?? this.store.refusal(1, head.length + encoded.length, type))
      if (error !== undefined) break
      counted++
      dispatch.delayed++
      this.retries.countType(type, 1)
    }
    dispatch.delayed -= counted
    for (const { type } of jobs.slice(0, counted)) this.retries.countType(type, -1)
    const { type } = jobs[Math.min(counted, jobs.length - 1)]
    return { error: error ?? this.intake.countRejected(this.store.refusal(jobs.length, frameBytes)), type }
  }

  write (jobs) {
    const batch = new Batch(this.store)
    for (const { type, head, encoded, options } of jobs) batch.add(type, false, head, options !== NONE, encoded)
    const group = this.admission.write(batch)
    let seq = this.store.nextSeq - jobs.length
    for (const job of jobs) {
      const { type, options } = job
      job.seq = seq++
      this.intake.trackAs(job.seq, group, type, undefined, options.delayMs > 0)
      this.counts.accepted++
      if (options.key !== undefined) this.keys.take(type, job.seq, options)
    }
    // placing may start others, which finds all of them written
    for (const { type, seq, options } of jobs) this.waiting.placeNew(seq, type, false, options)
  }

  numberOf ({ seq, entry, twin }) {
    if (seq !== 0) return this.intake.whenSafe(seq)
    if (entry === undefined) return this.joined(this.intake.whenSafe(twin.seq), twin.seq)
    const { job, promise } = this.intake.sharing.join(entry)
    this.results.keep(job)
    return promise
  }

  joined (promise, seq) {
    this.counts.joined++
    this.results.keep(seq)
    return promise
  }
}

module.exports = { PushAll }
