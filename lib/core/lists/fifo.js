'use strict'

// HOT (bench: fifo, memory). The waiting jobs in arrival order; types are ignored.
//
//     head block         `full`, once there are any         tail block
//    ┌──┬──┬──┬──┬──┐    ┌──────────┐  ┌──────────┐    ┌──┬──┬──┬──┬──┐
//    │  │  │p,s│p,s│p,s│  │ p,s …    │  │ p,s …    │    │p,s│p,s│  │  │  │
//    └──┴──┴──┴──┴──┘    └──────────┘  └──────────┘    └──┴──┴──┴──┴──┘
//           ▲ headAt                                           ▲ tailAt
//
// A block is a flat array of pairs: payload, whenSettled. While all fits in one block, head and tail are the same. The blocks between them
// are in a qlist, which is loaded for the first of them.
// Nothing is copied when it grows, and memory goes back block by block.
// A Mark in the place of whenSettled is no job: a removed one, or a barrier where the generation of the jobs changes.

const FIRST_LENGTH = 32 * 2
const BLOCK_LENGTH = 1024 * 2
const MIN_REMOVED = 64

class Mark {
  constructor (generation) {
    this.generation = generation
  }
}

const REMOVED = new Mark(-1)

/**
 * The jobs of a queue without a scheduler. 16 bytes a job; every method is O(1) where nothing else is said.
 *
 * What most queues do without are fields that may be set at any time, and are null until then: `gate`, which says whether a job may start
 * (limits/gate.js); `costs`, by which that is known, in a list with a gate (limits/costs.js); `delays`, the jobs whose time has not come
 * (tickets/delays.js); `recorder`, which is told of each job of an observed queue.
 *
 * After take() the job is in `payload` and `whenSettled` until the caller has copied and cleared them, and `generation`
 * is its generation: the number of the last barrier before it was pushed.
 */
class Fifo {
  /** @param {object} [context] the runner's last argument, the same for all jobs */
  constructor (context) {
    this.size = 0
    this.payload = undefined
    this.whenSettled = undefined
    this.context = context
    this.origin = undefined
    this.typesCount = 0
    this.gate = null
    this.costs = null
    this.charge = undefined // of the job that take() gave out, if costs are counted
    this.delays = null
    this.recorder = null
    this.generation = 0
    this.newestGeneration = 0
    this.full = undefined // a qlist, once there was a third block
    this.spare = undefined
    this.removedCount = 0
    this.scanCount = 0
    this.clearCount = 0
    this.head = this.tail = newBlock(FIRST_LENGTH)
    this.headAt = this.tailAt = 0
    this.keepsTypes = false // as of Scheduled
    this.types = undefined // of a list of jobs that were taken out, if they are kept: that of each
  }

  push (type, payload, whenSettled) {
    this.size++
    this.append(payload, whenSettled)
    if (this.recorder !== null) this.recorder.pushed(type, whenSettled)
  }

  unshift (type, payload, whenSettled) {
    this.size++
    if (this.generation !== this.newestGeneration) {
      this.prepend(undefined, new Mark(this.generation))
      this.generation = this.newestGeneration
    }
    this.prepend(payload, whenSettled)
    if (this.recorder !== null) this.recorder.unshifted(type, whenSettled)
  }

  /** As push and unshift, for a job with extras: its ticket is told where it is, so that drop() finds it. */
  pushTicket (type, payload, ticket) {
    this.push(type, payload, ticket)
    ticket.generation = this.newestGeneration
    ticket.block = this.tail
    ticket.at = this.tailAt - 2
  }

  unshiftTicket (type, payload, ticket) {
    this.unshift(type, payload, ticket)
    ticket.generation = this.newestGeneration
    ticket.block = this.head
    ticket.at = this.headAt
  }

  /** Takes out the job of a ticket. O(1) amortised. */
  drop (ticket) {
    if (this.delays !== null && ticket.isDelayed) this.delays.drop(ticket)
    else this.dropWaiting(ticket)
    if (this.gate !== null && this.size === 0) this.gate.rest()
  }

  /** The job of a ticket gets another payload, and keeps its place. */
  exchange (ticket, payload) {
    if (ticket.isDelayed) ticket.payload = payload
    else ticket.block[ticket.at] = payload
  }

  /** The job of a ticket that waits. @returns {{ type: undefined, payload: any }} */
  jobOf (ticket) {
    return { type: undefined, payload: ticket.isDelayed ? ticket.payload : ticket.block[ticket.at] }
  }

