'use strict'

// HOT (bench: durable). The memory that groups are encoded into, used again and again: with fresh memory a push of 1 MB takes
// twice as long, since the system must clear it first.

const FEWEST_BYTES = 2 ** 14
const KEPT_BYTES = 2 ** 23

/** Buffers that nobody uses, KEPT_BYTES at most. */
class Buffers {
  constructor () {
    this.kept = [] // the one given back last comes last
    this.bytes = 0
  }

  /** @returns {Buffer} of at least so many bytes, with anything in it */
  take (length) {
    const { kept } = this
    for (let i = kept.length - 1; i >= 0; i--) {
      const buffer = kept[i]
      if (buffer.length < length) continue
      if (i === kept.length - 1) kept.pop() // makes no array, and leaves this one its memory
      else kept.splice(i, 1)
      this.bytes -= buffer.length
      return buffer
    }
    return Buffer.allocUnsafeSlow(length <= KEPT_BYTES ? Math.max(2 ** Math.ceil(Math.log2(length)), FEWEST_BYTES) : length)
  }

  giveBack (buffer) {
    if (buffer.length > KEPT_BYTES) return
    while (this.bytes + buffer.length > KEPT_BYTES) this.bytes -= this.kept.shift().length
    this.kept.push(buffer)
    this.bytes += buffer.length
  }
}

module.exports = { Buffers }
