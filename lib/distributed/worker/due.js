'use strict'

// When the next delayed job of a type is due, as far as this process looks after that by itself.

class Due {
  /** @param {() => void} wake called then */
  constructor (wake) {
    this.wake = wake
    this.timer = undefined
    this.at = Infinity // by performance.now()
  }

  get isAwaited () {
    return this.timer !== undefined
  }

  /** One is due in so many ms. */
  expect (ms) {
    const at = performance.now() + ms
    if (at >= this.at) return
    this.stop()
    this.at = at
    this.timer = setTimeout(() => {
      this.stop()
      this.wake()
    }, Math.max(1, Math.ceil(ms) + 1))
  }

  stop () {
    clearTimeout(this.timer)
    this.timer = undefined
    this.at = Infinity
  }
}

module.exports = { Due }
