'use strict'

// Holds back the jobs of a process that has a runner while the queue has a rate or a globalConcurrency. The queue in memory asks it before
// it gives a token a slot, so that all types wait in one line. It has permits and places in hand, asks for more by one call at a time, and
// has one timer for the next permit.
//
//   isOpen()? ──no──▶ asks ──▶ permits, places ──▶ wakes the queue ──▶ count(): a pass ──▶ begin(): the runner is called ──▶ end()
//
// A permit is good from the sending of its request on: the broker's time and this process's are never compared.

const { isPassing } = require('../broker/failures')
const { Hand } = require('./hand')
const { Pass } = require('./pass')
const { purseOf } = require('./purse')
const { EARLY, LONGEST_WAIT_MS, LOST, define, keysOf } = require('./permits')

const MOST_GOOD_MS = 100
const AHEAD = 4 // times as long as a permit is good: for so long they are taken ahead
const SLOWEST = 4 // times as long permits are good where answers take long
const SPARE_MS = 25 // for so long a place is kept for the next job
const SHARE_MS = 250 // how often a place goes to a process that waits for one
const ASK_AGAIN_MS = 1000 // a message that places are free may be lost
const KEPT_OF_STARTS = 0.8
const LEFT_OF_LEASE = 0.9
const AFTER_FAILURE_MS = 250
const KEEP_UNUSED_MS = 250 // so long permits that were not used wait for the next request, which gives them back

class Gate {
  /**
   * @param {{ broker: object, limits: object, stage: object }} parts
   * @param {{ token: string, leaseMs: number }} options
   * @param {() => void} lost called when the places of all runners are others'
   * @param {() => void} countCosts called when there is a rate of cost
   */
  constructor ({ broker, limits, stage }, { token, leaseMs }, lost, countCosts) {
    this.broker = broker
    this.limits = limits
    this.dispatch = stage.dispatch
    this.token = token
    this.leaseMs = leaseMs
    this.lost = lost
    this.countCosts = countCosts
    this.keys = keysOf(broker.name)
    this.channel = this.keys[0]
    this.rate = undefined // windows of starts
    this.purse = null // units of rates of cost
    this.cap = Infinity
    this.goodMs = MOST_GOOD_MS // for how long a permit is good
    this.hand = new Hand()
    this.places = 0 // in hand: those of passes are not
    this.passes = new Set() // that have places
    this.surplus = 0 // places of passes that are not used again: there are more than the limit says by now
    this.isKnown = false // the broker has said that it has these
    this.leaseEndsAt = -Infinity // of places, for starts
    this.othersCount = 0 // processes that wait for places
    this.sharedAt = -Infinity // when a place last went to one of them
    this.askedAt = -Infinity
    this.next = undefined // the pass of the token that is about to get a slot
    this.calls = Promise.resolve() // one after the other
    this.isAsking = false // for more
    this.isReporting = false // ... or is about to say what is free
    this.promisedAt = -Infinity // when there may be a permit by what the broker has said
    this.mayAskAt = -Infinity // the broker is not asked before, which has nothing to give
    this.lacksPlace = false // ... since it has no place, which a runner of this process may leave
    this.isWaitedFor = false // jobs wait for it to open
    this.answerMs = 0 // how long answers take
    this.timer = undefined
    this.timerAt = Infinity
    this.giveBackAt = Infinity // when the broker is to be told of unused permits, if no request has done that
    this.spareTimer = undefined
    this.stretch = 0
    this.startsNow = 0 // in this stretch of time
    this.startsBefore = 0 // ... and in those before it, the more the later
    this.isOver = false
    define(broker.client)
  }

  /** The limits have changed. @param {Map<string, string>} values fields @param {Iterable<object>} deliveries of jobs that run */
  update (values, deliveries) {
    const rate = values.get('rate')
    const rates = rate === undefined ? [] : JSON.parse(rate)
    const ofStarts = rates.filter(({ of }) => of !== 'cost')
    this.rate = ofStarts.length === 0 ? undefined : ofStarts
    this.purse = purseOf(this, rates.filter(({ of }) => of === 'cost'))
    if (this.rate === undefined) this.hand.dropAll()
    else this.goodMs = Math.min(MOST_GOOD_MS, ...this.rate.map(({ intervalMs }) => intervalMs / 20))
    const { cap } = this
    this.cap = Number(values.get('concurrency') ?? Infinity)
    if (this.cap === Infinity) {
      this.places = this.surplus = 0
      this.passes.clear()
      this.isKnown = false
      this.leaseEndsAt = -Infinity
    } else if (cap === Infinity) {
      for (const delivery of deliveries) this.adopt(delivery)
      this.reportSoon()
    } else if (this.cap < cap) {
      this.reportSoon()
    }
    this.letGo(this.passes.size + this.places - this.cap)
    this.mayAskAt = -Infinity
    this.dispatch.wake()
  }

