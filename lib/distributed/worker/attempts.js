'use strict'

// HOT (bench: distributed). From the slot that a job was given to what the broker is told of its end. One that failed before, or whose
// process ended with it, is looked at first: how many attempts are left, and whether it must run alone.
//
//   slot ──▶ runner ──┬─ done ─────────────────────────────────▶ done
//                     ├─ Throttled, Postponed ─────────────────▶ waits again: the attempt does not count
//                     ├─ failed ──┬─ attempts left ────────────▶ retried, after a while
//                     │           └─ none ─────────────────────▶ dead
//                     └─ told by its signal, as the queue closes ▶ returned: the attempt does not count

const { rethrow } = require('../../platform/clock')
const { cancelledError, crashedError, overdueError, typeError } = require('../../arguments/errors')
const { errorText } = require('../../job/error-text')
const { readSpent } = require('../../job/cost')
const { outcomeOf } = require('../../job/outcome')
const { warnOfValue } = require('../../job/ignored-return')
const { Ending } = require('./ending')
const received = require('../broker/received')
const { RunnerContext } = require('./runner-context')
const { encodeResult } = require('../serialize')

const LEFT_OF_LEASE = 0.9 // a job is not begun when more of its lease is over

class Attempts {
  /**
   * @param {object} parts records, stage, suspects, takes, overdue, outcomes, observed, progress
   * @param {object} options read: runner, settleBy, serialize, maxAttempts, backoffMs, maxWaitMs, onTimeout, leaseMs, resultTtlMs
   */
  constructor ({ records, stage, suspects, takes, overdue, outcomes, observed, progress }, options) {
    const { runner, settleBy, serialize, maxAttempts, backoffMs, maxWaitMs, onTimeout, leaseMs, resultTtlMs } = options
    this.runner = runner
    this.settleBy = settleBy
    this.serialize = serialize
    this.maxAttempts = maxAttempts
    this.backoffMs = backoffMs
    this.maxWaitMs = maxWaitMs
    this.releases = onTimeout === 'release'
    this.leaseMs = leaseMs
    this.keepsResults = resultTtlMs > 0
    this.records = records
    this.stage = stage
    this.suspects = suspects
    this.takes = takes
    this.overdue = overdue
    this.outcomes = outcomes
    this.observed = observed // undefined without observers
    if (observed !== undefined) stage.dispatch.interruptions.watcher = observed.watcher()
    this.progress = progress
    this.running = new Set() // jobs whose runners were called and whose slots are theirs
    this.abandoned = new Set() // jobs whose runners the closing queue has told to end
    this.isOver = false
    this.hasSeenValue = false // of a runner that may call done; more of them mean the same
  }

  /** A job has a slot. */
  begin (delivery, job) {
    delivery.id = job.id
    delivery.type = job.place.type
    delivery.job.job = job
    job.delivery = delivery
    if (performance.now() - job.renewedAt > LEFT_OF_LEASE * this.leaseMs) {
      job.supply.drop(job) // another process has it soon
      delivery.giveBack()
    } else if (this.hasHistory(job)) {
      this.lookBack(delivery, job).catch(err => this.giveUp(delivery, job, err))
    } else {
      if (this.hasExpired(job)) {
        this.expire(delivery, job)
        return
      }
      job.attempt = delivery.attempt = 1
      if (this.mayDieUnseen(job)) this.runMarked(delivery, job)
      else this.run(delivery, job)
    }
  }

  /** The queue in memory has settled a slot: by the end of its runner, a limit of time, or since it closes. */
  settled (token, err, result) {
    const { delivery, job } = token
    delivery.isSettled = true
    if (job === undefined || job.delivery !== delivery) return
    if (delivery.isSettledBy(err)) {
      if (err) this.failed(delivery, job, err)
      else this.done(delivery, job, result)
    } else if (err?.code === 'FAIRLANE_ERR_TIMEOUT') {
      this.failed(delivery, job, err, this.releases ? undefined : delivery)
    } else if (err?.code === 'FAIRLANE_ERR_CLOSED') {
      this.abandon(delivery, job)
    }
  }

  /** A job is lost: its slot is settled, its runner told. */
  lost (job, error) {
    const { delivery, isEnding } = job
    if (delivery !== undefined) {
      job.delivery = undefined
      this.left(job)
      this.observed?.lost(job, error)
      this.abandoned.delete(job)
      this.stage.interrupt(delivery.ticket, error)
    }
    if (delivery !== undefined || isEnding) this.outcomes.lost(job, error)
  }

  /** A job that runs is cancelled: its runner is told, and it is not tried again. */
  cancelled (job) {
    const { delivery } = job
    if (job.isEnding) return
    if (delivery === undefined) {
      job.supply.withdraw(job)
      this.cancel(job)
      return
    }
    job.delivery = undefined
    this.abandoned.delete(job)
    this.stage.interrupt(delivery.ticket, this.cancel(job, delivery.hasBegun ? delivery : undefined))
  }

