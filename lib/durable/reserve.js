'use strict'

// Room on the disk that is kept for the time when it is full: a file that is removed then, so that acknowledgements can still
// be written. They are what gives room back. Until the file can be made again, pushes are refused.
// Without it the log does as well, but for that; so nothing that goes wrong here is an error.

const { randomBytes } = require('node:crypto')
const { join } = require('node:path')

const RESERVE_NAME = 'reserve'
const MAX_BYTES = 2 ** 22
const RETRY_MS = 100

class Reserve {
  /**
   * @param {object} files
   * @param {string} folder
   * @param {number} segmentBytes it is a part of that
   */
  constructor (files, folder, segmentBytes) {
    this.files = files
    this.folder = folder
    this.path = join(folder, RESERVE_NAME)
    this.bytes = Math.min(MAX_BYTES, segmentBytes >> 2)
    this.isThere = false
    this.fullError = undefined // why it is not there, if the disk is full
    this.triedAt = 0
    this.make()
  }

  /** @returns {boolean} whether a write that failed may be tried again */
  giveUp (err) {
    if (!isFull(err) || !this.isThere) return false
    this.isThere = false
    this.fullError = err
    this.triedAt = performance.now()
    return this.remove()
  }

  /** @returns {Error | undefined} that of a disk which is full; looks now and then whether it still is */
  fullness () {
    if (this.fullError !== undefined && performance.now() - this.triedAt > RETRY_MS) this.make()
    return this.fullError
  }

  /** Makes it again, if the disk was full: there is room now. */
  restore () {
    if (this.fullError !== undefined) this.make()
  }

  make () {
    this.triedAt = performance.now()
    this.fullError = undefined
    try {
      this.isThere = this.isWhole() || this.write()
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
    let isWritten = false
    try {
      // bytes that a file system can not compress
      isWritten = files.write(fd, randomBytes(bytes), 0, bytes, 0) === bytes
      if (!isWritten) throw Object.assign(new Error('ENOSPC: there is no room for the reserve'), { code: 'ENOSPC' })
    } finally {
      files.close(fd)
      if (!isWritten) this.remove()
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
