'use strict'

// What ends jobs other than their runners: calls of the user, signals, deadlines, and the end of the queue. First all counts are
// right, then those concerned are told. Nothing starts meanwhile.
//
//   waiting ──cancel, abandon──▶ settled                 runner on the stack ──▶ postponed until it returns
//   running ──interrupt, abandon──▶ overdue, in its slot, or released ──the runner's end──▶ gone

const { ON_STACK, PENDING, ENDED, OVERDUE, RELEASED, ownOf, retryOf } = require('./running')
const { sharedController } = require('../platform/signals')
const { Removed, Ended } = require('./notifications')
const { End } = require('./verdict')

class Interruptions {
  /** @param {object} dispatch whose slots and counts these are */
  constructor (dispatch) {
    this.dispatch = dispatch
    this.controller = undefined
    this.reason = undefined // of its abort
    this.overdue = new Map() // jobs that have settled, whose runners go on in their slots → what the watcher wants to be told then
    this.watcher = dispatch.list.recorder // of those, if somebody observes them; the owner of an inner queue may set another one
  }

  /** The AbortSignal of all jobs without one of their own. */
  get signal () {
    if (this.controller === undefined) {
      this.controller = sharedController()
      if (this.reason !== undefined) this.controller.abort(this.reason)
    }
    return this.controller.signal
  }

  /**
   * Settles waiting jobs without starting them, and tells them in their order before it returns.
   * @param {() => object} remove takes them out of the list, and returns a list of them; may throw
   * @param {Verdict} verdict
   * @returns {number} how many
   */
  cancel (remove, verdict) {
    const { dispatch } = this
    return dispatch.withoutStarting(() => {
      const removed = remove()
      const count = removed.size
      verdict.prepare(count)
      this.countCancelled(removed, verdict)
      dispatch.telling.tellAll(new Removed(dispatch, removed, verdict))
      return count
    })
  }

  /** As cancel(), without a word. */
  withdraw (remove) {
    const { dispatch } = this
    dispatch.withoutStarting(() => {
      const removed = remove()
      this.countCancelled(removed)
      removed.forEach((payload, whenSettled, generation) => {
        dispatch.told(generation)
        whenSettled.leave()
      })
    })
  }

  /**
   * Settles jobs with extras, waiting or running, unless they have settled. O(1) for each, and what the list takes. All counts
   * are right when it returns; of many, some are told in later turns.
   * @param {Iterable<object>} tickets
   * @param {(ticket: object) => Verdict} verdictOn asked before the job is settled
   * @param {object} [others] a batch of those that are to be told before
   */
  interrupt (tickets, verdictOn, others) {
    this.dispatch.withoutStarting(() => {
      const ends = []
      for (const ticket of tickets) {
        const end = this.settleTicket(ticket, verdictOn)
        if (end !== undefined) ends.push(end)
      }
      this.tellSettled(ends, others)
    })
  }

  /**
   * Settles all jobs, waiting and running. Runners keep their slots until they end. All counts are right when it returns; of
   * many, some are told in later turns.
   * @param {Verdict} verdict
   */
  abandon (verdict) {
    const { dispatch } = this
    dispatch.withoutStarting(() => {
      const removed = dispatch.list.removeAll()
      verdict.prepare(removed.size + dispatch.running)
      this.countCancelled(removed, verdict)
      const ends = dispatch.pending.list().map(job => this.settlePending(job, new End(undefined, verdict)))
      dispatch.postponed ??= new End(undefined, verdict)
      const reason = this.reason = verdict.error()
      if (this.controller !== undefined) dispatch.call(() => this.controller.abort(reason))
      dispatch.telling.tell(new Ended(dispatch, ends), new Removed(dispatch, removed, verdict))
    })
  }

  /** What came over a job while its runner was on the stack, which has returned. */
  interruptPostponed (job, end) {
    this.tellSettled([this.settlePending(job, end)])
  }

