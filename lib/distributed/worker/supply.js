'use strict'

// HOT (bench: distributed). One type, in a process that runs jobs: what is thought to wait at the broker, and what was taken.
//
//   dry ──word──▶ window 1 ──each job that comes──▶ window × 2 ──nothing waits any more──▶ dry, unless a word came meanwhile
//                    ▲                                                │
//                    └──────────────────────────────────────── jobs wait, and none is given: at a cap, asked again later
//
// For each job that may be had a token stands in the queue in memory. A token that is given a slot takes a job that was prefetched, or asks
// the broker; if there is none the slot is given back. Which calls are made is decided once a turn, for all types (matching.js).

const { COST } = require('../../job/cost')
const { Arrivals } = require('./arrivals')
const { Due } = require('./due')
const { Ending, lostError } = require('./ending')
const { TakenJob } = require('./taken-job')

const MOST_ASKED = 500 // calls for jobs of a type that are on their way at once
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1000
const LONGEST_LIMIT_MS = 30000 // the message that a limit has changed may be lost

class Supply {
  /**
   * @param {object} place
   * @param {object} parts taking, slots, prefetch, requests, endings, announcer, attempts, matching: those of all supplies of the process
   */
  constructor (place, parts) {
    this.place = place
    this.parts = parts
    this.jobs = new Map() // name → TakenJob: all that this process has of the type
    this.overdue = new Set() // runners whose jobs have ended, and that keep their places
    this.prefetched = [] // jobs that wait for a slot, in order
    this.tokensCount = 0 // tokens that stand in the queue in memory
    this.askers = [] // deliveries with a slot for which the broker is to be asked
    this.arrivals = new Arrivals((call, answer) => this.answered(call, answer)) // of jobs
    this.endings = [] // ends of jobs that the broker is to be told of
    this.askersCount = 0 // slots for which the broker is to be asked, or is being asked
    this.askingCount = 0 // calls on their way that may bring a job
    this.tellingCount = 0 // calls on their way that end one
    this.lastCost = COST // of the job that has begun last, if the scheduler shares costs
    this.window = 0 // how many jobs may be asked for at once; 0: the type is dry
    this.stillCount = 0 // how often in a row the broker had jobs and gave none
    this.isRated = false // a rate is used up: jobs must start soon after they were taken
    this.isBlocked = false // the broker is not asked until `timer` ends
    this.isAtCap = false // ... because as many jobs of the type run as its cap allows
    this.timer = undefined // ends isBlocked
    this.due = new Due(() => this.expectJobs()) // of delayed jobs
    this.isDeciding = false // something is to be decided in this turn
    this.rechecksCount = 0 // how often the limits of the type have changed
    this.wordsCount = 0 // how often it was heard that there may be jobs
    this.waiters = [] // callers of whenTold()
  }

  /** There may be jobs. */
  expectJobs () {
    this.wordsCount++
    if (this.window === 0) this.window = 1
    this.topUp()
  }

  /**
   * The limits of the type have changed.
   * @returns {Promise<void> | undefined} resolves when what was taken by the old limits is given back
   */
  recheck () {
    this.rechecksCount++
    const returned = this.returnPrefetched(Infinity)
    this.askAgain()
    return returned
  }

  /** The broker may be asked, whatever it said last. */
  askAgain () {
    this.unblock()
    this.topUp()
  }

  /** A token of the type has been given a slot. */
  serve (delivery) {
    const job = this.prefetched.shift()
    if (job !== undefined) {
      this.parts.prefetch.count--
      this.begin(delivery, job)
    } else if (this.mayAsk()) {
      this.askers.push(delivery)
      this.askersCount++
      this.decideSoon()
    } else {
      delivery.giveBack()
    }
  }

  /** A job is over here; the broker is to be told. A slot is free in which another one may start, before it is told. */
  end (ending) {
    this.endings.push(ending)
    if (this.isAtCap) this.unblock()
    this.topUp()
    this.decideSoon()
  }

  /** A place of the type under its cap is free, which another process had. */
  freed () {
    this.stillCount = 0 // an answer that is on its way may be older than that
    if (this.isAtCap) this.unblock()
    this.topUp()
  }

  /** Has one token in the queue in memory for each job that may be had. */
  topUp () {
    const { taking, slots } = this.parts
    const asks = this.mayAsk() ? this.window - this.askingCount - this.askers.length : 0
    let missing = this.prefetched.length + Math.max(0, asks) - this.tokensCount
    if (taking.isStopped) return
    for (; missing > 0; missing--) {
      this.tokensCount++
      slots.place(this)
    }
  }

  /**
   * Gives all jobs back that wait for a slot, if the first of them was taken before a time: the others are not to start before it. The last
   * goes first, as each is put before the others.
   * @returns {Promise<void> | undefined}
   */
  returnPrefetched (time) {
    if (this.prefetched.length === 0 || this.prefetched[0].takenAt > time) return undefined
    this.parts.prefetch.count -= this.prefetched.length
    return this.giveBack(this.prefetched.splice(0).reverse())
  }

