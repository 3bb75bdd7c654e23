'use strict'

// HOT (bench: metrics). Which limit is right, by rounds of jobs: how much longer they take than when nothing is overloaded, and how
// many the other side rejects. It knows no queue and no clock; what classes of jobs take, it asks of classes.js.
//
//   slowdown  s = (Σ √time / Σ baseline)²            of the jobs that started since the limit last changed
//   surplus   q = limit × (1 − 1/s)                  jobs that are under way and only wait, as in TCP Vegas
//
//        q small ──▶ grow       q large ──▶ cut ──▶ as slow at half the limit? ──▶ it is not our load: learn what jobs take now
//        rejects ──▶ cut, and grow slowly where they came
//        now and then ──▶ halve the limit for a round, and learn

const FEWEST = 20 // ends that make a round
const LOOK_MS = 100 // and so long it takes at least
const PROBE_ROUNDS = 100 // from one probe to the next
const SOON_ROUNDS = 5 // ... after slowness was taken for what it is not, perhaps
const HELD_ROUNDS = 25
const CALM_ROUNDS = 100 // for so long the limit grows slowly where there were rejects
const STEP_ROUNDS = 4 // ... by one each so many
const FEW = 0.005 // so large a share of rejects is of no account
const MANY = 0.1
const SLOW_ROUNDS = 2 // one may be slow for a pause of ours, as for garbage
const STUCK_ROUNDS = 3
const QUICKEST = 0.1 // root of the least slowdown: a coarse clock may say that jobs take no time
const WARM_UP = 4 // times what a job takes

class Rounds {
  /**
   * @param {{ least: number, most: number, first: number }} limits
   * @param {{ adopt: Function, forgetTries: Function }} classes
   */
  constructor ({ least, most, first }, classes) {
    this.least = least
    this.most = most
    this.limit = first
    this.classes = classes
    this.slow = 1 // the root of the slowdown of the last round
    this.roundCount = 0
    this.rejectCount = 0 // of all
    this.epoch = 0 // jobs that start now are counted if it is the same when they end
    this.isStarting = true // nothing has been too much as yet: the limit grows fast
    this.yielding = undefined // { limit, share } when rejects began
    this.tolerated = 0 // so large a share of rejects was none of ours
    this.toleratedUntil = 0
    this.probeAt = PROBE_ROUNDS
    this.heldCount = 0 // rounds in a row in which the limit could neither grow nor had to fall
    this.patience = HELD_ROUNDS // so many of them are probed; twice as many each time that nothing was learnt
    this.probe = undefined // { limit, slowdown } before it, while one is going on
    this.cut = undefined // { limit, slowdown } before the first of several cuts
    this.ceiling = Infinity // where there were rejects
    this.calmUntil = 0
    this.slowCount = 0 // rounds in a row that were slow
    this.stuckCount = 0 // ... at the least limit
    this.lookAt = this.countFrom = -Infinity
    this.clear()
  }

  get slowdown () {
    return this.slow * this.slow
  }

  /** What jobs take is to be known of an experiment. */
  get isTrying () {
    return this.probe !== undefined || this.cut !== undefined
  }

  /** A job has ended that started in this epoch, of a class whose baseline is known. isPressed: all slots were taken meanwhile. */
  ended (root, baseline, isPressed) {
    this.count++
    this.sum += root
    this.base += baseline
    this.squares += root * root
    this.products += root * baseline
    this.baseSquares += baseline * baseline
    if (isPressed) this.pressedCount++
  }

  /** The other side has said that it is too much. */
  rejected () {
    this.rejectCount++
    this.rejects++
  }

  /** Whether jobs that end now count: those that end first after a change of the limit are the short ones. */
  counts (epoch, now) {
    return epoch === this.epoch && now >= this.countFrom
  }

  /** Whether the round is over. */
  isDue (now) {
    return this.count + this.rejects >= this.needed && now >= this.lookAt
  }

  /** The round is over. @returns {string | undefined} why the limit is another one now */
  close (now) {
    this.roundCount++
    this.lookAt = now + LOOK_MS
    const { count, epoch, sum } = this
    const share = this.rejects / (count + this.rejects)
    const because = share > this.mostTolerated() ? this.yieldTo(share) : this.judge()
    if (this.epoch !== epoch) {
      const mean = count === 0 ? 0 : sum / count
      this.countFrom = now + WARM_UP * mean * mean
      this.lookAt += WARM_UP * mean * mean
    }
    this.clear()
    return because
  }

  // private from here on

  /** So large a share of rejects means nothing. */
  mostTolerated () {
    return this.roundCount < this.toleratedUntil ? this.tolerated : FEW
  }

  clear () {
    this.count = this.pressedCount = this.rejects = 0
    this.sum = this.base = this.squares = this.products = this.baseSquares = 0
    this.needed = Math.max(FEWEST, 2 * this.limit)
  }

