'use strict'

// Types whose next jobs other processes are to start, when their rates let them: it is looked a little later whether these have. If they
// have not, since they are gone or have no slot, this process asks for the jobs. Types that are due at about the same time share a call: so
// a rate costs few calls, however many processes there are.
//
//   take ──"others first, in 10 s"──▶ add ──10 s, and a little──▶ look ──▶ in 9.9 s: add again │ now: supply.askAgain()

const { Heap } = require('../../platform/heap')

const LATER_MS = 25 // after those who come first
const GATHER_MS = 100 // between two looks
const MOST_AT_ONCE = 200 // types that are looked at with one call
const AFTER_FAILURE_MS = 1000

class Standby {
  /** @param {{ broker: object, scouts: object, takes: object }} parts */
  constructor ({ broker, scouts, takes }) {
    this.broker = broker
    this.scouts = scouts
    this.takes = takes
    this.heap = new Heap() // of { supply, position }, by when it is looked
    this.entries = new Map() // supply → its entry
    this.timer = undefined
    this.mayLookAt = -Infinity
    this.isOver = false
  }

  /** Others start the next job of a type in so many ms. */
  add (supply, ms) {
    this.remove(supply)
    if (this.isOver) return
    const entry = { supply, position: -1 }
    this.entries.set(supply, entry)
    this.heap.insert(entry, performance.now() + ms + LATER_MS)
    if (entry.position === 0) this.wait()
  }

  /** It is not looked for these any more. */
  remove (supply) {
    const entry = this.entries.get(supply)
    if (entry === undefined) return
    this.entries.delete(supply)
    this.heap.remove(entry.position)
  }

  stop () {
    this.isOver = true
    clearTimeout(this.timer)
  }

  // private from here on

  wait () {
    clearTimeout(this.timer)
    if (this.heap.size === 0 || this.isOver) return
    const at = Math.max(this.heap.keys[0], this.mayLookAt)
    this.timer = setTimeout(() => this.look(), Math.max(1, at - performance.now()))
  }

  look () {
    const now = performance.now()
    const due = new Map() // partition → supplies
    this.mayLookAt = now + GATHER_MS
    while (this.heap.size > 0 && this.heap.keys[0] <= now) {
      const { supply } = this.heap.items[0]
      this.remove(supply)
      const { partition } = supply.place
      if (!due.has(partition)) due.set(partition, [])
      due.get(partition).push(supply)
    }
    for (const [partition, supplies] of due) {
      for (let at = 0; at < supplies.length; at += MOST_AT_ONCE) this.lookAt(partition, supplies.slice(at, at + MOST_AT_ONCE))
    }
    this.wait()
  }

  async lookAt (partition, supplies) {
    const pauses = await this.takes.look(supplies.map(({ place }) => place)).catch(err => {
      if (!this.scouts.failed(partition, err)) this.broker.troubles.refused('rates of types', err)
    })
    if (this.isOver) return
    supplies.forEach((supply, index) => {
      if (!supply.isBlocked || this.entries.has(supply)) return // something else has come over it
      const ms = pauses === undefined ? AFTER_FAILURE_MS : pauses[index]
      if (ms > 0) supply.standBy(ms)
      else supply.askAgain()
    })
  }
}

module.exports = { Standby }