  /**
   * Gives jobs back that were not begun, in the order in which they are to be put before each other: all at once, so that no call that is
   * made from now on takes one of them before the others are there.
   */
  async giveBack (jobs) {
    await Promise.all(jobs.map(job => this.telling(() => this.parts.endings.tell(new Ending(job, 'returned'), false))))
    await this.announce()
    this.topUp()
  }

  /** A job that had a slot waits for another one, before all others. */
  keep (job) {
    if (!this.parts.taking.isOn) {
      this.giveBack([job])
      return
    }
    this.prefetched.unshift(job)
    this.parts.prefetch.add()
    this.topUp()
  }

  /** Others may have the job. */
  lose (job, cause) {
    this.drop(job)
    this.parts.attempts.lost(job, lostError(cause))
  }

  /** A job that was cancelled, if it is here. */
  cancelled (name) {
    const job = this.jobs.get(name)
    if (job !== undefined) this.parts.attempts.cancelled(job)
  }

  /** A job is no longer this process's. */
  drop (job) {
    if (this.jobs.get(job.name) !== job) return
    this.jobs.delete(job.name)
    this.withdraw(job)
  }

  /** A job does not wait for a slot any more, if it did. */
  withdraw (job) {
    const at = this.prefetched.indexOf(job)
    if (at === -1) return
    this.prefetched.splice(at, 1)
    this.parts.prefetch.count--
  }

  /** Makes a call that tells the broker of an end: until it has ended the type is not forgotten. @param {() => Promise<any>} call */
  async telling (call) {
    this.tellingCount++
    const answer = await call()
    this.tellingCount--
    this.callEnded()
    return answer
  }

  /** Other processes start the next job, in so many ms. */
  standBy (ms) {
    this.unblock()
    this.isBlocked = true
    this.window = 1
    this.parts.requests.standBy(this, Math.min(ms, LONGEST_LIMIT_MS))
  }

  /** @returns {{ endings: object[], askers: object[] }} what the broker is to be told of, and slots for which it is to be asked */
  toDecide () {
    this.isDeciding = false
    return { endings: this.endings.splice(0), askers: this.askers.splice(0) }
  }

  /** Whether a job may be taken that has no slot yet. */
  mayTakeAhead () {
    return this.mayAsk() && this.parts.prefetch.hasRoom(this.isRated)
  }

  /**
   * Tells the broker of an end, and may take a job with it.
   * @param {object} ending
   * @param {Supply} [taker] the job is of its type; undefined: none is taken
   * @param {object} [asker] delivery with the slot that it is for; undefined: it is taken ahead
   */
  async tell (ending, taker, asker) {
    const { prefetch, requests, endings } = this.parts
    this.tellingCount++
    if (taker !== undefined) taker.askingCount++
    if (taker !== undefined && asker === undefined) prefetch.comingCount++
    if (ending.delivery !== undefined) await endings.keepPlace(ending)
    let call = taker?.sent(asker)
    const fetched = next => {
      if (call !== undefined) taker.arrivals.ended(call, next)
      call = undefined
    }
    // a call that is made again brings no job: until the broker has it, the slot is of use to others
    let next = await endings.tell(ending, taker?.place, err => {
      requests.failed(this.place, err)
      fetched(undefined)
    })
    if (!ending.mayFetch) await this.announce()
    this.tellingCount--
    this.callEnded()
    // an end that was refused says nothing of another type
    if (next === undefined && call !== undefined && taker !== this) next = await requests.ask(taker.place)
    fetched(next)
  }

  /** Asks the broker for a job for a slot. */
  async ask (asker) {
    this.askingCount++
    const call = this.sent(asker)
    this.arrivals.ended(call, await this.parts.requests.ask(this.place))
  }

  /** Whether the broker is to be told of an end, or is being told or asked. */
  get isCalling () {
    return this.askingCount + this.tellingCount + this.endings.length > 0
  }

  /** @returns {Promise<void>} resolves when a call has ended; isCalling says whether there are others */
  whenTold () {
    return new Promise(resolve => this.waiters.push(resolve))
  }

  /** Whether nothing of it is here, nor on its way. */
  get isIdle () {
    const { jobs, overdue, tokensCount, askers, askingCount, tellingCount } = this
    const count = jobs.size + overdue.size + tokensCount + askers.length + askingCount + tellingCount
    return this.window === 0 && count === 0 && !this.due.isAwaited
  }

  /** Lets go of its timers. */
  stop () {
    clearTimeout(this.timer)
    this.due.stop()
    this.window = 0
  }

  // private from here on

  mayAsk () {
    return this.window > 0 && !this.isBlocked && this.parts.requests.mayAsk(this.place.partition)
  }

  begin (delivery, job) {
    this.parts.prefetch.started()
    this.parts.attempts.begin(delivery, job)
  }

