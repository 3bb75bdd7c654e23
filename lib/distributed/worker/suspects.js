'use strict'

// Jobs with one attempt left that were there when a process ended. Each runs alone, in the whole process: if the process ends then, it
// was that job, and no other job loses an attempt.

class Suspects {
  /** @param {{ stage: object, taking: object }} parts that are held up while a job runs alone */
  constructor ({ stage, taking }) {
    this.stage = stage
    this.taking = taking
    this.current = undefined // the job that runs alone, or is to
    this.whenAlone = undefined // resolves its wait
  }

  /**
   * @param {object} job
   * @param {number} runningCount how many jobs run now
   * @returns {Promise<boolean>} resolves when nothing else runs; false, if another one has that already
   */
  enter (job, runningCount) {
    if (this.current !== undefined) return Promise.resolve(false)
    this.current = job
    this.stage.hold()
    this.taking.holdUp(true)
    return new Promise(resolve => {
      this.whenAlone = resolve
      this.check(runningCount)
    })
  }

  /** A job has ended, or its slot was taken away. @param {number} runningCount how many jobs run now */
  left (job, runningCount) {
    if (job === this.current) {
      this.current = undefined
      this.whenAlone?.(false)
      this.whenAlone = undefined
      this.taking.holdUp(false)
      this.stage.letGo()
    } else {
      this.check(runningCount)
    }
  }

  // private from here on

  check (runningCount) {
    if (this.whenAlone === undefined || runningCount > 0) return
    const resolve = this.whenAlone
    this.whenAlone = undefined
    resolve(true)
  }
}

module.exports = { Suspects }
