'use strict'

// Takes jobs away that have not begun: single ones, or all of a type. Whoever waits for their results is told, in this process with the
// very error, in others with what can be sent of it.

const { errorText } = require('../../job/error-text')
const { KEYS_TO_CLEAR, KEYS_TO_REMOVE } = require('../broker/scripts/removal')

const MOST_AT_ONCE = 1000

class Removal {
  /**
   * @param {{ broker: object, notices: object, outcomes: object, records: object, results: object }} parts
   * @param {{ resultTtlMs: number, isHeard: (event: string) => boolean }} options isHeard: whether an event has listeners
   */
  constructor ({ broker, notices, outcomes, records, results }, { resultTtlMs, isHeard }) {
    this.broker = broker
    this.notices = notices
    this.outcomes = outcomes
    this.records = records
    this.results = results
    this.resultTtlMs = resultTtlMs
    this.isHeard = isHeard
  }

  /** Deletes a dead letter. @returns {Promise<boolean>} false if there is none */
  async delete (place, name) {
    return await this.remove(place, name, '') !== null
  }

  /**
   * A job that waits is cancelled.
   * @param {object} record of it
   * @param {FairlaneError} error with which
   * @returns {Promise<boolean>} false if it runs, or is not there
   */
  async cancel (place, name, record, error) {
    const inboxes = await this.remove(place, name, errorText(error))
    if (inboxes === null) return false
    const { id, attempts } = this.records.entryOf(place, name, record, 'waiting')
    this.outcomes.cancelled(place, { id, attempt: attempts, error }, () => this.records.payloadOf(record))
    this.tell(place, id, inboxes, error)
    return true
  }

  /** All jobs of a type that wait. @returns {Promise<number>} how many there were */
  async clear (place, error) {
    const { client } = this.broker
    const isHeard = this.isHeard('cancelled')
    let sum = 0
    for (let count = MOST_AT_ONCE; count === MOST_AT_ONCE;) {
      const call = () => client.fairlaneClear(...place.keysOf(KEYS_TO_CLEAR), place.key(''), MOST_AT_ONCE, isHeard ? 1 : 0)
      const [cleared, told] = await this.broker.soon(call)
      count = cleared
      sum += count
      this.outcomes.count(place, 'cancelled', count)
      for (const [name, inboxes, data, attempts] of told) {
        const id = place.idOf(name)
        if (isHeard) this.outcomes.tellCancelled(place, { id, attempt: Number(attempts), error }, () => this.records.payloadOf({ data }))
        this.tell(place, id, inboxes, error)
      }
    }
    return sum
  }

  // private from here on

  /** @returns {Promise<string | null>} who waits for its result; null if it runs, or is not there */
  remove (place, name, fault) {
    const keys = [...place.keysOf(KEYS_TO_REMOVE), ...['', ':lock', ':logs', ':result'].map(what => place.key(`${name}${what}`))]
    return this.broker.soon(() => this.broker.client.fairlaneRemove(...keys, name, fault, this.resultTtlMs))
  }

  tell (place, id, inboxes, error) {
    for (const inbox of inboxes.split(',')) {
      if (inbox === this.results.inbox) this.results.ended(id, error)
      else if (inbox !== '') this.notices.send(place.partition, inbox, id, undefined, errorText(error))
    }
  }
}

module.exports = { Removal }
