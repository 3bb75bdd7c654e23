'use strict'

// Which numbers may be given to jobs. A power failure may take back jobs whose numbers users were told, and no other job may get
// those. So numbers are set aside before they are given out, a million at a time, by the name of an empty file:
//
//   numbers-1048577      those below may have been given out
//
// A log that was closed in order goes on behind its last number, any other one with the number of the file.
// docs/decisions/0038-numbers.md says what else there is.

const { join } = require('node:path')

const NUMBERS_NAME = /^numbers-(\d{1,15})$/
// 2^48 numbers are enough for 2^28 openings after a crash.
const AHEAD = 2 ** 20

class Numbers {
  /**
   * @param {object} files
   * @param {string} folder
   * @param {string[]} names of the files that are in it
   */
  constructor (files, folder, names) {
    this.files = files
    this.folder = folder
    this.limit = 0 // numbers below are set aside, once the folder is synced
    this.names = names.filter(name => NUMBERS_NAME.test(name)) // of such files; all but the last can go
    for (const name of this.names) this.limit = Math.max(this.limit, Number(NUMBERS_NAME.exec(name)[1]))
    this.tried = this.limit // the highest number of a file whose making was begun
  }

  /**
   * Sets aside the numbers below endSeq, which is above the limit, and many more. Blocks for a sync of the folder, once for a million
   * numbers.
   * @throws what files throw: then none of them may be given out
   */
  setAside (endSeq) {
    const limit = this.begin(endSeq)
    this.files.syncFolder(this.folder)
    this.limit = limit
    this.removeOthers()
  }

  /** As setAside, for a caller who will sync the folder before any of the numbers are given out. */
  prepare (endSeq) {
    if (endSeq + AHEAD / 2 <= this.limit) return
    try {
      this.limit = this.begin(endSeq)
    } catch {
      // the first push will try again, and be refused if it must
    }
  }

  // private from here on

  /** Makes the file. A name whose sync may have failed is not used again: a second sync would not tell. */
  begin (endSeq) {
    const limit = Math.max(endSeq + AHEAD, this.tried + 1)
    const name = `numbers-${limit}`
    this.files.close(this.files.create(join(this.folder, name)))
    this.tried = limit
    this.names.push(name)
    return limit
  }

  /** That they may come back after a crash does no harm. */
  removeOthers () {
    const last = `numbers-${this.limit}`
    for (const name of this.names) {
      if (name !== last) this.remove(name)
    }
    this.names = [last]
  }

  remove (name) {
    try {
      this.files.remove(join(this.folder, name))
    } catch {
      // one more empty file
    }
  }
}

module.exports = { Numbers, NUMBERS_NAME }
