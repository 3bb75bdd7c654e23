'use strict'

// Answers that all clients share: a queue is asked the same once a second at most, however many pages are open.

const { systemClock } = require('../platform/clock')

const KEPT_MS = 1000
const MOST = 100 // of a queue: what is asked may have a text in it that somebody has typed

class Answers {
  /** @param {{ now: () => number }} [clock] */
  constructor (clock = systemClock) {
    this.clock = clock
    this.byQueue = new Map() // queue → question → Answer
  }

  /**
   * @param {object} one queue
   * @param {string} question
   * @param {() => Promise<any>} ask
   * @returns {Promise<any>} that of ask(), or the one before, which is not older than a second
   */
  share (one, question, ask) {
    const answers = this.byQueue.get(one) ?? new Map()
    this.byQueue.set(one, answers)
    const known = answers.get(question)
    if (known !== undefined && this.clock.now() - known.at < KEPT_MS) return known.promise
    answers.delete(question) // a new one is the last to go
    if (answers.size === MOST) answers.delete(answers.keys().next().value)
    const answer = new Answer(ask())
    answers.set(question, answer)
    const settled = () => { answer.at = this.clock.now() }
    answer.promise.then(settled, settled)
    return answer.promise
  }

  /** Something was done to a queue: what it says from now on may be another. */
  forget (one) {
    this.byQueue.delete(one)
  }
}

class Answer {
  constructor (promise) {
    this.promise = promise
    this.at = Infinity // when it came
  }
}

module.exports = { Answers }
