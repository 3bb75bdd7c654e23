'use strict'

// A bar on the standard error, for what takes long; only where that is a terminal.

const WIDTH = 30
const LEAST_MS = 100 // between two pictures, and before the first
const CLEAR = '\r\x1b[K'

class Progress {
  constructor (stream) {
    this.stream = stream
    this.isShown = false
    this.lastAt = performance.now()
  }

  /** So much of all is done. */
  tell (what, done, all) {
    const now = performance.now()
    if (this.stream.isTTY !== true || now - this.lastAt < LEAST_MS) return
    this.lastAt = now
    this.isShown = true
    const part = all > 0 ? Math.min(1, done / all) : 1
    const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '.')
    this.stream.write(`${CLEAR}${what} [${bar}] ${Math.floor(100 * part)} %`)
  }

  clear () {
    if (this.isShown) this.stream.write(CLEAR)
    this.isShown = false
  }
}

module.exports = { Progress }
