'use strict'

// What a test of the suite works with: queues, runners with gates, time, and what is told.

const { fakeClock } = require('../clock')
const { gateRunner } = require('../gates')
const { expect, reasonOf, rejects } = require('./expect')

const TURNS = 20 // in which an engine does all that it is going to do at once
const SLACK_MS = 20 // by which the clocks of processes differ, and timers are early
const LONGEST_MS = 60000
const MOST_LATE_MS = 50

class Stage {
  #make
  #has
  #made = new Map() // queue → what make() gave

  constructor (make, has) {
    this.#make = make
    this.#has = has
  }

  /** A queue at a place of its own. */
  open (runner, options) {
    return this.#keep(this.#make(runner, options))
  }

  /** The same, with a runner whose jobs end when the test says so. */
  async openGated (options) {
    const gate = gateRunner()
    return { gate, queue: await this.open(gate.runner, { settleBy: 'callback', backoffMs: 1, ...options }) }
  }

  /** @returns {Promise<Error>} what a queue with such options is refused with, which has that code */
  refuses (options, code, what) {
    return rejects(this.openGated(options), code, what)
  }

  /** Closes a queue, as if its process had come to its end, and opens it again. */
  async reopen (queue, runner, options) {
    return this.#keep(this.#made.get(queue).reopen(runner, options))
  }

  /** The same queue in another process, or as if it were in one. */
  another (queue, runner, options) {
    return this.#keep(this.#made.get(queue).another(runner, options))
  }

  /** Closes a queue, has another process start a job that waits in it, and kills that process. */
  crash (queue) {
    return this.#made.get(queue).crash()
  }

  /**
   * Queues a job.
   * @returns {Promise<any>} of its result; nobody is told if it rejects and the test does not look
   */
  add (queue, payload, options) {
    const result = queue.add(payload, options)
    reasonOf(result)
    return result
  }

  /** @returns {Promise<any>} the next one of an event, its first argument */
  next (queue, event) {
    return new Promise(resolve => queue.once(event, resolve))
  }

  /** @returns {object[]} what listeners are told from now on, as [event, what] */
  listen (queue, ...events) {
    const told = []
    for (const event of events) queue.on(event, about => { told.push([event, about]) })
    return told
  }

  /** Resolves when the test is true, however long the engine takes. */
  async until (test) {
    const end = Date.now() + LONGEST_MS
    while (!await test()) {
      expect(Date.now() < end, `this did not become true within ${LONGEST_MS / 1000} s: ${test}`)
      await pause(5)
    }
  }

  /** Resolves when an engine has done all that it does without being asked, and without time going by. */
  async quiet () {
    for (let n = 0; n < TURNS; n++) await pause(0)
  }

  /**
   * Time, which the test moves where the engine goes by the option `clock`; spread its `options` into those of the queue. To be told by
   * begin() before what takes its time is begun.
   */
  time () {
    return this.#has.has('ownTime') ? new OwnTime(this) : new RealTime()
  }

  /** Closes what the test has left open. */
  async clear () {
    await Promise.all(Array.from(this.#made.values(), made => made.close?.() ?? made.queue.close({ timeoutMs: 0 })))
  }

  async #keep (making) {
    const made = await making
    this.#made.set(made.queue, made)
    return made.queue
  }
}

class OwnTime {
  #clock = fakeClock(Date.now())
  #stage

  constructor (stage) {
    this.#stage = stage
    this.options = { clock: this.#clock }
  }

  begin () {}

  /** @returns {Promise<any>} the promise, which must not settle before `ms` from now have gone by; and time goes by until it does */
  async passes (ms, promise) {
    const wait = { isOver: false }
    const over = () => { wait.isOver = true }
    promise.then(over, over)
    await this.#stage.quiet()
    this.#clock.advance(ms - 1)
    await this.#stage.quiet()
    expect(!wait.isOver, `it settled before ${ms} ms had passed`)
    for (let late = 0; !wait.isOver && late < MOST_LATE_MS; late++) {
      this.#clock.advance(1)
      await this.#stage.quiet()
    }
    expect(wait.isOver, `it had not settled ${MOST_LATE_MS} ms after the ${ms} ms`)
    return promise
  }
}

class RealTime {
  #begin = performance.now()
  options = {}

  /** What passes() measures has begun: a test may come to that later than what it waits for. */
  begin () {
    this.#begin = performance.now()
  }

  /** @returns {Promise<any>} the promise, which must not settle before `ms` have gone by since begin() */
  async passes (ms, promise) {
    try {
      return await promise
    } finally {
      expect(performance.now() - this.#begin >= ms - SLACK_MS, `it settled before ${ms} ms had passed`)
    }
  }
}

function pause (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}

module.exports = { Stage }
