'use strict'

// HOT (bench: metrics). The recorder of a list whose queue has no other observer than a control: of all that it is told, it hands on
// what becomes of runs. So nothing is kept of jobs that wait.

const NO_PLACES = { get: () => [] } // of jobs in blocks

class RunRecorder {
  /** @param {Runs} runs */
  constructor (runs) {
    this.runs = runs
    this.removedIds = []
  }

  /** A job waits. @returns {JobClass | undefined} what is given for the next one of the type: a look-up at each start took 20 ns more */
  accepted (type, number, jobClass) {
    return jobClass ?? this.runs.classOfWaiting(type)
  }

  /**
   * @param {number} [number] that the list has given the job
   * @param {string} [type]
   * @param {JobClass} [jobClass] what was returned for the type
   * @returns {Run | undefined} what stands for the id of the job
   */
  taken (number, type, jobClass) {
    return this.runs.started(type, jobClass)
  }

  /** A runner has ended. @param {string} outcome as of TypeCounts in the core */
  ended (run, outcome, err) {
    if (outcome === 'done') this.runs.done(run)
    else if (outcome !== 'settled') this.runs.failed(run, err)
  }

  /** It was settled while its runner goes on. */
  interrupted (run, outcome, end) {
    if (outcome !== 'cancelled') this.runs.failed(run, end.error())
  }

  places () {
    return NO_PLACES
  }

  tellRemovals () {
    this.removedIds.length = 0
  }

  // of no interest

  pushed () {}
  unshifted () {}
  leaves () {}
  dropped () {}
  removesAll () {}
  removed () {}
  fillHoles () {}
  delayed () {}
  charged () {}
  outlives () {}
  ends () {}
  waitMsOfFirst () {}
  waitMsAt () {}
  cancelled () {}
  failed () {}
  again () {}
}

module.exports = { RunRecorder }
