'use strict'

// A disk in memory, in the place of lib/log/files.js. It knows what would be left after a power failure: what was synced,
// and of the rest any part, in any order, torn anywhere. Faults can be put before any call.
//
// It is stricter than real file systems: syncing a file does not make its name durable, nor the other way round.

const { dirname, basename } = require('node:path')

/** A file: its bytes, the bytes that were synced, and what was done to it since. */
class File {
  constructor () {
    this.bytes = Buffer.alloc(0)
    this.durable = Buffer.alloc(0)
    this.changes = [] // { at, data } or { length }
  }

  copied () {
    return Object.assign(new File(), { bytes: this.bytes, durable: this.durable, changes: [...this.changes] })
  }
}

class SimulatedDisk {
  constructor () {
    this.folders = new Map() // path → { names, durable, changes: { name, file | undefined } }
    this.descriptors = new Map()
    this.nextDescriptor = 3
    this.steps = 0
    this.beforeStep = () => {} // called before each call that changes something, with (kind, path)
    this.fault = () => undefined // (kind, path) → an error to fail with, or 'short'
    this.capacity = Infinity // how many bytes all files may have
    this.fileLimit = Infinity // how many bytes each file may have
    this.makeFolder = this.makeFolder.bind(this)
  }

  list (path) {
    this.check('list', path)
    return [...(this.folders.get(path)?.names.keys() ?? [])]
  }

  makeFolder (path) {
    this.check('makeFolder', path)
    if (!this.folders.has(path)) this.folders.set(path, { names: new Map(), durable: new Map(), changes: [] })
  }

  removeFolder (path) {
    if (this.folders.get(path)?.names.size === 0) this.folders.delete(path)
  }

  create (path) {
    this.check('create', path)
    const folder = this.folders.get(dirname(path))
    if (folder.names.has(basename(path))) throw systemError('EEXIST')
    const file = new File()
    folder.names.set(basename(path), file)
    folder.changes.push({ name: basename(path), file })
    return this.describe(path, file)
  }

  open (path) {
    this.check('open', path)
    const file = this.folders.get(dirname(path))?.names.get(basename(path))
    if (file === undefined) throw systemError('ENOENT')
    return this.describe(path, file)
  }

  close (fd) {
    if (!this.descriptors.delete(fd)) throw systemError('EBADF')
  }

  size (fd) {
    return this.at(fd).file.bytes.length
  }

  isAt (path, fd) {
    return this.at(fd).file === this.folders.get(dirname(path))?.names.get(basename(path))
  }

  read (fd, buffer, offset, length, position) {
    const { path, file } = this.at(fd)
    this.check('read', path)
    if (position >= file.bytes.length) return 0
    return file.bytes.copy(buffer, offset, position, Math.min(position + length, file.bytes.length))
  }

  write (fd, buffer, offset, length, position) {
    const { path, file } = this.at(fd)
    this.step('write', path)
    const fault = this.check('write', path)
    if (fault !== undefined) length = Math.max(1, length >> 1)
    if (position >= this.fileLimit) throw systemError('EFBIG')
    const room = Math.min(this.capacity - this.usedBytes + file.bytes.length, this.fileLimit) - position
    if (room <= 0) throw systemError('ENOSPC')
    length = Math.min(length, room)
    const data = Buffer.from(buffer.subarray(offset, offset + length))
    file.changes.push({ at: position, data })
    file.bytes = written(file.bytes, position, data)
    if (fault instanceof Error) throw fault
    return length
  }

  truncate (fd, length) {
    const { path, file } = this.at(fd)
    this.step('truncate', path)
    this.check('truncate', path)
    file.changes.push({ length })
    file.bytes = truncated(file.bytes, length)
  }

  remove (path) {
    this.step('remove', path)
    this.check('remove', path)
    const folder = this.folders.get(dirname(path))
    if (!folder.names.delete(basename(path))) throw systemError('ENOENT')
    folder.changes.push({ name: basename(path), file: undefined })
  }

  rename (path, newPath) {
    this.step('rename', path)
    this.check('rename', path)
    const { names, changes } = this.folders.get(dirname(path))
    const file = names.get(basename(path))
    names.delete(basename(path))
    names.set(basename(newPath), file)
    changes.push({ name: basename(newPath), file }, { name: basename(path), file: undefined })
  }

  sync (fd, callback) {
    const { path, file } = this.at(fd)
    this.step('sync', path)
    // only what was written before the call is sure to be there after it
    const { bytes } = file
    const last = file.changes.at(-1)
    setImmediate(() => {
      let err = null
      try {
        this.at(fd)
        this.check('sync', path)
        this.settle(file, bytes, last)
      } catch (thrown) {
        err = thrown
      }
      callback(err)
    })
  }

