'use strict'

// HOT (bench: flow). The lists of observed queues whose jobs may come back: because their time has come, or to be tried again. Such a job keeps its
// id, and its place in the list gets another number.
//
//   accepted ──▶ [ list ] ──▶ running ──▶ ended
//      │            ▲            │
//      └▶ delayed ──┴── delayed ◀┘ it has failed

const { isPostponed, isThrottled } = require('../job/postponing')
const { KeptIds } = require('./ids')
const { Line } = require('./line')
const { ObservedLanes } = require('./observed-lanes')
const { ObservedWindow } = require('./observed-window')

/** A list that keeps the ids of jobs that come back. */
const returning = List => class extends List {
  ended (origin, hasFailed, err) {
    if (hasFailed === null) this.recordFailure(origin, err)
    super.ended(origin, hasFailed, err)
  }

  interrupted (origin, hasFailed, end) {
    if (hasFailed === null) this.recordFailure(origin, end.error())
    super.interrupted(origin, hasFailed, end)
  }

  /** A job is accepted whose time has not come. @param {object} ticket gets an id */
  recordDelayed (ticket, type) {
    const { ledger } = this
    const id = ticket.id = ledger.nextId
    ledger.accepted(id, type)
    ledger.delayed(id)
  }

  // for the classes around this one

  makeIds () {
    return new KeptIds()
  }

  recorded (number, type, guess, whenSettled) {
    const { ids, ledger } = this
    const ticket = typeof whenSettled === 'object' ? whenSettled : undefined
    if (ticket !== undefined && ticket.id > 0) {
      ids.put(number, ticket.id)
      ledger.due(ticket.id)
      return guess
    }
    const id = ledger.nextId
    ids.put(number, id)
    if (ticket !== undefined) ticket.id = id
    return ledger.accepted(id, type, guess)
  }

  // private from here on

  /** An attempt has failed that may not be the last one. */
  recordFailure (origin, err) {
    const id = typeof origin === 'number' ? origin : origin.id
    if (isThrottled(err) || isPostponed(err)) this.ledger.postponed(id, err)
    else this.ledger.undecided(id, err)
  }
}

class ReturningLine extends returning(Line) {
  constructor (ledger, context) {
    super(ledger, context)
    this.ids = this.makeIds()
  }

  // private from here on

  leavesFrom (place) {
    return this.ids.leave(place)
  }
}

class ReturningLanes extends returning(ObservedLanes) {
  /** Those included that came back: each was given a number. */
  get pushedCount () {
    return this.nextNumber - this.firstNumber
  }
}

class ReturningWindow extends returning(ObservedWindow) {}

module.exports = { Line: ReturningLine, ObservedLanes: ReturningLanes, ObservedWindow: ReturningWindow }
