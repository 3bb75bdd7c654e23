'use strict'

// What a durable queue tells its listeners. What comes about while it is opened is told in a later turn, when those who want to hear of it
// can have come.

const EventEmitter = require('eventemitter3')
const { defer } = require('../../platform/clock')

class Events {
  /** @param {{ stage: object }} parts of the queue: calls listeners in the context of nobody's push; what they throw is theirs */
  constructor ({ stage }) {
    this.stage = stage
    this.emitter = new EventEmitter() // nobody listens to this one
    this.isOpen = false // jobs that were on disk stand in the queue
    this.untold = [] // [event, value, more] of what came about before, until that is told
    this.whenTold = undefined // a promise, once it is open
  }

  /** Whether an event has listeners, or may have some yet. */
  isHeard (event) {
    return !this.isOpen || this.emitter.listenerCount(event) > 0
  }

  /** @param {any} [more] the second argument of listeners */
  tell (event, value, more) {
    if (!this.isOpen) {
      this.untold.push([event, value, more])
      return
    }
    if (this.untold.length > 0) this.tellUntold()
    if (this.emitter.listenerCount(event) === 0) return
    const args = [value, more]
    while (args.length > 0 && args.at(-1) === undefined) args.pop()
    this.stage.call(() => this.emitter.emit(event, ...args))
  }

  /** Passes on an event of the queue in memory, which has seen to the context. */
  pass (event) {
    this.emitter.emit(event)
  }

  /** From here on the listeners of this emitter are told. */
  open (emitter) {
    this.emitter = emitter
    this.isOpen = true
    this.whenTold = new Promise(resolve => defer(() => {
      this.tellUntold()
      resolve()
    }))
  }

  // private from here on

  tellUntold () {
    for (const [event, value, more] of this.untold.splice(0)) this.tell(event, value, more)
  }
}

module.exports = { Events }
