'use strict'

// Who was told which number: no job may ever get one that somebody knows as another job's.

const assert = require('node:assert')

class Told {
  /** @param {string} message of what check() throws */
  constructor (message) {
    this.message = message
    this.names = new Map() // id → the job that somebody was told of by it
    this.mixups = []
  }

  note (id, name) {
    const known = this.names.get(id) ?? name
    if (known !== name) this.mixups.push(`number ${id} is that of ${name}, and was that of ${known}`)
    this.names.set(id, name)
  }

  check () {
    assert.deepEqual(this.mixups, [], this.message)
  }
}

module.exports = { Told }
