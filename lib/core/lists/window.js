'use strict'

// The waiting jobs in arrival order, for schedulers that look along it and pick one: quickq's protocol. A pick costs
// whatever the scheduler looks at.
//
//   records   [ a │ b │ - │ a │ c │ … ]      what select(types) sees, by peekAt(i).type
//   payloads  [ p │ p │   │ p │ p │ … ]      - : a hole, where a job was picked or removed
//   settlers  [ s │ s │   │ s │ s │ … ]
//   numbers   [ 4 │ 5 │ 6 │ 7 │ 8 │ … ]      of arrival, ascending
//
// Four parallel qlists. The first place is never a hole. When holes outnumber the jobs, all jobs move together: behind a
// job that is never picked neither the memory nor the scheduler's way grows.

const QList = require('qlist')
const { Fifo } = require('./fifo')
const { Scheduled } = require('./scheduled')
const { TypeCounts } = require('./type-counts')

const MIN_HOLES = 64
// An empty list keeps the room of up to so many jobs.
const KEPT_COUNT = 1024

/** What is known of a type that has jobs. */
class TypeRecord extends TypeCounts {
  constructor (type, context) {
    super()
    this.record = this // as in Origin
    this.type = type
    this.context = context
  }
}

/** A running job of a queue that is observed, or counts costs. */
class Origin {
  constructor (record, id) {
    this.record = record
    this.type = record.type
    this.id = id
  }
}

/** The waiting types in arrival order, as schedulers see them; undefined where a job is gone already. */
class WaitingTypes {
  #window

  constructor (window) {
    this.#window = window
  }

  peek () {
    return this.peekAt(0)
  }

  peekAt (i) {
    return this.#window.records.peekAt(i)?.type
  }

  size () {
    return this.#window.records.size()
  }
}

/** The list of a queue with a window scheduler. Some 32 bytes a job; the interface is that of Lanes. */
class Window extends Scheduled {
  /**
   * @param {object} scheduler
   * @param {(type: string) => object} makeContext makes the runner's last argument for jobs of a type
   */
  constructor (scheduler, makeContext) {
    super(scheduler, makeContext)
    this.types = new Map() // type → TypeRecord, of those with a job waiting or running
    this.waitingTypes = new WaitingTypes(this)
    this.empty()
  }

  /** Types with a job waiting or running. */
  get typesCount () {
    return this.types.size
  }

  push (type, payload, whenSettled) {
    const record = this.recordOf(type)
    const number = this.nextNumber++
    this.records.push(record)
    this.payloads.push(payload)
    this.settlers.push(whenSettled)
    this.numbers.push(number)
    this.accept(record, whenSettled, number)
  }

  unshift (type, payload, whenSettled) {
    const record = this.recordOf(type)
    this.records.unshift(record)
    this.payloads.unshift(payload)
    this.settlers.unshift(whenSettled)
    const number = --this.firstNumber
    this.numbers.unshift(number)
    this.accept(record, whenSettled, number)
  }

  /** Window schedulers are not told the time. */
  beginPass () {}

  /** Takes out the job that the scheduler chooses, or the first if it chooses wrongly. @returns {boolean} false for none */
  take () {
    const { costs, gate } = this
    if (gate !== null && !gate.isOpen()) return false
    const at = costs === null ? this.choose() : costs.choosePlace()
    if (at < 0) return false
    const record = this.records.peekAt(at)
    const number = this.numbers.peekAt(at)
    const payload = this.payloads.peekAt(at)
    const whenSettled = this.settlers.peekAt(at)
    this.generation = this.generationOf(number)
    this.removeAt(at)
    this.compactIfSparse()
    record.running++
    this.running++
    this.size++ // until take() returns, the job counts as waiting
    if (typeof whenSettled === 'object') whenSettled.isTaken = true
    try {
      this.scheduler.start(record.type)
    } catch (err) {
      this.blameThrow('start', err)
    }
    this.size--
    this.context = record.context
    this.origin = this.recorder === null && costs === null ? record : new Origin(record, this.recorder?.taken(number, record.type))
    if (costs !== null) costs.begin(this.origin, record, whenSettled, payload)
    this.payload = payload
    this.whenSettled = whenSettled
    if (gate !== null) gate.count(this.charge)
    return true
  }

  /** A job that take() gave out has ended; outcome as of TypeCounts. */
  ended (origin, outcome, err) {
    const { record } = origin
    if (this.recorder !== null) this.recorder.ended(origin.id, outcome, err)
    record.countEnd(outcome)
    this.running--
    this.forgetIfIdle(record)
    try {
      this.scheduler.done(record.type)
    } catch (err) {
      this.blameThrow('done', err)
    }
  }

  /** It was settled while its runner goes on. */
  interrupted (origin, outcome, end) {
    if (this.recorder !== null) this.recorder.interrupted(origin.id, outcome, end)
    origin.record.countInterruption(outcome)
  }

  /** The job of a ticket gets another payload, and keeps its place. */
  exchange (ticket, payload) {
    if (ticket.isDelayed) ticket.payload = payload
    else this.payloads.setAt(this.indexOf(ticket.at), payload)
  }

  /** The job of a ticket that waits. @returns {{ type: string, payload: any }} */
  jobOf (ticket) {
    if (ticket.isDelayed) return ticket
    const at = this.indexOf(ticket.at)
    return { type: this.records.peekAt(at).type, payload: this.payloads.peekAt(at) }
  }

  /** Types can not be paused here. */
  resumeAllTypes () {}

  isTypePaused () {
    return false
  }

  /** The arrival number of the first job of a type that waits; undefined: none does. O(n). */
  numberOf (type) {
    for (let at = 0; at < this.records.size(); at++) {
      if (this.records.peekAt(at)?.type === type) return this.numbers.peekAt(at)
    }
  }

