'use strict'

// How the broker is told of what became of jobs. A call whose answer was lost is made again: if the broker refuses it then, it may have
// been the first one that ended the job, which is looked up. A job that is someone else's by then is lost.

const { errorOf } = require('../../job/error-text')
const { REFUSED } = require('../broker/scripts/end')

// what a job is at the broker once it has ended so
const ENDED = {
  done: ['completed', 'unknown'],
  dead: ['failed'],
  cancelled: ['unknown'],
  retried: ['delayed', 'waiting', 'unknown'],
  postponed: ['delayed', 'waiting', 'unknown'],
  throttled: ['waiting', 'unknown'],
  returned: ['waiting', 'unknown']
}

class Endings {
  /**
   * @param {{ broker: object, overdue: object, outcomes: object, takes: object }} parts
   * @param {{ resultTtlMs: number }} options
   */
  constructor ({ broker, overdue, outcomes, takes }, { resultTtlMs }) {
    this.broker = broker
    this.overdue = overdue
    this.outcomes = outcomes
    this.takes = takes
    this.keptMs = resultTtlMs
  }

  /** Before the end of a job is told whose runner may go on. @param {import('./ending').Ending} ending @returns {Promise<void>} */
  keepPlace ({ job, delivery }) {
    return this.overdue.keep(job, delivery)
  }

  /**
   * Tells it, at once if the broker is there.
   * @param {import('./ending').Ending} ending
   * @param {object} [taker] place of the type of which the next job is taken
   * @param {(err: any) => void} [repeats] called when the call is to be made again, which fetches nothing
   * @returns {Promise<object | undefined>} an Answer; undefined if nothing was fetched
   */
  async tell (ending, taker, repeats) {
    const { job } = ending
    const { epoch, isCluster } = this.broker
    let isUnsure = isCluster // its client makes calls again by itself
    let answer
    try {
      answer = await this.broker.until(Infinity, isRepeated => {
        isUnsure ||= isRepeated
        return this.call(ending, isRepeated ? undefined : taker)
      }, { repeats })
    } catch (err) {
      isUnsure ||= epoch !== this.broker.epoch
      if (!isUnsure || isUnheard(ending, err) || !await this.hasEnded(ending)) {
        job.supply.lose(job, err)
        return undefined
      }
    }
    job.supply.drop(job)
    this.outcomes.ended(ending, answer?.inboxes)
    return taker !== undefined && answer !== undefined ? this.fetched(taker, answer) : undefined
  }

  // private from here on

  async call ({ job, kind, details, delivery }, taker) {
    const { fields, fault, text, delayMs, holdMs } = details
    const ms = this.keptMs
    const isWanted = job.inbox !== undefined
    switch (kind) {
      case 'done':
        return this.takes.end(job, kind, { value: text ?? 'null', ms: text === undefined ? 0 : ms, isWanted }, taker)
      case 'dead': case 'cancelled':
        return this.takes.end(job, delivery === undefined && kind === 'cancelled' ? 'withdrawn' : kind, {
          value: errorOf(fault).message, ms, isWanted, fields
        }, taker)
      case 'retried': case 'postponed':
        return this.takes.end(job, kind, { ms: delayMs, fields }, taker)
      case 'throttled':
        await this.broker.hold(job.place, holdMs, job.name)
        await job.supply.recheck()
    }
    return this.takes.end(job, 'returned', { fields })
  }

  /** What came with an end; if this process knew other limits, what is asked for by those that hold now. */
  async fetched (place, answer) {
    if (!answer.isStale) return answer
    try {
      await this.takes.notice(place, answer)
      return await this.takes.take(place)
    } catch {
      return undefined // it is asked for again after a while
    }
  }

  async hasEnded ({ job, kind }) {
    try {
      return ENDED[kind].includes(await this.broker.until(Infinity, () => job.place.backend.getState(job.name)))
    } catch {
      return false
    }
  }
}

/** A job that was done starts no more: one that has started again was not, whatever it is by now. */
function isUnheard ({ kind }, { code }) {
  return kind === 'done' && code === REFUSED.OTHER_START
}

module.exports = { Endings }
