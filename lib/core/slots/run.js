'use strict'

// HOT (bench: add). A function that is a job: it is called with the context of the job, and what it returns or throws settles that,
// however the queue's runner settles its own.

const { JobContext } = require('../../platform/context')
const { promiseOf } = require('../../platform/promised')
const { follow, settle } = require('../running')

/** As `work` of any number of tickets. */
class Run {
  start (ticket, job, fn, shared) {
    const { scope, tickets: { dispatch: { givesDone } } } = ticket
    const context = new JobContext(shared.type, ticket.attempt, ticket) // its signal is for this call: many would listen to a shared one
    const returned = scope === undefined ? callAndListen(fn, context) : scope.runInAsyncScope(callAndListen, undefined, fn, context)
    if (!givesDone) return returned // which settles the job, as what such a runner returns does
    if (returned instanceof Promise) follow(job, returned)
    else settle(job, null, returned)
    return undefined
  }

  get keepsContext () {
    return true
  }

  get comesBack () {
    return true
  }
}

/** As a runner whose ticket has a scope is called. */
function callAndListen (fn, context) {
  const returned = fn(context)
  return promiseOf(returned) ?? returned
}

module.exports = { Run }
