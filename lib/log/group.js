'use strict'

// Records that become one frame, and the promise of those that wait for them:
//
//   open ──▶ sealed ──▶ written ──▶ settled: its promise resolves, or rejects with `error`

const { FRAME_BYTES } = require('./format')
const { CLAIM } = require('./claims')

class Group {
  /**
   * @param {number} segment where the frame will stand
   * @param {number} start
   * @param {Buffer | undefined} buffer of the frame; given back once that is written
   */
  constructor (segment, start, buffer) {
    this.segment = segment
    this.start = start
    this.buffer = buffer
    this.length = FRAME_BYTES
    this.count = 0
    this.ackAt = 0 // where the last record is, if that is an ACK
    this.firstSeq = 0 // jobs pushed: from firstSeq to below endSeq
    this.endSeq = 0
    this.pushesCount = 0 // calls, not jobs
    this.claim = CLAIM.ALL // what it may take of the reserve: the least of what its records may
    this.before = [] // seq, segment, offset, length, isMoved: where jobs were that it finishes, changes or moves
    this.outcome = undefined // the promise, once it was asked for
    this.resolve = undefined
    this.reject = undefined
    this.error = undefined
  }

  /** What all who wait for this group share. */
  get promise () {
    if (this.outcome === undefined) {
      this.outcome = new Promise((resolve, reject) => {
        this.resolve = resolve
        this.reject = reject
      })
    }
    return this.outcome
  }

  settle (err) {
    this.error = err
    if (this.outcome === undefined) return
    if (err === undefined) this.resolve()
    else this.reject(err)
  }
}

module.exports = { Group }