  syncNow (fd) {
    const { path, file } = this.at(fd)
    this.step('sync', path)
    this.check('sync', path)
    this.settle(file, file.bytes, file.changes.at(-1))
  }

  syncFolder (path) {
    this.step('syncFolder', path)
    this.check('syncFolder', path)
    const folder = this.folders.get(path)
    folder.durable = new Map(folder.names)
    folder.changes = []
  }

  /**
   * What is there after a power failure now, as a disk of its own.
   * @param {object} random with chance and below: what becomes of what was not synced
   */
  afterPowerLoss (random) {
    // a disk that loses all, or nothing, is as legal as one in between
    const keep = random.pick([0, 0.2, 0.5, 0.8, 1])
    const disk = new SimulatedDisk()
    for (const [path, folder] of this.folders) {
      const names = new Map(folder.durable)
      for (const { name, file } of folder.changes) {
        if (!random.chance(keep)) continue
        if (file === undefined) names.delete(name)
        else names.set(name, file)
      }
      for (const [name, file] of names) {
        const copy = new File()
        copy.bytes = copy.durable = random.chance(0.3) && keep === 1 ? file.bytes : survivors(file, keep, random)
        names.set(name, copy)
      }
      disk.folders.set(path, { names, durable: new Map(names), changes: [] })
    }
    return disk
  }

  /** What is there when only the process has died: what was not synced still is not. */
  afterKill () {
    const disk = new SimulatedDisk()
    const copies = new Map()
    const copyOf = file => {
      if (file !== undefined && !copies.has(file)) copies.set(file, file.copied())
      return copies.get(file)
    }
    const copied = names => new Map([...names].map(([name, file]) => [name, copyOf(file)]))
    for (const [path, { names, durable, changes }] of this.folders) {
      disk.folders.set(path, {
        names: copied(names), durable: copied(durable), changes: changes.map(({ name, file }) => ({ name, file: copyOf(file) }))
      })
    }
    return disk
  }

  get usedBytes () {
    let bytes = 0
    for (const { names } of this.folders.values()) {
      for (const file of names.values()) bytes += file.bytes.length
    }
    return bytes
  }

  get openCount () {
    return this.descriptors.size
  }

  // private from here on

  describe (path, file) {
    const fd = this.nextDescriptor++
    this.descriptors.set(fd, { path, file })
    return fd
  }

  at (fd) {
    const descriptor = this.descriptors.get(fd)
    if (descriptor === undefined) throw systemError('EBADF')
    return descriptor
  }

  settle (file, bytes, last) {
    const index = file.changes.indexOf(last)
    // another sync may have been faster
    if (index === -1) return
    file.durable = bytes
    file.changes = file.changes.slice(index + 1)
  }

  step (kind, path) {
    this.steps++
    this.beforeStep(kind, path)
  }

  /** Throws the fault that there is to be, but of a write, which may have done a part before. */
  check (kind, path) {
    const fault = this.fault(kind, path)
    if (fault instanceof Error && kind !== 'write') throw fault
    return fault
  }
}

function written (bytes, at, data) {
  const result = Buffer.alloc(Math.max(bytes.length, at + data.length))
  bytes.copy(result)
  data.copy(result, at)
  return result
}

function truncated (bytes, length) {
  const result = Buffer.alloc(length)
  bytes.copy(result)
  return result
}

/** The bytes of a file of whose changes some are lost, some torn, and the rest come in any order. */
function survivors (file, keep, random) {
  let bytes = file.durable
  const changes = file.changes.filter(() => random.chance(keep))
  if (random.chance(0.3)) changes.sort(() => random.next() - 0.5)
  for (const change of changes) {
    if (change.data === undefined) {
      bytes = truncated(bytes, change.length)
      continue
    }
    const { at, data } = change
    if (random.chance(0.7)) {
      bytes = written(bytes, at, data)
    } else {
      const from = random.chance(0.5) ? 0 : random.below(data.length)
      const to = from + random.below(data.length - from + 1)
      // the file may have grown although the data is lost
      if (random.chance(0.5)) bytes = truncated(bytes, Math.max(bytes.length, at + data.length))
      bytes = written(bytes, at + from, data.subarray(from, to))
    }
  }
  return bytes
}

/** @returns {Error} as Node makes them */
function systemError (code) {
  return Object.assign(new Error(`${code}: simulated`), { code, syscall: 'simulated' })
}

module.exports = { SimulatedDisk, systemError }
