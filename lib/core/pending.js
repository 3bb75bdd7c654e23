'use strict'

// HOT (bench: fifo). Which started jobs pend: their runners have returned, and they have not settled. close() must find them.
//
//   ring ⇄ job ⇄ job ⇄ job ⇄ ring      in the order of their starts, linked through the jobs themselves

class Pending {
  constructor () {
    this.before = this.after = this
  }

  /** @param {{ state: number, before: object, after: object }} job whose state is PENDING from now until drop() */
  add (job) {
    const last = this.before
    job.before = last
    job.after = this
    last.after = this.before = job
  }

  /** The job does not pend any more. */
  drop (job) {
    const { before, after } = job
    before.after = after
    after.before = before
    job.before = job.after = undefined
  }

  /** Those that pend now, in the order of their starts. */
  list () {
    const jobs = []
    for (let job = this.after; job !== this; job = job.after) jobs.push(job)
    return jobs
  }
}

module.exports = { Pending }
