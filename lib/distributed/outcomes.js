'use strict'

// What becomes of jobs in this process: it is counted, listeners hear of it, and so does the process that waits for the result.

const NO_COUNTS = { accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0, retried: 0, lost: 0 }

class Outcomes {
  /**
   * @param {{ notices: object }} parts
   * @param {(event: string, value: object) => void} tell listeners
   */
  constructor ({ notices }, tell) {
    this.notices = notices
    this.tell = tell
    this.counts = { ...NO_COUNTS }
  }

  /** @param {object | undefined} place undefined where a closed queue has none */
  count (place, what) {
    this.counts[what]++
    if (place !== undefined) place.counts[what]++
  }

  /** The broker has the end of a job, or of an attempt. */
  ended ({ job, kind, details: { result, text, error, fault, delayMs } }) {
    const { id, place, attempt } = job
    const { type } = place
    if (kind === 'retried' || kind === 'postponed') job.supply.wakeIn(delayMs)
    if (['returned', 'throttled', 'postponed'].includes(kind)) return
    if (kind === 'retried') {
      this.count(place, 'retried')
      this.tell('retry', { id, type, attempt, error, delayMs })
      return
    }
    if (job.inbox !== undefined) this.notices.send(place.partition, job.inbox, id, text, fault)
    if (kind === 'done') {
      this.count(place, 'done')
      this.tell('done', { id, type, attempt, result })
    } else if (kind === 'dead') {
      this.count(place, 'failed')
      this.tell('failed', { id, type, attempt, error })
    } else {
      this.count(place, 'cancelled')
      this.tell('cancelled', { id, type, error })
    }
  }

  /** A job whose runner was called is another process's. */
  lost ({ id, place, attempt }, error) {
    this.count(place, 'lost')
    this.tell('lost', { id, type: place.type, attempt, error })
  }
}

module.exports = { Outcomes, NO_COUNTS }
