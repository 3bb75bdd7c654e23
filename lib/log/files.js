'use strict'

// The file layer: the few calls on files that the log needs, and nothing that the log decides. Tests put a simulated disk
// in its place, with power loss and faults. Calls block, but for fdatasync: that is the one that takes a disk's time.

const fs = require('node:fs')
const { dirname } = require('node:path')

const STAYS = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY', 'EACCES', 'EPERM', 'EROFS'])

/** The file system of this machine. Errors pass on as Node throws them. */
const files = {
  /** @returns {string[]} the names in a folder; none if there is no such folder */
  list (path) {
    try {
      return fs.readdirSync(path)
    } catch (err) {
      if (err.code === 'ENOENT') return []
      throw err
    }
  },

  /** Makes a folder and those above it, each of them synced into the one that holds it. */
  makeFolder (path) {
    if (fs.existsSync(path)) return
    const parent = dirname(path)
    files.makeFolder(parent)
    try {
      fs.mkdirSync(path)
    } catch (err) {
      // another process makes it too, and may not have synced it yet
      if (err.code !== 'EEXIST') throw err
    }
    files.syncFolder(parent)
  },

  /** Removes a folder if nothing is left in it, and if it is one that may go: no link, no mount, none of another's. */
  removeFolder (path) {
    try {
      fs.rmdirSync(path)
    } catch (err) {
      if (!STAYS.has(err.code)) throw err
    }
  },

  /** @returns {number} a descriptor of a new file; it may not be there yet */
  create: path => fs.openSync(path, 'wx+'),
  /** @returns {number} a descriptor of a file that is there, for reading and writing */
  open: path => fs.openSync(path, 'r+'),
  /** Whatever was written was synced before, or is not promised: that a disk fails now changes nothing. */
  close (fd) {
    try {
      fs.closeSync(fd)
    } catch (err) {
      if (err.code !== 'EIO') throw err
    }
  },

  size: fd => fs.fstatSync(fd).size,

  /** @returns {boolean} whether a path leads to the file of a descriptor: not if that, or a folder above it, was removed or replaced */
  isAt (path, fd) {
    const there = fs.statSync(path, { throwIfNoEntry: false })
    const { dev, ino } = fs.fstatSync(fd)
    return there !== undefined && there.ino === ino && there.dev === dev
  },

  /** @returns {number} how many bytes were read: fewer only at the end of the file */
  read: (fd, buffer, offset, length, position) => fs.readSync(fd, buffer, offset, length, position),
  /** @returns {number} how many bytes were written: may be fewer than asked for */
  write: (fd, buffer, offset, length, position) => fs.writeSync(fd, buffer, offset, length, position),
  truncate: (fd, length) => fs.ftruncateSync(fd, length),
  remove: path => fs.unlinkSync(path),
  /** The file at the new path, if there is one, is gone then, in one step. */
  rename: (path, newPath) => fs.renameSync(path, newPath),

  // On macOS libuv makes both F_FULLFSYNC, since its fsync leaves data in the drive's cache.
  /** @param {(err: Error | null) => void} callback called in a later turn */
  sync: (fd, callback) => fs.fdatasync(fd, callback),
  syncNow: fd => fs.fdatasyncSync(fd),

  /**
   * Makes the names in a folder durable. Windows cannot open a folder for that, and keeps names in the journal of its
   * file system, in order: there, a crash of the machine may undo the last creations and removals, but not reorder them.
   */
  syncFolder (path, platform = process.platform) {
    if (platform === 'win32') return
    const fd = fs.openSync(path, 'r')
    try {
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  }
}

module.exports = { files }
