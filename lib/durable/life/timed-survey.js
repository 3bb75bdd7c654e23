'use strict'

// As survey.js, of a queue that is observed or has priorities: also when jobs were pushed. 8 bytes a job more.

const { DAMAGED, payloadOf } = require('../../log/format')
const { pushedAt } = require('../push/serialize')
const { Survey } = require('./survey')

const PAGE_SEQS = 256

class TimedSurvey extends Survey {
  constructor () {
    super()
    this.times = new Map() // of pages
  }

  push (seq, kind, record) {
    super.push(seq, kind, record)
    const number = Math.floor(seq / PAGE_SEQS)
    let page = this.times.get(number)
    if (page === undefined) this.times.set(number, page = new Float64Array(PAGE_SEQS))
    page[seq % PAGE_SEQS] = kind === DAMAGED ? Infinity : pushedAt(payloadOf(record))
  }

  /** @returns {number} when a live job was pushed, in ms since 1970; Infinity if nobody knows */
  pushedAt (seq) {
    return this.times.get(Math.floor(seq / PAGE_SEQS))[seq % PAGE_SEQS]
  }
}

module.exports = { TimedSurvey }
