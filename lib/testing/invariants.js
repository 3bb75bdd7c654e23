'use strict'

// Everything that must be true of a queue whenever the caller's code runs.

const QList = require('qlist')
const { describe, typeError } = require('../arguments/errors')
const { internalsOf } = require('../core/internals')
const { Queue } = require('../core/queue')
const { PENDING } = require('../core/running')

/**
 * O(waiting + running). May be called anywhere: in runners, callbacks, listeners.
 * @param {Queue} queue in memory
 * @throws {Error} that says what is wrong
 * @throws {FairlaneTypeError} FAIRLANE_ERR_ARGUMENT for what is no queue in memory
 */
function checkInvariants (queue) {
  if (!(queue instanceof Queue)) throw typeError('FAIRLANE_ERR_ARGUMENT', `checkInvariants() takes a queue in memory, not ${describe(queue)}`)
  const { list, dispatch, madeTickets, madeAdmission } = internalsOf(queue)
  const { accepted, waiting, running, done, failed, cancelled, overrun } = queue.stats()
  const { overdueCount } = dispatch
  check(queue.length === waiting + running, 'length is not waiting + running')
  check(queue.waiting === waiting && queue.running === running, 'waiting and running differ from stats()')
  check(Math.min(waiting, running, overdueCount, overrun) >= 0 && overdueCount <= running, 'a count is negative, or more runners are overdue than jobs run')
  check(accepted === waiting + running - overdueCount + done + failed + cancelled, 'the jobs in all states do not add up to those accepted')

  let count = 0
  const generations = new Map()
  const tickets = []
  list.forEach((payload, whenSettled, generation) => {
    count++
    generations.set(generation, (generations.get(generation) ?? 0) + 1)
    if (typeof whenSettled === 'object') tickets.push({ ticket: whenSettled, generation })
  })
  check(count === waiting, `the list holds ${count} jobs but counts ${waiting}`)
  for (const { ticket, generation } of tickets) {
    check(!ticket.isRetired && ticket.job === undefined, 'a job that has started or settled still waits')
    check(ticket.generation === generation, 'a waiting job is not in the generation in which it was accepted')
  }

  if (list.lanes !== undefined) {
    const inUse = [...list.all()].filter(lane => lane.size + lane.running > 0)
    check(inUse.length === list.typesCount, `${inUse.length} types have jobs, but the list counts ${list.typesCount}`)
    check(inUse.reduce((sum, lane) => sum + lane.overdueCount, 0) === overdueCount, 'the overdue runners of all types do not add up to those of the queue')
  }

  const pending = dispatch.pending.list()
  check(pending.length <= running - overdueCount, 'more jobs are pending than run')
  check(pending.every(({ state }) => state === PENDING), 'a settled job is still pending')
  checkTelling(dispatch, generations, madeTickets?.madePlanned !== undefined)
  if (madeTickets !== undefined) checkTickets(madeTickets)
  if (madeAdmission !== undefined) checkAdmission(madeAdmission, dispatch)
  const isHeard = ['done', 'failed', 'cancelled', 'progress'].some(event => queue.listenerCount(event) > 0)
  check((dispatch.listeners !== null) === isHeard, 'events of jobs are emitted without a listener, or not emitted although there is one')
}

/** Deadlines and signals are those of jobs that have not settled. */
function checkTickets ({ deadlines, signals }) {
  const { heap } = deadlines
  check(heap.items.every((item, i) => item.position === i), 'a deadline is not at its own position in the heap')
  check(heap.items.every(item => !item.hasLeft), 'a settled job still has a deadline')
  check(heap.size === 0 || heap.keys[0] >= deadlines.timerAt || deadlines.isLate, 'no timer is set for the first deadline')
  check(heap.size > 0 || deadlines.timer === undefined, 'a timer is set although there is no deadline')
  for (const [signal, { tickets }] of signals.entries) {
    check(tickets.size > 0, 'the queue still listens to a signal that no job has')
    for (const ticket of tickets) check(ticket.signal === signal && !ticket.hasLeft, 'a settled job still has a signal')
  }
}

function checkAdmission ({ waiters, ring, isSaturated }, { isWatched }) {
  check(waiters.size >= ring.size(), 'a type is checked for ready() more than once in a round')
  check(!isSaturated || isWatched, 'the queue is saturated, and nothing watches for the end of that')
}

/** What is left to be told; flushes and idleness must wait for it. */
function checkTelling (dispatch, waitingByGeneration, mayComeBack) {
  const { untoldCount, madeTelling, madeFlushes, isFlushing, accepted, waiting, running } = dispatch
  const { batches, isDue } = madeTelling ?? { batches: new QList(), isDue: false }
  let count = 0
  for (let i = 0; i < batches.size(); i++) count += batches.peekAt(i).untoldCount ?? 0
  check(count <= untoldCount, 'batches hold more callbacks than the queue counts as due')
  const most = mayComeBack ? Infinity : accepted - waiting // an attempt may be told of, too, while its job waits for the next one
  check(untoldCount >= 0 && untoldCount <= most, 'more callbacks are due than jobs have settled')
  check(isDue || batches.isEmpty(), 'callbacks are due, but nothing is scheduled to call them')
  if (madeFlushes === undefined) return
  const { waits: flushes, awaitedCount: flushingCount, generation } = madeFlushes
  check(isFlushing === !flushes.isEmpty(), 'isFlushing does not say whether a flush waits')
  let awaitedCount = 0
  for (let i = 0; i < flushes.size(); i++) {
    const { unsettledCount } = flushes.peekAt(i)
    awaitedCount += unsettledCount
    const waitingCount = waitingByGeneration.get(generation - flushes.size() + i) ?? 0
    check(unsettledCount >= waitingCount, 'a flush does not wait for a waiting job that was pushed before it')
  }
  check(!isFlushing || awaitedCount === flushingCount, 'the jobs that flushes wait for do not add up')
  check(flushingCount <= waiting + running + untoldCount, 'a flush waits for a job that has ended')
}

function check (condition, message) {
  if (!condition) throw new Error(message)
}

module.exports = { checkInvariants }
