'use strict'

// HOT (bench: history). The recorder of a Fifo: it knows the ids of the jobs by their places. It keeps none for each of them, since their
// order tells: unshifted jobs come first, the last one before all others, and behind them pushed ones by their places, which are numbers
// that ascend.
//
//   front   [ …, 7, 9 ]                unshifted: 9 is taken first
//   row     3, 4, 5, 6, 8, 10 …        pushed: all places from headPlace on, but for holes
//   holes   { 7, 9 }                   places of the row that stand in front, or were taken out
//
// When there are more holes than jobs, front takes all places, and the row begins anew. Until a job comes back, a place is an id.

const { KeptIds } = require('./ids')
const { Recorder } = require('./recorder')

const MIN_HOLES = 64

class Line extends Recorder {
  constructor (list, ledger) {
    super(list, ledger)
    this.nextPlace = this.headPlace = ledger.nextId
    this.front = []
    this.holes = new Set()
    this.gone = new Set() // places in front whose jobs were taken out
    this.isPlain = true // nothing is in front, the row has no holes, and places are ids
    this.kept = null // KeptIds, once a job has come back
  }

  /** A job was put into the list. */
  pushed (type, whenSettled) {
    const place = this.nextPlace++
    if (this.kept === null && typeof whenSettled !== 'object') this.ledger.accepted(place, type)
    else this.accepted(place, type, whenSettled)
  }

  unshifted (type, whenSettled) {
    const place = this.nextPlace++
    this.front.push(place)
    this.holes.add(place)
    this.isPlain = false
    this.fillHoles()
    this.accepted(place, type, whenSettled)
  }

  /** The first job was taken. @returns {number} its id */
  taken () {
    const id = this.isPlain ? this.headPlace++ : this.idAt(this.takePlace())
    this.ledger.started(id)
    return id
  }

  /** For how long the first job has waited. */
  waitMsOfFirst () {
    return this.ledger.records.waitMsOf(this.idOfFirst())
  }

  /** The id of the first job, which waits. */
  idOfFirst () {
    const { front, gone, holes } = this
    let left = front.length
    while (left > 0 && gone.has(front[left - 1])) left--
    let place = this.headPlace
    while (holes.has(place)) place++
    if (left > 0) place = front[left - 1]
    return this.kept === null ? place : this.kept.of(place)
  }

  /** The job of a ticket was taken out, and the list has not closed ranks; dropped() follows. */
  leaves ({ place }) {
    this.leave(place)
  }

  dropped (ticket) {
    this.ledger.cancelled(this.idAt(ticket.place), ticket.error())
  }

  /** All jobs are about to be taken out. */
  removesAll () {
    this.eachPlace((block, at, place) => this.removedIds.push(this.idAt(place)))
    this.restart([])
  }

  /** @returns {Map<Array, number[]>} block → the places of its jobs, for removed() */
  places () {
    const places = new Map()
    this.eachPlace((block, at, place) => {
      if (!places.has(block)) places.set(block, [])
      places.get(block)[at] = place
    })
    return places
  }

  /** The job at a place was taken out among others. */
  removed (place) {
    this.leave(place)
    this.removedIds.push(this.idAt(place))
  }

  fillHoles () {
    const count = this.holes.size + this.gone.size
    if (count < MIN_HOLES || count <= this.list.size) return
    const places = []
    this.eachPlace((block, at, place) => places.push(place))
    this.restart(places.reverse())
  }

  // private from here on

  accepted (place, type, whenSettled) {
    const { ledger } = this
    if (typeof whenSettled === 'object') {
      whenSettled.place = place
      if (whenSettled.id > 0) {
        this.keepIds(this.list.size - 1)
        ledger.due(this.kept.put(place, whenSettled.id))
        return
      }
    }
    ledger.accepted(this.kept === null ? place : this.kept.put(place, ledger.nextId), type)
  }

  /** Jobs come back from now on. @param {number} [count] of those that wait */
  keepIds (count = this.list.size) {
    if (this.kept !== null) return
    this.kept = new KeptIds(count)
    this.isPlain = false
  }

  /** The id of the job at a place, which leaves the list. */
  idAt (place) {
    return this.kept === null ? place : this.kept.leave(place)
  }

  /** The row is empty now. */
  restart (front) {
    this.headPlace = this.nextPlace
    this.front = front
    this.holes.clear()
    this.gone.clear()
    this.isPlain = front.length === 0 && this.kept === null
  }

  /** The place of the first job, which leaves the list. */
  takePlace () {
    const place = this.firstOfFront() ?? this.firstOfRow()
    if (this.list.size === 0) this.restart([])
    return place
  }

  /** @returns {number | undefined} undefined if there is none */
  firstOfFront () {
    const { front, gone } = this
    let place = front.pop()
    while (gone.delete(place)) place = front.pop()
    return place
  }

  firstOfRow () {
    const { holes } = this
    let place = this.headPlace
    while (holes.delete(place)) place++
    this.headPlace = place + 1
    this.isPlain = this.front.length === 0 && holes.size === 0 && this.kept === null
    return place
  }

  /** A job is taken out that is not the first. */
  leave (place) {
    const isInFront = place < this.headPlace || this.holes.has(place)
    if (isInFront) this.gone.add(place)
    else this.holes.add(place)
    this.isPlain = false
  }

  /** Calls visit(block, at, place) for each job, in order. */
  eachPlace (visit) {
    const { front, gone, holes } = this
    let left = front.length
    let place = this.headPlace
    this.list.scan((block, at) => {
      while (left > 0 && gone.has(front[left - 1])) left--
      if (left > 0) {
        visit(block, at, front[--left])
        return
      }
      while (holes.has(place)) place++
      visit(block, at, place++)
    })
  }
}

module.exports = { Line }
