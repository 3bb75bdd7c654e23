'use strict'

// queue.map(): the results of a job for each value of a source, in the source's order or as they come. It takes from the
// source only as much as the consumer keeps up with, and leaves nothing behind when the consumer stops.
//
//   source ──pump()──▶ jobs in the queue ──▶ arrived ──next()──▶ consumer
//              └── at most maxPending between here and there ──┘

const QList = require('qlist')

/** One run of map(). `queue` adds jobs and waits for room: `{ add(payload, options), accepts(), ready() }`. */
class Mapping {
  constructor (queue, source, { ordered, maxPending, settled }) {
    this.queue = queue
    this.isOrdered = ordered
    this.maxPending = maxPending
    this.isSettled = settled
    this.isAsync = typeof source[Symbol.asyncIterator] === 'function'
    this.iterator = this.isAsync ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
    this.controller = new AbortController()
    this.pending = new QList() // entries in the order in which they are to be given out; if not ordered, those that settled
    this.pendingCount = 0 // taken from the source and not given out
    this.isPulling = false // the source is at work
    this.isSourceOver = false // it has ended or failed by itself
    this.isPumped = false
    this.isOver = false
    this.hasFailed = false
    this.error = undefined
    this.wakeConsumer = undefined
    this.wakePump = undefined
  }

  async * results () {
    this.pump()
    try {
      for (;;) {
        while (!this.hasFailed && !this.hasResult() && !this.isDry()) await new Promise(resolve => { this.wakeConsumer = resolve })
        if (this.hasFailed) throw this.error
        if (!this.hasResult()) return
        const { outcome } = this.pending.shift()
        this.pendingCount--
        wake(this.wakePump)
        yield this.isSettled ? outcome : outcome.value
      }
    } finally {
      await this.end()
    }
  }

  // private from here on

  hasResult () {
    return !this.pending.isEmpty() && this.pending.peek().outcome !== undefined
  }

  isDry () {
    return this.isPumped && this.pendingCount === 0
  }

  /** Moves values from the source into the queue for as long as somebody wants results. */
  async pump () {
    try {
      while (!this.isOver) {
        if (this.pendingCount >= this.maxPending) {
          await new Promise(resolve => { this.wakePump = resolve })
          continue
        }
        const { done, value } = await this.pull()
        if (done) break
        if (await this.hasRoom()) this.start(value)
      }
    } catch (err) {
      this.fail(err)
    }
    this.isPumped = true
    wake(this.wakeConsumer)
  }

  async pull () {
    const { done, value } = await this.step()
    return { done, value: this.isAsync ? value : await value }
  }

  /** A source that throws is over, and not closed. */
  async step () {
    this.isPulling = true
    try {
      const result = await this.iterator.next()
      if (result.done) this.isSourceOver = true
      return result
    } catch (err) {
      this.isSourceOver = true
      throw err
    } finally {
      this.isPulling = false
    }
  }

  /** Waits for admission. @returns {Promise<boolean>} false if nobody wants results any more */
  async hasRoom () {
    while (!this.isOver && !this.queue.accepts()) await this.queue.ready()
    return !this.isOver
  }

  start (value) {
    const entry = { outcome: undefined }
    this.pendingCount++
    if (this.isOrdered) this.pending.push(entry)
    this.queue.add(value, this.controller.signal).then(
      value => this.settle(entry, { status: 'fulfilled', value }),
      reason => this.settle(entry, { status: 'rejected', reason })
    )
  }

  settle (entry, outcome) {
    if (this.isOver) return
    entry.outcome = outcome
    if (!this.isOrdered) this.pending.push(entry)
    if (outcome.status === 'rejected' && !this.isSettled) this.fail(outcome.reason)
    wake(this.wakeConsumer)
  }

  /** The first failure ends it all at once: what else is queued would be for nobody. */
  fail (error) {
    if (this.isOver) return
    this.hasFailed = true
    this.error = error
    this.stop()
  }

  stop () {
    this.isOver = true
    this.controller.abort()
    wake(this.wakePump)
  }

  /** The consumer stops, or is through. A source that is at work is not waited for: it may never come to an end. */
  async end () {
    if (!this.isOver) this.stop()
    if (this.isSourceOver || typeof this.iterator.return !== 'function') return
    const returned = new Promise(resolve => resolve(this.iterator.return()))
    const isMoot = this.isPulling || this.hasFailed // there is an error already, or nobody to tell
    const closed = isMoot ? returned.catch(() => {}) : returned
    if (!this.isPulling) await closed
  }
}

function wake (resolve) {
  if (resolve !== undefined) resolve()
}

module.exports = { Mapping }
