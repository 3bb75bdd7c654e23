'use strict'

// Who builds the parts of a queue. What a queue does not use is not even loaded.

const { channelOf } = require('../platform/channels')
const { JobContext } = require('../platform/context')
const { typeError } = require('../arguments/errors')
const { isLaneScheduler } = require('./options')

let Fifo // loaded for the first queue
let queues // the channel of queues, likewise

module.exports = { announce, capOf, makeContexts, makeExplaining, makeScheduler, makeList, makeTickets }

/** Before a queue is observed: who wants to know of queues may add observers. @param {string} [name] */
function announce (queue, { observers }, name) {
  queues ??= channelOf('fairlane:queue')
  if (queues.hasSubscribers) require('./announcing').announce(queues, { queue, name }, observers)
}

/** How many jobs of a type run at once at most, as far as that is less than may run in all; else Infinity. */
function capOf (scheduler, type) {
  const cap = require('../../schedulers/shares').capOf(scheduler, type)
  return cap < (scheduler?.caps?.concurrency ?? scheduler?.concurrency) ? cap : Infinity // as it was told of it
}

/**
 * @param {() => AbortSignal} runnersSignal
 * @returns {(type: string | undefined) => JobContext} makes what the runners of a type are told
 */
function makeContexts (runnersSignal) {
  const owner = { runnersSignal, progress () {}, spent: total => require('../job/cost').readSpent(total) } // of contexts that jobs share
  return type => new JobContext(type, 1, owner)
}

/** Called when somebody asks why a job waits. Arguments as of Explaining. */
function makeExplaining (queue, scheduler, about) {
  const { Explaining } = require('./explain')
  return new Explaining(queue, scheduler, require('../../schedulers/shares'), about)
}

/**
 * The scheduler that the options name, or the one that they hold, with the schedulerOptions, if there are any; null if none.
 * @throws FAIRLANE_ERR_OPTION, also if there are priorities and no lanes for them, or rates of types that it cannot hold
 */
function makeScheduler (read) {
  const scheduler = chooseScheduler(read)
  if (read.priorityMs !== undefined && scheduler !== null && !isLaneScheduler(scheduler)) {
    throw typeError('FAIRLANE_ERR_OPTION', 'priorityMs needs a scheduler with lanes, such as fair or equal, or no scheduler')
  }
  if (read.rates !== undefined) require('./limits/limiter').checkRates(scheduler, read.rates.ratePerType)
  return scheduler
}

function chooseScheduler (read) {
  const { scheduler, schedulerOptions, concurrency } = read
  if (scheduler === null) return null
  read.toldConcurrency = concurrency
  const options = { ...schedulerOptions, concurrency }
  if (typeof scheduler === 'string') return makeByName[scheduler](options)
  if (schedulerOptions !== undefined) {
    if (typeof scheduler.configure !== 'function') {
      throw typeError('FAIRLANE_ERR_OPTION', 'schedulerOptions need a scheduler with a method configure')
    }
    scheduler.configure(options)
  }
  return scheduler
}

const makeByName = {
  fair (options) {
    const { Fair } = require('../../schedulers/fair')
    return new Fair(options)
  },

  capped (options) {
    const { Capped } = require('../../schedulers/capped')
    return new Capped(options)
  },

  equal (options) {
    const { makeEqual } = require('../../schedulers/make-equal')
    return makeEqual(options)
  }
}

/**
 * @param {object | null} scheduler
 * @param {object} read the options of the queue, and `ledger` if it is observed: what the list tells of each job
 * @param {(type: string | undefined) => object} makeContext makes what the runners of jobs of a type are told of them
 */
function makeList (scheduler, read, makeContext) {
  const list = makeBareList(scheduler, read, makeContext)
  if (read.ledger !== undefined) list.recorder = read.ledger.recorderOf(list)
  return list
}

function makeBareList (scheduler, read, makeContext) {
  if (read.priorityMs !== undefined) return makeListByPriority(scheduler, read, makeContext)
  if (scheduler === null) {
    Fifo ??= require('./lists/fifo').Fifo
    return new Fifo(makeContext(undefined))
  }
  if (!isLaneScheduler(scheduler)) {
    const { Window } = require('./lists/window')
    return new Window(scheduler, makeContext)
  }
  const { Lanes } = require('./lists/lanes')
  return new Lanes(scheduler, read, makeContext)
}

/** Without a scheduler all jobs are in one lane. */
function makeListByPriority (scheduler, read, makeContext) {
  const { Lanes } = require('./lists/lanes')
  const { Levels, OneLane } = require('./lists/levels')
  const list = new Lanes(scheduler ?? new OneLane(), read, makeContext)
  list.levels = new Levels(list, read.priorityMs, scheduler === null)
  return list
}

/** Called when the first job with extras comes, or the queue closes. @param {object} hooks as of PlannedJobs */
function makeTickets (dispatch, read, hooks) {
  const { Tickets } = require('./tickets/tickets')
  return new Tickets(dispatch, read, tickets => makePlanned(tickets, read, hooks))
}

/** Called when the first job comes that is to wait for its time, or has a key, or is to be tried again. */
function makePlanned (tickets, read, hooks) {
  const { PlannedJobs } = require('./tickets/planned')
  return new PlannedJobs(tickets, read, hooks)
}
