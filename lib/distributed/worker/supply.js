'use strict'

// HOT (bench: distributed). One type, in a process that runs jobs: what is thought to wait at the broker, and what was taken.
//
//   dry ──word──▶ window 1 ──each job that comes──▶ window × 2 ──an empty answer──▶ dry, once the broker agrees
//                    ▲                                                                │
//                    └────────────────── it does not: a push came between ◀──────────┘ twice in a row: at a cap, asked again later
//
// For each job that may be had a token stands in the queue in memory, by which its scheduler decides. A token that is given a slot takes a job
// that is held, or asks the broker; if there is none the slot is given back. What is to be asked is decided in a microtask, after the queue
// in memory has filled its slots: so the end of a job brings the next one with the same call, if a slot waits for it.

const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 1000
const LONGEST_LIMIT_MS = 30000 // the word that a limit is another may be lost

class Supply {
  /**
   * @param {object} crew
   * @param {object} place
   */
  constructor (crew, place) {
    this.crew = crew
    this.place = place
    this.jobs = new Map() // name → TakenJob: all that this process has of the type
    this.overdue = new Set() // runners whose jobs have ended, and that keep their places
    this.held = [] // those of them that wait for a slot, in order
    this.tokensCount = 0 // that stand in the queue in memory
    this.askers = [] // deliveries with a slot for which the broker is to be asked
    this.endings = [] // jobs that have ended, of which it is to be told
    this.askersCount = 0 // of those, and of those for which it is being asked
    this.askingCount = 0 // calls on their way that may bring a job
    this.tellingCount = 0 // calls on their way that end one
    this.window = 0 // how many may be; 0: the type is dry
    this.stillCount = 0 // how often in a row the broker had jobs and gave none
    this.isBlocked = false // not to be asked before a time
    this.isAtCap = false // ... because others of the type run
    this.timer = undefined // for that
    this.dueTimer = undefined // for the next delayed job
    this.dueAt = Infinity
    this.isDeciding = false
    this.rechecksCount = 0 // how often what limits it has become another
  }

  /** There may be jobs. */
  believe () {
    if (this.window === 0) this.window = 1
    this.topUp()
  }

  /** What limits it is another. @returns {Promise<void> | undefined} resolves when what was taken by the old limit is given back */
  recheck () {
    this.rechecksCount++
    const returned = this.returnHeld(Infinity)
    this.unblock()
    this.topUp()
    return returned
  }

