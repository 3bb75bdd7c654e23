'use strict'

// Callers of add() in this process, until the results of their jobs are there. Processes that run jobs send notices to the inbox of the
// process that added them. Notices may be lost: so the record of a job is looked at after a while, in ever longer intervals.

const { FairlaneError, resultLostError } = require('../../arguments/errors')
const { brokerError } = require('../broker/failures')
const { inboxOf } = require('../broker/notices')
const { faultOf: readFault, jsonOf, readNotice } = require('../broker/received')
const { faultOf } = require('../broker/records')

const FIRST_LOOK_MS = 2000
const LONGEST_LOOK_MS = 30000
const TICK_MS = 500
const MOST_AT_ONCE = 1000
const UNREADABLE = 'The job has ended, and its result at the broker cannot be read'

/** A caller of add(). */
class ResultWaiter {
  constructor (place, name, settle) {
    this.place = place
    this.name = name
    this.settle = settle // (err, result)
    this.lookMs = FIRST_LOOK_MS
    this.lookAt = Infinity // until the broker has the job
  }
}

class Results {
  /**
   * @param {{ broker: object, records: object }} parts
   * @param {{ token: string, makeClosedError: () => Error }} options token: what this process is called
   */
  constructor ({ broker, records }, { token, makeClosedError }) {
    this.broker = broker
    this.records = records
    this.inbox = token
    this.makeClosedError = makeClosedError
    this.waiters = new Map() // id → ResultWaiter[]
    this.size = 0
    this.timer = undefined
    this.opening = undefined
  }

  /** @returns {Promise<void>} resolves when notices arrive */
  open () {
    this.opening ??= Promise.all(this.broker.partitions.map(partition => {
      return this.broker.listen(inboxOf(partition, this.inbox), message => this.told(message))
    })).catch(err => {
      this.opening = undefined
      throw err
    })
    return this.opening
  }

  /** @returns {Promise<void>} resolves when no call of open() waits any more */
  whenOpen () {
    return this.opening === undefined ? Promise.resolve() : this.opening.then(ignore, ignore)
  }

  /** @returns {ResultWaiter} from now on settle is called when the job has ended, once */
  add (place, name, settle) {
    const id = place.idOf(name)
    const others = this.waiters.get(id)
    const waiter = new ResultWaiter(place, name, settle)
    if (others === undefined) this.waiters.set(id, [waiter])
    else others.push(waiter)
    this.size++
    return waiter
  }

  /** Whether this process still wants the job of a waiter that was settled. */
  isWanted ({ place, name }) {
    return this.waiters.has(place.idOf(name))
  }

  /**
   * The broker has the job: if no notice comes, its record says what became of it.
   * @param {ResultWaiter} waiter
   * @param {string} name of the job that the broker has: if another one has its key, the waiter shares that
   * @param {number} state as of Pushes.push()
   */
  stored (waiter, name, state) {
    if (name !== waiter.name) this.move(waiter, name)
    // a notice may have come before it was known whose, or this process have left the job as an earlier add() was aborted
    if (state > 0) this.watch(waiter).catch(ignore)
    waiter.lookAt = performance.now() + waiter.lookMs
    this.timer ??= setTimeout(() => this.tick(), TICK_MS)
  }

  /** This process has left a job: those that have joined it meanwhile are told of its end all the same. */
  async stay ({ place, name }) {
    await Promise.all((this.waiters.get(place.idOf(name)) ?? []).map(waiter => this.watch(waiter)))
  }

  /** Settles one, unless it has been. */
  settle (waiter, err, result) {
    if (this.take(waiter)) waiter.settle(err, result)
  }

  /** What is known by now at the broker is told. */
  lookAtAll () {
    return this.size > 0 ? this.look(Number.MAX_VALUE) : Promise.resolve()
  }

  /** Those that still wait are told that the queue has closed. */
  close () {
    clearTimeout(this.timer)
    this.settleAll(this.makeClosedError)
  }

  /** A job was taken away by this process. */
  ended (id, error) {
    for (const waiter of [...this.waiters.get(id) ?? []]) this.settle(waiter, error)
  }

  /**
   * Waits for the result of a job that any process has pushed.
   * @param {string} id
   * @param {(err: any, result?: any) => void} settle called once
   * @returns {() => void} waits no longer
   */
  wait (id, settle) {
    const job = this.records.locate(id)
    if (job === undefined) {
      settle(resultLostError())
      return ignore
    }
    const waiter = this.add(job.place, job.name, settle)
    this.open().then(() => this.watch(waiter)).catch(err => this.settle(waiter, brokerError(err)))
    return () => { this.take(waiter) }
  }

