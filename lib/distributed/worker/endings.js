'use strict'

// How the broker is told of what became of jobs. A call whose answer was lost is made again: if the broker refuses it then, it may have
// been the first one that ended the job, which is looked up. A job that is someone else's by then is lost.

const { errorOf } = require('../../job/error-text')

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
   * @param {{ broker: object, overdue: object, outcomes: object }} parts
   * @param {{ token: string, resultTtlMs: number }} options token: what this process is called, which its locks carry
   */
  constructor ({ broker, overdue, outcomes }, { token, resultTtlMs }) {
    this.broker = broker
    this.overdue = overdue
    this.outcomes = outcomes
    this.token = token
    this.kept = resultTtlMs === 0 ? true : { age: resultTtlMs / 1000 }
  }

  /**
   * @param {import('./ending').Ending} ending
   * @param {boolean} fetches the next job of the type
   * @param {(err: any) => void} [repeats] called when the call is to be made again, which fetches nothing
   * @returns {Promise<any[] | undefined>} as of moveToActive; undefined if nothing was fetched
   */
  async tell (ending, fetches, repeats) {
    const { job, delivery } = ending
    if (delivery !== undefined) await this.overdue.keep(job, delivery)
    const { epoch, isCluster } = this.broker
    let isUnsure = isCluster // its client makes calls again by itself
    let next
    try {
      next = await this.broker.until(Infinity, isRepeated => {
        isUnsure ||= isRepeated
        return this.call(ending, fetches && !isRepeated)
      }, { repeats })
    } catch (err) {
      // the broker has answered if its answer cannot be read: it is the next job that is not as it should be
      isUnsure ||= epoch !== this.broker.epoch || err instanceof SyntaxError || err instanceof TypeError
      if (!isUnsure || !await this.hasEnded(ending)) {
        job.supply.lose(job, err)
        return undefined
      }
    }
    job.supply.drop(job)
    this.outcomes.ended(ending)
    return next
  }

  // private from here on

  async call ({ job, kind, details }, fetches) {
    const { backend } = job.place
    const { name: id } = job
    const { token } = this
    switch (kind) {
      case 'done': {
        const isKept = job.inbox !== undefined
        const [result, removal] = isKept ? [details.result, this.kept] : [null, true]
        const { result: next } = await backend.moveToCompleted({ id, opts: {} }, result, removal, token, fetches)
        return next
      }
      case 'dead': case 'cancelled': {
        const { fields, fault } = details
        const minimal = { id, opts: { attempts: job.attempt } }
        const { result } = await backend.moveToFailed(minimal, errorOf(fault).message, kind === 'cancelled', token, fetches, fields)
        return result
      }
      case 'retried': case 'postponed':
        return backend.moveToDelayed(id, Date.now(), details.delayMs, token, {
          fetchNext: fetches, skipAttempt: kind === 'postponed', fieldsToUpdate: details.fields
        })
      case 'throttled':
        await this.broker.hold(job.place, details.holdMs, id)
        await job.supply.recheck()
        return backend.moveJobFromActiveToWait(id, token).then(ignore)
      default:
        return backend.moveJobFromActiveToWait(id, token).then(ignore)
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

function ignore () {}

module.exports = { Endings }