  /** A token of it has been given a slot. */
  serve (delivery) {
    const job = this.held.shift()
    if (job !== undefined) {
      this.crew.heldCount--
      this.crew.begin(delivery, job)
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

  /** A place of the type under its cap is free, which somebody else had. */
  freed () {
    this.stillCount = 0 // what the broker is saying now it may have said before that
    if (this.isAtCap) this.unblock()
    this.topUp()
  }

  /** Has one token in the queue in memory for each job that may be had. */
  topUp () {
    const { crew } = this
    const asks = this.mayAsk() ? this.window - this.askingCount - this.askers.length : 0
    let missing = this.held.length + Math.max(0, asks) - this.tokensCount
    if (crew.isStopped) return
    for (; missing > 0; missing--) {
      this.tokensCount++
      crew.place(this)
    }
  }

  /** Gives jobs back that were taken before a time, the last first: each is put before the others. @returns {Promise<void> | undefined} */
  returnHeld (time) {
    let count = 0
    while (count < this.held.length && this.held[count].takenAt <= time) count++
    if (count === 0) return undefined
    this.crew.heldCount -= count
    return this.crew.returnJobs(this, this.held.splice(0, count).reverse())
  }

  /** A job is no longer this process's. */
  drop (job) {
    if (this.jobs.get(job.name) !== job) return
    this.jobs.delete(job.name)
    this.letGo(job)
  }

  /** A job is not held any more, if it was. */
  letGo (job) {
    const at = this.held.indexOf(job)
    if (at === -1) return
    this.held.splice(at, 1)
    this.crew.heldCount--
  }

  /** Nothing is known of it, and nobody needs it. */
  get isIdle () {
    return this.window === 0 && this.jobs.size + this.overdue.size + this.tokensCount + this.askers.length + this.askingCount + this.tellingCount === 0 && this.dueTimer === undefined
  }

  /** Lets go of its timers. */
  stop () {
    clearTimeout(this.timer)
    clearTimeout(this.dueTimer)
    this.dueTimer = undefined
    this.window = 0
  }

  // private from here on

  mayAsk () {
    return this.window > 0 && !this.isBlocked && this.crew.mayAsk(this.place.partition)
  }

  decideSoon () {
    if (this.isDeciding) return
    this.isDeciding = true
    queueMicrotask(() => this.decide())
  }

  decide () {
    this.isDeciding = false
    const askers = this.askers.splice(0)
    for (const ending of this.endings.splice(0)) {
      const asker = ending.mayFetch ? askers.shift() : undefined
      const isAhead = asker === undefined && ending.mayFetch && this.mayAsk() && this.crew.hasRoom()
      this.tell(ending, asker, isAhead)
    }
    for (const asker of askers) this.ask(asker)
  }

  async tell (ending, asker, isAhead) {
    const { crew } = this
    const fetches = asker !== undefined || isAhead
    this.tellingCount++
    if (fetches) this.askingCount++
    if (isAhead) crew.comingCount++
    const asked = this.question()
    let isWaiting = fetches
    const fetched = next => {
      if (!isWaiting) return
      isWaiting = false
      if (isAhead) crew.comingCount--
      this.answered(asker, next, asked)
    }
    // a call that is made again brings no job: until the broker has it, the slot is of use to others
    const next = await crew.endings.tell(ending, fetches, err => {
      crew.failed(this.place, err)
      fetched(undefined)
    })
    if (!ending.mayFetch) await crew.announce(this.place)
    this.tellingCount--
    fetched(next)
    crew.ended()
  }

  async ask (asker) {
    const { crew } = this
    this.askingCount++
    const asked = this.question()
    const next = await crew.askBroker(this.place)
    this.answered(asker, next, asked)
    crew.ended()
  }

  /** When the broker is asked, by performance.now(), and by which limits. */
  question () {
    return { at: performance.now(), rechecksCount: this.rechecksCount }
  }

  /**
   * @param {any[] | undefined} next what BullMQ's scripts say: job, its name, ms of a limit, when the next delayed one is due; undefined: no answer
   * @param {object} asked as question() gave it
   */
  answered (asker, next, asked) {
    const { crew } = this
    this.askingCount--
    if (asker !== undefined) this.askersCount--
    const [json, name, limitMs, dueAt] = next ?? []
    if (json) {
      this.window = Math.min(Math.max(this.window, 1) * 2, crew.mostAsked)
      this.stillCount = 0
      this.took(asker, crew.taken(this, name, json, asked.at), asked.rechecksCount === this.rechecksCount)
    } else {
      asker?.giveBack()
      this.gotNothing(next, limitMs, dueAt)
    }
    this.topUp()
  }

  took (asker, job, isAllowed) {
    const { crew } = this
    if (isAllowed && asker !== undefined && !asker.isSettled && crew.mayStart(this.place.type)) {
      crew.begin(asker, job)
      return
    }
    asker?.giveBack()
    if (isAllowed && crew.mayHold) {
      this.held.push(job)
      crew.hold()
    } else {
      crew.returnJobs(this, [job])
    }
  }

  gotNothing (next, limitMs, dueAt) {
    if (this.window === 0) return
    if (next === undefined) {
      if (!this.place.partition.isAway) this.block(LONGEST_PAUSE_MS)
      return
    }
    if (dueAt > 0) this.wakeAt(dueAt)
    if (limitMs > 0) {
      this.block(Math.min(limitMs, LONGEST_LIMIT_MS))
    } else if (this.askingCount > 0) {
      this.window = 1 // the others that are on their way say the same, or bring what came meanwhile
    } else if (!this.isBlocked) {
      this.runDry()
    }
  }

  /** Has the type taken out of those that are ready, unless the broker finds jobs in it. */
  async runDry () {
    this.window = 0
    this.askingCount++ // keeps it from being forgotten
    const isStill = await this.crew.unready(this.place)
    this.askingCount--
    this.crew.ended()
    if (this.crew.isStopped) return
    if (isStill) this.window = Math.max(this.window, 1)
    if (!isStill || ++this.stillCount < 2) {
      this.topUp() // a word that there are jobs may have come meanwhile
      return
    }
    this.isAtCap = true
    this.block(Math.min(FIRST_PAUSE_MS * 2 ** (this.stillCount - 2), LONGEST_PAUSE_MS))
  }

  block (ms) {
    this.isBlocked = true
    this.window = 1
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.unblock()
      this.topUp()
    }, ms)
  }

  unblock () {
    this.isBlocked = this.isAtCap = false
    clearTimeout(this.timer)
  }

  /** The keeper tells of jobs that are due; of those that are due soon this process knows by itself. */
  wakeAt (dueAt) {
    if (dueAt >= this.dueAt || this.crew.isStopped) return
    const ms = Math.max(1, Math.ceil(dueAt - Date.now()) + 1)
    if (ms > this.crew.leaseMs) return
    clearTimeout(this.dueTimer)
    this.dueAt = dueAt
    this.dueTimer = setTimeout(() => {
      this.dueTimer = undefined
      this.dueAt = Infinity
      this.believe()
    }, ms)
  }
}

module.exports = { Supply }
