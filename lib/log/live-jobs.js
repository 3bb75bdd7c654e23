'use strict'

// HOT (bench: durable). The jobs of a log that are alive: where the record of each lies, the state of those that have one, and how many of
// them each segment has. Recovery fills it, the store keeps it.

const { FRAME_BYTES } = require('./format')
const { Table } = require('./table')

class LiveJobs {
  constructor () {
    this.table = new Table()
    this.states = new Map() // seq → state; jobs that wait for their first slot have none
    this.stateBytes = 0 // of those, each in a frame of its own
    this.overCount = 0 // of those, jobs of which only their keys are left
    this.segments = new Map() // id → { bytes, liveCount }, from the oldest on; bytes: what the file has
  }

  /** How many jobs there are that have not ended, or are dead letters. */
  get jobsCount () {
    return this.table.size - this.overCount
  }

  /** Whether one of these has that number. */
  has (seq) {
    return this.table.find(seq) && this.states.get(seq)?.isOver !== true
  }

  /** How many bytes these jobs would take in a log without anything else. */
  get bytes () {
    return this.table.bytes + this.table.size * FRAME_BYTES + this.stateBytes
  }

  /** Puts a job in that is not there. */
  add (seq, segment, offset, length) {
    this.table.set(seq, segment, offset, length)
    this.counted(segment, 1)
  }

  /** So many jobs of a segment were put into the table. */
  counted (segment, count) {
    this.segments.get(segment).liveCount += count
  }

  /** The job that was just looked up lies in another place. */
  move (seq, segment, offset, length) {
    this.segments.get(this.table.segment).liveCount--
    this.add(seq, segment, offset, length)
  }

  /** Takes out the job that was just looked up, with its state. */
  remove (seq) {
    this.segments.get(this.table.segment).liveCount--
    this.table.delete(seq)
    if (this.states.size > 0) this.forgetState(seq)
  }

  /** A live job has come to this. */
  setState (seq, state) {
    this.forgetState(seq)
    this.states.set(seq, state)
    if (state.isOver) this.overCount++
    this.stateBytes += state.bytes + FRAME_BYTES
  }

  // private from here on

  forgetState (seq) {
    const state = this.states.get(seq)
    if (state === undefined) return
    this.states.delete(seq)
    if (state.isOver) this.overCount--
    this.stateBytes -= state.bytes + FRAME_BYTES
  }
}

module.exports = { LiveJobs }