  /** The runner of a job that had settled before has ended. */
  endOverdue (job) {
    const { dispatch } = this
    const isReleased = job.state === RELEASED
    job.state = ENDED
    if (isReleased) {
      dispatch.overrun--
    } else {
      dispatch.overdueCount--
      if (this.watcher !== null) this.watcher.ends(this.overdue.get(job))
      this.overdue.delete(job)
      this.giveSlotBack(job)
    }
  }

  // private from here on

  giveSlotBack ({ origin }) {
    const { dispatch } = this
    const isNested = dispatch.isBusy
    dispatch.isBusy = true
    dispatch.running--
    dispatch.list.ended(origin, 'settled')
    if (isNested) {
      dispatch.isAskedAgain = true
    } else {
      dispatch.isCut = true
      dispatch.refilled()
    }
  }

  /**
   * Jobs were taken out of the list. From here on nothing can settle those that have extras: they are only to be told.
   * @param {object} removed a list of them @param {Verdict} [verdict] on all of them
   */
  countCancelled (removed, verdict) {
    const { dispatch } = this
    dispatch.cancelled += removed.size
    dispatch.untoldCount += removed.size
    removed.forEach((payload, whenSettled) => {
      if (typeof whenSettled === 'object') whenSettled.retire()
    })
    // not before all is counted: schedulers are the caller's, and may do anything
    dispatch.list.tellRemovals(verdict)
  }

  /**
   * Settles the job of a ticket, but for telling it.
   * @returns {object | undefined} an End, or the ticket; undefined if it has settled, or will later
   */
  settleTicket (ticket, verdictOn) {
    const { dispatch } = this
    const { job } = ticket
    if (ticket.isRetired) return undefined
    const verdict = verdictOn(ticket)
    if (job === undefined ? ticket.isTaken : job.state === ON_STACK) {
      dispatch.postponed ??= new End(ticket, verdict) // it is the next to start, or inside its runner
      return undefined
    }
    if (job !== undefined) return job.state === PENDING ? this.settlePending(job, new End(ticket, verdict)) : undefined
    const teller = dispatch.listeners?.cancelsTicket(ticket)
    dispatch.cancelled++
    dispatch.untoldCount++
    ticket.retire(verdict)
    dispatch.list.drop(ticket)
    return teller ?? ticket
  }

  /** Settles a job whose runner goes on, but for telling it. @returns {End} end, completed for tellSettled() */
  settlePending (job, end) {
    const { dispatch } = this
    const { hasFailed, releases } = end.verdict
    const { whenSettled } = job
    const own = ownOf(whenSettled)
    const told = this.watcher === null || releases ? undefined : this.watcher.outlives(job) // before the ends of jobs are told
    const retry = hasFailed ? retryOf(job, end.error()) : undefined
    if (!hasFailed && own !== whenSettled) whenSettled.isCancelled = true
    end.whenSettled = retry ?? whenSettled
    end.generation = retry === undefined ? job.generation : dispatch.list.newestGeneration // the job itself is waited for still
    dispatch.untoldCount++
    if (typeof own === 'object') {
      end.ticket = own
      own.retire()
    }
    if (retry === undefined) {
      if (hasFailed) dispatch.failed++
      else dispatch.cancelled++
    }
    dispatch.list.interrupted(job.origin, retry !== undefined ? 'returns' : hasFailed ? 'failed' : 'cancelled', end)
    job.whenSettled = job.payload = undefined
    dispatch.pending.drop(job)
    if (releases) {
      job.state = RELEASED
      dispatch.overrun++
      dispatch.running--
      dispatch.list.ended(job.origin, 'settled')
    } else {
      job.state = OVERDUE
      dispatch.overdueCount++
      this.overdue.set(job, told)
    }
    return end
  }

  /** @param {Array<End | Ticket>} ends Tickets: of jobs that waited */
  tellSettled (ends, others) {
    const batches = others === undefined ? [] : [others]
    if (ends.length > 0) batches.push(new Ended(this.dispatch, ends))
    if (batches.length > 0) this.dispatch.telling.tell(...batches)
  }
}

module.exports = { Interruptions }
