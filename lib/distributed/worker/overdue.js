'use strict'

// Runners that go on when their jobs have ended, by a limit of time or a cancel. Each keeps its place under the cap of its type: BullMQ
// counts the records of active jobs, so there is one for the runner from before the end of its job on
// (docs/decisions/0104-places-of-runners.md).
//
//   job ended, runner goes on ──keep()──▶ a record of its own, renewed as jobs are ──the runner ends──▶ leave(): its place is announced
//                                              └─ its process ends ─▶ BullMQ has it wait, as any job ─▶ leave(), by the keeper or a worker

const { promisify } = require('node:util')
const { JobNames } = require('../names')

const KIND = 'o' // names of their records begin with it; those of jobs begin otherwise

const turn = promisify(setImmediate)

/** Keeps a place. */
class OverdueRunner {
  constructor (name, supply) {
    this.name = name // of its record
    this.supply = supply
    this.renewedAt = performance.now()
  }
}

class Overdue {
  /**
   * @param {{ broker: object }} parts
   * @param {{ token: string, leaseMs: number }} options
   */
  constructor ({ broker }, { token, leaseMs }) {
    this.broker = broker
    this.token = token
    this.leaseMs = leaseMs
    this.names = new JobNames(token, KIND)
    this.isOver = false // the queue has closed, and does not learn when runners end
  }

  /**
   * Has a runner keep its place, if it goes on.
   * @param {object} job that is about to end at the broker
   * @param {object} delivery of its runner
   * @returns {Promise<void>} resolves when the job may end
   */
  async keep (job, delivery) {
    await turn() // many runners end when they are told to
    if (delivery.hasEnded) return
    const { supply, place } = job
    const runner = new OverdueRunner(this.names.next(), supply)
    supply.overdue.add(runner)
    const { name } = runner
    const { limits } = place.partition
    const keys = [place.key('active'), place.key('stalled'), limits, ...[`${job.name}:lock`, name, `${name}:lock`].map(key => place.key(key))]
    const args = [this.token, this.leaseMs, name, job.name, Date.now(), this.isOver ? 1 : 0, place.name]
    const isKept = await this.broker.until(Infinity, () => {
      return this.broker.client.fairlaneKeepPlace(...keys, ...args)
    }).catch(() => 0) // the caller of the job is not to wait for a broker that refuses it
    if (isKept === 1) delivery.onceEnded(() => { this.leave(runner, false) })
    else supply.overdue.delete(runner)
  }

  /** A runner has ended: its place is free. @param {boolean} isUnsure it may not have: its place is kept if there is a cap */
  async leave (runner, isUnsure) {
    const { name, supply } = runner
    supply.overdue.delete(runner)
    const call = () => leavePlace(this.broker, supply.place, name, this.token, isUnsure)
    await supply.telling(() => this.broker.until(Infinity, call).catch(ignore)) // then it is free when its lease is over
  }

  /** The queue has closed. Runners that have not ended keep their places under caps until their leases are over. */
  end (supplies) {
    this.isOver = true
    for (const { overdue } of supplies) {
      for (const runner of overdue) this.leave(runner, true)
    }
  }
}

/**
 * The record of a runner goes, unless another process looks after it by now.
 * @param {string} token of the process that looks after it; '' if none does any more
 */
function leavePlace ({ client }, place, name, token, isUnsure) {
  const lists = ['active', 'wait', 'stalled'].map(key => place.key(key))
  const keys = [...lists, place.partition.limits, place.key(name), place.key(`${name}:lock`)]
  return client.fairlaneLeavePlace(...keys, token, name, isUnsure ? 1 : 0, 'PUBLISH', place.partition.wake, place.name)
}

/** Whether the record of that name is a runner's, by the name. */
function isOfRunner (name) {
  return name.startsWith(`${KIND}.`)
}

function ignore () {}

module.exports = { Overdue, isOfRunner, leavePlace }
