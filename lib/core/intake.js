'use strict'

// HOT (bench: add, features). Jobs that come in and are more than payload and callback: they may be refused, have extras, or give a
// promise. The short way of all others is in queue.js.

const { abortedError, typeError } = require('../arguments/errors')
const { callbackOf } = require('../platform/promised')
const { noRunnerError } = require('./options')

class Intake {
  /** @param {object} internals of the queue */
  constructor (internals) {
    const { dispatch, list, read } = internals
    this.internals = internals // which make admission and tickets when they are asked for them
    this.madeTickets = undefined
    this.isLimited = read.isLimited || dispatch.runner === null // jobs may be refused; all are from close() on
    this.dispatch = dispatch
    this.list = list
    this.read = read
    this.needsTickets = read.needsTickets
    this.stallWatch = undefined
    this.madeSlots = undefined
  }

  /** What runs functions, and gives out slots. */
  get slots () {
    return (this.madeSlots ??= new (require('./slots/slots').Slots)(this))
  }

  /** A job that gives a promise. With a key that is taken: shares the job that has taken it. @throws FAIRLANE_ERR_ARGUMENT */
  add (type, payload, extras) {
    const { plan } = extras
    if (plan === undefined) return this.addNew(type, payload, extras)
    if (plan.priority !== undefined && this.read.priorityMs === undefined) {
      throw typeError('FAIRLANE_ERR_ARGUMENT', 'priority needs a queue with the option priorityMs')
    }
    if (plan.cost !== undefined) this.internals.acceptCost(plan.cost, type)
    if (plan.key === undefined) return this.addNew(type, payload, extras)
    this.checkRunner(extras) // before the key is taken
    return this.tickets.planned.keys.add(type, payload, extras, this)
  }

  /** Puts a job into the list, unless it is refused. */
  put (type, payload, whenSettled, atHead, extras) {
    const { signal, timeoutMs, maxWaitMs, plan, work } = extras
    if (signal !== undefined && signal.aborted) {
      this.checkRunner(extras)
      this.internals.admission.countRejected(type)
      this.tellRefused(type, whenSettled, abortedError(signal.reason))
      return
    }
    const refusal = this.isLimited ? this.refuse(type, extras) : undefined
    if (refusal !== undefined) {
      this.tellRefused(type, whenSettled, refusal)
    } else if (
      signal !== undefined || timeoutMs !== undefined || maxWaitMs !== undefined || plan !== undefined || work !== undefined ||
      this.needsTickets
    ) {
      this.tickets.accept(type, payload, whenSettled, atHead, extras)
    } else {
      this.dispatch.accept()
      this.list[atHead ? 'unshift' : 'push'](type, payload, whenSettled)
    }
  }

  /** A job that shares no other one. */
  addNew (type, payload, extras) {
    let settle
    const promise = new Promise(resolve => { settle = resolve })
    this.put(type, payload, callbackOf(settle), extras.unshift, extras)
    if (this.dispatch.running >= this.dispatch.concurrency) this.watchForStalls()
    return promise
  }

  // private from here on

  /** Asked only where jobs may be refused, so that others pay nothing. @returns what it is refused with @throws FAIRLANE_ERR_RUNNER */
  refuse (type, extras) {
    this.checkRunner(extras)
    return this.internals.admission.refuse(type)
  }

  /** @throws FAIRLANE_ERR_RUNNER if the queue has none, and the job is for it */
  checkRunner ({ work }) {
    if (this.dispatch.runner === null && work === undefined) throw noRunnerError()
  }

  /** Asked for here once, and not for each job: two getters take 15 ns (bench: flow, Node 26). */
  get tickets () {
    return (this.madeTickets ??= this.internals.tickets)
  }

  /** In a microtask of the context that the callback of an accepted job would have. */
  tellRefused (type, whenSettled, error) {
    this.read.ledger?.refused(type, error)
    if (whenSettled === undefined) return
    const isInQueue = this.read.asyncContext === 'queue'
    queueMicrotask(isInQueue ? () => this.dispatch.call(() => whenSettled(error)) : () => whenSettled(error))
  }

  /** A job was added, for which somebody may wait, while all slots are taken. */
  watchForStalls () {
    this.stallWatch ??= new (require('./stall').StallWatch)(this.dispatch, this.read.clock)
    this.stallWatch.added()
  }
}

module.exports = { Intake }
