'use strict'

// A naive account of what a queue's jobs do, told by the test, that fails when a job does what none may.

/** What a test has seen of the jobs of one queue. Jobs are whatever the test names them by. */
class Model {
  constructor () {
    this.states = new Map() // job → 'waiting', 'running', 'settled'
    this.counts = { accepted: 0, rejected: 0, settled: 0 }
  }

  /** The job was handed to the queue. */
  pushed (job) {
    this.expect(!this.states.has(job), job, 'was pushed twice')
    this.states.set(job, 'waiting')
    this.counts.accepted++
  }

  /** The queue has refused the job. */
  refused (job) {
    this.expect(this.states.get(job) === 'waiting', job, 'was refused after it had started or settled')
    this.states.set(job, 'settled')
    this.counts.accepted--
    this.counts.rejected++
  }

  /** The runner was called for the job. */
  started (job) {
    this.expect(this.states.get(job) === 'waiting', job, `was started while ${this.stateOf(job)}`)
    this.states.set(job, 'running')
  }

  /** The job was called back, or its promise settled. */
  settled (job) {
    this.expect(['waiting', 'running'].includes(this.states.get(job)), job, `was settled while ${this.stateOf(job)}`)
    this.states.set(job, 'settled')
    this.counts.settled++
  }

  /** Compares with what the queue counts, once all jobs have been told about. @throws if they differ */
  finish (queue) {
    for (const [job, state] of this.states) this.expect(state === 'settled', job, `is still ${state}`)
    const { accepted, rejected, done, failed, cancelled } = queue.stats()
    const settled = done + failed + cancelled
    for (const [name, count] of Object.entries({ accepted, rejected, settled })) {
      if (count !== this.counts[name]) throw new Error(`the queue counts ${count} ${name} jobs, but the model counts ${this.counts[name]}`)
    }
  }

  // private from here on

  stateOf (job) {
    return this.states.get(job) ?? 'not pushed'
  }

  expect (condition, job, what) {
    if (!condition) throw new Error(`job ${String(job)} ${what}`)
  }
}

module.exports = { Model }
