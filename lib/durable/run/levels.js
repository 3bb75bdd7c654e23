'use strict'

// Priorities of a job queue: those of the queue in memory. Nothing of it is loaded without the option `priorityMs`
// (docs/decisions/0087-priorities-on-disk.md).
//
// The list of the queue in memory tells by its own clock when a job was pushed. Jobs that are found on disk were pushed by earlier
// processes: for them it reaches back to the first one. In the order of their ids no job counts as pushed before those in front of it, nor
// after the queue was opened, wherever the clock of the machine was set meanwhile.

/** Has jobs that are found on disk count as pushed when they were. */
class Ages {
  /**
   * @param {object} list of the queue in memory, which is empty
   * @param {{ pushedAt: (seq: number) => number }} survey
   * @param {object} clocks
   */
  constructor (list, survey, clocks) {
    this.list = list
    this.survey = survey
    this.clocks = clocks
    this.openedAt = clocks.now()
    this.offset = clocks.time() - this.openedAt
    this.latest = undefined // when the job before was pushed
  }

  /** What is put into the list until end() is this job. */
  begin (seq) {
    const { clocks, list, openedAt, offset } = this
    const pushedAt = Math.min(this.survey.pushedAt(seq), openedAt)
    if (this.latest === undefined) list.levels.reachBack(openedAt - pushedAt)
    this.latest = Math.max(this.latest ?? pushedAt, pushedAt)
    list.levels.ageMs = clocks.time() - offset - this.latest
  }

  end () {
    this.list.levels.ageMs = 0
  }
}

module.exports = { Ages }
