'use strict'

// What listeners of a queue are told of its jobs: that they are done, failed or cancelled, and how far they are. A job that starts while
// somebody listens has a Teller in the place of its callback, or ticket; one that is cancelled while it waits gets its Teller then.

const { JobContext } = require('../platform/context')
const { callSafely } = require('../platform/clock')
const { ON_STACK, spend, tell } = require('./running')

/** Who listens to what becomes of the jobs of a queue. */
class Listeners {
  /** @param {{ listenerCount: (event: string) => number, emit: (event: string, about: object) => void }} queue */
  constructor (queue, dispatch) {
    this.queue = queue
    this.dispatch = dispatch
    this.hearProgress = false
    this.hearCancelled = false
  }

  /** Somebody has come, or gone. */
  changed () {
    const { dispatch } = this
    this.hearProgress = this.hear('progress')
    this.hearCancelled = dispatch.list.keepsTypes = this.hear('cancelled')
    const isHeard = this.hearProgress || this.hearCancelled || this.hear('done') || this.hear('failed')
    dispatch.listen(isHeard ? this : null)
  }

  /** A job starts. @returns {JobContext} what its runner is told of it, unless it has extras */
  starts (job, context) {
    const { whenSettled } = job
    const teller = job.whenSettled = new Teller(this, job, whenSettled, context.type, job.payload, attemptOf(whenSettled))
    return this.hearProgress || this.dispatch.costs !== null ? new JobContext(context.type, 1, teller) : context
  }

  /** A job is cancelled that waited, and somebody listens. @returns {Teller} what stands for its callback, or ticket */
  cancels (whenSettled, type, payload) {
    const teller = new Teller(this, undefined, whenSettled, type, payload, attemptOf(whenSettled) - 1)
    teller.isCancelled = true
    return teller
  }

  /** The same of a ticket that waits. @returns {object | undefined} as an End, if somebody listens */
  cancelsTicket (ticket) {
    if (!this.hearCancelled) return undefined
    const { type, payload } = this.dispatch.list.jobOf(ticket)
    const whenSettled = this.cancels(ticket, type, payload)
    return { hasSignal: false, generation: ticket.generation, whenSettled, error: () => ticket.error() }
  }

  /** A job has failed after all that was to be tried again. */
  fails ({ type, payload, attempt }, error) {
    if (this.hear('failed')) this.tell('failed', { id: undefined, type, payload, attempt: attempt - 1, error })
  }

  /** A runner says how far its job is. Once the attempt has ended, that is of no interest. */
  progresses (job, attempt, value) {
    if (job.state < ON_STACK) return
    this.announce('progress', { id: undefined, type: job.origin?.type, payload: job.payload, attempt, value })
  }

  /** Tells listeners in the context of the queue. */
  announce (event, ...about) {
    if (this.hear(event)) this.dispatch.call(() => this.queue.emit(event, ...about))
  }

  hear (event) {
    return this.queue.listenerCount(event) > 0
  }

  tell (event, about) {
    this.queue.emit(event, about)
  }
}

/** In the place of a callback, or ticket: calls back, then tells listeners. */
class Teller {
  constructor (listeners, job, whenSettled, type, payload, attempt) {
    this.listeners = listeners
    this.job = job // while it runs
    this.whenSettled = whenSettled
    this.type = type
    this.payload = payload
    this.attempt = attempt
    this.isCancelled = false
  }

  settle (err, result) {
    const { listeners, whenSettled, type, payload, attempt, isCancelled } = this
    this.job = this.whenSettled = this.payload = undefined // callers may keep the context
    if (whenSettled !== undefined) callSafely(() => tell(whenSettled, err, result))
    const event = isCancelled ? 'cancelled' : err ? 'failed' : 'done'
    if (!listeners.hear(event)) return
    const about = { id: undefined, type, payload, attempt }
    listeners.tell(event, event === 'done' ? { ...about, result } : { ...about, error: err })
  }

  /** As of the context of a job without extras. */
  runnersSignal () {
    return this.listeners.dispatch.interruptions.signal
  }

  progress (value) {
    if (this.job !== undefined) this.listeners.dispatch.hooks.onProgress(this.job, this.attempt, value)
  }

  spent (total) {
    spend(this.listeners.dispatch, this.job, total)
  }
}

Teller.prototype.isTeller = true

function attemptOf (whenSettled) {
  return typeof whenSettled === 'object' ? whenSettled.attempt : 1
}

module.exports = { Listeners }