  /** Jobs were put back: another process may have found the type empty meanwhile. @returns {Promise<void>} */
  announce () {
    return this.parts.announcer.announce(this.place).then(ignore, ignore)
  }

  callEnded () {
    for (const resolve of this.waiters.splice(0)) resolve()
  }

  decideSoon () {
    if (this.isDeciding) return
    this.isDeciding = true
    this.parts.matching.add(this)
  }

  sent (asker) {
    return this.arrivals.sent(asker, this.rechecksCount, this.wordsCount)
  }

  /** @param {object} call as Arrivals knows it  @param {object | undefined} next an Answer; undefined: there is none */
  answered ({ asker, rechecksCount, wordsCount }, next) {
    const isCurrent = rechecksCount === this.rechecksCount
    const isOld = wordsCount !== this.wordsCount // the broker may have been pushed to since
    this.askingCount--
    if (asker !== undefined) this.askersCount--
    else this.parts.prefetch.comingCount--
    if (next?.job !== undefined) {
      this.window = Math.min(Math.max(this.window, 1) * 2, this.parts.slots.concurrency, MOST_ASKED)
      this.stillCount = 0
      this.isRated = next.isShort
      this.took(asker, this.taken(next), isCurrent)
      if (next.waitMs > 0 && isCurrent) this.blockAs(next)
      if (next.dueInMs > 0) this.wakeIn(next.dueInMs)
      if (next.isDry) this.window = isOld ? 1 : 0
    } else {
      asker?.giveBack()
      this.gotNothing(next, isCurrent, isOld)
    }
    this.topUp()
    this.callEnded()
  }

  /** The broker has given a job to this process. */
  taken (answer) {
    const { name } = answer
    const before = this.jobs.get(name)
    // Its lease was over in between: what of it goes on here is late. If the broker is being told of its end, the answer
    // says what became of it: it may have gone back by that.
    if (before !== undefined && !before.isEnding) this.lose(before)
    const job = new TakenJob(this, answer)
    this.jobs.set(name, job)
    return job
  }

  took (asker, job, isAllowed) {
    const { taking, slots, prefetch } = this.parts
    const mayTake = isAllowed && taking.isOn
    if (mayTake && asker !== undefined && !asker.isSettled && slots.mayStart(this.place.type)) {
      this.begin(asker, this.firstOf(job))
      return
    }
    asker?.giveBack()
    if (mayTake) {
      this.prefetched.push(job)
      prefetch.add()
    } else {
      this.giveBack([job])
    }
  }

  /** The job that was taken before all others that wait for a slot: one that was taken ahead may have come after this one's slot asked. */
  firstOf (job) {
    if (this.prefetched.length === 0) return job
    this.prefetched.push(job)
    return this.prefetched.shift()
  }

  /** @param {object | undefined} next @param {boolean} isCurrent by the limits that hold now @param {boolean} isOld jobs may have come */
  gotNothing (next, isCurrent, isOld) {
    if (this.window === 0) return
    if (next === undefined) {
      if (!this.place.partition.isAway) this.block(LONGEST_PAUSE_MS)
      return
    }
    if (next.dueInMs > 0) this.wakeIn(next.dueInMs)
    if (next.waitMs > 0) {
      if (isCurrent) this.blockAs(next)
      else this.window = 1 // it is asked again at once
    } else if (next.isDry) {
      this.window = isOld ? 1 : 0
    } else if (this.askingCount > 0) {
      this.window = 1 // the others that are on their way say the same, or bring what is free meanwhile
    } else if (!this.isBlocked) {
      this.reachedCap()
    }
  }

  /** Jobs wait, and none was given. What has become free since the broker said so is asked for once. */
  reachedCap () {
    this.window = 1
    if (++this.stillCount < 2) return
    this.block(Math.min(FIRST_PAUSE_MS * 2 ** (this.stillCount - 2), LONGEST_PAUSE_MS))
    this.isAtCap = true
  }

  /** Nothing more may start for a while. */
  blockAs ({ waitMs, isLater }) {
    const ms = Math.min(waitMs, LONGEST_LIMIT_MS)
    if (isLater) this.standBy(ms)
    else this.block(ms)
  }

  block (ms) {
    this.unblock()
    this.isBlocked = true
    this.window = 1
    this.timer = setTimeout(() => {
      this.unblock()
      this.topUp()
    }, ms)
  }

  unblock () {
    this.isBlocked = this.isAtCap = false
    clearTimeout(this.timer)
    this.parts.requests.standByNoMore(this)
  }

  /** The keeper tells of jobs that are due; of those that are due soon this process knows by itself. */
  wakeIn (dueInMs) {
    const isSoon = Math.ceil(dueInMs) < this.parts.requests.leaseMs
    if (isSoon && !this.parts.taking.isStopped) this.due.expect(dueInMs)
  }
}

function ignore () {}

module.exports = { Supply }