  /** Whether it limits anything. */
  get isOn () {
    return this.rate !== undefined || this.cap !== Infinity || this.purse !== null
  }

  /** Whether jobs wait for a place, and there is none. */
  get lacksPlaces () {
    return this.cap !== Infinity && this.isWaitedFor && this.places <= 0
  }

  // what the list of the queue in memory asks

  isOpen () {
    const now = performance.now()
    const isOpen = (this.rate === undefined || this.hand.has(now)) && (this.cap === Infinity || this.hasPlace(now))
    this.isWaitedFor = !isOpen
    if (!isOpen) this.askSoon(now)
    return isOpen
  }

  /** Whether a job may start that costs so much, when it is open. */
  isOpenFor (cost) {
    const isOpen = this.purse === null || this.purse.has(cost, performance.now())
    if (!isOpen) this.isWaitedFor = true
    return isOpen
  }

  /** @param {object} [charge] what the job is expected to cost */
  count (charge) {
    const permit = this.rate === undefined ? undefined : this.hand.take()
    this.next = new Pass(this, permit, this.cap !== Infinity)
    if (this.purse !== null) this.next.charge = this.purse.take(charge.units)
    if (this.next.hasPlace) {
      this.places--
      this.passes.add(this.next)
    }
    if (permit !== undefined && this.slotsWanted() > 1) this.askSoon(performance.now())
  }

  /** Nobody waits for it. */
  rest () {
    this.isWaitedFor = false
    this.purse?.rest()
  }

  /** The pass of the token that gets its slot now. */
  takePass () {
    const { next } = this
    this.next = undefined
    return next
  }

  // what passes ask

  mayBegin (pass, cost) {
    const now = performance.now()
    if (this.cap !== Infinity && !(this.passes.has(pass) && now < this.leaseEndsAt)) return false
    if (!this.hasPermit(pass, now)) return false
    if (this.purse === null) return true
    pass.charge ??= this.purse.take(0)
    return this.purse.settle(pass.charge, cost, now)
  }

  hasPermit (pass, now) {
    if (this.rate === undefined) return true
    if (!(pass.permit?.until > now)) {
      if (!this.hand.has(now)) return false
      if (pass.permit !== undefined) this.putBack(pass.permit, now)
      pass.permit = this.hand.take()
    }
    this.turn(now)
    this.startsNow++
    return true
  }

  ended (pass) {
    const now = performance.now()
    if (pass.permit !== undefined && !pass.hasBegun) this.putBack(pass.permit, now)
    if (pass.charge !== undefined && !pass.hasBegun) this.purse?.putBack(pass.charge, now)
    if (!this.passes.delete(pass) || this.cap === Infinity) return
    if (this.isOver) {
      this.reportSoon()
    } else if (this.surplus > 0) {
      if (--this.surplus === 0) this.reportSoon()
    } else if (this.othersCount > 0 && now - this.sharedAt > SHARE_MS) {
      this.sharedAt = now
      this.reportSoon()
    } else {
      this.places++
      if (this.lacksPlace) this.mayAskAt = -Infinity
      this.spareTimer ??= setTimeout(() => this.giveBackSpare(), SPARE_MS)
      if (now - this.askedAt > ASK_AGAIN_MS) this.reportSoon() // others may have come to wait
    }
  }

  // what the worker asks

  /** Processes that wait for places, or permits, may ask for them. @param {string[]} tokens theirs */
  freed (tokens) {
    if (!tokens.includes(this.token)) return
    this.mayAskAt = -Infinity
    this.purse?.look()
    this.dispatch.wake()
  }

