'use strict'

// HOT (bench: schedulers, memory). The waiting jobs of one type in order, and what is counted of it. It knows no scheduler.
//
//                 ▼ head                                      ▼ tail
//                 ┌───┬─────┬─────┬─┐   ┌─────┬─────┬─ ─┬─┐   ┌─────┬─────┬───┬ ─ ┐
//                 │   │p,s,n│p,s,n│─┼──▶│p,s,n│p,s,n│   │─┼──▶│p,s,n│p,s,n│   │   │
//                 └───┴─────┴─────┴─┘   └─────┴─────┴─ ─┴─┘   └─────┴─────┴───┴ ─ ┘
//                      ▲ headAt                                            ▲ tailAt
//
// A block is a flat array of triples (payload, whenSettled, arrival number) and a link to the next block. The first holds
// one job, the second four, each next one twice as many up to MOST_JOBS: a type with one job takes little, and nothing is copied.
// REMOVED in the place of whenSettled is no job. The first triple of a lane that is not empty is always a job.

const { TypeCounts } = require('./type-counts')

const STEP = 3
const FEWEST_JOBS = 1
const MOST_JOBS = 512
// An empty lane keeps a block of up to so many jobs for the next ones.
const KEPT_JOBS = 8
const MIN_REMOVED = 16

const REMOVED = Symbol('removed')

/** The waiting jobs of one type, and counts. Schedulers see `type`, `size`, `running`, `headSeq` and `isPaused`, and own `state`. */
class Lane extends TypeCounts {
  constructor (type, owner, isShared, isObserved = false) {
    super()
    this.lane = this // as in Origin; no copy has it
    this.type = type
    this.isShared = isShared // by types that overflowed; `type` is a name made up
    this.headSeq = 0
    this.isPaused = false
    this.state = undefined

    this.owner = owner
    this.context = undefined
    this.limit = undefined // of its types, once it was looked up
    if (isShared) {
      this.typeCounts = new Map() // how many jobs of each type wait
      this.typeStarts = new Map() // the Origins of those that run, by type
    }
    if (isShared || isObserved) this.isPlain = false
    if (isObserved) this.recordedAs = undefined // what the recorder wants to be told at the next job
    this.isInUse = false // a job waits or runs, and it is counted in typesCount
    this.isOpening = false // jobs are being moved here: whatever becomes of these, it stays
    this.isKept = false // idle, and the scheduler would not forget it

    this.head = this.tail = newBlock(FEWEST_JOBS)
    this.headAt = this.tailAt = 0
    this.removedCount = 0
  }

  append (payload, whenSettled, number) {
    let { tail, tailAt } = this
    if (tailAt === tail.length - 1) {
      tail = this.tail = tail[tailAt] = newBlock(nextSize(tail))
      tailAt = 0
    }
    tail[tailAt] = payload
    tail[tailAt + 1] = whenSettled
    tail[tailAt + 2] = number
    if (typeof whenSettled === 'object') tellPlace(whenSettled, tail, tailAt)
    this.tailAt = tailAt + STEP
    if (this.size++ === 0) this.headSeq = number
  }

  prepend (payload, whenSettled, number) {
    if (this.size === 0) {
      this.append(payload, whenSettled, number)
      return
    }
    if (this.headAt === 0) {
      const block = newBlock(nextSize(this.head))
      this.headAt = block.length - 1
      block[this.headAt] = this.head
      this.head = block
    }
    const { head } = this
    const at = this.headAt -= STEP
    head[at] = payload
    head[at + 1] = whenSettled
    head[at + 2] = this.headSeq = number
    if (typeof whenSettled === 'object') tellPlace(whenSettled, head, at)
    this.size++
  }

  /** Drops the first job. */
  shift () {
    const { head, headAt } = this
    head[headAt] = undefined
    head[headAt + 1] = undefined
    this.headAt = headAt + STEP
    this.size--
    this.settleHead()
  }

  /** Drops any job. */
  removeAt (block, at) {
    block[at] = undefined
    block[at + 1] = REMOVED
    this.size--
    this.removedCount++
    this.settleHead()
  }

  /** Has head and headAt be at a job again. */
  settleHead () {
    if (this.size === 0) {
      this.empty()
      return
    }
    let { head, headAt } = this
    for (;;) {
      if (headAt === head.length - 1) {
        const next = head[headAt]
        head[headAt] = undefined // old blocks that die later than young ones must not keep those alive
        head = this.head = next
        headAt = 0
      } else if (head[headAt + 1] === REMOVED) {
        headAt += STEP
        this.removedCount--
      } else {
        break
      }
    }
    this.headAt = headAt
    this.headSeq = head[headAt + 2]
  }

  empty () {
    if (this.head !== this.tail || this.tail.length > KEPT_JOBS * STEP + 1) this.tail = newBlock(FEWEST_JOBS)
    this.head = this.tail
    this.headAt = this.tailAt = 0
    this.removedCount = 0
  }

  /** Calls visit(block, at) for the jobs that wait now, in order; visit may push and unshift. */
  scan (visit) {
    const { tail, tailAt } = this
    const blocks = []
    for (let block = this.head; block !== tail; block = block[block.length - 1]) blocks.push(block)
    let at = this.headAt
    for (const block of blocks) {
      for (; at < block.length - 1; at += STEP) if (block[at + 1] !== REMOVED) visit(block, at)
      at = 0
    }
    for (; at < tailAt; at += STEP) if (tail[at + 1] !== REMOVED) visit(tail, at)
  }

  /** Marks of removed jobs take room until the head gets to them: when they outnumber the jobs, those move together. */
  compactIfSparse () {
    if (this.removedCount < MIN_REMOVED || this.removedCount <= this.size) return
    const dense = new Lane(this.type, this.owner, false)
    this.scan((block, at) => dense.append(block[at], block[at + 1], block[at + 2]))
    this.head = dense.head
    this.tail = dense.tail
    this.headAt = 0
    this.tailAt = dense.tailAt
    this.removedCount = 0
  }
}

// Lanes of one type, of which there may be a million, have no room for these.
Lane.prototype.typeCounts = Lane.prototype.typeStarts = undefined

// Nothing stands between a plain lane and its jobs (special-lanes.js).
Lane.prototype.isPlain = true

/** Not filled: the one value has the array be for values of any kind from the start. */
function newBlock (jobCount) {
  const block = new Array(jobCount * STEP + 1)
  block[jobCount * STEP] = undefined // the link
  return block
}

/** Twice the jobs of a block; after the first, four times as many. */
function nextSize (block) {
  const jobCount = (block.length - 1) / STEP
  return jobCount === FEWEST_JOBS ? 4 * jobCount : Math.min(2 * jobCount, MOST_JOBS)
}

/** The ticket of a job is told where that is, so that drop() finds it. */
function tellPlace (ticket, block, at) {
  ticket.block = block
  ticket.at = at
}

module.exports = { Lane, REMOVED }