  /** The runner of a job says what that has cost so far. @throws FAIRLANE_ERR_ARGUMENT */
  spent (delivery, job, total) {
    const units = readSpent(total)
    const { cost } = job
    if (cost === undefined || cost === units || delivery.hasEnded || delivery.isSettled) return
    job.cost = units
    this.charge(job, units - cost)
    this.share(delivery, units)
    delivery.job.pass?.spent(units)
    this.takes.spent(job, units)
  }

  /** Of jobs whose runners were called. */
  deliveries () {
    return Array.from(this.running, ({ delivery }) => delivery)
  }

  /** Others may run as many jobs as run here. */
  loseAll () {
    for (const job of [...this.running]) job.supply.lose(job)
  }

  /** The queue has closed: what its runners did not end well goes back, and their attempts do not count. */
  end () {
    this.isOver = true
    for (const job of this.abandoned) this.finish(job, new Ending(job, 'returned', { fields: { started: 1 } }, job.delivery))
    this.abandoned.clear()
  }

  // private from here on

  async lookBack (delivery, job) {
    const { attemptsMade, stalledCounter } = job.json
    const { base, aloneAt, fault, isCancelled, hasStarted, isOverdue } = await this.records.historyOf(job)
    if (this.isLost(delivery, job)) return
    if (isOverdue) {
      job.delivery = undefined
      delivery.giveBack()
      // what was taken is the record of a runner whose process is gone
      job.supply.drop(job)
      this.overdue.leave(job, false)
      return
    }
    // a dead letter that was put back has all its attempts, also if another tool did that
    const failures = attemptsMade >= base.failures ? attemptsMade - base.failures : attemptsMade
    const stalls = Math.max(0, stalledCounter - base.stalls)
    // a stall counts for each job that the process had taken, even if it was not begun: so there may be more of them than attempts
    const maxAttempts = this.maxAttemptsOf(job)
    const most = Math.max(failures, maxAttempts)
    const made = Math.min(failures + stalls, most)
    const wasAlone = stalls > 0 && aloneAt !== undefined && aloneAt >= base.stalls && stalledCounter > aloneAt
    job.attempt = delivery.attempt = Math.min(made + 1, most)
    if (isCancelled) {
      delivery.giveBack()
      this.cancel(job)
    } else if (failures >= maxAttempts) {
      delivery.isFinal = true
      delivery.fail(faultOf(fault, made))
    } else if (made >= maxAttempts && (wasAlone || (maxAttempts === 1 && this.maxAttempts === 1))) {
      delivery.isFinal = true
      delivery.fail(crashedError(made))
    } else if (!hasStarted && attemptsMade + stalledCounter === 0 && this.hasExpired(job)) {
      job.attempt = 0
      this.expire(delivery, job)
    } else if (stalls > 0 && made >= maxAttempts - 1) {
      await this.runAlone(delivery, job)
    } else {
      this.run(delivery, job)
    }
  }

  /** The broker knows it before the runner is called: if the process ends again, it was this job. */
  async runAlone (delivery, job) {
    if (!await this.suspects.enter(job, this.running.size)) {
      this.giveUp(delivery, job)
      return
    }
    // others had to end before
    const mayStart = performance.now() <= job.startBy || await this.takes.mayStart(job).catch(() => false)
    if (mayStart) await this.runMarked(delivery, job)
    else this.giveUp(delivery, job)
  }

  /** The broker knows before that the end of the process counts as an attempt of this job. */
  async runMarked (delivery, job) {
    try {
      await this.records.markAlone(job)
    } catch (err) {
      this.giveUp(delivery, job, err)
      return
    }
    if (!this.isLost(delivery, job)) this.run(delivery, job)
  }

  run (delivery, job) {
    let payload
    try {
      delivery.isFinal = true // what can not be decoded now can never be
      payload = this.serialize.decode(job.parsed())
      delivery.isFinal = false
    } catch (err) {
      delivery.fail(err)
      return
    }
    if (!this.mayBegin(delivery, job)) return
    try {
      this.stage.limit(delivery.ticket, job.own.timeoutMs)
    } catch (err) {
      delivery.fail(err) // of the clock
      return
    }
    job.payload = payload
    this.running.add(job)
    job.place.running++
    this.observed?.begins(job)
    if (job.cost !== undefined) this.begins(delivery, job)
    const value = delivery.run(this.runner, payload, this.settleBy, new RunnerContext(delivery, job, this.progress, this))
    if (value === undefined || this.hasSeenValue) return
    this.hasSeenValue = true
    warnOfValue(this.runner, value)
  }

  /** Whether the limits of all processes let it start now: that is asked last of all, since what comes before may take its time. */
  mayBegin (delivery, job) {
    const { pass } = delivery.job
    if (performance.now() > job.startBy) {
      this.giveUp(delivery, job)
      return false
    }
    // a slot that was given before there was a limit has no pass
    if (pass === undefined ? this.stage.list.gate === null : pass.begin(job.cost)) return true
    this.putOff(delivery, job)
    return false
  }

