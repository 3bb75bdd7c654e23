'use strict'

// One abort listener per signal, however many jobs it can cancel: a listener per job would make adding and settling them
// quadratic (an EventTarget compares each new listener with all it has).

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
    const { tickets, listener } = this.entries.get(signal)
    tickets.delete(ticket)
    if (tickets.size > 0) return
    this.entries.delete(signal)
    signal.removeEventListener('abort', listener)
  }

  // private from here on

  listen (signal, tickets) {
    const listener = () => this.onAbort(signal, tickets)
    this.entries.set(signal, { tickets, listener })
    signal.addEventListener('abort', listener)
  }
}

module.exports = { Signals }
