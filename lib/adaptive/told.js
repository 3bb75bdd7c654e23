'use strict'

// Stands between what tells of jobs and their ledger, or in the place of one, on a queue that has other observers, or whose jobs are on
// disk: hands on what it is told, and has the runs known.

const { Between } = require('../ledger/between')
const { Unrecorded } = require('../ledger/unrecorded')

class Told extends Between {
  /** @param {object | undefined} ledger @param {Runs} runs */
  constructor (ledger, runs) {
    super(ledger ?? new Unrecorded())
    this.runs = runs
    this.byId = new Map() // Runs, of jobs that run
  }

  recorderOf (list) {
    this.runs.list = list
    return super.recorderOf(list)
  }

  /** @param {string} [type] where what tells knows it */
  started (id, type) {
    super.started(id)
    this.byId.set(id, this.runs.started(type))
  }

  ended (id, hasFailed, err) {
    super.ended(id, hasFailed, err)
    if (hasFailed) this.runs.failed(this.take(id), err)
    else this.runs.done(this.take(id))
  }

  undecided (id, err) {
    super.undecided(id, err)
    this.runs.failed(this.take(id), err)
  }

  postponed (id, err) {
    super.postponed(id, err)
    this.runs.failed(this.take(id), err)
  }

  dead (id, err) {
    super.dead(id, err)
    this.runs.failed(this.take(id), err)
  }

  cancelled (id, err) {
    super.cancelled(id, err)
    this.byId.delete(id)
  }

  uncounted (id) {
    super.uncounted(id)
    this.byId.delete(id)
  }

  // private from here on

  take (id) {
    const run = this.byId.get(id)
    this.byId.delete(id)
    return run
  }
}

module.exports = { Told }
