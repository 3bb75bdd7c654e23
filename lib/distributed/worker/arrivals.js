'use strict'

// HOT (bench: distributed). Calls that may bring a job of a type. Their jobs are handed on in the order in which the calls were sent, which
// is that in which the broker gave the jobs out. Answers that come together would be heard of in another order: a call that also ends a job
// goes through more hands (docs/decisions/0131-jobs-in-the-order-of-their-calls.md).

/** A call on its way. */
class Call {
  /**
   * @param {object | undefined} asker delivery with the slot that the job is for; undefined: it is taken ahead
   * @param {number} rechecksCount by which limits the broker is asked
   * @param {number} wordsCount how often it was heard by then that there are jobs
   */
  constructor (asker, rechecksCount, wordsCount) {
    this.asker = asker
    this.rechecksCount = rechecksCount
    this.wordsCount = wordsCount
    this.isOver = false
    this.answer = undefined // with a job that waits for the calls before it
  }
}

class Arrivals {
  /** @param {(call: Call, answer: object | undefined) => void} arrived called once for each call; what brings no job does not wait */
  constructor (arrived) {
    this.arrived = arrived
    this.calls = [] // in the order in which they were sent
  }

  /** A call is sent now. Its arguments are those of a Call. */
  sent (asker, rechecksCount, wordsCount) {
    const call = new Call(asker, rechecksCount, wordsCount)
    this.calls.push(call)
    return call
  }

  /** @param {Call} call @param {object | undefined} answer an Answer; undefined: there is none */
  ended (call, answer) {
    call.isOver = true
    if (answer?.job === undefined) this.arrived(call, answer)
    else call.answer = answer
    while (this.calls.length > 0 && this.calls[0].isOver) {
      const first = this.calls.shift()
      if (first.answer !== undefined) this.arrived(first, first.answer)
    }
  }
}

module.exports = { Arrivals }