  /**
   * Takes out the first job. V8 inlines it into the loop that starts jobs, as long as it is small and calls little: with the calls of
   * takeTold() in it, an asynchronous job cost 5 to 8 % more (Node 24, bench fifo and bursts).
   * @returns {boolean} false if there is none, or none may start now
   */
  take () {
    if (this.gate !== null || this.recorder !== null) return this.takeTold()
    while (this.size > 0) {
      const { head, headAt } = this
      const payload = head[headAt]
      const whenSettled = head[headAt + 1]
      head[headAt] = undefined
      head[headAt + 1] = undefined
      const next = this.headAt = headAt + 2
      if (head === this.tail) {
        if (next === this.tailAt) this.headAt = this.tailAt = 0
      } else if (next === head.length) {
        this.leaveHead()
      }
      if (typeof whenSettled === 'object' && whenSettled instanceof Mark) {
        this.pass(whenSettled)
      } else {
        this.payload = payload
        this.whenSettled = whenSettled
        this.size--
        return true
      }
    }
    return false
  }

  /** To be called when the jobs that remove(), removeAll() and removeType() gave have been counted: all parts are told of them. */
  tellRemovals (verdict) {
    if (this.recorder !== null) this.recorder.tellRemovals(verdict)
    if (this.delays !== null) this.delays.letGo()
    if (this.gate !== null && this.size === 0) this.gate.rest()
  }

  /** Types can not be paused here. */
  isTypePaused () {
    return false
  }

  /** What becomes of a job that take() gave out is of interest to the recorder only. */
  ended (origin, outcome, err) {
    if (this.recorder !== null) this.recorder.ended(idOf(origin), outcome, err)
  }

  interrupted (origin, outcome, end) {
    if (this.recorder !== null) this.recorder.interrupted(idOf(origin), outcome, end)
  }

  /** Nor is time of interest. */
  beginPass () {}

  /** From here on, jobs pushed or unshifted are of the given generation. */
  barrier (generation) {
    this.append(undefined, new Mark(generation))
    this.newestGeneration = generation
  }

  /** No barrier is of interest any more: jobs pass those that are left. */
  forgetBarriers () {}

  /** Calls visit(payload, whenSettled, generation) for each job in order, delayed ones last; visit may push and unshift. O(n). */
  forEach (visit) {
    this.scan((block, at, generation) => visit(block[at], block[at + 1], generationOf(block[at + 1], generation)))
    if (this.delays !== null) this.delays.forEach(visit)
  }

  /** Takes out all jobs. @returns {Fifo} a list of them */
  removeAll () {
    if (this.recorder !== null) this.recorder.removesAll()
    const removed = new Fifo()
    removed.takeOver(this)
    this.replaceBy(new Fifo())
    this.clearCount++
    return this.delays === null ? removed : this.delays.joined(removed, this.delays.list())
  }

  /**
   * Takes out the jobs for which test(payload) is true. If test throws, none. O(n).
   * test may push and unshift and even remove and clear; it must not take.
   * @returns {Fifo} a list of them
   */
  remove (test) {
    const { delays } = this
    if (delays === null) return this.removeWaiting(test)
    const found = delays.passing(test) // first: where test throws, none is removed
    return delays.joined(this.removeWaiting(test), found)
  }

  /** The first job, which waits. @returns {{ payload: any, whenSettled: Function | object | undefined }} */
  first () {
    let { head: block, headAt: at } = this
    let passed = 0 // blocks behind the first
    while (block[at + 1] instanceof Mark) {
      at += 2
      if (at < block.length) continue
      block = this.full !== undefined && passed < this.full.size() ? this.full.peekAt(passed++) : this.tail
      at = 0
    }
    return { payload: block[at], whenSettled: block[at + 1] }
  }

  // private from here on

  /** take() where a gate is to be asked first, and others are told of the job then. */
  takeTold () {
    const { costs, gate, recorder } = this
    if (gate !== null && !gate.isOpen()) return false
    this.gate = this.recorder = null // so that take() does its own part only
    const isTaken = this.take()
    this.gate = gate
    this.recorder = recorder
    if (!isTaken || (costs !== null && !this.admits())) return false
    const id = this.origin = recorder === null ? undefined : recorder.taken()
    if (costs !== null) costs.takesPlain(id, this.whenSettled, this.payload)
    if (gate !== null) gate.count(this.charge)
    return true
  }

  /** Whether the job that was taken may start by what it costs; else it stands where it stood. */
  admits () {
    const { payload, whenSettled } = this
    if (this.costs.mayStart(whenSettled, payload)) return true
    this.payload = this.whenSettled = undefined
    this.prepend(payload, whenSettled)
    this.size++
    if (typeof whenSettled === 'object') {
      whenSettled.block = this.head
      whenSettled.at = this.headAt
    }
    return false
  }

  removeWaiting (test) {
    const removed = new Fifo()
    const found = []
    const { clearCount, recorder } = this
    const places = recorder === null ? undefined : recorder.places()
    this.scanCount++
    try {
      this.scan((block, at, generation) => {
        // what removeAll() took out is still in the blocks
        if (clearCount === this.clearCount && test(block[at])) found.push({ block, at, generation })
      })
    } finally {
      this.scanCount--
    }
    if (clearCount === this.clearCount) {
      for (const { block, at, generation } of found) {
        if (this.moveOut(block, at, generation, removed) && recorder !== null) recorder.removed(places.get(block)[at])
      }
    }
    this.compactIfSparse()
    return removed
  }

