'use strict'

// What goes wrong at the broker, and no call is waiting for: listeners of the queue are told, and of each kind there is one warning.

const { FairlaneError, warn } = require('../../arguments/errors')
const { causeOf } = require('./failures')

class Troubles {
  /**
   * @param {string} queueName
   * @param {(error: Error) => void} tell the event `error`
   */
  constructor (queueName, tell) {
    this.queueName = queueName
    this.tell = tell
    this.warned = new Set() // kinds
  }

  /**
   * The broker has refused something.
   * @param {string} what was to be done
   * @param {any} err
   * @param {string} [type]
   */
  refused (what, err, type) {
    const cause = causeOf(err)
    const error = new FairlaneError('FAIRLANE_ERR_BROKER', `The broker refused ${what}: ${cause.message}`, { cause })
    if (type !== undefined) error.type = type
    this.tell(error)
    this.warn('refused', error.message)
  }

  /** Something at the broker makes no sense, and is ignored. */
  unreadable (what) {
    this.warn('unreadable', `Ignored what cannot be read at the broker: ${what}.`)
  }

  // private from here on

  warn (kind, message) {
    if (this.warned.has(kind)) return
    this.warned.add(kind)
    warn('FAIRLANE_WARN_BROKER', `The queue ${this.queueName}: ${message}`)
  }
}

module.exports = { Troubles }
