'use strict'

// HOT (bench: http-admission). The way of one request through an admission, whatever server it has come to. A visit takes one slot at most,
// and frees it once.
//
//   come ─▶ ASKED ──tenant──▶ WAITING ──slot──▶ RUNNING ──response closed──▶ OVER
//             │                 ▲  │               └──by the queue──▶ ENDED ──▶ OVER
//             └───▶ PARKED ─────┘  └── refused, gone ──▶ OVER          parked: behind another one of its connection

const { abortedError, closedError, failure, overdueError } = require('../arguments/errors')
const { callSafely, defer } = require('../platform/clock')
const { COST } = require('../job/cost')
const { promiseOf } = require('../platform/promised')
const { options: { readType } } = require('../core/internals')

const ASKED = 0
const PARKED = 1
const WAITING = 2
const RUNNING = 3
const ENDED = 4 // by the queue, which has told it so: it keeps the slot until its response has closed
const OVER = 5

const ANONYMOUS = 'anonymous'
const LEAST_TOLD_MS = 1 // of a wait for nothing but the caller's promises

/**
 * Those of each kind of server have: `arrive()`, which is told when the client leaves, and says whether it is there; `isGone()`, whether
 * it has left, also where that was not told yet; `pass()`, which goes on with the request; `refuse(err)`, which answers in place of that;
 * `fail(err)`, which goes the server's own way for errors; `interrupt(err)`, which ends what is on its way; `vanish()`, for whose client
 * is gone; `leave()`, for one that goes on without a slot; `tellWait(ms)`, in the answer; `mustPark()`, whether others of its connection
 * come first; and `closesConnection()`, with its answer.
 */
class Visit {
  /** @param {object} admission @param {object} request */
  constructor (admission, request) {
    this.admission = admission
    this.request = request
    this.state = ASKED
    this.type = undefined
    this.ticket = undefined
    this.done = undefined // while it holds a slot
    this.isEntering = false // its caller is on the stack, and goes on when it has got a slot
    this.since = -1 // when it began to wait, if it had to, for whatever it was
    this.hasQueued = false // for a slot, or for its turn on its connection
    this.isExpected = false // it came before the queue closed, and counts as one that waits
    this.position = -1 // in the heap of deadlines, while the caller's promises are waited for
    this.order = 0
  }

  come () {
    if (!this.arrive()) return this.left()
    const { exempt } = this.admission
    if (exempt === undefined) return this.ask()
    this.follow(exempt, Boolean, isExempt => isExempt ? this.skip(true) : this.ask())
  }

  /** It goes on without a slot. */
  skip (isExempt = false) {
    if (isExempt) this.admission.exemptCount++
    this.state = OVER
    this.leave()
    this.pass()
  }

  /** It has got a slot. */
  start (done) {
    if (this.isGone()) return this.startGone(done)
    this.done = done
    this.state = RUNNING
    if (!this.isEntering) callSafely(() => this.proceed())
  }

  /**
   * Frees the slot, if it has one.
   * @param {boolean} [isLater] in a later turn of the event loop. A client that leaves may have many requests here, of which this is the
   *   first to be told: the others must not start before they are told, too
   * @returns {boolean} whether it had
   */
  free (err, isLater = false) {
    const { done } = this
    if (done === undefined) return false
    this.state = OVER
    this.done = this.ticket = undefined
    if (isLater) defer(() => done(err))
    else done(err)
    return true
  }

  /** The response has closed, or the client has gone away. @param {boolean} [isFinished] all of the answer was sent */
  left (isFinished = false) {
    const { admission, state, ticket } = this
    if (this.free(undefined, !isFinished) || state === OVER) return
    admission.goneCount++
    this.withdraw()
    if (state === WAITING) admission.entrance.leave(ticket)
    this.vanish()
  }

  /** What was in front of it on its connection is over. */
  unpark () {
    if (this.state !== PARKED) return
    const { admission } = this
    if (admission.isOver) return this.refuseOutside()
    admission.outside.delete(this)
    admission.entrance.unpark(this.type)
    callSafely(() => this.enter())
  }

  /** The queue has given up, or has closed, and this is not in it. */
  refuseOutside () {
    this.turnAway(closedError())
  }

  /** The caller's promise has taken too long. */
  whenDue () {
    this.turnAway(overdueError())
  }

  /** The handler has failed. */
  threw (reason) {
    this.free(failure(reason))
  }

  // private from here on

  /** It has got a slot, and its client has left without a word so far. */
  startGone (done) {
    this.admission.goneCount++
    this.state = OVER
    this.ticket = undefined
    this.vanish()
    defer(() => done(abortedError()))
  }

  ask () {
    const { hasTypes, tenant } = this.admission
    if (tenant === undefined) return this.askCost(hasTypes ? ANONYMOUS : undefined)
    this.follow(tenant, type => hasTypes ? readType(type ?? ANONYMOUS) : undefined, type => this.askCost(type))
  }

