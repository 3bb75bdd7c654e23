'use strict'

// HOT (bench: flow). The delayed jobs of one type. Those with a delay and no other extras stand in a row, as long as they fall due in the
// order in which they came: so do all that wait equally long. The others have tickets.
//
//   jobs      [ ─ ─ │ p,c │ p,c │ p,c │ p,c ]      payload, callback
//   numbers   [ ─ ─ │a,o,g│a,o,g│a,o,g│a,o,g]      when it is due, its place among those that are due then, its flush generation
//                   ▲ first     ▲ pending
//
// In the heap of deadlines the row has one place, that of its first pending job. Jobs before that are due, and about to be put into the
// list.

const { COST } = require('../../job/cost')

const JOB = 2
const NUMBERS = 3
const [DUE_AT, ORDER, GENERATION] = [0, 1, 2]
// So many places of jobs that have gone are kept, and as many as there are others.
const FEW = 32

const NONE = []

/** A job of a row, as the list shows it. */
class RowJob {
  constructor ({ type, jobs, numbers }, i) {
    this.type = type
    this.payload = jobs[JOB * i]
    this.whenSettled = jobs[JOB * i + 1]
    this.dueAt = numbers[NUMBERS * i + DUE_AT]
    this.order = numbers[NUMBERS * i + ORDER]
    this.generation = numbers[NUMBERS * i + GENERATION]
  }
}

class TypeDelays {
  constructor (type) {
    this.type = type
    this.tickets = NONE // in no particular order; each knows its place
    this.jobs = undefined // while there are any
    this.numbers = undefined
    this.first = this.end = 0
    this.pending = 0 // from first to end
    this.position = -1 // in the heap of deadlines
    this.order = 0 // there, of the first pending job
    this.counts = undefined // what was counted of the type while no job of it was in the list
    this.dueOrder = null // of the tickets, once somebody has asked which is the first
  }

  get count () {
    return this.tickets.length + this.end - this.first
  }

  get pendingCount () {
    return this.end - this.pending
  }

  addTicket (ticket) {
    if (this.tickets === NONE) this.tickets = []
    ticket.at = this.tickets.push(ticket) - 1
    if (this.dueOrder !== null) this.dueOrder.add(ticket, ticket.dueAt)
  }

  dropTicket (ticket) {
    const { at } = ticket
    if (this.dueOrder !== null) this.dueOrder.drop(ticket)
    const last = this.tickets.pop()
    if (at === this.tickets.length) return
    this.tickets[at] = last
    last.at = at
  }

  /**
   * The one that falls due first. O(log tickets), the first time O(tickets).
   * @returns {{ dueAt: number, hasRun: boolean, cost: number }} hasRun: it has been tried before
   */
  firstDue () {
    const { first, end, numbers, tickets } = this
    const inRow = first === end ? undefined : { dueAt: numbers[NUMBERS * first + DUE_AT], hasRun: false, cost: COST }
    if (tickets.length === 0) return inRow
    if (this.dueOrder === null) this.putInOrder()
    const ticket = this.dueOrder.first
    return inRow !== undefined && inRow.dueAt <= ticket.dueAt ? inRow : ticket
  }

  /** Whether a job that is due then is the last one of the row. */
  fits (dueAt) {
    return this.first === this.end || this.numbers[NUMBERS * (this.end - 1) + DUE_AT] <= dueAt
  }

  append (payload, callback, dueAt, order, generation) {
    if (this.jobs === undefined) { // for one job, arrays that are pushed to take five times as much
      this.jobs = [payload, callback]
      this.numbers = [dueAt, order, generation]
    } else {
      this.jobs.push(payload, callback)
      this.numbers.push(dueAt, order, generation)
    }
    this.end++
  }

  /** As of an item of Deadlines that falls due more than once. */
  passNext () {
    if (this.pending < this.end) this.pending++
    return this.nextAt()
  }

  /** When the first pending job is due; Infinity: there is none. */
  nextAt () {
    const { pending, end, numbers } = this
    if (pending === end) return Infinity
    this.order = numbers[NUMBERS * pending + ORDER]
    return numbers[NUMBERS * pending + DUE_AT]
  }

  /**
   * Takes out the first job that is due.
   * @param {{ payload: any, whenSettled: Function | undefined, generation: number }} job what it is; an object for each took 15 ns
   * @returns {boolean} false if there is none any more
   */
  shift (job) {
    const { first, jobs } = this
    if (first === this.pending) return false
    job.payload = jobs[JOB * first]
    job.whenSettled = jobs[JOB * first + 1]
    job.generation = this.numbers[NUMBERS * first + GENERATION]
    jobs[JOB * first] = jobs[JOB * first + 1] = undefined
    this.first++
    this.compact()
    return true
  }

  /** Takes out the jobs of the row for which test(order) is true. O(row) */
  takeOut (test) {
    const { first, end, pending, jobs, numbers } = this
    if (first === end) return
    let to = first
    for (let i = first; i < end; i++) {
      if (test(numbers[NUMBERS * i + ORDER])) {
        if (i < pending) this.pending--
      } else {
        for (let j = 0; j < JOB; j++) jobs[JOB * to + j] = jobs[JOB * i + j]
        for (let j = 0; j < NUMBERS; j++) numbers[NUMBERS * to + j] = numbers[NUMBERS * i + j]
        to++
      }
    }
    this.end = to
    jobs.length = JOB * to
    numbers.length = NUMBERS * to
    this.compact()
  }

  /** The jobs of the row. @returns {RowJob[]} */
  row () {
    return Array.from({ length: this.end - this.first }, (_, i) => new RowJob(this, this.first + i))
  }

  /** All of the type, in no particular order. @returns {(RowJob | PlannedTicket)[]} */
  list () {
    return [...this.row(), ...this.tickets]
  }

  // private from here on

  putInOrder () {
    const { DueOrder } = require('../../platform/due-order')
    this.dueOrder = new DueOrder()
    for (const ticket of this.tickets) this.dueOrder.add(ticket, ticket.dueAt)
  }

  compact () {
    const { first, end } = this
    if (first === end) {
      this.jobs = this.numbers = undefined
    } else if (first >= FEW && 2 * first > end) {
      this.jobs = this.jobs.slice(JOB * first)
      this.numbers = this.numbers.slice(NUMBERS * first)
    } else {
      return
    }
    this.end -= first
    this.pending -= first
    this.first = 0
  }
}

module.exports = { TypeDelays, RowJob }
