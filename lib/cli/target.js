'use strict'

// The queue that a command is about: in a folder, or at a broker. Both are asked the same.

const { openAtBroker } = require('../distributed/visit')
const { openFolder, readFolder } = require('../durable/visit/visit')
const { typeError } = require('../arguments/errors')

const CALL_MS = 10000 // for which a broker is tried
const MOST_OF_PAGE = 1000

/** @param {object} values of the command line @param {Output} output @param {object} command */
async function openTarget ({ path, connection, name }, output, { reads }) {
  if (path === undefined) return BrokerTarget.open(connection, name)
  return reads ? FolderTarget.read(path, output) : new FolderTarget(path, undefined, output)
}

class FolderTarget {
  /** @param {string} path @param {object | undefined} found as of readFolder(); undefined: it is opened */
  constructor (path, found, output) {
    this.path = path
    this.found = found
    this.output = output
    this.isFolder = true
    this.queue = undefined
  }

  static async read (path, output) {
    const onProgress = ({ bytes, totalBytes }) => output.progress.tell('reading', bytes, totalBytes)
    return new FolderTarget(path, await readFolder(path, { onProgress }), output)
  }

  /** What was read. */
  get folder () {
    return this.found.folder
  }

  /** Whether something of what was read is not whole. */
  get isDamaged () {
    return this.found !== undefined && this.folder.damage.length > 0
  }

  /** Throws if there are no jobs, but bytes. */
  checkJobs () {
    if (this.found.kind !== 'bytes') return
    throw typeError('FAIRLANE_ERR_ARGUMENT', `This is a queue of bytes, for which only 'status' and 'verify' work (${this.path})`)
  }

  async types () {
    this.checkJobs()
    return this.folder.types()
  }

  async schedules () {
    this.checkJobs()
    return this.folder.schedules()
  }

  /** @returns {AsyncIterable<object>} */
  async * deadLetters (type) {
    this.checkJobs()
    yield * this.folder.jobs(about => about.state === 'dead' && (type === undefined || about.type === type))
  }

  async * jobs (type) {
    this.checkJobs()
    yield * this.folder.jobs(about => type === undefined || about.type === type)
  }

  /** How many jobs() has, about. */
  async size () {
    return this.folder.entriesCount
  }

  async get (id) {
    this.checkJobs()
    return this.folder.get(this.idOf(id))
  }

  /** An id as the queue knows it: NaN if none can have it. */
  idOf (text) {
    return /^\d{1,15}$/.test(text) ? Number(text) : NaN
  }

  /** Opens the queue, for what changes jobs. @param {object} [options] of durable() @throws FAIRLANE_ERR_LOCKED */
  async open (options) {
    const onProgress = ({ bytes, totalBytes }) => this.output.progress.tell('opening', bytes, totalBytes)
    return (this.queue = await openFolder(this.path, { ...options, onProgress }))
  }

  async close () {
    this.found?.folder.close()
    await this.queue?.close()
  }
}

class BrokerTarget {
  constructor (name, queue, jobs) {
    this.name = name
    this.isFolder = false
    this.isDamaged = false
    this.queue = queue
    this.jobs = jobs
  }

  static async open (connection, name) {
    const options = { connection: connection.length === 1 ? connection[0] : connection, name, pushTimeoutMs: CALL_MS }
    const { queue, jobs } = await openAtBroker(options)
    return new BrokerTarget(name, queue, jobs)
  }

  types () {
    return this.queue.types({ limit: Number.MAX_SAFE_INTEGER })
  }

  schedules () {
    return this.queue.listSchedules()
  }

  async * deadLetters (type) {
    yield * pagesOf(this.queue, type)
  }

  async size () {
    const { waiting, running, dead } = await this.queue.counts()
    return waiting + running + dead
  }

  get (id) {
    return this.queue.get(id)
  }

  idOf (text) {
    return text
  }

  async open () {
    return this.queue
  }

  async close () {
    await this.queue.close()
  }
}

/**
 * All dead letters of a queue, or those of a type, the oldest first, page by page: those of a page may be gone when the next one is asked
 * for.
 * @param {number} [most] so many: what is queued again may fail again meanwhile
 */
async function * pagesOf (queue, type, most = Infinity) {
  for (let left = most, after; left > 0;) {
    const page = await queue.deadLetters({ type, after, limit: Math.min(left, MOST_OF_PAGE) })
    yield * page
    if (page.length < MOST_OF_PAGE) return
    left -= page.length
    after = page.at(-1).id
  }
}

module.exports = { openTarget, pagesOf }