  /** Says that this process is there, and has its places; gives back what is left. @returns {Promise<void>} */
  renew () {
    const hasPlaces = this.cap !== Infinity && this.passes.size + this.places > 0
    return hasPlaces || this.hand.unused.size > 0 ? this.call(false) : Promise.resolve()
  }

  /** Gives back what it has in hand, and asks for nothing more. @returns {Promise<void>} */
  stop () {
    this.isOver = true
    clearTimeout(this.timer)
    clearTimeout(this.spareTimer)
    this.places = 0
    this.hand.dropAll()
    return Promise.all([this.call(false), this.purse?.stop()])
  }

  // private from here on

  /** There are so many places more than there may be: those that no job has go at once, and others as their runners end. */
  letGo (count) {
    const spare = Math.max(0, Math.min(this.places, count))
    this.places -= spare
    this.surplus = Math.max(0, count - spare)
  }

  putBack (permit, now) {
    this.hand.putBack(permit, now)
    if (!this.isOver) {
      this.wakeLater() // if nobody uses it, it is of use to others
    } else {
      this.hand.dropAll()
      this.reportSoon()
    }
  }

  hasPlace (now) {
    return this.places > 0 && now < this.leaseEndsAt
  }

  /** A job that runs already has a place from now on. */
  adopt (delivery) {
    const pass = new Pass(this, undefined, true)
    pass.hasBegun = true
    this.passes.add(pass)
    delivery.done = pass.ending(delivery.done)
  }

  /** Asks for more, if there may be; a little later, when the queue has filled its slots. */
  askSoon (now) {
    if (this.isAsking || this.isOver) return
    const hasPlace = this.cap === Infinity || this.hasPlace(now)
    if (hasPlace && this.rate !== undefined && this.hand.size >= Math.max(1, this.startsLately(now) / 2)) {
      this.wakeAt(this.hand.nextAt)
    } else if (now < this.mayAskAt && !(this.hand.unused.size > 0 && this.mayAskAt - now > KEEP_UNUSED_MS)) {
      this.wakeAt(Math.min(this.mayAskAt, this.hand.nextAt))
    } else {
      this.isAsking = true
      setImmediate(() => this.call(true).then(() => {
        this.isAsking = false
        this.dispatch.wake()
      }))
    }
  }

  /** Says soon which places are free. */
  reportSoon () {
    if (this.isReporting) return
    this.isReporting = true
    setImmediate(() => {
      this.isReporting = false
      this.call(false)
    })
  }

  /** @param {boolean} isForMore @returns {Promise<void>} resolves when it was answered, or has failed */
  call (isForMore) {
    this.calls = this.calls.then(() => this.send(isForMore)).catch(err => {
      this.mayAskAt = performance.now() + AFTER_FAILURE_MS
      if (!isPassing(err) && !this.broker.isClosed) this.broker.troubles.refused('a request for permits', err)
    }).then(() => this.wakeLater())
    return this.calls
  }

  async send (isForMore) {
    const { broker, limits, hand } = this
    if (!broker.isReady) throw new Error('Connection is closed')
    const sentAt = performance.now()
    hand.dropLate(sentAt)
    const unused = hand.takeUnused()
    const wants = isForMore && !this.isOver ? this.wants(sentAt) : { places: 0, now: 0, all: 0 }
    const goodMs = Math.ceil(Math.min(Math.max(this.goodMs, 4 * this.answerMs), SLOWEST * this.goodMs))
    const held = this.passes.size + this.places
    const promisedMs = Math.max(0, Math.ceil(this.promisedAt - sentAt))
    this.askedAt = sentAt
    const answer = await broker.client.fairlanePermits(
      ...this.keys, limits.terms.generation, this.token, this.leaseMs, held, wants.places, this.isKnown ? 1 : 0,
      wants.now, wants.all, goodMs, AHEAD * Math.ceil(this.goodMs), 'PUBLISH', this.channel, this.places, promisedMs,
      ...unused.flat()
    )
    const now = performance.now()
    this.answerMs += (now - sentAt - this.answerMs) / 5
    if (answer.length === 1) { // of another generation
      for (const [mark, count] of unused) hand.drop(mark, count)
      await limits.look()
      return
    }
    const [, waitMs, places, state, othersCount, ...grants] = answer
    if (isForMore) {
      if (waitMs !== promisedMs) this.promisedAt = now + waitMs
      this.mayAskAt = Math.min(this.promisedAt, now + LONGEST_WAIT_MS)
      this.lacksPlace = this.cap !== Infinity && this.places + places <= 0
    }
    hand.add(grants, sentAt, now, goodMs)
    if (this.cap !== Infinity) this.takePlaces(places, state, othersCount, sentAt, held)
  }

