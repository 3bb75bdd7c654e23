'use strict'

/** What is counted of one type, or of those that share a lane; the base of what lists keep of types. */
class TypeCounts {
  constructor () {
    this.size = 0 // jobs that wait
    this.running = 0
    this.done = 0
    this.failed = 0
    this.cancelled = 0
    this.rejected = 0
    this.retried = 0
    this.throttled = 0
    this.joined = 0
    this.overdueCount = 0 // of those running, that were settled before
  }

  /**
   * The runner of a job has ended.
   * @param {'done' | 'failed' | 'returns' | 'settled'} outcome returns: the job is to be tried again; settled: it was counted before
   */
  countEnd (outcome) {
    if (outcome === 'done') this.done++
    else if (outcome === 'failed') this.failed++
    else if (outcome === 'settled') this.overdueCount--
    this.running--
  }

  /** A running job was settled, and its runner goes on. @param {'failed' | 'cancelled' | 'returns'} outcome as of countEnd() */
  countInterruption (outcome) {
    if (outcome === 'failed') this.failed++
    else if (outcome === 'cancelled') this.cancelled++
    this.overdueCount++
  }

  /** What stats(type) gives. */
  stats () {
    const { size, running, done, failed, cancelled, rejected, retried, throttled, joined, overdueCount, spent } = this
    const accepted = size + running - overdueCount + done + failed + cancelled
    return {
      accepted,
      waiting: size,
      running,
      overdue: overdueCount,
      done,
      failed,
      cancelled,
      rejected,
      types: size + running > 0 ? 1 : 0,
      retried,
      throttled,
      joined,
      spent
    }
  }
}

// Units of cost that were charged, as corrected: where none are counted, there is no room for them.
TypeCounts.prototype.spent = 0

module.exports = { TypeCounts }