  set (limit, because) {
    if (limit === this.limit) return undefined
    this.limit = limit
    this.epoch++
    if (this.isTrying) this.classes.forgetTries()
    return because
  }

  /** So much of the round was rejected. */
  yieldTo (share) {
    const { least, limit, roundCount } = this
    this.isStarting = false
    this.probe = this.cut = undefined
    this.yielding ??= { limit, share }
    const { yielding } = this
    if (limit <= Math.max(least, yielding.limit / 2) && limit < yielding.limit && share <= MANY && share >= 0.8 * yielding.share) {
      // as many are with half the load: it is not ours
      this.tolerated = 2 * share
      this.toleratedUntil = roundCount + CALM_ROUNDS
      this.yielding = undefined
      return this.set(yielding.limit, 'restore')
    }
    this.ceiling = limit
    this.calmUntil = roundCount + CALM_ROUNDS
    return this.set(Math.max(least, Math.floor(limit * (share > MANY ? 0.7 : 0.9))), 'rejects')
  }

  judge () {
    this.yielding = undefined
    const root = Math.max(QUICKEST, this.sum / this.base)
    const variance = this.squares - 2 * root * this.products + root * root * this.baseSquares
    const slowdown = root * root
    const error = 2 * root * Math.sqrt(Math.max(0, variance)) / this.base
    this.slow = root
    if (this.probe !== undefined) return this.endProbe(slowdown, error)
    if (2 * this.pressedCount < this.count) return undefined
    const { limit } = this
    const few = Math.min(limit / 4, 2 * Math.max(1, Math.log10(limit)))
    const surplus = limit * (1 - 1 / slowdown)
    if (surplus - 2 * limit * error / (slowdown * slowdown) > 2 * few) {
      this.slowCount++
      return this.slowCount < SLOW_ROUNDS && this.cut === undefined ? undefined : this.shrink(slowdown)
    }
    this.cut = undefined
    this.slowCount = this.stuckCount = 0
    const canGrow = surplus < few
    if (canGrow) this.heldCount = 0
    else this.heldCount++
    const isProbeDue = this.roundCount >= this.probeAt || this.heldCount >= this.patience
    if (isProbeDue && limit >= 2 * this.least) return this.beginProbe(slowdown)
    if (canGrow) return this.grow()
    this.endStart()
    return undefined
  }

  /** Something is too much, or seems so, for the first time. */
  endStart () {
    if (this.isStarting) this.probeSoon()
    this.isStarting = false
  }

  probeSoon () {
    this.probeAt = Math.min(this.probeAt, this.roundCount + SOON_ROUNDS)
  }

  grow () {
    const { limit, most } = this
    if (limit >= most) return undefined
    let next = Math.max(limit + 1, Math.floor(limit * (this.isStarting ? 1.5 : 1.08)))
    if (this.roundCount < this.calmUntil && next > 0.8 * this.ceiling) {
      if (this.roundCount % STEP_ROUNDS > 0) return undefined
      next = limit + 1
    }
    return this.set(Math.min(most, next), 'growth')
  }

  /** Too many are under way, or it is not our load. */
  shrink (slowdown) {
    const { least, limit } = this
    this.endStart()
    this.cut ??= { limit, slowdown }
    const half = Math.max(least, this.cut.limit / 2)
    if (limit <= half && limit < this.cut.limit && slowdown >= 0.8 * this.cut.slowdown) return this.restore(this.cut.limit, slowdown)
    if (limit === least) {
      if (++this.stuckCount < STUCK_ROUNDS) return undefined
      return this.restore(least, slowdown)
    }
    const next = limit * Math.max(0.5, 1 / Math.sqrt(slowdown))
    return this.set(Math.max(least, Math.floor(limit > half ? Math.max(half, next) : next)), 'slowdown')
  }

  /** It is as slow with half the load. */
  restore (limit, slowdown) {
    this.classes.adopt(Math.sqrt(slowdown))
    this.slow = 1
    this.cut = undefined
    this.slowCount = this.stuckCount = 0
    this.probeSoon()
    return this.set(limit, 'restore')
  }

  beginProbe (slowdown) {
    this.probe = { limit: this.limit, slowdown }
    return this.set(Math.max(this.least, Math.floor(this.limit / 2)), 'probe')
  }

  endProbe (slowdown, error) {
    const { probe } = this
    this.probeAt = this.roundCount + PROBE_ROUNDS
    this.patience = Math.min(PROBE_ROUNDS, 2 * this.patience)
    this.heldCount = 0
    const isQuicker = slowdown + error < 1
    const isSlower = slowdown - error > 1 && slowdown >= 0.9 * probe.slowdown
    if (isQuicker || isSlower) {
      this.classes.adopt(this.slow)
      this.patience = HELD_ROUNDS
      this.probeSoon()
    }
    this.probe = undefined
    return this.set(probe.limit, 'restore')
  }
}

module.exports = { Rounds }