  dropWaiting (ticket) {
    this.removeAt(ticket.block, ticket.at)
    if (this.recorder !== null) this.recorder.leaves(ticket)
    this.compactIfSparse()
    if (this.recorder !== null) this.recorder.dropped(ticket)
  }

  append (payload, whenSettled) {
    let { tail, tailAt } = this
    if (tailAt === tail.length) {
      if (tail !== this.head) this.between().push(tail)
      tail = this.tail = this.freshBlock()
      tailAt = 0
    }
    tail[tailAt] = payload
    tail[tailAt + 1] = whenSettled
    this.tailAt = tailAt + 2
  }

  prepend (payload, whenSettled) {
    if (this.headAt === 0) {
      if (this.head !== this.tail) this.between().unshift(this.head)
      this.head = this.freshBlock()
      this.headAt = this.head.length
    }
    this.headAt -= 2
    this.head[this.headAt] = payload
    this.head[this.headAt + 1] = whenSettled
  }

  between () {
    return (this.full ??= new (require('qlist'))())
  }

  freshBlock () {
    const block = this.spare === undefined ? newBlock(BLOCK_LENGTH) : this.spare
    this.spare = undefined
    return block
  }

  /** The head block is empty, and not the last. */
  leaveHead () {
    this.spare = this.head
    this.head = this.full === undefined || this.full.isEmpty() ? this.tail : this.full.shift()
    this.headAt = 0
  }

  pass (mark) {
    if (mark === REMOVED) this.removedCount--
    else this.generation = mark.generation
  }

  /** Calls visit(block, at, generation) for each job that waits now, in order. */
  scan (visit) {
    const blocks = this.head === this.tail ? [this.head] : [this.head, ...this.full?.toArray() ?? [], this.tail]
    const { tailAt } = this
    let { generation, headAt: at } = this
    for (let i = 0; i < blocks.length; i++, at = 0) {
      const block = blocks[i]
      const end = i === blocks.length - 1 ? tailAt : block.length
      for (; at < end; at += 2) {
        const whenSettled = block[at + 1]
        if (!(whenSettled instanceof Mark)) visit(block, at, generation)
        else if (whenSettled !== REMOVED) generation = whenSettled.generation
      }
    }
  }

  /** @returns {boolean} false if the job has been removed already */
  moveOut (block, at, generation, removed) {
    const payload = block[at]
    const whenSettled = block[at + 1]
    if (whenSettled === REMOVED) return false
    this.removeAt(block, at)
    removed.pushOf(generation, payload, whenSettled)
    return true
  }

  removeAt (block, at) {
    block[at] = undefined
    block[at + 1] = REMOVED
    this.size--
    this.removedCount++
  }

  /** Marks of removed jobs take room until the head gets to them: when they outnumber the jobs, all move together. */
  compactIfSparse () {
    if (this.removedCount >= MIN_REMOVED && this.removedCount > this.size && this.scanCount === 0) {
      const dense = new Fifo()
      this.scan((block, at, generation) => dense.pushOf(generation, block[at], block[at + 1]))
      this.replaceBy(dense)
    }
    if (this.recorder !== null) this.recorder.fillHoles()
  }

  /** Appends a job of any generation, in a list that barrier() is not used on. */
  pushOf (generation, payload, whenSettled) {
    if (this.size === 0) this.generation = this.newestGeneration = generation
    else if (this.newestGeneration !== generation) this.barrier(generation)
    if (typeof whenSettled === 'object') this.pushTicket(undefined, payload, whenSettled)
    else this.push(undefined, payload, whenSettled)
  }

  /** Makes the jobs and marks of another list, which is not used afterwards, those of this one. */
  replaceBy (list) {
    const { newestGeneration } = this
    if (list.size === 0) list.generation = list.newestGeneration = newestGeneration
    else if (list.newestGeneration !== newestGeneration) list.barrier(newestGeneration)
    this.takeOver(list)
  }

  takeOver ({ size, generation, newestGeneration, full, spare, removedCount, head, tail, headAt, tailAt }) {
    this.size = size
    this.generation = generation
    this.newestGeneration = newestGeneration
    this.full = full
    this.spare = spare
    this.removedCount = removedCount
    this.head = head
    this.tail = tail
    this.headAt = headAt
    this.tailAt = tailAt
  }
}

/** Of a job that was delayed, that in which it was accepted. */
function generationOf (whenSettled, generation) {
  return typeof whenSettled === 'object' ? whenSettled.born ?? generation : generation
}

/** The id of an observed job that runs: a number, or in its Origin. */
function idOf (origin) {
  return typeof origin === 'object' ? origin.id : origin
}

/** Not filled: the one value has the array be for values of any kind from the start. */
function newBlock (length) {
  const block = new Array(length)
  block[length - 1] = undefined
  return block
}

module.exports = { Fifo, generationOf }
