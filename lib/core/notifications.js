'use strict'

// Tells many that have something coming: jobs that were settled all at once, and who waits for the queue. The event loop gets its
// turn every few milliseconds, unless all are to be told before a call returns.
//
//   tell(batch) ──▶ a slice at once ──▶ batches ──▶ a slice in each turn ──▶ notify()
//
// Jobs are counted when they are settled. Those that were not told yet are in `dispatch.untoldCount`: what speaks of them waits for that.

const QList = require('qlist')
const { defer, callSafely } = require('../platform/clock')
const { rejectMany } = require('../platform/promised')
const { Slice, PACE } = require('../platform/slice')
const { tell } = require('./running')

// From so many jobs on that end at once, their errors have one stack (verdict.js), and their promises reject by a microtask.
const MANY = 16
// Those reject behind the slice, whose clock does not see it; so many take some 2 ms.
const MOST_AT_ONCE = 2 ** 15

class Telling {
  /** @param {object} dispatch whose scopes are used */
  constructor (dispatch) {
    this.dispatch = dispatch
    this.pace = PACE
    this.batches = new QList() // to be told in later turns, in order
    this.isDue = false // a turn is to come for them, or it is going on
    this.tellOn = this.tellOn.bind(this)
  }

  /** @returns {Slice} for whoever has much to do, and lets the event loop turn */
  slice () {
    return new Slice(this.pace)
  }

  /** Tells all before it returns. @param {{ tellNext: (scope: object) => boolean }} batch tells one, false if there was none left */
  tellAll (batch) {
    const scope = this.dispatch.freshScope()
    // of few, the stacks of errors still reach the line that has ended the jobs
    if (batch.isLarge) rejectMany(() => { while (batch.tellNext(scope)); })
    else while (batch.tellNext(scope));
  }

  /** Tells as many as a slice takes, in order, and the others in later turns. */
  tell (...batches) {
    const slice = this.slice()
    const scope = this.dispatch.freshScope()
    let isOver = false
    for (const batch of batches) {
      if (isOver || !tellSlice(batch, slice, scope)) {
        isOver = true
        this.tellLater(batch)
      }
    }
  }

  tellLater (batch) {
    this.batches.push(batch)
    this.schedule()
  }

  // private from here on

  schedule () {
    if (this.isDue) return
    this.isDue = true
    this.dispatch.scope.runInAsyncScope(defer, undefined, this.tellOn)
  }

  /** In a turn of its own. */
  tellOn () {
    try {
      this.dispatch.withoutStarting(() => this.tellSome())
    } finally {
      this.isDue = false
      if (!this.batches.isEmpty()) this.schedule()
    }
  }

  tellSome () {
    const { batches } = this
    const slice = this.slice()
    const scope = this.dispatch.freshScope()
    // those that come meanwhile have a turn of their own
    for (let count = batches.size(); count > 0 && tellSlice(batches.peek(), slice, scope); count--) batches.shift()
  }
}

/** @returns {boolean} whether the batch has come to its end */
function tellSlice (batch, slice, scope) {
  let isAtEnd = false
  let left = MOST_AT_ONCE
  forAll(batch, () => {
    while (!(isAtEnd = !batch.tellNext(scope)) && !slice.isOver() && --left > 0);
  })
  return isAtEnd
}

/** Calls fn, which tells jobs of a batch, in a way that suits their number. */
function forAll ({ isLarge }, fn) {
  if (isLarge) rejectMany(fn)
  else fn()
}

/** Jobs that were taken out of the list. */
class Removed {
  /** @param {object} removed a list of them */
  constructor (dispatch, removed, verdict) {
    this.dispatch = dispatch
    this.removed = removed
    this.verdict = verdict
    this.isLarge = removed.size >= MANY
    this.listeners = dispatch.listeners?.hearCancelled ? dispatch.listeners : null // the list has the types of the jobs for them
    this.at = 0
  }

  /** Jobs in it. */
  get untoldCount () {
    return this.removed.size
  }

  tellNext (scope) {
    const { dispatch, removed, verdict } = this
    if (!removed.take()) return false
    const { payload, whenSettled: own, generation } = removed
    const whenSettled = this.listeners === null ? own : this.listeners.cancels(own, removed.types?.[this.at++], payload)
    removed.payload = removed.whenSettled = undefined
    dispatch.told(generation)
    if (whenSettled !== undefined) scope.runInAsyncScope(callSafely, undefined, tell, whenSettled, verdict.error())
    return true
  }
}

/** Jobs that were settled one by one: first all runners that go on are told, by their signals, then all callbacks. */
class Ended {
  /** @param {Array<End | Ticket>} ends Tickets: of jobs that waited */
  constructor (dispatch, ends) {
    this.dispatch = dispatch
    this.ends = ends
    this.isLarge = ends.length >= MANY
    this.signalled = 0
    this.told = 0
  }

  /** Jobs in it. */
  get untoldCount () {
    return this.ends.length - this.told
  }

  tellNext (scope) {
    const { ends } = this
    for (; this.signalled < ends.length; this.signalled++) {
      const end = ends[this.signalled]
      if (!end.hasSignal) continue
      this.signalled++
      scope.runInAsyncScope(callSafely, undefined, abort, end.ticket, end.error())
      return true
    }
    if (this.told === ends.length) return false
    const end = ends[this.told]
    ends[this.told++] = undefined
    this.dispatch.told(end.generation)
    if (end.whenSettled !== undefined) scope.runInAsyncScope(callSafely, undefined, tell, end.whenSettled, end.error())
    return true
  }
}

/** Callbacks without arguments. */
class Calls {
  constructor () {
    this.isLarge = false
    this.groups = new QList() // arrays of them, emptied as they are called
    this.told = 0 // of the first group
    this.isBegun = false
  }

  get isOver () {
    return this.groups.isEmpty()
  }

  add (callbacks) {
    this.groups.push(callbacks)
  }

  tellNext (scope) {
    const { groups } = this
    this.isBegun = true
    if (groups.isEmpty()) return false
    const callbacks = groups.peek()
    const callback = callbacks[this.told]
    callbacks[this.told++] = undefined
    if (this.told === callbacks.length) {
      groups.shift()
      this.told = 0
      if (groups.isEmpty()) this.groups = new QList() // one that was long keeps its room
    }
    scope.runInAsyncScope(callSafely, undefined, callback)
    return true
  }
}

/** Promises: nothing of the caller's runs while they are settled. */
class Promises {
  /** @param {Array<(value?: any) => void>} settlers their resolve, or reject, functions @param {{ error: () => Error }} [verdict] */
  constructor (settlers, verdict) {
    this.settlers = settlers
    this.verdict = verdict
    this.isLarge = false // they reject by functions of their own
    this.told = 0
  }

  tellNext () {
    const { settlers, verdict } = this
    if (this.told === settlers.length) return false
    const settle = settlers[this.told]
    settlers[this.told++] = undefined
    settle(verdict === undefined ? undefined : verdict.error())
    return true
  }
}

function abort (ticket, reason) {
  ticket.abort(reason)
}

module.exports = { Telling, Removed, Ended, Calls, Promises, MANY }
