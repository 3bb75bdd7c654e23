'use strict'

// HOT (bench: fifo). Which started jobs pend: their runners have returned, and they have not settled. close() must find them.
//
//    full blocks                                    the block being filled
//   ┌──┬──┬──┬──┐  ┌──┬──┬──┬──┐                   ┌──┬──┬──┬──┐
//   │ j│ j│ j│ j│  │ j│ j│ j│ j│  liveCount 1      │ j│ j│  │  │  liveCount 2
//   └──┴──┴──┴──┘  └──┴──┴──┴──┘                   └──┴──┴──┴──┘
//
// A job that has ended stays in its block: an end costs one subtraction. A full block goes when all its jobs have ended;
// blocks in which few are left are packed. A ring of places that were searched for a free one made jobs of nextTick runners
// 6 % slower, for it read jobs that had ended long ago (Node 20).

const PENDING = 0
const PLACES = 64
const LEAST_FULL = 8

class Block {
  constructor () {
    this.jobs = new Array(PLACES)
    this.count = 0
    this.liveCount = 0
  }
}

class Pending {
  constructor () {
    this.full = []
    this.block = new Block()
    this.sweepAt = LEAST_FULL // how many full blocks there may be before the empty ones are looked for
  }

  /** None pends: gives memory back. */
  reset () {
    this.full.length = 0
    this.sweepAt = LEAST_FULL
  }

  /** @param {{ state: number, block: Block | undefined }} job whose state is PENDING from now until drop() */
  add (job) {
    if (this.block.count === PLACES) this.nextBlock()
    const { block } = this
    block.jobs[block.count++] = job
    block.liveCount++
    job.block = block
  }

  /** The job does not pend any more. */
  drop (job) {
    job.block.liveCount--
  }

  /** Those that pend now, in the order of their starts. */
  list () {
    return [...this.full, this.block].flatMap(({ jobs, count }) => jobs.slice(0, count).filter(isPending))
  }

  /** How many pend now. */
  get liveCount () {
    return countLive([...this.full, this.block])
  }

  // private from here on

  nextBlock () {
    this.full.push(this.block)
    this.block = new Block()
    if (this.full.length < this.sweepAt) return
    this.full = this.full.filter(({ liveCount }) => liveCount > 0)
    if (4 * countLive(this.full) < PLACES * this.full.length) this.pack()
    this.sweepAt = Math.max(LEAST_FULL, 2 * this.full.length)
  }

  pack () {
    const jobs = this.list()
    this.full = []
    this.sweepAt = Infinity
    for (const job of jobs) this.add(job)
  }
}

function countLive (blocks) {
  return blocks.reduce((sum, { liveCount }) => sum + liveCount, 0)
}

function isPending (job) {
  return job.state === PENDING
}

module.exports = { Pending, PENDING }