  /** How much to ask for, of places and permits at once: either is over soon without the other. Of permits as many as were used lately. */
  wants (now) {
    const slots = this.slotsWanted()
    const placesFor = count => this.cap === Infinity ? 0 : Math.max(0, Math.min(count, slots) - this.places)
    if (this.rate === undefined) return { places: placesFor(slots), now: 0, all: 0 }
    const lately = this.startsLately(now)
    const all = Math.max(1, Math.ceil(lately) - this.hand.size)
    return { places: placesFor(this.hand.size + all), now: Math.min(all, Math.max(1, Math.ceil(lately / AHEAD))), all }
  }

  takePlaces (places, state, othersCount, sentAt, held) {
    this.othersCount = othersCount
    if (state === LOST) {
      this.isKnown = false
      this.places = this.surplus = 0
      this.passes.clear()
      this.lost()
      return
    }
    this.isKnown = true
    this.leaseEndsAt = state === EARLY ? -Infinity : sentAt + LEFT_OF_LEASE * this.leaseMs
    if (this.isOver) {
      if (places > 0) this.reportSoon()
      return
    }
    this.letGo(Math.max(0, -places) - held + this.passes.size + this.places) // less those that have ended meanwhile
    this.places += Math.max(0, places)
    if (places > 0) this.spareTimer ??= setTimeout(() => this.giveBackSpare(), SPARE_MS)
  }

  /** Slots that may be filled if the gate opens. */
  slotsWanted () {
    const { running, concurrency, list } = this.dispatch
    return Math.min(concurrency - running, list.size)
  }

  /** Places that no job takes, nor will with a permit that is in hand. */
  giveBackSpare () {
    this.spareTimer = undefined
    if (this.places === 0) return
    if (this.hand.size > 0) {
      this.spareTimer = setTimeout(() => this.giveBackSpare(), SPARE_MS)
      return
    }
    this.places = 0
    this.reportSoon()
  }

  /** The next time at which a permit begins or is over, or the broker may be asked, or is to be told of unused permits. */
  wakeLater () {
    const now = performance.now()
    if (this.hand.unused.size === 0) this.giveBackAt = Infinity
    else if (!(this.giveBackAt > now && this.giveBackAt < Infinity)) this.giveBackAt = now + KEEP_UNUSED_MS
    const times = [this.hand.nextAt, this.hand.overAt, this.isWaitedFor ? this.mayAskAt : Infinity, this.giveBackAt]
    const at = Math.min(...times.filter(time => time > now))
    if (at < Infinity && !this.isOver) this.wakeAt(at)
  }

  wakeAt (at) {
    if (this.timerAt <= at) return
    clearTimeout(this.timer)
    this.timerAt = at
    this.timer = setTimeout(() => this.due(), Math.min(Math.max(1, Math.ceil(at - performance.now())), 2 ** 31 - 1))
  }

  due () {
    const now = performance.now()
    this.timerAt = Infinity
    this.hand.dropLate(now)
    this.dispatch.wake()
    const mayWait = now < this.giveBackAt && (this.isWaitedFor || this.hand.size > 0)
    if (this.hand.unused.size > 0 && !mayWait) this.reportSoon() // they are of use to others
    else this.wakeLater()
  }

  /** Starts are counted anew in each stretch of time. */
  turn (now) {
    const stretch = Math.floor(now / (AHEAD * this.goodMs))
    if (stretch === this.stretch) return
    // permits come in bursts where they were used in bursts before: so what was started then is not forgotten at once
    this.startsBefore = Math.max(this.startsNow, this.startsBefore * KEPT_OF_STARTS) * KEPT_OF_STARTS ** (stretch - this.stretch - 1)
    this.startsNow = 0
    this.stretch = stretch
  }

  /** How many jobs start in the time for which permits are taken ahead, as far as that is known. */
  startsLately (now) {
    this.turn(now)
    return Math.max(this.startsBefore, this.startsNow)
  }
}

module.exports = { Gate }
