'use strict'

// Jobs with one attempt left that were there when a process ended. Each runs alone, in the whole process: what ends the process then, was that job,
// and nobody else pays for it.

class Suspects {
  /** @param {{ holdUp: () => void, letGo: () => void }} hooks holdUp: nothing starts until letGo */
  constructor (hooks) {
    this.hooks = hooks
    this.current = undefined
    this.whenAlone = undefined
  }

  /**
   * @param {object} job
   * @param {number} runningCount how many jobs run now
   * @returns {Promise<boolean>} resolves when nothing else runs; false, if another one has that already
   */
  enter (job, runningCount) {
    if (this.current !== undefined) return Promise.resolve(false)
    this.current = job
    this.hooks.holdUp()
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
      this.hooks.letGo()
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
