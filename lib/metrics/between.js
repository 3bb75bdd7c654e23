'use strict'

// What stands between the lists of a queue and its ledger, and hands on what the lists tell.

class Between {
  /** @param {object} ledger or another that stands before it */
  constructor (ledger) {
    this.ledger = ledger
    this.records = ledger.records
  }

  get nextId () {
    return this.ledger.nextId
  }

  recorderOf (list) {
    const { recorderOf } = require('../ledger/recorders')
    return recorderOf(this, list)
  }

  /** Nothing is done: started() is to be called. */
  startedUsually (id) {
    return undefined
  }

  endedUsually (id) {
    return undefined
  }

  refused (type, err) {
    this.ledger.refused(type, err)
  }

  delayed (id) {
    this.ledger.delayed(id)
  }

  due (id) {
    this.ledger.due(id)
  }

  buried (id) {
    this.ledger.buried(id)
  }

  uncounted (id) {
    this.ledger.uncounted(id)
  }
}

/**
 * Has an observer join the ledger of a queue, or make it.
 * @param {object | undefined} ledger the queue's, if another observer has made it
 * @returns {object} the ledger; the observer itself wants no records of ended jobs
 */
function joined (ledger, clock, isExact) {
  const { Ledger } = require('../ledger/ledger')
  const wishes = { keep: 0, keepMs: -Infinity, isExact }
  if (ledger !== undefined) {
    ledger.records.widen(wishes)
    return ledger
  }
  const made = new Ledger(wishes)
  made.begin(clock)
  return made
}

module.exports = { Between, joined }
