'use strict'

// One abort listener per signal, however many jobs it can cancel: a listener per job would make adding and settling them
// quadratic (an EventTarget compares each new listener with all it has).

const { addAbortListener } = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
  ? process.getBuiltinModule('node:events')
  : { addAbortListener: undefined }

class Signals {
  /** @param {(signal: AbortSignal, tickets: Set<object>) => void} onAbort given those added and not removed, in order */
  constructor (onAbort) {
    this.onAbort = onAbort
    this.entries = new Map() // signal → { tickets, stopListening }
  }

  add (signal, ticket) {
    const entry = this.entries.get(signal)
    if (entry === undefined) this.listen(signal, new Set([ticket]))
    else entry.tickets.add(ticket)
  }

  /** O(1). With its last ticket the signal is let go. */
  remove (signal, ticket) {
    const { tickets, stopListening } = this.entries.get(signal)
    tickets.delete(ticket)
    if (tickets.size > 0) return
    this.entries.delete(signal)
    stopListening()
  }

  // private from here on

  listen (signal, tickets) {
    this.entries.set(signal, { tickets, stopListening: listenTo(signal, () => this.onAbort(signal, tickets)) })
  }
}

/**
 * Calls listener when the signal aborts, in Node also if another listener stops the event there (`stopImmediatePropagation`):
 * a signal may be shared with code that nobody here knows.
 * @param {AbortSignal} signal that has not aborted
 * @param {() => void} listener
 * @returns {() => void} stops it
 */
function listenTo (signal, listener) {
  if (addAbortListener !== undefined && signal instanceof AbortSignal) addAbortListener(signal, listener)
  else signal.addEventListener('abort', listener)
  return () => signal.removeEventListener('abort', listener)
}

module.exports = { Signals, listenTo }
