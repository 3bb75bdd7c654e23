'use strict'

// Which records of a ledger go, and when. By `keep` segments go whole; by `keepMs` each record goes that was accepted so long ago, once all
// of its segment were.
//
//   segments   a  b  c  d  e  f  g ═══════════ tail
//              └── old ───────┘  └─ at least `keep` jobs that have ended ─┘
//
// An old segment goes when all its jobs have ended. If more than four are old, the first of them give their live jobs to the strays, where
// these are few, and go. So one stuck job holds nothing back.

const { ROWS, TIMES, ACCEPTED, WORDS, TYPE, STATE, STATE_MASK, NONE, FAILED, DEAD, isLive } = require('./segment')

// So many old segments may wait for their last jobs to end.
const MOST_OLD = 4
// A look lets go of so many segments, at 0.1 ms each, while jobs run: more than come until the next look. From as many others it takes what
// is too old.
const MOST_AT_ONCE = 8
const MOST_SPARES = 2
// A job among the strays takes twice the room, and a look-up in a Map.
const MOST_STRAYS = 1024

class Retention {
  /** @param {object} ledger whose segments these are */
  constructor (ledger) {
    this.ledger = ledger
    this.spares = [] // segments to be used again: new memory costs 5 ns a row
  }

  /**
   * Lets go of what may go.
   * @param {boolean} isFull the last segment is, and another one follows
   * @param {number} [most] so many segments
   */
  look (isFull, most = MOST_AT_ONCE) {
    const { ledger } = this
    const { segments, strays, tail } = ledger
    const end = isFull || segments.at(-1) !== tail ? segments.length : segments.length - 1
    const since = this.since()
    const waiting = []
    let newer = ledger.endedCount // jobs that have ended in the segments behind this one
    ledger.untilLook = ROWS
    let left = most
    let toSift = most
    for (let i = 0; i < end && left > 0; i++) {
      const segment = segments[i]
      if (segment === undefined) continue
      newer -= segment.endedCount
      const isOld = newer >= ledger.keep
      if (!isOld && segment.newestAt > since) break
      const goesWhole = isOld && segment.liveCount === 0
      if (!goesWhole && segment.newestAt <= since && segment.endedCount > 0 && toSift > 0) {
        this.sift(segment, since)
        toSift--
      }
      if (goesWhole || segment.count === 0) {
        this.retire(i)
        left--
      } else if (segment.liveCount <= MOST_STRAYS) {
        waiting.push(i)
      }
    }
    const movable = Math.min(Math.max(0, waiting.length - MOST_OLD), left)
    for (const i of waiting.slice(0, movable)) this.move(i, segments[i].newestAt <= since)
    strays.expire(since)
    this.trim()
  }

  /** As look(), before somebody asks, if records go by time. */
  expire () {
    const { ledger } = this
    const { keepMs, tail } = ledger
    if (!Number.isFinite(keepMs)) return
    if (tail !== undefined) tail.newestAt = tail.acceptedAt(ledger.lastId - tail.base)
    this.look(false, Infinity)
    const since = this.since()
    if (tail === undefined || tail.newestAt > since) return
    if (tail.endedCount > 0) this.sift(tail, since)
    if (tail.count > 0) return
    this.retire(ledger.segments.length - 1)
    ledger.tail = undefined
    this.trim()
  }

  /** Has all jobs be strays, and no segment be left. */
  scatter () {
    for (let i = 0; i < this.ledger.segments.length; i++) if (this.ledger.segments[i] !== undefined) this.move(i, true)
    this.trim()
  }

  // private from here on

  /** What was accepted by then is too old. */
  since () {
    const { keepMs, time } = this.ledger
    return Number.isFinite(keepMs) ? time.read() - keepMs : -Infinity
  }

  /** Takes jobs out of a segment that have ended and are too old. One that was a dead letter may be younger than its neighbours. */
  sift (segment, since) {
    for (let row = 0; row < ROWS; row++) {
      if (isLive(segment.stateOf(row)) || segment.times[row * TIMES + ACCEPTED] > since) continue
      this.ledger.discard(segment, row)
      segment.clearRow(row)
    }
  }

  retire (i) {
    const { ledger } = this
    const { names, segments } = ledger
    const segment = segments[i]
    const { words } = segment
    // those of a type that stand one behind the other, and came to the same end, are counted together
    let type = 0
    let state = NONE
    let count = 0
    for (let at = 0; at < words.length; at += WORDS) {
      const nextType = words[at + TYPE]
      const nextState = words[at + STATE] & STATE_MASK
      words[at + STATE] = NONE
      if (nextType === type && nextState === state) {
        count++
        continue
      }
      if (state !== NONE) names.drop(type, state, count)
      type = nextType
      state = nextState
      count = 1
    }
    if (state !== NONE) names.drop(type, state, count)
    segment.reset()
    segments[i] = undefined
    if (this.spares.length < MOST_SPARES) this.spares.push(segment)
  }

  /** Has the live jobs of a segment be strays, or all of them, and the segment go. */
  move (i, withEnded) {
    const segment = this.ledger.segments[i]
    for (let row = 0; row < ROWS; row++) {
      const state = segment.stateOf(row)
      if (state !== NONE && (withEnded || isLive(state))) this.moveRow(segment, row, state)
    }
    this.retire(i)
  }

  moveRow (segment, row, state) {
    const { ledger } = this
    const { strays } = ledger
    const id = segment.base + row
    strays.copy(strays.open(id), segment, row)
    segment.words[row * WORDS + STATE] = NONE
    if (state === DEAD || state === FAILED) strays.failedCount++
    segment.count--
    strays.count++
    if (!isLive(state)) {
      segment.endedCount--
      strays.endedCount++
      strays.hasEnded(id)
    }
  }

  /** Leaves out what is before the first segment, and behind the last one. */
  trim () {
    const { ledger } = this
    const { segments } = ledger
    while (segments.length > 0 && segments.at(-1) === undefined) segments.pop()
    let count = 0
    while (count < segments.length && segments[count] === undefined) count++
    segments.splice(0, count)
    ledger.first += count * ROWS
    ledger.end = ledger.first + segments.length * ROWS
  }
}

module.exports = { Retention }
