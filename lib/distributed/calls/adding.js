'use strict'

// Jobs that this process pushes, and results that it waits for: admission, then the broker, then, if somebody waits, the end of the job.

const { abortedError, typeError } = require('../../arguments/errors')
const { JobNames } = require('../names')

class Adding {
  /**
   * @param {object} parts batches, broker, intake, jobs, observed, outcomes, results, stage
   * @param {object} options read: token, serialize, priorityMs, isClosed, makeClosedError
   */
  constructor ({ batches, broker, intake, jobs, observed, outcomes, results, stage }, options) {
    const { token, serialize, priorityMs, isClosed, makeClosedError } = options
    this.batches = batches
    this.broker = broker
    this.intake = intake
    this.jobs = jobs
    this.observed = observed // undefined without observers
    this.outcomes = outcomes
    this.results = results
    this.stage = stage
    this.names = new JobNames(token)
    this.serialize = serialize
    this.hasPriorities = priorityMs !== undefined
    this.isClosed = isClosed
    this.makeClosedError = makeClosedError
  }

  /** @returns {Promise<string>} the id of the job, when the broker has it */
  push (type, payload, unshift, jobOptions) {
    this.check(type, jobOptions)
    if (this.isClosed()) return this.refuse(undefined, this.makeClosedError())
    const place = this.broker.place(type)
    const data = this.serialize.encode(payload, undefined)
    const refusal = this.refusal(place)
    if (refusal !== undefined) return this.refuse(place, refusal)
    return this.store(place, { ...jobOptions, jobName: this.names.next(), data, unshift }).then(([name]) => place.idOf(name))
  }

  /** @returns {Promise<any>} the result of the job */
  add (type, payload, unshift, jobOptions, signal) {
    this.check(type, jobOptions)
    if (this.isClosed()) return this.refuse(undefined, this.makeClosedError())
    const { results } = this
    const { inbox } = results
    const place = this.broker.place(type)
    const hasKey = jobOptions.plan?.key !== undefined
    const data = this.serialize.encode(payload, hasKey ? undefined : inbox)
    const refusal = signal?.aborted ? abortedError(signal.reason) : this.refusal(place)
    if (refusal !== undefined) return this.refuse(place, refusal)
    const job = { ...jobOptions, jobName: this.names.next(), data, unshift, inbox: hasKey ? inbox : undefined }
    return new Promise((resolve, reject) => {
      let letGo = ignore
      const waiter = results.add(place, job.jobName, (err, result) => {
        letGo()
        if (err) reject(err)
        else resolve(result)
      })
      const fail = err => results.settle(waiter, err)
      const pushed = this.intake.expect(place)
      const stored = results.open().then(() => {
        pushed()
        return this.store(place, job)
      }, err => {
        pushed()
        throw err
      })
      stored.then(answer => results.stored(waiter, ...answer), fail)
      if (signal === undefined) return
      letGo = this.stage.whenAborted(signal, () => {
        const error = abortedError(signal.reason)
        fail(error)
        stored.then(([name]) => {
          waiter.name = name
          return results.isWanted(waiter) ? undefined : this.desert(waiter, error)
        }).catch(ignore)
      })
    })
  }

  /**
   * @param {{ type: string, payload: any, jobOptions: object }[]} jobs
   * @returns {Promise<string[]>} their ids
   */
  pushAll (jobs) {
    for (const { type, jobOptions } of jobs) this.check(type, jobOptions)
    if (this.isClosed()) return this.refuseAll(jobs.length, this.makeClosedError())
    const read = jobs.map(({ type, payload, jobOptions }) => {
      const data = this.serialize.encode(payload, undefined)
      return { place: this.broker.place(type), job: { ...jobOptions, jobName: this.names.next(), data, unshift: false } }
    })
    const counts = new Map() // place → how many of them
    for (const { place } of read) counts.set(place, (counts.get(place) ?? 0) + 1)
    for (const [place, count] of counts) {
      const refusal = this.refusal(place, count)
      if (refusal !== undefined) return this.refuseAll(jobs.length, refusal, place)
    }
    return this.batches.push(read)
  }

  /** @returns {Promise<any>} the result of a job that any process has pushed */
  wait (id, signal) {
    if (this.isClosed()) return Promise.reject(this.makeClosedError())
    if (signal?.aborted) return Promise.reject(abortedError(signal.reason))
    return new Promise((resolve, reject) => {
      let letGo = ignore
      const leave = this.results.wait(id, (err, result) => {
        letGo()
        if (err) reject(err)
        else resolve(result)
      })
      if (signal === undefined) return
      letGo = this.stage.whenAborted(signal, () => {
        leave()
        reject(abortedError(signal.reason))
      })
    })
  }

  /** @returns {Promise<void>} resolves when every push up to now is stored or was rejected */
  async flush () {
    await this.results.whenOpen()
    await Promise.all([this.intake.flush(), this.batches.flush()])
  }

  // private from here on

  async desert (waiter, error) {
    await this.jobs.desert(waiter.place, waiter.name, this.results.inbox, error)
    await this.results.stay(waiter)
  }

  /** @returns {Promise<[string, number]>} as Intake.push() */
  async store (place, job) {
    const { outcomes } = this
    if (job.plan?.key === undefined) outcomes.count(place, 'accepted')
    const answer = await this.intake.push(place, job)
    // whether its key was free, the broker knows
    if (job.plan?.key !== undefined) outcomes.count(place, answer[1] === 0 ? 'accepted' : 'joined')
    return answer
  }

  check (type, { plan }) {
    if (plan?.priority !== undefined && !this.hasPriorities) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'priority needs a queue with the option priorityMs')
    }
    if (plan?.cost !== undefined) this.intake.checkCost(type, plan.cost)
  }

  /** After encoding, which may have closed the queue. */
  refusal (place, count) {
    return this.isClosed() ? this.makeClosedError() : this.intake.refusal(place, count)
  }

  refuse (place, error) {
    return this.refuseAll(1, error, place)
  }

  refuseAll (count, error, place) {
    this.outcomes.count(place, 'rejected', count)
    for (let n = 0; n < count; n++) this.observed?.refused(place?.type, error)
    return Promise.reject(error)
  }
}

function ignore () {}

module.exports = { Adding }
