'use strict'

// HOT (bench: distributed). The units of a rate of cost of the whole queue that a process has in hand, and what it asks the broker for. It
// asks for all that the next job needs, and for as many more as it has used lately, and gives back what it has not used in time.
//
//   has(cost)? ──no──▶ asks ──▶ units ──▶ wakes the queue ──▶ take(): a pass ──▶ settle(): the job is known ──▶ correct(): its runner
//
// Units are good from the sending of the request on: the broker's time and this process's are never compared.

const { isPassing } = require('../broker/failures')
const { LINE_MS, define, keysOf } = require('./units')

const MOST_GOOD_MS = 100
const FOR_STARTS = 0.5 // of the time for which units are good: what a runner does first comes somewhat later
const AFTER_FAILURE_MS = 250
const RENEWED_MS = LINE_MS / 3 // after which a process that waits says so again

class Purse {
  /**
   * @param {{ broker: object, limits: object, wake: () => void }} parts wake: has the queue in memory look again
   * @param {string} token what the process is called
   * @param {object[]} rates of cost
   */
  constructor ({ broker, limits, wake }, token, rates) {
    this.broker = broker
    this.limits = limits
    this.wake = wake
    this.token = token
    this.keys = keysOf(broker.name)
    this.goodMs = MOST_GOOD_MS
    this.grant = undefined // { units, mark, until } in hand
    this.need = 0 // of the job that waits for units
    this.isInLine = false // at the broker
    this.freed = new Map() // mark → units that the broker is to get back
    this.corrected = new Set() // passes whose jobs have cost something else than they were charged
    this.usedNow = 0 // units in this stretch of time
    this.usedBefore = 0
    this.stretch = 0
    this.mayAskAt = -Infinity
    this.isAsking = false
    this.isReporting = false
    this.isOver = false
    this.calls = Promise.resolve() // one after the other
    this.timer = undefined
    this.timerAt = Infinity
    define(broker.client)
    this.update(rates)
  }

  update (rates) {
    this.goodMs = Math.min(MOST_GOOD_MS, ...rates.map(({ intervalMs }) => intervalMs / 20))
    this.mayAskAt = -Infinity
  }

  /** Whether there are units for a job that costs so many. If not, they are asked for, and the queue is woken when they are there. */
  has (cost, now) {
    this.dropLate(now)
    if (cost === 0 || this.grant?.units >= cost) return true
    this.need = cost
    this.askSoon(now)
    return false
  }

  /**
   * A pass is charged what its job is expected to cost, if there are so many units in hand.
   * @returns {{ units: number, wanted: number, parts: { units: number, mark: string, until: number }[] }}
   */
  take (cost) {
    const parts = cost > 0 && this.grant?.units >= cost ? [this.part(cost)] : []
    return { units: sumOf(parts), wanted: cost, parts }
  }

  /** No job waits for units. */
  rest () {
    this.need = 0
    if (this.isInLine) this.reportSoon()
  }

  /** There may be units. */
  look () {
    this.mayAskAt = -Infinity
  }

  /**
   * The job is known that a pass was taken for, and begins now, if there are units.
   * @param {object} charge as take() gave it
   */
  settle (charge, cost, now) {
    const kept = charge.parts.filter(({ until }) => until > now)
    for (const part of charge.parts) if (part.until <= now) this.free(part.mark, part.units)
    charge.parts = kept
    charge.units = charge.wanted = sumOf(kept)
    if (charge.units > cost) {
      this.takeBack(charge, charge.units - cost, now)
      if (this.freed.size > 0) this.reportSoon()
    } else if (charge.units < cost) {
      const missing = cost - charge.units
      this.dropLate(now)
      if (!(this.grant?.units >= missing)) {
        if (this.need === 0) this.need = cost // else another job has waited for longer
        this.askSoon(now)
        return false
      }
      charge.parts.push(this.part(missing))
    }
    charge.units = charge.wanted = cost
    this.turn(now)
    this.usedNow += cost
    return true
  }

  /** The slot was given back: its job has not begun. */
  putBack (charge, now) {
    this.takeBack(charge, sumOf(charge.parts), now)
    charge.units = charge.wanted = 0
    if (this.freed.size > 0) this.reportSoon()
  }

  /** The job of a pass, that has begun, has cost so much so far. */
  correct (charge, units) {
    charge.wanted = units
    this.corrected.add(charge)
    this.reportSoon()
  }

  /** Gives back what is in hand, and asks for nothing more. @returns {Promise<void>} */
  stop () {
    this.isOver = true
    clearTimeout(this.timer)
    this.need = 0
    this.dropLate(Infinity)
    return this.call()
  }

  // private from here on

  part (units) {
    const { grant } = this
    grant.units -= units
    return { units, mark: grant.mark, until: grant.until }
  }

  free (mark, units) {
    if (units > 0) this.freed.set(mark, (this.freed.get(mark) ?? 0) + units)
  }

  /** Takes units off, the newest first; they are in hand again if that may be. */
  takeBack ({ parts }, units, now) {
    for (let left = units; left > 0;) {
      const part = parts.at(-1)
      const given = Math.min(left, part.units)
      if (part.mark === this.grant?.mark && part.until > now) this.grant.units += given
      else this.free(part.mark, given)
      part.units -= given
      left -= given
      if (part.units === 0) parts.pop()
    }
  }

