'use strict'

// A scheduler is configured by its own method, whoever calls that; the queues that it serves are to ask it again afterwards.
//
//   scheduler ──▶ { references, kept }      references: weak ones, for a scheduler may outlive its queues
//                                           kept: queues in which jobs wait and none runs, since the scheduler lets none start

const FIRST_PRUNE_AT = 16
const listeners = new WeakMap()

/** One queue that is to ask its scheduler again. Whoever makes it keeps it: the scheduler refers to it weakly. */
class Reconfiguring {
  /**
   * @param {object} scheduler
   * @param {(options: unknown) => void} whenConfigured called each time after the scheduler's own configure(), whoever calls that, and with
   *   what. On an object that cannot be changed it is not called: then resume() makes the queue ask again
   */
  constructor (scheduler, whenConfigured) {
    this.whenConfigured = whenConfigured
    this.kept = listen(scheduler, this)
  }

  /** Jobs wait and none runs: the queue may have nobody else to keep it. */
  stalled () {
    this.kept.add(this)
  }

  drained () {
    this.kept.delete(this)
  }
}

/**
 * Has a scheduler know the concurrency of a queue, and the queue ask again whenever it has other options.
 * @returns {Reconfiguring} which the queue keeps
 */
function heed (scheduler, list, dispatch, { schedulerOptions, concurrency, toldConcurrency }) {
  if (schedulerOptions === undefined || concurrency !== toldConcurrency) list.configure({ concurrency })
  const reconfiguring = new Reconfiguring(scheduler, options => {
    list.configured(isConcurrencyAlone(options))
    dispatch.wake()
  })
  list.whenStalled = () => reconfiguring.stalled()
  return reconfiguring
}

/** @returns {Set<Reconfiguring>} those that the scheduler keeps */
function listen (scheduler, listener) {
  const { configure } = scheduler
  const known = listeners.get(scheduler)
  if (known !== undefined) {
    remember(known, listener)
    return known.kept
  }
  const own = { references: [], pruneAt: FIRST_PRUNE_AT, kept: new Set() }
  listeners.set(scheduler, own)
  remember(own, listener)
  if (typeof configure !== 'function') return own.kept
  const value = function (options) {
    const returned = configure.call(this, options)
    const called = own.references.map(reference => reference.deref())
    own.kept.clear() // those that are let down again come back
    for (const reconfiguring of called) reconfiguring?.whenConfigured(options)
    return returned
  }
  Reflect.defineProperty(scheduler, 'configure', { value, writable: true, configurable: true })
  return own.kept
}

/** O(1) amortised: those that are gone are left out each time the number has doubled. */
function remember (known, listener) {
  if (known.references.length >= known.pruneAt) {
    known.references = known.references.filter(reference => reference.deref() !== undefined)
    known.pruneAt = Math.max(2 * known.references.length, FIRST_PRUNE_AT)
  }
  known.references.push(new WeakRef(listener))
}

/** What changes for each of many types then is for the scheduler to know. */
function isConcurrencyAlone (options) {
  return typeof options === 'object' && options !== null && Object.keys(options).join() === 'concurrency'
}

module.exports = { heed }