  /** What is counted of a type, if it has jobs. */
  find (type) {
    return this.types.get(type)
  }

  /** The first job of a type, which waits. O(jobs before that). @param {TypeRecord} record @returns {{ payload: any, number: number }} */
  firstOf (record) {
    let at = 0
    while (this.records.peekAt(at) !== record) at++
    return { payload: this.payloads.peekAt(at), number: this.numbers.peekAt(at) }
  }

  /** As of Lanes. */
  tally (visit) {
    for (const { type, size, running } of this.types.values()) visit(type, size, running)
  }

  /** How many jobs of the type wait, delayed ones included. */
  waitingWith (type) {
    const waiting = this.types.get(type)?.size ?? 0
    return this.delays === null ? waiting : waiting + this.delays.countOf(type)
  }

  // private from here on

  empty () {
    this.records = new QList()
    this.payloads = new QList()
    this.settlers = new QList()
    this.numbers = new QList()
    this.mostCount = 0 // of places since then: a qlist does not give all its room back
  }

  recordOf (type) {
    let record = this.types.get(type)
    if (record === undefined) {
      record = new TypeRecord(type, this.makeContext(type))
      this.types.set(type, record)
    }
    return record
  }

  /** O(n). */
  takeOutWaiting (test) {
    const found = this.waitingJobs().filter(({ payload, type }) => test(payload, type))
    const removed = new Fifo()
    if (this.keepsTypes) removed.types = []
    for (const { payload, whenSettled, number, type } of found) {
      const at = this.indexOf(number)
      if (at === -1) continue // test has removed it
      removed.types?.push(type)
      removed.pushOf(this.generationOf(number), payload, whenSettled)
      if (this.recorder !== null) this.recorder.removed(number)
      this.takeOut(at)
      this.removals.push(type)
    }
    this.compactIfSparse()
    return removed
  }

  tellScheduler () {
    for (const type of this.removals.splice(0)) this.tellRemoved(type)
  }

  dropWaiting (ticket) {
    const { at: number } = ticket
    const type = this.takeOut(this.indexOf(number))
    this.compactIfSparse()
    if (this.recorder !== null) this.recorder.dropped(number, ticket)
    this.tellRemoved(type)
  }

  /** A job was put into the lists. */
  accept (record, whenSettled, number) {
    if (this.recorder !== null) this.recorder.accepted(record.type, number, undefined, whenSettled)
    if (typeof whenSettled === 'object') {
      whenSettled.at = number
      whenSettled.generation = this.newestGeneration
    }
    record.size++
    this.size++
    this.mostCount = Math.max(this.mostCount, this.records.size())
    try {
      this.scheduler.waiting(record.type)
    } catch (err) {
      this.blameThrow('waiting', err)
    }
  }

  /** The index of the job to start now; -1 for none. */
  choose () {
    let at
    try {
      at = this.scheduler.select(this.waitingTypes)
    } catch (err) {
      this.blameThrow('select', err)
      at = 0
    }
    if (this.size === 0) return -1 // the scheduler has cleared the queue
    if (typeof at === 'number' && at < 0) return this.stall(this.size) ? 0 : -1
    if (Number.isInteger(at) && this.records.peekAt(at) !== undefined) return at
    this.blame('select() returned something other than the index of a waiting job')
    return 0
  }

  /** Takes out a job, but for telling the scheduler. @returns its type */
  takeOut (at) {
    const record = this.records.peekAt(at)
    this.removeAt(at)
    record.cancelled++
    this.forgetIfIdle(record)
    return record.type
  }

  /** Has a hole in the place of a job, or, in the first place, closes ranks up to the next job. */
  removeAt (at) {
    const { records, payloads, settlers, numbers } = this
    records.peekAt(at).size--
    this.size--
    records.setAt(at, undefined)
    payloads.setAt(at, undefined)
    settlers.setAt(at, undefined)
    while (records.peek() === undefined && !records.isEmpty()) {
      records.shift()
      payloads.shift()
      settlers.shift()
      numbers.shift()
    }
    if (this.size === 0 && this.mostCount > KEPT_COUNT) this.empty()
  }

  compactIfSparse () {
    const holeCount = this.records.size() - this.size
    if (holeCount < MIN_HOLES || holeCount <= this.size) return
    const { records, payloads, settlers, numbers } = this
    this.empty()
    for (let i = 0; i < records.size(); i++) {
      const record = records.peekAt(i)
      if (record === undefined) continue
      this.records.push(record)
      this.payloads.push(payloads.peekAt(i))
      this.settlers.push(settlers.peekAt(i))
      this.numbers.push(numbers.peekAt(i))
    }
  }

  waitingJobs () {
    const jobs = []
    for (let i = 0; i < this.records.size(); i++) {
      const record = this.records.peekAt(i)
      if (record === undefined) continue
      jobs.push({
        payload: this.payloads.peekAt(i),
        whenSettled: this.settlers.peekAt(i),
        number: this.numbers.peekAt(i),
        type: record.type
      })
    }
    return jobs
  }

  /** Where the job with an arrival number is; -1 if it does not wait any more. O(log n). */
  indexOf (number) {
    let low = 0
    let high = this.numbers.size()
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.numbers.peekAt(middle) < number) low = middle + 1
      else high = middle
    }
    const isThere = this.numbers.peekAt(low) === number && this.records.peekAt(low) !== undefined
    return isThere ? low : -1
  }

  forgetIfIdle (record) {
    if (record.size + record.running > 0) return
    this.types.delete(record.type)
    if (this.delays !== null) this.delays.keep(record.type, record)
  }
}

module.exports = { Window }