  dropLate (now) {
    const { grant } = this
    if (grant === undefined || grant.until > now) return
    this.grant = undefined
    this.free(grant.mark, grant.units)
  }

  askSoon (now) {
    if (this.isAsking || this.isOver) return
    if (now < this.mayAskAt) {
      this.wakeAt(this.mayAskAt)
      return
    }
    this.isAsking = true
    setImmediate(() => this.call().then(() => {
      this.isAsking = false
      this.wake()
    }))
  }

  /** Tells the broker soon what it gets back, or is to charge. */
  reportSoon () {
    if (this.isReporting) return
    this.isReporting = true
    setImmediate(() => {
      this.isReporting = false
      this.call()
    })
  }

  /** @returns {Promise<void>} resolves when it was answered, or has failed */
  call () {
    this.calls = this.calls.then(() => this.send()).catch(err => {
      this.mayAskAt = performance.now() + AFTER_FAILURE_MS
      if (!isPassing(err) && !this.broker.isClosed) this.broker.troubles.refused('a request for units', err)
      if (this.need > 0 || this.corrected.size > 0) this.wakeAt(this.mayAskAt)
    })
    return this.calls
  }

  async send () {
    const { broker, limits } = this
    if (!broker.isReady) throw new Error('Connection is closed')
    const sentAt = performance.now()
    if (this.need > 0) this.dropLate(Infinity) // all that the job needs is asked for at once
    const { need } = this
    const dearer = this.corrections()
    const freed = [...this.freed]
    this.freed.clear() // if the call is lost, they count as used
    const goodMs = Math.ceil(this.goodMs)
    const charged = dearer.reduce((sum, { more }) => sum + more, 0)
    const args = [limits.terms.generation, this.token, need, this.usedLately(sentAt), goodMs, 'PUBLISH', this.keys[0], charged, ...freed.flat()]
    const answer = await broker.client.fairlaneUnits(...this.keys, ...args).catch(err => {
      this.correctAgain(dearer)
      throw err
    })
    if (answer.length === 1) { // of another generation
      for (const [mark, units] of freed) this.free(mark, units)
      this.correctAgain(dearer)
      await limits.look()
      if (this.freed.size + this.corrected.size > 0) this.reportSoon()
      return
    }
    const [, units, mark, waitMs, chargedMark] = answer
    for (const { charge, more } of dearer) {
      charge.units += more
      charge.parts.push({ units: more, mark: chargedMark, until: -Infinity })
    }
    this.isInLine = need > 0 && units === 0
    if (units > 0) this.receive({ units, mark, until: sentAt + FOR_STARTS * goodMs })
    else if (need > 0) this.wakeAt(this.mayAskAt = performance.now() + Math.min(waitMs, RENEWED_MS))
  }

  receive (grant) {
    this.need = 0
    this.grant = grant
    this.wakeAt(grant.until)
    this.wake()
  }

  /** Units that jobs have not cost are given back. @returns {{ charge: object, more: number }[]} what is to be charged beyond */
  corrections () {
    const dearer = []
    for (const charge of this.corrected) {
      const more = charge.wanted - charge.units
      if (more > 0) dearer.push({ charge, more })
      else this.takeBack(charge, -more, Infinity)
      if (more < 0) charge.units = charge.wanted
    }
    this.corrected.clear()
    return dearer
  }

  correctAgain (dearer) {
    for (const { charge } of dearer) this.corrected.add(charge)
  }

  wakeAt (at) {
    if (this.timer !== undefined && this.timerAt <= at) return
    clearTimeout(this.timer)
    this.timerAt = at
    this.timer = setTimeout(() => this.due(), Math.min(Math.max(1, Math.ceil(at - performance.now())), 2 ** 31 - 1))
  }

  due () {
    this.timer = undefined
    this.dropLate(performance.now())
    if (this.freed.size + this.corrected.size > 0) this.reportSoon()
    if (this.grant !== undefined) this.wakeAt(this.grant.until)
    this.wake()
  }

  /** Units are counted anew in each stretch of time. */
  turn (now) {
    const stretch = Math.floor(now / this.goodMs)
    if (stretch === this.stretch) return
    this.usedBefore = stretch === this.stretch + 1 ? this.usedNow : 0
    this.usedNow = 0
    this.stretch = stretch
  }

  /** How many units were used in the time for which they are good, as far as that is known. */
  usedLately (now) {
    this.turn(now)
    return Math.max(this.usedBefore, this.usedNow)
  }
}

/** What a gate has in hand from now on; null without rates of cost. */
function purseOf ({ purse, broker, countCosts, dispatch, limits, token }, rates) {
  if (rates.length === 0) {
    purse?.stop()
    return null
  }
  if (purse === null) {
    countCosts()
    return new Purse({ broker, limits, wake: () => dispatch.wake() }, token, rates)
  }
  purse.update(rates)
  return purse
}

function sumOf (parts) {
  return parts.reduce((sum, { units }) => sum + units, 0)
}

module.exports = { Purse, purseOf }
