'use strict'

// Keys of jobs. While a key is taken, whoever adds a job with it shares the one that has taken it.
//
//   add ──▶ taken ──────────── started ─────────── settled
//           └─ 'started' ────▶ free │                │
//           └─ 'settled' ───────────┼──────────────▶ free
//           └─ so many ms, and until it has started ─┼────▶ free
//
// Keys belong to types (docs/decisions/0066-key-until-started.md). What a key is, and when its time is over, is the same in memory and on
// disk; where it is kept, and what comes of its job, is not.

/** A key that is taken, from when its job was added. */
class TakenKey {
  /**
   * @param {string} id as of keyIdOf()
   * @param {{ keyUntil: 'started' | 'settled' | number, delayMs?: number }} plan of the job
   * @param {number} takenAt by the clock of the queue
   */
  constructor (id, { keyUntil, delayMs = 0 }, takenAt) {
    this.id = id
    this.keyUntil = keyUntil
    this.delayMs = delayMs
    this.takenAt = takenAt
    this.hasStarted = false // the job has
  }

  /**
   * When the key is free that is taken for a time; Infinity: that is not known, since the job has not started, or it is taken for no time.
   */
  get freeAt () {
    return this.hasStarted && typeof this.keyUntil === 'number' ? this.takenAt + this.keyUntil : Infinity
  }

  /**
   * In how many ms from now on its job is due that is put off by one more add.
   * @param {{ delayMs?: number, maxDelayMs: number }} plan of that add; maxDelayMs counts from the first one
   */
  delayAfter ({ delayMs = this.delayMs, maxDelayMs }, now) {
    return Math.max(0, Math.min(delayMs, this.takenAt + maxDelayMs - now))
  }
}

/**
 * Of a key within a type, from whose length on no other can have the same. A key without a type is its own, unless it begins as what is
 * made here: a text that is made has to be hashed each time.
 */
function keyIdOf (type, key) {
  if (type !== undefined) return `\u0000${type.length}:${type}${key}`
  return key.charCodeAt(0) > 1 ? key : `\u0001${key}`
}

module.exports = { TakenKey, keyIdOf }
