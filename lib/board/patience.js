'use strict'

// For how long a request waits for a queue: a broker that is away may not answer at all. A queue that owes an answer is not asked the like
// again, so that nothing piles up.

const { Refusal } = require('./body')
const { systemClock } = require('../platform/clock')

const ASK_MS = 2000
const ACT_MS = 5000

class Patience {
  /** @param {{ now: () => number, setTimeout: Function, clearTimeout: Function }} [clock] */
  constructor (clock = systemClock) {
    this.clock = clock
    this.owing = new Map() // queue and kind of question → since when it has owed an answer
  }

  /**
   * Asks a queue something that has no effect.
   * @param {string} key of the queue and the kind of question
   * @param {() => Promise<any>} question
   * @returns {Promise<any>} what it resolves to; rejects with that it has not, and asks nothing if it has not before
   */
  async ask (key, question) {
    const since = this.owing.get(key)
    if (since !== undefined) throw noAnswer(this.clock.now() - since)
    const askedAt = this.clock.now()
    const answer = question()
    return this.within(answer, ASK_MS, () => {
      this.owing.set(key, askedAt)
      const forget = () => this.owing.delete(key)
      answer.then(forget, forget)
      return noAnswer(ASK_MS)
    })
  }

  /** @param {Promise<any>} answer of a queue that does something @returns {Promise<any>} as ask() */
  act (answer) {
    return this.within(answer, ACT_MS, () => noAnswer(ACT_MS, ' It may still do what was asked.'))
  }

  // private from here on

  /** @param {() => Error} whenLate gives what it rejects with then */
  within (answer, limitMs, whenLate) {
    const { clock } = this
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(whenLate()), limitMs)
      const stop = settle => value => {
        clock.clearTimeout(timer)
        settle(value)
      }
      answer.then(stop(resolve), stop(reject))
    })
  }
}

function noAnswer (ms, more = '') {
  return new Refusal(504, `The queue has not answered for ${Math.round(ms / 1000)} s.${more}`)
}

module.exports = { Patience }
