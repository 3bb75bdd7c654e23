'use strict'

// Stands between the lists of a queue and its ledger, and publishes what the lists tell. Subscribers may do anything, and are told in a
// microtask, in order, in the context of who made the queue.

const { channelOf } = require('../platform/channels')
const { asyncScope } = require('../platform/context')
const { WORDS, TYPE, WAITING, RUNNING, DELAYED } = require('../ledger/segment')
const { attemptsOf, versionsOf } = require('../ledger/versions')
const { Between } = require('../ledger/between')

const NAMES = ['accepted', 'started', 'settled', 'retried', 'refused']

class Publisher extends Between {
  /** @param {object} ledger or another that stands before it @param {object} queue */
  constructor (ledger, queue) {
    super(ledger)
    this.queue = queue
    this.scope = asyncScope()
    this.channels = Object.fromEntries(NAMES.map(name => [name, channelOf(`fairlane:job:${name}`)]))
    this.starvation = channelOf('fairlane:starvation')
    this.pending = [] // [channel, message]
  }

  // what lists tell, as in ledger.js

  accepted (id, type, guess) {
    const number = this.ledger.accepted(id, type, guess)
    this.comes(id)
    return number
  }

  recovered (id, type, ageMs, attempts, state) {
    this.ledger.recovered(id, type, ageMs, attempts, state)
    this.comes(id)
  }

  revived (id) {
    this.ledger.revived(id)
    this.comes(id)
  }

  started (id) {
    this.ledger.started(id)
    if (!this.channels.started.hasSubscribers) return
    const job = this.find(id)
    if (job !== undefined) this.tell('started', job, { state: 'running', waitMs: waitOf(job.versions) })
  }

  ended (id, hasFailed, err) {
    this.leaves('settled', id, hasFailed ? 'failed' : 'done', hasFailed ? err : undefined, () => this.ledger.ended(id, hasFailed, err))
  }

  cancelled (id, err) {
    this.leaves('settled', id, 'cancelled', err, () => this.ledger.cancelled(id, err))
  }

  cancelledAll (ids, err) {
    for (const id of ids) this.cancelled(id, err)
  }

  dead (id, err) {
    this.leaves('settled', id, 'failed', err, () => this.ledger.dead(id, err), true)
  }

  /** It is not tried again. */
  failed (id, err) {
    this.leaves('settled', id, 'failed', err, () => this.ledger.failed(id, err), true)
  }

  unaccepted (id) {
    this.leaves('settled', id, 'cancelled', undefined, () => this.ledger.unaccepted(id))
  }

  /** Nobody hears of it until it is decided. */
  undecided (id, err) {
    this.ledger.undecided(id, err)
  }

  again (id, err) {
    this.leaves('retried', id, 'delayed', err, () => this.ledger.again(id, err), true)
  }

  postponed (id, err) {
    this.leaves('retried', id, 'delayed', err, () => this.ledger.postponed(id, err))
  }

  refused (type, error) {
    this.ledger.refused(type, error)
    if (this.channels.refused.hasSubscribers) this.tell('refused', { id: undefined, type, attempt: 0 }, { error })
  }

  /** A type begins to starve, or does not any more. */
  starves (event, told) {
    if (this.starvation.hasSubscribers) this.publish(this.starvation, { queue: this.queue, event, ...told })
  }

  // private from here on

  /** @returns {object | undefined} a job as it is; undefined if there is no record of it */
  find (id) {
    const { records } = this
    const rows = records.find(id)
    if (rows === undefined) return undefined
    const { row } = records
    const type = records.names.textOf(rows.words[row * WORDS + TYPE])
    return { id, type, attempt: attemptsOf(rows, row), versions: versionsOf(rows, row) }
  }

  /** A job was accepted, here or before the queue was opened; dead letters were, too. */
  comes (id) {
    if (this.channels.accepted.hasSubscribers) this.tell('accepted', this.find(id), { state: 'waiting' })
  }

  /**
   * A job comes to its end, or to that of an attempt.
   * @param {boolean} [isDecided] it is known now what follows: if the job is delayed, its attempt has ended before
   */
  leaves (name, id, state, error, change, isDecided = false) {
    const job = this.channels[name].hasSubscribers ? this.find(id) : undefined
    change()
    if (job === undefined) return
    const wasUndecided = isDecided && job.versions.at(-1).state === DELAYED
    const endedAt = wasUndecided ? job.versions.pop().at : this.records.time.ms
    const last = job.versions.at(-1)
    const runMs = last.state === RUNNING ? endedAt - last.at : undefined
    const waitMs = last.state === WAITING ? endedAt - last.at : last.state === RUNNING ? waitOf(job.versions) : undefined
    this.tell(name, job, { state, waitMs, runMs, error })
  }

  tell (name, { id, type, attempt }, { state, waitMs, runMs, error }) {
    this.publish(this.channels[name], { queue: this.queue, id, type, attempt, state, waitMs, runMs, error })
  }

  /** In a microtask: the queue is in the middle of a change. */
  publish (channel, message) {
    if (this.pending.push([channel, message]) > 1) return
    queueMicrotask(() => this.scope.runInAsyncScope(() => {
      for (const [channel, message] of this.pending.splice(0)) channel.publish(message)
    }))
  }
}

/** For how long a job waited that runs. */
function waitOf (versions) {
  const [before, last] = versions.slice(-2)
  return last.at - before.at
}

module.exports = { Publisher }
