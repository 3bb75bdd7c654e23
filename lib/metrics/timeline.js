'use strict'

// What happened in the last 15 minutes, in buckets of 10 s: enough for small charts. It has no timer of its own: a bucket ends when metrics
// look at the queue, or when a job comes, and so it may be longer while nothing comes. Those with nothing to do are left out.

const { Totals, rise } = require('./totals')

const BUCKET_MS = 10000
const MOST_BUCKETS = 90
const LIVE = ['waiting', 'running']

class Timeline {
  /** @param {{ meter: object, buckets: object }} parts */
  constructor ({ meter, buckets }) {
    this.meter = meter
    this.buckets = buckets
    this.entries = [] // oldest first
    this.before = new Totals(meter, meter.originMs) // when the bucket began that has not ended
    meter.windows.slices[0].totals = this.before
  }

  /** To be called now and then while there is something to do: a bucket ends if it is time. */
  look () {
    const { before, meter } = this
    const ms = meter.records.time.now()
    if (ms - before.ms < BUCKET_MS) return
    const now = new Totals(meter, ms)
    const isIdle = LIVE.every(what => now[what] + before[what] === 0) && now.started === before.started
    if (!isIdle && this.entries.push(this.entry(now)) > MOST_BUCKETS) this.entries.shift()
    this.before = now
    meter.windows.advance(now)
  }

  /** @param {Totals} [now] if they are known @returns {object[]} oldest first, the last one as far as it has come */
  list (now = new Totals(this.meter, this.meter.records.time.read())) {
    const { meter } = this
    const { ms } = now
    const isPartial = ms > this.before.ms && LIVE.some(what => now[what] + this.before[what] > 0)
    const entries = isPartial ? [...this.entries, this.entry(now)] : this.entries
    const { originMs } = meter.records.time
    return entries.filter(({ at }) => at > ms - MOST_BUCKETS * BUCKET_MS).map(entry => ({ ...entry, at: entry.at + originMs }))
  }

  // private from here on

  entry (now) {
    const { before, buckets } = this
    const waits = Array.from(now.waitBuckets, (count, i) => rise(count, before.waitBuckets[i]))
    const ms = now.ms - before.ms
    return {
      at: now.ms,
      ms,
      started: rise(now.started, before.started),
      done: rise(now.done, before.done),
      failed: rise(now.failed, before.failed),
      waitP50Ms: buckets.quantile(0.5, waits),
      waitP95Ms: buckets.quantile(0.95, waits),
      slotsHeld: rise(now.slotMs, before.slotMs) / ms,
      waiting: now.waiting
    }
  }
}

module.exports = { Timeline }
