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
const FEW_BLOCKS = 8 // not worth packing

class Block {
  constructor () {
    this.jobs = new Array(PLACES).fill(undefined)
    this.liveCount = 0
  }
}

class Pending {
  constructor () {
    this.block = new Block()
    this.count = 0 // of jobs in it
    this.full = []
    this.mostFull = 1 // with more, those without a job that pends are looked for
  }

  /** How many pend now. */
  get liveCount () {
    return this.full.reduce((sum, { liveCount }) => sum + liveCount, this.block.liveCount)
  }

  /** @param {{ state: number, block: Block | undefined }} job whose state is PENDING from now until drop() */
  add (job) {
    if (this.count === PLACES) this.nextBlock()
    const { block } = this
    block.jobs[this.count++] = job
    block.liveCount++
    job.block = block
  }

  /** The job does not pend any more. */
  drop (job) {
    job.block.liveCount--
  }

  /** Those that pend now, in the order of their starts. */
  list () {
    const pending = []
    for (const { jobs } of this.full) for (const job of jobs) if (job.state === PENDING) pending.push(job)
    for (let i = 0; i < this.count; i++) if (this.block.jobs[i].state === PENDING) pending.push(this.block.jobs[i])
    return pending
  }

  /** None pends: gives memory back. */
  reset () {
    this.full.length = 0
    this.mostFull = 1
  }

  // private from here on

  nextBlock () {
    this.full.push(this.block)
    this.block = new Block()
    this.count = 0
    if (this.full.length > this.mostFull) this.sweep()
  }

  /** Drops the blocks in which no job pends; if few do in the others, those jobs move together. */
  sweep () {
    const { full } = this
    let count = 0
    let liveCount = 0
    for (let i = 0; i < full.length; i++) {
      if (full[i].liveCount === 0) continue
      liveCount += full[i].liveCount
      full[count++] = full[i]
    }
    full.length = count
    this.mostFull = Infinity
    if (count > FEW_BLOCKS && 4 * liveCount < PLACES * count) this.pack()
    this.mostFull = Math.max(1, 2 * full.length)
  }

  pack () {
    const jobs = this.list()
    this.full.length = this.count = 0
    for (const job of jobs) this.add(job)
  }
}

module.exports = { Pending, PENDING }