  askCost (type) {
    const { cost, entrance } = this.admission
    if (cost === undefined) return this.named(type)
    this.follow(cost, units => entrance.readCost(units, type), units => {
      this.cost = units
      this.named(type)
    })
  }

  named (type) {
    const { entrance } = this.admission
    this.type = type
    const mustPark = this.mustPark()
    const mayStart = !mustPark && entrance.mayStart(type)
    const isDrained = this.isExpected && this.admission.queue.closed
    const refusal = mayStart || isDrained ? undefined : entrance.refuse(type)
    if (refusal !== undefined) return this.turnAway(refusal)
    if (mustPark) this.park()
    else this.enter(mayStart)
  }

  park () {
    const { admission } = this
    this.state = PARKED
    this.hasQueued = true
    this.leftMs()
    admission.outside.add(this)
    admission.entrance.park(this.type)
  }

  /** @param {boolean} [isUnasked] nobody has asked whether it may wait */
  enter (isUnasked = false) {
    const { entrance } = this.admission
    this.state = WAITING
    this.isEntering = true
    const maxWaitMs = this.since === -1 ? this.admission.maxWaitMs : this.leftMs()
    this.ticket = entrance.enter(this.type, this.request, err => this.settled(err), maxWaitMs, this.cost)
    this.isEntering = false
    if (this.state === RUNNING) return this.proceed()
    if (this.state !== WAITING) return
    if (this.since === -1) this.since = entrance.now()
    this.hasQueued = true
    const refusal = isUnasked ? entrance.refuse(this.type, 1) : undefined
    if (refusal !== undefined) entrance.leave(this.ticket, () => refusal)
  }

  proceed () {
    const { admission, since } = this
    if (since !== -1 && admission.tellsTimes) this.toldWait(admission.entrance.now() - since)
    if (admission.queue.closed) this.closesConnection()
    try {
      this.pass()
    } catch (err) {
      this.threw(err)
      throw err
    }
  }

  toldWait (ms) {
    if (this.hasQueued || ms >= LEAST_TOLD_MS) this.tellWait(ms)
  }

  /** It begins to wait, or goes on to. @returns {number} for how long it may, of what maxWaitMs gives it for all it waits for */
  leftMs () {
    const { entrance, maxWaitMs } = this.admission
    const now = entrance.now()
    if (this.since === -1) this.since = now
    return Math.max(0, maxWaitMs - (now - this.since))
  }

  /** The job of the request has ended: by free(), or by the queue. */
  settled (err) {
    const { admission, state } = this
    if (state !== WAITING && state !== RUNNING) return
    if (err.code === 'FAIRLANE_ERR_CLOSED') admission.isOver = true
    if (state === WAITING) return this.turnAway(err)
    this.state = ENDED
    this.interrupt(err)
  }

  turnAway (err) {
    this.withdraw()
    this.admission.countRefused(err.code)
    const { isOver, refusals } = this.admission
    if (isOver) this.refuse(err)
    else refusals.add(() => this.refuse(err))
  }

  /** It does not wait any more, for whatever it was. */
  withdraw () {
    const { entrance, outside } = this.admission
    this.state = OVER
    if (!outside.delete(this)) return
    entrance.unlimit(this)
    entrance.unpark(this.type)
    entrance.settle()
  }

  /**
   * Asks the caller about the request, and goes on with the answer, or with that of its promise.
   * @param {(request: object) => any} ask @param {(answer: any) => any} read may throw, too @param {(value: any) => void} goOn
   */
  follow (ask, read, goOn) {
    let promise, value
    try {
      const answer = ask(this.request)
      promise = promiseOf(answer)
      if (promise === undefined) value = read(answer)
    } catch (err) {
      return this.failed(err)
    }
    if (this.state !== ASKED) return // its client has left meanwhile
    if (promise === undefined) return goOn(value)
    const { entrance, hasTypes, outside } = this.admission
    const refusal = this.isExpected ? undefined : entrance.refuseUnknown(hasTypes ? ANONYMOUS : undefined)
    if (refusal === undefined) {
      this.isExpected = true
      outside.add(this)
      entrance.park(undefined)
      entrance.limit(this, this.leftMs())
    } else {
      this.turnAway(refusal)
    }
    promise.then(read).then(value => this.told(goOn, value), err => this.told(err => this.failed(err), err))
  }

  told (goOn, value) {
    const { entrance, isOver, outside } = this.admission
    if (this.state !== ASKED) return // it was refused meanwhile, or its client is gone
    if (isOver) return this.refuseOutside()
    outside.delete(this)
    entrance.unlimit(this)
    entrance.unpark(undefined)
    callSafely(goOn, value)
    if (this.state === OVER) entrance.settle()
  }

  failed (err) {
    if (this.state !== ASKED) return // its client has left meanwhile
    this.state = OVER
    this.fail(failure(err))
  }
}

// Where nobody is asked for it.
Visit.prototype.cost = COST

module.exports = { Visit }
