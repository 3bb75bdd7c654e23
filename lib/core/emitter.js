'use strict'

// An event emitter that tells when listeners come and go, so that what nobody listens to costs nothing.

const EventEmitter = require('eventemitter3')

class Emitter extends EventEmitter {
  #whenChanged

  /** @param {() => void} whenChanged called after a listener was added or removed */
  constructor (whenChanged) {
    super()
    this.#whenChanged = whenChanged
  }

  on (event, listener, context) {
    return this.#changed(super.on(event, listener, context))
  }

  addListener (event, listener, context) {
    return this.on(event, listener, context)
  }

  once (event, listener, context) {
    return this.#changed(super.once(event, listener, context))
  }

  removeListener (event, listener, context, isOnce) {
    return this.#changed(super.removeListener(event, listener, context, isOnce))
  }

  off (event, listener, context, isOnce) {
    return this.removeListener(event, listener, context, isOnce)
  }

  removeAllListeners (event) {
    return this.#changed(super.removeAllListeners(event))
  }

  #changed (self) {
    this.#whenChanged()
    return self
  }
}

module.exports = { Emitter }
