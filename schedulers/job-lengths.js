'use strict'

// HOT (bench: schedulers). What recent jobs took: a low quantile, the mean, and what is usual.

const SAMPLE_COUNT = 16
const LOW_QUANTILE = 0.1
// The moving mean is of so many samples, more or less, and is told when there are so many; each adds at most so much of it.
const MOST_PARTS = 128
const LEAST_PARTS = 8
const MOST_GROWTH = 0.5
const LEAST_COUNT = Math.ceil(LOW_QUANTILE * 2 * SAMPLE_COUNT)
// Arrays of doubles, to be copied: typed arrays of groups that come and go took as long as all else of them together (Node 24, types).
const NO_LENGTHS = Array.from({ length: SAMPLE_COUNT }, () => 0.5)
const NONE_LEAST = Array.from({ length: LEAST_COUNT }, () => Infinity)

/** Of some job lengths: as much as JobLengths needs. */
class Sample {
  constructor () {
    this.count = 0
    this.sumMs = 0
    this.least = NONE_LEAST.slice() // ascending
  }

  set (lengths, count) {
    const { least } = this
    let sumMs = 0
    least.fill(Infinity)
    for (let i = 0; i < count; i++) {
      const ms = lengths[i]
      sumMs += ms
      let rank = LEAST_COUNT - 1
      if (ms >= least[rank]) continue
      for (; rank > 0 && ms < least[rank - 1]; rank--) least[rank] = least[rank - 1]
      least[rank] = ms
    }
    this.count = count
    this.sumMs = sumMs
  }
}

/**
 * `lowMs`, the largest of the shortest tenth, and `meanMs` are of the last two samples of 16 job lengths each, taken anew with each sample,
 * of the first one with each job. `usualMs` is a mean that some long jobs do not lead astray: it moves with each sample, by half of itself
 * upwards at most; 0 until 128 jobs have ended.
 */
class JobLengths {
  /** @param {number} firstMs meanMs before the first job */
  constructor (firstMs) {
    this.lowMs = 0
    this.meanMs = firstMs
    this.usualMs = 0
    this.movingMs = 0
    this.sampleCount = 0
    this.lengths = NO_LENGTHS.slice() // since the last full sample
    this.count = 0
    this.sample = new Sample() // of them
    this.lastSample = new Sample()
  }

  /** Whether none has ended. */
  get isEmpty () {
    return this.sample.count + this.lastSample.count === 0
  }

  /** Forgets all jobs. */
  restart (firstMs) {
    this.lowMs = this.usualMs = this.movingMs = this.sampleCount = this.count = 0
    this.meanMs = firstMs
    this.sample.set(this.lengths, 0)
    this.lastSample.set(this.lengths, 0)
  }

  /** O(1) amortised. */
  add (ms) {
    this.lengths[this.count++] = ms
    if (this.count === SAMPLE_COUNT || this.lastSample.count === 0) this.evaluate()
  }

  // private from here on

  evaluate () {
    const { sample, lastSample } = this
    sample.set(this.lengths, this.count)
    const count = sample.count + lastSample.count
    this.lowMs = leastOf(sample.least, lastSample.least, Math.ceil(LOW_QUANTILE * count) - 1)
    this.meanMs = (sample.sumMs + lastSample.sumMs) / count
    if (this.count < SAMPLE_COUNT) return
    this.learn(sample.sumMs / SAMPLE_COUNT)
    this.count = 0
    this.sample = lastSample
    this.lastSample = sample
  }

  learn (ms) {
    const parts = Math.min(++this.sampleCount, MOST_PARTS)
    this.movingMs += (parts === 1 ? ms : Math.min(ms - this.movingMs, parts * MOST_GROWTH * this.movingMs)) / parts
    if (parts >= LEAST_PARTS) this.usualMs = this.movingMs
  }
}

/** The one with the given rank, from 0 on, in two ascending lists together. */
function leastOf (some, others, rank) {
  let i = 0
  let j = 0
  while (i + j < rank) {
    if (some[i] <= others[j]) i++
    else j++
  }
  return Math.min(some[i], others[j])
}

module.exports = { JobLengths }
