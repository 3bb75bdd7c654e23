'use strict'

// The extras of a job with flow: when it is to be put into the list.
//
//   accept() ──▶ delayed ──due──▶ waiting ──▶ running
//      └───────────────────────────▲

const { asyncScope } = require('../context')
const { tickets: { Ticket, Tickets } } = require('../core/internals')
const { Delays } = require('./delays')

class FlowTicket extends Ticket {
  constructor (tickets, callback, signal, timeoutMs, scope) {
    super(tickets, callback, signal, timeoutMs, scope)
    this.listed = 0
    this.born = undefined // the flush generation in which it was accepted, if it was not put into the list then
    this.isDelayed = false
    this.dueAt = 0
    this.type = undefined // these four, while it is delayed
    this.payload = undefined
    this.atHead = false
    this.maxWaitMs = undefined
  }

  get generation () {
    return this.born ?? this.listed
  }

  /** What a list says when the job is put into it. */
  set generation (value) {
    this.listed = value
  }

  settle (err, result) {
    this.payload = undefined
    super.settle(err, result)
  }
}

class FlowTickets extends Tickets {
  constructor (dispatch, read) {
    super(dispatch, read)
    this.delays = dispatch.list.delays = new Delays(dispatch)
  }

  accept (type, payload, callback, atHead, extras) {
    const delayMs = extras.plan?.delayMs ?? 0
    if (delayMs === 0) {
      super.accept(type, payload, callback, atHead, extras)
      return
    }
    const { dispatch, deadlines: { clock } } = this
    const { signal, maxWaitMs } = extras
    const ticket = this.issue(callback, extras)
    dispatch.accepted++
    ticket.born = dispatch.list.newestGeneration
    ticket.type = type
    ticket.payload = payload
    ticket.atHead = atHead
    ticket.maxWaitMs = maxWaitMs
    this.delays.add(ticket, clock.now() + delayMs)
    this.watch(ticket, { signal, maxWaitMs: delayMs })
  }

  issue (callback, { signal, timeoutMs = this.timeoutMs }) {
    return new FlowTicket(this, callback, signal, timeoutMs, this.keepsContext ? asyncScope() : undefined)
  }

  // private from here on

  end (items) {
    const due = items.filter(item => item.isDelayed)
    for (const ticket of due) if (ticket.isDelayed) this.enter(ticket) // a scheduler may have cancelled it
    super.end(due.length === 0 ? items : items.filter(item => !due.includes(item)))
  }

  /** The time of a job has come. */
  enter (ticket) {
    const { dispatch } = this
    const { type, payload, atHead, maxWaitMs } = ticket
    this.delays.remove(ticket)
    ticket.payload = undefined
    dispatch.list[atHead ? 'unshiftTicket' : 'pushTicket'](type, payload, ticket)
    this.watch(ticket, { signal: undefined, maxWaitMs })
    dispatch.wake()
  }
}

module.exports = { FlowTickets }
