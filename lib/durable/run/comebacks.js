'use strict'

// Jobs whose attempt has ended and that run again: later, since it failed or asked for that, or in the place that they had, since it was
// taken back.

const { rethrow } = require('../../platform/clock')
const { backoffAfter } = require('../../job/backoff')
const { errorText } = require('../../job/error-text')
const { JobState } = require('./job-state')

class Comebacks {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ backoffMs: Function }} options
   */
  constructor ({ attempts, clocks, endings, limiting, outage, report: { counts, events, ledger }, retries, store }, { backoffMs }) {
    this.attempts = attempts
    this.clocks = clocks
    this.endings = endings
    this.limiting = limiting
    this.outage = outage
    this.counts = counts
    this.events = events
    this.ledger = ledger
    this.retries = retries
    this.store = store
    this.backoffMs = backoffMs
  }

  /** The job counts as delayed while the caller is asked for how long that is to be, who may cancel it or close the queue. */
  retry (delivery, error) {
    const { id: seq, type, payload, attempt } = delivery
    this.retries.add(seq, type, Infinity)
    this.ledger?.undecided(seq, error)
    const delayMs = backoffAfter(this.backoffMs, attempt, error, rethrow)
    if (!this.store.live.has(seq)) return // cancelled
    if (delayMs === Infinity) {
      this.retries.drop(seq)
      this.endings.bury(delivery, error)
      return
    }
    this.counts.note('retried', type)
    this.outage.change(seq, JobState.due(attempt, this.clocks.now() + delayMs, delayMs, errorText(error)))
    this.ledger?.again(seq, error)
    this.retries.delay(seq, delayMs)
    this.retries.settled(seq)
    this.events.tell('retry', { id: seq, type, payload, attempt, error, delayMs })
  }

  /** The type of the job is held, and the job waits as the first of it. The attempt does not count. */
  throttled (delivery, error) {
    const { id: seq, slot: { type } } = delivery
    this.counts.note('throttled', delivery.type)
    this.attempts.takeBack(delivery)
    this.retries.add(seq, type, Infinity)
    this.ledger?.postponed(seq, error)
    this.limiting.throttle(type, error.retryAfterMs)
    if (!this.retries.isDelayed(seq)) return // a scheduler has cleared or closed the queue
    this.retries.drop(seq)
    this.ledger?.due(seq)
    this.retries.placeAgain(seq, type)
  }

  /** The job waits for its time, as after an attempt that has failed. This one does not count. */
  postponed ({ id: seq, type, attempt, before }, error) {
    const { delayMs } = error
    this.outage.change(seq, JobState.due(attempt - 1, this.clocks.now() + delayMs, delayMs, before?.error))
    this.ledger?.postponed(seq, error)
    this.retries.add(seq, type, delayMs)
    this.retries.settled(seq)
  }

  /** The attempt was taken back before its runner was called, by a pause or a hold. */
  recalled (delivery) {
    const { job, slot, waitsUntil } = delivery
    this.attempts.uncount(delivery)
    this.retries.placeAgain(job, slot.type, waitsUntil === Infinity ? Infinity : Math.max(0, waitsUntil - this.clocks.time()))
  }

  /** The queue has closed while the runner went on: the attempt does not count. */
  abandoned (delivery) {
    this.attempts.uncount(delivery)
  }
}

module.exports = { Comebacks }
