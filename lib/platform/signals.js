'use strict'

// One abort listener per signal, however many jobs it can cancel: a listener per job would make adding and settling them
// quadratic (an EventTarget compares each new listener with all it has).

const { callGuarded } = require('./guard')

const { addAbortListener, setMaxListeners } = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
  ? process.getBuiltinModule('node:events')
  : { addAbortListener: undefined, setMaxListeners: undefined }
let isHeard // by addAbortListener(), once that was tried

class Signals {
  /** @param {(signal: AbortSignal, tickets: Set<object>) => void} onAbort given those added and not removed, in order */
  constructor (onAbort) {
    this.onAbort = onAbort
    this.entries = new Map() // signal → { tickets, listener, target }
  }

  add (signal, ticket) {
    const entry = this.entries.get(signal)
    if (entry === undefined) this.listen(signal, new Set([ticket]))
    else entry.tickets.add(ticket)
  }

  /** O(1). With its last ticket the signal is let go. */
  remove (signal, ticket) {
    const entry = this.entries.get(signal)
    if (entry === undefined || !entry.tickets.delete(ticket) || entry.tickets.size > 0) return
    this.letGo(signal, entry)
  }

  // private from here on

  listen (signal, tickets) {
    const listener = () => {
      if (this.entries.get(signal) !== entry) return // it has aborted before, or nobody waits for that
      this.letGo(signal, entry) // as a whole: to take out the tickets one by one takes as long as to end their jobs
      this.onAbort(signal, tickets)
    }
    const entry = { tickets, listener, target: signal }
    this.entries.set(signal, entry)
    entry.target = listenTo(signal, listener)
  }

  letGo (signal, entry) {
    this.entries.delete(signal)
    // a signal of another make may throw; a job is being settled: it must be told
    callGuarded(() => entry.target.removeEventListener('abort', entry.listener))
  }
}

/**
 * Calls listener when the signal aborts, also if another listener stops the event there (`stopImmediatePropagation`): a signal
 * may be shared with code that nobody here knows. Where Node's way does not do that (Deno), or is not there (browsers), it listens to a
 * signal that follows this one, which nobody else can get at.
 * @param {AbortSignal} signal that has not aborted
 * @param {() => void} listener
 * @returns {AbortSignal} what it is to be removed from by removeEventListener
 */
function listenTo (signal, listener) {
  if (!(signal instanceof AbortSignal)) {
    signal.addEventListener('abort', listener)
    return signal
  }
  isHeard ??= hearsStopped()
  if (isHeard) {
    addAbortListener(signal, listener)
    return signal
  }
  const follower = typeof AbortSignal.any === 'function' ? AbortSignal.any([signal]) : signal
  follower.addEventListener('abort', listener)
  return follower
}

/** Whether addAbortListener() is there and does what it says. */
function hearsStopped () {
  if (addAbortListener === undefined) return false
  const controller = new AbortController()
  let hasHeard = false
  controller.signal.addEventListener('abort', event => event.stopImmediatePropagation())
  addAbortListener(controller.signal, () => { hasHeard = true })
  controller.abort()
  return hasHeard
}

/** @returns {AbortController} of a signal that any number of jobs listen to: Node 20 would warn of a leak from eleven on */
function sharedController () {
  const controller = new AbortController()
  setMaxListeners?.(0, controller.signal)
  return controller
}

/**
 * Calls onAbort when the signal aborts, at once if it has.
 * @returns {() => void} lets the signal go
 */
function whenAborted (signal, onAbort) {
  if (signal.aborted) {
    onAbort()
    return () => {}
  }
  const target = listenTo(signal, onAbort)
  return () => target.removeEventListener('abort', onAbort)
}

module.exports = { Signals, listenTo, sharedController, whenAborted }
