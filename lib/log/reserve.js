'use strict'

// Room on the disk that is kept for the time when it is full: a file that is removed then, so that acknowledgements can still
// be written. They are what gives room back. Until the file can be made again, pushes are refused.
// Without it the log does as well, but for that; so nothing that goes wrong here is an error. Which records may take how much of it,
// claims.js says. How much there is, the disk says: each time that the file cannot be made again, by how much of it could be.

const { randomBytes } = require('node:crypto')
const { join } = require('node:path')
const { writeWhole } = require('./segments')

const RESERVE_NAME = 'reserve'
const MAX_BYTES = 2 ** 22
const RETRY_MS = 100

class Reserve {
  /**
   * @param {object} files
   * @param {string} folder
   * @param {number} segmentBytes it is a part of that
   * @param {{ stays: () => boolean, spent: (err: Error) => void }} owner whether the folder is still the log's; is told when the room is
   *   made use of
   */
  constructor (files, folder, segmentBytes, owner) {
    this.files = files
    this.folder = folder
    this.owner = owner
    this.path = join(folder, RESERVE_NAME)
    this.bytes = Math.min(MAX_BYTES, segmentBytes >> 2)
    this.isThere = false
    this.fullError = undefined // why it is not there, if the disk is full
    this.triedAt = 0
    this.usedBytes = 0 // of the room, since the file is not there
    this.isLent = false // to a segment that is emptied, for which it was found to be enough: it is not made, nor measured
    this.make()
  }

  /** @returns {boolean} whether a write that failed may be tried again */
  giveUp (err) {
    if (!isFull(err) || !this.isThere || !this.owner.stays()) return false
    this.isThere = false
    this.fullError = err
    this.triedAt = performance.now()
    this.owner.spent(err)
    return this.remove()
  }

  /** Notes why a write has failed that may not take of the room. */
  met (err) {
    if (!isFull(err) || !this.isThere) return
    this.fullError = err
    this.triedAt = performance.now()
  }

  /** Whether room is taken that is to be given back: it is not there, since the disk is full. */
  get isSpent () {
    return !this.isThere && this.fullError !== undefined
  }

  /** @param {number} claim @returns {number} how many bytes records with it may take now; any number while nothing is spent */
  left (claim) {
    return this.isSpent ? claim * this.bytes - this.usedBytes : Infinity
  }

  /** Notes what was written. */
  use (bytes) {
    if (this.isSpent) this.usedBytes += bytes
  }

  /** @returns {Error | undefined} that of a disk which is full; looks now and then whether it still is */
  fullness () {
    if (this.fullError !== undefined && performance.now() - this.triedAt > RETRY_MS) this.restore()
    return this.fullError
  }

  /** Makes it again, if the disk was full: there is room now. */
  restore () {
    if (this.fullError !== undefined && !this.isLent) this.make()
  }

  make () {
    this.triedAt = performance.now()
    if (!this.owner.stays()) return
    this.fullError = undefined
    try {
      this.isThere = this.isWhole() || this.write()
      this.usedBytes = 0
    } catch (err) {
      if (isFull(err)) this.fullError = err
    }
  }

  // private from here on

  /** What a crash left of it may be less. */
  isWhole () {
    const { files, path } = this
    if (!files.list(this.folder).includes(RESERVE_NAME)) return false
    const fd = files.open(path)
    const size = files.size(fd)
    files.close(fd)
    if (size !== this.bytes) files.remove(path)
    return size === this.bytes
  }

  write () {
    const { files, path, bytes } = this
    const fd = files.create(path)
    let size = 0
    try {
      // bytes that a file system cannot compress
      writeWhole(files, fd, randomBytes(bytes), bytes, 0)
      size = bytes
    } catch (err) {
      // other programs may have taken room, or given some back
      size = files.size(fd)
      this.usedBytes = bytes - size
      throw err
    } finally {
      files.close(fd)
      if (size < bytes) this.remove()
    }
    return true
  }

  remove () {
    try {
      this.files.remove(this.path)
      return true
    } catch {
      return false
    }
  }
}

function isFull ({ code }) {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

module.exports = { Reserve, RESERVE_NAME }
