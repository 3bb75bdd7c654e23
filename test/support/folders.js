'use strict'

// Folders for tests, all below one. What the tests of a process that was killed have left there, the next run removes.

const fs = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

const BASE = join(tmpdir(), 'fairlane-tests')

module.exports = { BASE, temporaryFolder }

let isClean = false

/** @returns {string} the path of a new folder */
function temporaryFolder () {
  fs.mkdirSync(BASE, { recursive: true })
  if (!isClean) removeLeftOvers()
  isClean = true
  return fs.mkdtempSync(join(BASE, `${process.pid}-`))
}

function removeLeftOvers () {
  for (const name of fs.readdirSync(BASE)) {
    // another process may be at it
    if (!isAlive(parseInt(name))) fs.rmSync(join(BASE, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

function isAlive (pid) {
  try {
    return process.kill(pid, 0)
  } catch ({ code }) {
    return code === 'EPERM'
  }
}