  // private from here on

  async watch (waiter) {
    const { place, name } = waiter
    const { client } = this.broker
    const answer = await this.broker.soon(() => client.fairlaneWait(place.key(name), place.key(`${name}:result`), this.inbox))
    if (answer === 1) this.stored(waiter, name, 0)
    else if (answer === 0) await this.lookAtSome([waiter])
    else this.settleByOutcome(waiter, answer)
  }

  /** A waiter waits for another job. It may have been settled before. */
  move (waiter, name) {
    const { place } = waiter
    if (!this.take(waiter)) return
    waiter.name = name
    const others = this.waiters.get(place.idOf(name))
    if (others === undefined) this.waiters.set(place.idOf(name), [waiter])
    else others.push(waiter)
    this.size++
  }

  /** @returns {boolean} whether it still waited */
  take (waiter) {
    const id = waiter.place.idOf(waiter.name)
    const waiters = this.waiters.get(id)
    const at = waiters === undefined ? -1 : waiters.indexOf(waiter)
    if (at === -1) return false
    waiters.splice(at, 1)
    if (waiters.length === 0) this.waiters.delete(id)
    this.size--
    return true
  }

  /** A notice: of each job its id, and the JSON of its result, or its fault. @returns {boolean} whether all of it can be read */
  told (message) {
    const notices = Array.isArray(message) ? message.map(readNotice) : [undefined]
    for (const notice of notices) {
      // of one that cannot be read the record of its job tells
      for (const waiter of [...this.waiters.get(notice?.id) ?? []]) this.settle(waiter, notice.error ?? null, notice.result)
    }
    return !notices.includes(undefined)
  }

  settleAll (makeError) {
    for (const waiters of [...this.waiters.values()]) for (const waiter of [...waiters]) this.settle(waiter, makeError())
  }

  tick () {
    this.timer = undefined
    if (this.size === 0) return
    this.look(performance.now()).catch(ignore).finally(() => {
      if (this.size > 0) this.timer ??= setTimeout(() => this.tick(), TICK_MS)
    })
  }

  /** Looks at the records of jobs whose time has come. */
  async look (now) {
    if (!this.broker.isReady) return
    const due = new Map() // partition → waiters
    for (const waiters of this.waiters.values()) {
      for (const waiter of waiters) {
        if (waiter.lookAt > now) continue
        waiter.lookMs = Math.min(2 * waiter.lookMs, LONGEST_LOOK_MS)
        waiter.lookAt = now + waiter.lookMs
        const { partition } = waiter.place
        if (!due.has(partition)) due.set(partition, [])
        due.get(partition).push(waiter)
      }
    }
    for (const waiters of due.values()) {
      for (let at = 0; at < waiters.length; at += MOST_AT_ONCE) await this.lookAtSome(waiters.slice(at, at + MOST_AT_ONCE))
    }
  }

  async lookAtSome (waiters) {
    const records = await this.records.readAll(waiters)
    await this.lookForResults(waiters.filter((waiter, at) => records[at] === undefined))
    waiters.forEach((waiter, at) => {
      const record = records[at]
      if (record === undefined) return
      if (record.finishedOn !== undefined && record.failedReason === undefined) this.settleBy(waiter, record.returnvalue ?? 'null')
      else if (record.finishedOn !== undefined) this.settle(waiter, faultOf(record))
    })
  }

  /** Of jobs whose records are gone. */
  async lookForResults (waiters) {
    if (waiters.length === 0) return
    const outcomes = await this.broker.askAll(waiters.map(({ place, name }) => ['get', place.key(`${name}:result`)]))
    waiters.forEach((waiter, at) => this.settleByOutcome(waiter, outcomes[at]))
  }

  /** @param {string | null} outcome as scripts/removal.js says */
  settleByOutcome (waiter, outcome) {
    if (outcome === null) this.settle(waiter, resultLostError())
    else if (outcome.startsWith('+')) this.settleBy(waiter, outcome.slice(1))
    else this.settle(waiter, readFault(outcome.slice(1)))
  }

  settleBy (waiter, text) {
    const result = jsonOf(text)
    if (result !== undefined) this.settle(waiter, null, result)
    else this.settle(waiter, new FairlaneError('FAIRLANE_ERR_RESULT', UNREADABLE))
  }
}

function ignore () {}

module.exports = { Results }