  done (delivery, job, result) {
    let text
    try {
      if (job.inbox !== undefined || this.keepsResults) text = encodeResult(result)
    } catch (cause) {
      // whoever waits for it all the same is told that its result is not kept
      if (job.inbox === undefined) {
        this.finish(job, new Ending(job, 'done', { result }))
        return
      }
      delivery.isFinal = true // it ran well, and another run would end the same
      const error = typeError('FAIRLANE_ERR_ARGUMENT', 'the result is not JSON, so it cannot be sent to the process that waits for it')
      this.failed(delivery, job, Object.assign(error, { cause }))
      return
    }
    this.finish(job, new Ending(job, 'done', { result, text }))
  }

  /** @param {object} [overdue] its delivery, if its runner may go on and keeps its place then */
  failed (delivery, job, error, overdue) {
    const ended = { error, attempt: job.attempt, maxAttempts: this.maxAttemptsOf(job), isFinal: delivery.isFinal }
    const { end, delayMs, holdMs } = outcomeOf(ended, { backoffMs: this.backoffMs, onFault: rethrow })
    this.finish(job, this.endingOf(end, job, error, Math.ceil(delayMs), holdMs, overdue))
  }

  endingOf (end, job, error, delayMs, holdMs, overdue) {
    if (end === 'throttled') return new Ending(job, 'throttled', { holdMs })
    if (end === 'postponed') return new Ending(job, 'postponed', { delayMs, fields: { started: 1 } })
    const fault = errorText(error)
    if (end === 'retry') return new Ending(job, 'retried', { error, delayMs, fields: { fault } }, overdue)
    const { attemptsMade, stalledCounter } = job.json
    const fields = { fault, attempts: job.attempt, base: `${attemptsMade + 1},${stalledCounter}` }
    return new Ending(job, 'dead', { error, fault, fields }, overdue)
  }

  abandon (delivery, job) {
    if (!delivery.hasBegun) {
      this.finish(job, new Ending(job, 'returned'))
      return
    }
    this.abandoned.add(job)
    delivery.onceWell(result => {
      if (this.isOver || !this.abandoned.delete(job)) return
      this.done(delivery, job, result)
    })
  }

  cancel (job, overdue) {
    const error = cancelledError()
    this.finish(job, cancelledBy(job, error, overdue))
    return error
  }

  expire (delivery, job) {
    delivery.giveBack()
    const error = overdueError()
    this.finish(job, cancelledBy(job, error))
  }

  /** A job begins that is charged what it costs: its type may have been charged what the one before it did. */
  begins (delivery, job) {
    const { cost } = job
    this.charge(job, cost)
    this.share(delivery, cost)
    job.supply.lastCost = cost
  }

  /** The scheduler is told what a job that runs costs in all, if it shares that. */
  share (delivery, units) {
    if (this.stage.list.costs !== null) delivery.ticket.spent(units)
  }

  charge (job, units) {
    this.outcomes.count(job.place, 'spent', units)
    this.observed?.charged(job, units)
  }

  maxAttemptsOf ({ own }) {
    return own.maxAttempts ?? this.maxAttempts
  }

  /** Whether it may have one attempt only, and may have been taken before it had a slot: the end of the process might be no start of it. */
  mayDieUnseen ({ own }) {
    return own.maxAttempts === 1 && this.maxAttempts !== 1
  }

  /** Whether it may have failed, stalled, or waited for its first start no longer than now. */
  hasHistory ({ json: { attemptsMade, stalledCounter, attemptsStarted }, own: { maxWaitMs = this.maxWaitMs } }) {
    return attemptsMade + stalledCounter > 0 || (maxWaitMs !== Infinity && attemptsStarted > 1)
  }

  hasExpired (job) {
    const { own: { maxWaitMs = this.maxWaitMs } } = job
    return maxWaitMs !== Infinity && job.waitedMs > maxWaitMs
  }

  finish (job, ending) {
    this.left(job)
    this.observed?.ends(ending)
    job.isEnding = true
    job.supply.end(ending)
  }

  left (job) {
    if (this.running.delete(job)) job.place.running--
    this.suspects.left(job, this.running.size)
  }

  /** It is too late for this slot, by what limits the whole queue: the job waits here for another one. */
  putOff (delivery, job) {
    job.delivery = undefined
    this.suspects.left(job, this.running.size)
    job.supply.keep(job) // before its slot is free: others wait behind it
    this.stage.chooseAgain(job.place.type)
    delivery.giveBack()
  }

  /** The slot is given back, and the job goes back to the broker. */
  giveUp (delivery, job) {
    if (this.isLost(delivery, job)) return
    job.delivery = undefined
    delivery.giveBack()
    this.suspects.left(job, this.running.size)
    job.supply.giveBack([job])
  }

  /** Whether something came over a job while it was looked at; then it was taken care of. */
  isLost (delivery, job) {
    if (job.delivery === delivery && !delivery.isSettled) return false
    delivery.giveBack()
    return true
  }
}

function cancelledBy (job, error, overdue) {
  const fault = errorText(error)
  return new Ending(job, 'cancelled', { error, fault, fields: { fault } }, overdue)
}

/** What a job failed with that has had all its attempts in processes that allow more. */
function faultOf (fault, count) {
  return fault === undefined ? new Error(`the job has failed ${count} times`) : received.faultOf(fault)
}

module.exports = { Attempts }
