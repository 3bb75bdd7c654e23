'use strict'

// What becomes of jobs in this process: it is counted, listeners hear of it, and so does the process that waits for the result.

const NO_COUNTS = { accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0, retried: 0, throttled: 0, joined: 0, lost: 0, spent: 0 }

class Outcomes {
  /**
   * @param {{ notices: object }} parts
   * @param {{ serialize: { decode: (data: object) => any } }} options
   * @param {(event: string, makeValue: () => object) => void} tell listeners, if there are any
   */
  constructor ({ notices }, { serialize }, tell) {
    this.notices = notices
    this.serialize = serialize
    this.tell = tell
    this.counts = { ...NO_COUNTS }
  }

  /** @param {object | undefined} place undefined where a closed queue has none */
  count (place, what, number = 1) {
    this.counts[what] += number
    if (place !== undefined) place.counts[what] += number
  }

  /**
   * The broker has the end of a job, or of an attempt.
   * @param {object} ending
   * @param {readonly string[]} [inboxes] others that wait for its result
   */
  ended ({ job, kind, details: { result, text, error, fault, delayMs } }, inboxes = []) {
    const { id, place } = job
    if (kind === 'retried' || kind === 'postponed') job.supply.wakeIn(delayMs)
    if (kind === 'throttled') this.count(place, 'throttled')
    if (['returned', 'throttled', 'postponed'].includes(kind)) return
    if (kind === 'retried') {
      this.count(place, 'retried')
      this.told('retry', job, { error, delayMs })
      return
    }
    if (job.inbox !== undefined) this.notices.send(place.partition, job.inbox, id, text, fault)
    for (const inbox of inboxes) this.notices.send(place.partition, inbox, id, text, fault)
    if (kind === 'done') {
      this.count(place, 'done')
      this.told('done', job, { result })
    } else if (kind === 'dead') {
      this.count(place, 'failed')
      this.told('failed', job, { error })
    } else {
      this.count(place, 'cancelled')
      this.told('cancelled', job, { error })
    }
  }

  /** A job whose runner was called is another process's. */
  lost (job, error) {
    this.count(job.place, 'lost')
    this.told('lost', job, { error })
  }

  /** A runner says how far its job is. */
  progressed (job, value) {
    this.told('progress', job, { value })
  }

  /** A job that waited was cancelled by this process. @param {() => any} payloadOf */
  cancelled (place, about, payloadOf) {
    this.count(place, 'cancelled')
    this.tellCancelled(place, about, payloadOf)
  }

  /** The same for one of many, which are counted together. */
  tellCancelled (place, { id, attempt, error }, payloadOf) {
    this.tell('cancelled', () => ({ id, type: place.type, payload: decoded(payloadOf), attempt, error }))
  }

  // private from here on

  told (event, job, more) {
    this.tell(event, () => ({ id: job.id, type: job.place.type, payload: this.payloadOf(job), attempt: attemptOf(job), ...more }))
  }

  /** That of a job whose runner was not called is decoded for those who listen. */
  payloadOf (job) {
    return job.payload === undefined ? decoded(() => this.serialize.decode(job.parsed())) : job.payload
  }
}

/** Of a job that waits for an attempt: how many have ended. */
function attemptOf ({ attempt, json: { attemptsMade } }) {
  return attempt === 0 ? attemptsMade : attempt
}

/** @returns {any} undefined if it cannot be decoded */
function decoded (decode) {
  try {
    return decode()
  } catch {
    return undefined
  }
}

module.exports = { Outcomes, NO_COUNTS }
