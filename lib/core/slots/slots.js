'use strict'

// HOT (bench: add). Jobs that the queue's runner does not do: functions of run(), and slots of acquire(). In the list such a job has a
// ticket, whose `work` says what is done when it starts:
//
//   start(ticket, job, payload, shared)   in the place of the runner
//   keepsContext                          whether it is done in the AsyncLocalStorage context of its caller
//   comesBack                             whether it is tried again when it has failed

const { readFunction } = require('../../arguments/fields')
const { Extras, readAddOptions, readJobType } = require('../options')
const { Acquisition } = require('./slot')
const { Run } = require('./run')
const { Time } = require('./time')

const RUN = new Run()
const PLAN_OF_SLOTS = ['delayMs', 'priority', 'cost'] // a slot is given once, and to one caller

class Slots {
  /** @param {object} intake of the queue */
  constructor (intake) {
    this.intake = intake
    this.read = intake.read
    this.time = new Time(intake.read.clock)
    this.hasWarned = false // of a slot that was lost
  }

  /**
   * A function is a job, with itself as the payload.
   * @returns {Promise<any>} of what came of it
   * @throws FAIRLANE_ERR_ARGUMENT, and what add() throws
   */
  run (fn, options) {
    readFunction(fn, 'run: the first argument', 'FAIRLANE_ERR_ARGUMENT')
    const extras = options === undefined ? new Extras() : readAddOptions(options, 'run')
    const type = readJobType(extras.type, this.read.scheduler, 'run')
    extras.work = RUN
    return this.intake.add(type, fn, extras)
  }

  /** @returns {Promise<Slot>} of a slot, once one is free @throws what add() throws */
  acquire (options) {
    const extras = options === undefined ? new Extras() : readAddOptions(options, 'acquire', PLAN_OF_SLOTS)
    const type = readJobType(extras.type, this.read.scheduler, 'acquire')
    extras.work = new Acquisition(this, this.time.now())
    return this.intake.add(type, undefined, extras)
  }
}

module.exports = { Slots }
