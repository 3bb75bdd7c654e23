'use strict'

// Refusals, some in each turn of the event loop. Clients that ask again as soon as they are refused can keep a server busy with nothing
// else: a turn in which hundreds of them are answered makes all others wait for its end. So a turn answers a few of them, and the others
// come in the next turns, between which the loop looks after everybody.

const { asyncScope } = require('../platform/context')
const { defer } = require('../platform/clock')

const MOST_IN_A_TURN = 8

class Refusals {
  constructor () {
    this.count = 0 // in this turn
    this.waiting = [] // calls, each in the context of its request
    this.next = this.next.bind(this)
  }

  /** Calls fn at once, or in one of the next turns. */
  add (fn) {
    if (this.count === 0) defer(this.next)
    if (this.count++ < MOST_IN_A_TURN) fn()
    else this.waiting.push({ scope: asyncScope(), fn })
  }

  /** Nobody waits for a turn any more. */
  flush () {
    for (const { scope, fn } of this.waiting.splice(0)) scope.runInAsyncScope(fn)
  }

  // private from here on

  next () {
    const { waiting } = this
    const now = waiting.splice(0, MOST_IN_A_TURN)
    this.count = waiting.length + now.length === 0 ? 0 : MOST_IN_A_TURN
    if (this.count > 0) defer(this.next)
    for (const { scope, fn } of now) scope.runInAsyncScope(fn)
  }
}

module.exports = { Refusals }
