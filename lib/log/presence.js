'use strict'

// Whether the folder of a log is still there: it may have been removed or replaced while the log was open, and nothing of another's may be
// touched. The descriptor of the folder would not tell that it was moved away, so the file of the last segment is looked up by its path.

const { join } = require('node:path')
const { systemClock } = require('../platform/clock')
const { segmentName } = require('./format')

// So long after a look there is no other one before a write. A look takes 5 µs.
const LOOK_MS = 100

class Presence {
  /** @param {object} log which is told if it has failed */
  constructor (log) {
    this.log = log
    this.timer = undefined // until it fires, writes do not look
  }

  /** Whether the file is where it was, as of late. */
  isRecent () {
    return this.timer !== undefined || this.look()
  }

  /** Ends the log if the file is not where it was. @returns {boolean} false then */
  check () {
    const { log } = this
    if (this.isInPlace()) return true
    log.fail(new Error(`the folder was removed or replaced while it was open (${log.folder})`))
    return false
  }

  end () {
    systemClock.clearTimeout(this.timer)
  }

  // private from here on

  isInPlace () {
    const { files, folder, segment, fd } = this.log
    try {
      return files.isAt(join(folder, segmentName(segment)), fd)
    } catch {
      return true // nobody knows; whatever is to be done there will tell
    }
  }

  look () {
    this.timer = systemClock.setTimeout(() => { this.timer = undefined }, LOOK_MS)
    this.timer.unref()
    return this.check()
  }
}

module.exports = { Presence }
