'use strict'

// fflush(): who waits for all jobs that were accepted before. Jobs carry the number of the flush that they came after, their
// generation, and each flush counts its own: O(1) (docs/decisions/0007).

const QList = require('qlist')
const { Calls } = require('./notifications')

class Flushes {
  /** @param {object} dispatch whose jobs are waited for; its `isFlushing` says that there is a flush to count for */
  constructor (dispatch) {
    this.dispatch = dispatch
    this.generation = 0
    this.waits = new QList() // of { unsettledCount, knownCount, callbacks }, one per generation, the last is generation - 1
    this.awaitedCount = 0 // of jobs, by all waits
    this.flushed = new Calls() // of waits that are over; onIdle() is behind them
    this.deferred = new Calls() // the last of those that had nothing to wait for
  }

  /** Calls back once all jobs accepted up to now have settled and were told so, never synchronously. */
  add (callback) {
    const { dispatch, waits } = this
    const liveCount = dispatch.waiting + dispatch.running - dispatch.overdueCount
    const unsettledCount = liveCount + dispatch.untoldCount
    const knownCount = liveCount + dispatch.settledCount() // not `accepted`: a job on its way into the list is of the next flush
    const last = waits.peekAt(-1)
    if (unsettledCount === 0) {
      this.callLater(callback)
    } else if (last !== undefined && last.knownCount === knownCount) {
      last.callbacks.push(callback)
    } else {
      waits.push({ unsettledCount: unsettledCount - this.awaitedCount, knownCount, callbacks: [callback] })
      this.awaitedCount = unsettledCount
      dispatch.isFlushing = true
      dispatch.list.barrier(++this.generation, waits.size())
    }
  }

  /** A job of a generation has settled, and was told. */
  countDown (generation) {
    // jobs of generations before the first flush in the list have all settled, so the index is never negative
    const wait = this.waits.peekAt(generation - this.generation + this.waits.size())
    if (wait === undefined) return
    wait.unsettledCount--
    this.awaitedCount--
  }

  /** Calls those that have nothing to wait for any more, behind others that are being called, or are to be, in a later turn. */
  check () {
    const { dispatch, waits, flushed } = this
    if (waits.peek().unsettledCount > 0) return
    const isTelling = !flushed.isOver
    while (!waits.isEmpty() && waits.peek().unsettledCount === 0) flushed.add(waits.shift().callbacks)
    if (waits.isEmpty()) {
      dispatch.isFlushing = false
      this.waits = new QList() // one that was long keeps its room
      dispatch.list.forgetBarriers()
    }
    if (!isTelling) dispatch.telling.tell(flushed)
  }

  /** Whether all that are over were called. */
  get areTold () {
    return this.flushed.isOver
  }

  // private from here on

  callLater (callback) {
    if (this.deferred.isOver || this.deferred.isBegun) {
      this.deferred = new Calls()
      this.dispatch.telling.tellLater(this.deferred)
    }
    this.deferred.add([callback])
  }
}

module.exports = { Flushes }
