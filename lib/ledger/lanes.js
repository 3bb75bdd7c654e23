'use strict'

// HOT (bench: history). The recorder of a list with a scheduler: it is told of each job before the scheduler hears of it, with the number
// that the list has given the job.

const { Ids, KeptIds } = require('./ids')
const { Recorder } = require('./recorder')

class LaneRecorder extends Recorder {
  /**
   * @param {object} list Lanes or Window
   * @param {object} ledger
   * @param {boolean} hasNumbers whether the list gives numbers of its own, which are no ids
   */
  constructor (list, ledger, hasNumbers) {
    super(list, ledger)
    this.waitingCount = 0
    this.returns = hasNumbers // KeptIds are in use
    this.ids = hasNumbers ? new KeptIds(0) : new Ids(list, ledger.nextId)
  }

  /**
   * A job was put into the list.
   * @param {number | undefined} guess what was returned for the type before
   * @returns {number | undefined} what is to be given for the next job of the type
   */
  accepted (type, number, guess, whenSettled) {
    const { ledger } = this
    if (typeof whenSettled === 'object' && whenSettled.id > 0) {
      this.keepIds()
      this.waitingCount++
      ledger.due(this.ids.put(number, whenSettled.id))
      return guess
    }
    this.waitingCount++
    return ledger.accepted(this.returns ? this.ids.put(number, ledger.nextId) : this.ids.add(number), type, guess)
  }

  /** @returns {number} the id of a job that was taken */
  taken (number, type) {
    const id = this.leave(number)
    this.ledger.started(id, type)
    return id
  }

  /** The job of a ticket was taken out. */
  dropped (number, ticket) {
    this.ledger.cancelled(this.leave(number), ticket.error())
  }

  /** One is taken out among others. */
  removed (number) {
    this.removedIds.push(this.leave(number))
  }

  /** For how long the job with a number has waited, which is in the list. */
  waitMsAt (number) {
    return this.ledger.records.waitMsOf(this.idAt(number))
  }

  /** The id of the job with a number, which is in the list. */
  idAt (number) {
    return this.ids.of(number)
  }

  // private from here on

  /** Jobs come back from now on. */
  keepIds () {
    if (this.returns) return
    this.returns = true
    this.ids = new KeptIds(this.waitingCount, this.ids.unshifted)
  }

  /** The id of a job that leaves the list. */
  leave (number) {
    this.waitingCount--
    return this.ids.leave(number)
  }
}

module.exports = { LaneRecorder }
