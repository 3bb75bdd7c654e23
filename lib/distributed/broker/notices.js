'use strict'

// Tells the processes that added jobs what became of them: the notices of a turn to one inbox go together.

class Notices {
  /** @param {{ broker: object }} parts */
  constructor ({ broker }) {
    this.broker = broker
    this.batches = new Map() // channel → notices
  }

  /** @param {string | undefined} text JSON of the result  @param {string} [fault] */
  send (partition, inbox, id, text, fault) {
    const channel = inboxOf(partition, inbox)
    const batch = this.batches.get(channel)
    if (batch !== undefined) {
      batch.push([id, text, fault])
      return
    }
    this.batches.set(channel, [[id, text, fault]])
    queueMicrotask(() => this.flush(channel))
  }

  // private from here on

  flush (channel) {
    const notices = this.batches.get(channel)
    this.batches.delete(channel)
    // the process that waits looks by itself if it gets none
    this.broker.publish(channel, notices).catch(ignore)
  }
}

function inboxOf (partition, inbox) {
  return partition.key(`inbox:${inbox}`)
}

function ignore () {}

module.exports = { Notices, inboxOf }
