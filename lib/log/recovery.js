'use strict'

// What opening makes of a log that was read: what a crash has left behind its last sync is cut off, a repair is begun, and the tail is
// where it goes on. Of a log that is damaged the files are not changed, unless it is to be repaired.

const { join } = require('node:path')
const { CLOSED_NAME } = require('./closed')
const { PUSH_BYTES } = require('./format')
const { Numbers } = require('./numbers')
const { REPAIR_NAME, readLog } = require('./reading')
const { CONDENSED_NAME } = require('./segments')
const { SerializerMark } = require('./serializer-mark')
const { openTail } = require('./tail')

/**
 * @param {object} files
 * @param {string} folder which is there
 * @param {object} options those of readLog(); repair: keep what is whole; and `serialize`, of jobs
 * @returns {Promise<object>} the live jobs and their segments, the tail with its descriptor, and what was cut and dropped
 * @throws FAIRLANE_ERR_CORRUPT with `file` and `offset`, FAIRLANE_ERR_VERSION with `file`, FAIRLANE_ERR_SERIALIZER
 */
async function recover (files, folder, { serialize, ...options }) {
  return new Recovery(files, folder, await readLog(files, folder, options), serialize).finish()
}

/** A log that was repaired is whole, and all of it synced: what said that it was not may go. */
function endRepair (files, folder) {
  if (files.list(folder).includes(CLOSED_NAME)) {
    files.remove(join(folder, CLOSED_NAME))
    files.syncFolder(folder)
  }
  files.remove(join(folder, REPAIR_NAME))
  try {
    files.syncFolder(folder)
  } catch {
    // it may come back, and a repair be asked for that finds nothing
  }
}

class Recovery {
  /** @param {object} reading as of readLog() @param {object} [serialize] of jobs */
  constructor (files, folder, reading, serialize) {
    const { names } = reading
    this.files = files
    this.folder = folder
    this.reading = reading
    this.names = names
    this.nextSeq = reading.nextSeq
    this.numbers = new Numbers(files, folder, names)
    this.mark = serialize === undefined ? undefined : new SerializerMark(files, folder, names, serialize)
    this.isDamaged = reading.dropped.length > 0
  }

  async finish () {
    const { files, folder, names, numbers, reading } = this
    const { live, segments, trimmed, kind, cut, dropped, isOld, unfinished } = reading
    this.mark?.check(live.jobsCount)
    const left = names.filter(name => name === CONDENSED_NAME) // which took no other's place
    if (unfinished !== undefined) left.push(unfinished)
    if (this.isDamaged) this.beginRepair()
    else if (names.includes(CLOSED_NAME)) left.push(CLOSED_NAME)
    for (const name of left) files.remove(join(folder, name))
    this.skipTold()
    this.mark?.set()
    files.syncFolder(folder)
    const { nextSeq } = this
    const tail = await openTail({ files, folder, kind, segments, trimmed, nextSeq, cut, isOld }, this.isDamaged)
    return { live, nextSeq, numbers, cut, dropped, tail }
  }

  // private from here on

  /**
   * The numbers of jobs that a crash has taken back may be known to users. Those that come next are set aside by the first push, so that
   * opening again and again takes none.
   */
  skipTold () {
    const { numbers, reading: { closed } } = this
    const isClean = closed !== undefined && !this.isDamaged
    this.nextSeq = Math.max(this.nextSeq, isClean ? closed.nextSeq : numbers.limit)
    if (isClean || numbers.limit === 0) numbers.prepare(this.nextSeq)
  }

  beginRepair () {
    this.skipLost()
    if (!this.names.includes(REPAIR_NAME)) this.files.close(this.files.create(join(this.folder, REPAIR_NAME)))
    this.files.syncFolder(this.folder)
  }

  /** Numbers of jobs that were dropped are not given out again: so many may have been in what is not there. */
  skipLost () {
    const { closed, dropped } = this.reading
    const bytes = dropped.reduce((sum, dropped) => sum + dropped.bytes, closed?.offset ?? 0)
    this.nextSeq += Math.ceil(bytes / PUSH_BYTES)
  }
}

module.exports = { recover, endRepair }
