'use strict'

// What adapts a limit elsewhere, written anew from its documentation and papers, to compare with: each is told of every call that has
// ended, and says how many may be under way. All begin with the same limit, and have the same bounds, which those who made them leave open;
// everything else is as it comes there.

const LEAST = 2
const MOST = 200
const FIRST = 8
/** The best fixed limit is looked for among these. */
const FIXED = [8, 12, 16, 20, 24, 28, 32, 40, 48, 52, 56, 64]

/** One that somebody has chosen. */
class Fixed {
  constructor (limit) {
    this.limit = limit
  }

  ended () {}
}

/**
 * Tells another of each second in which there were ten calls at least: of the average of their times, as WindowedLimit in Netflix's
 * concurrency-limits. By single calls, of which some are short and some long by nature, none of these comes near the right limit here.
 */
class Windowed {
  constructor (inner) {
    this.inner = inner
    this.nextAt = 0
    this.clear()
  }

  get limit () {
    return Math.floor(this.inner.estimate)
  }

  ended ({ ms, inFlight, isRejected, now }) {
    this.inFlight = Math.max(this.inFlight, inFlight)
    this.hasRejected ||= isRejected
    if (!isRejected) {
      this.sum += ms
      this.count++
    }
    if (now < this.nextAt || this.count < 10) return
    this.nextAt = now + 1000
    this.inner.ended(this.sum / this.count, this.inFlight, this.hasRejected)
    this.clear()
  }

  clear () {
    this.sum = this.count = this.inFlight = 0
    this.hasRejected = false
  }
}

/**
 * Additive increase, multiplicative decrease (Chiu and Jain: Analysis of the Increase and Decrease Algorithms for Congestion Avoidance,
 * 1989), with the numbers of AIMDLimit in Netflix's concurrency-limits: one more where all goes well while half of the limit is used, a
 * tenth less where calls are rejected, or take too long. What is too long somebody has to know: 8 ms are twice what a call takes.
 */
class AIMD {
  constructor () {
    this.estimate = FIRST
  }

  ended (ms, inFlight, hasRejected) {
    if (hasRejected || ms > 8) this.estimate = within(Math.min(this.estimate - 1, Math.floor(this.estimate * 0.9)))
    else if (2 * inFlight >= this.estimate) this.estimate = within(this.estimate + 1)
  }
}

/**
 * TCP Vegas (Brakmo and Peterson: TCP Vegas: End to End Congestion Avoidance on a Global Internet, 1995), with the numbers of VegasLimit
 * in the same library: how many calls wait is told from the shortest time that was seen, which is forgotten now and then.
 */
class Vegas {
  constructor (random) {
    this.random = random
    this.estimate = FIRST
    this.shortestMs = 0
    this.count = 0
    this.jitter = 0.5 + random() / 2
  }

  ended (ms, inFlight, hasRejected) {
    this.count++
    if (this.count >= this.jitter * 30 * this.estimate) {
      this.count = 0
      this.jitter = 0.5 + this.random() / 2
      this.shortestMs = ms
    } else if (this.shortestMs === 0 || ms < this.shortestMs) {
      this.shortestMs = ms
    } else {
      this.adapt(Math.ceil(this.estimate * (1 - this.shortestMs / ms)), inFlight, hasRejected)
    }
  }

  adapt (queued, inFlight, hasRejected) {
    const step = Math.max(1, Math.floor(Math.log10(this.estimate)))
    if (hasRejected) this.estimate -= step
    else if (2 * inFlight < this.estimate) return
    else if (queued <= step) this.estimate += 6 * step
    else if (queued < 3 * step) this.estimate += step
    else if (queued > 6 * step) this.estimate -= step
    this.estimate = within(this.estimate)
  }
}

/** The gradient of a long average of times to the last one, from the documentation of Gradient2Limit in the same library. */
class Gradient2 {
  constructor () {
    this.estimate = FIRST
    this.longMs = 0
    this.count = 0
  }

  ended (shortMs, inFlight) {
    this.count++
    this.longMs += (shortMs - this.longMs) * (this.count <= 10 ? 1 / this.count : 2 / 601)
    const gradient = Math.max(0.5, Math.min(1, this.longMs / shortMs))
    if (this.longMs / shortMs > 2) this.longMs *= 0.9
    if (inFlight < this.estimate / 2) return
    this.estimate = within(0.8 * this.estimate + 0.2 * (this.estimate * gradient + 4))
  }
}

/** @returns {Map<string, () => object>} what makes each of them, by name @param {() => number} random */
function limitersWith (random) {
  return new Map([
    ...FIXED.map(limit => [`fixed ${limit}`, () => new Fixed(limit)]),
    ['AIMD', () => new Windowed(new AIMD())],
    ['Vegas', () => new Windowed(new Vegas(random))],
    ['gradient2', () => new Windowed(new Gradient2())]
  ])
}

function within (limit) {
  return Math.max(LEAST, Math.min(MOST, limit))
}

module.exports = { limitersWith, FIXED, LEAST, MOST, FIRST }
