'use strict'

// One abort listener per signal, however many jobs it can cancel: a listener per job would make adding and settling them
// quadratic (an EventTarget compares each new listener with all it has).

const { rethrow } = require('./clock')

const { addAbortListener } = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
  ? process.getBuiltinModule('node:events')
  : { addAbortListener: undefined }

class Signals {
  /** @param {(signal: AbortSignal, tickets: Set<object>) => void} onAbort given those added and not removed, in order */
  constructor (onAbort) {
    this.onAbort = onAbort
    this.entries = new Map() // signal → { tickets, listener }
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
    this.entries.delete(signal)
    try {
      signal.removeEventListener('abort', entry.listener)
    } catch (err) {
      rethrow(err) // of a signal of another make; a job is being settled: it must be told
    }
  }

  // private from here on

  listen (signal, tickets) {
    const listener = () => this.onAbort(signal, tickets)
    this.entries.set(signal, { tickets, listener })
    listenTo(signal, listener)
  }
}

/**
 * Calls listener when the signal aborts, in Node also if another listener stops the event there (`stopImmediatePropagation`):
 * a signal may be shared with code that nobody here knows.
 * @param {AbortSignal} signal that has not aborted
 * @param {() => void} listener to be removed by removeEventListener
 */
function listenTo (signal, listener) {
  if (addAbortListener !== undefined && signal instanceof AbortSignal) addAbortListener(signal, listener)
  else signal.addEventListener('abort', listener)
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
  listenTo(signal, onAbort)
  return () => signal.removeEventListener('abort', onAbort)
}

module.exports = { Signals, listenTo, whenAborted }
