'use strict'

// A queryable record of each job of a queue: when it was accepted, when it started, how it ended and why. The records are those of the
// queue's ledger, which the list tells of each change; a History only asks.

const { typeError } = require('../arguments/errors')
const { OBSERVE } = require('../core/internals')
const { Ledger } = require('../ledger/ledger')
const { isLive, WORDS, TYPE, NONE, DELAYED, DEAD, DONE, FAILED, CANCELLED } = require('../ledger/segment')
const { changedAt, versionsOf } = require('../ledger/versions')
const {
  readColumn, readDatabase, readExport, readGet, readHistoryOptions, readId, readList, readMoment, readPath, readSum, readTimes, readTypeOf
} = require('./arguments')
const { jobAsOf, jobOf, stateAt, valuesOf, versionsShown } = require('./jobs')
const { descending, scan } = require('./scan')

const NOW = Infinity // of the time as of which something is asked

/** To be given to one queue, in its option `observers`. index.d.ts and docs/reference/history.md document each method. */
class History {
  #ledger
  #isOpened = false // its records are from a file
  #isObserving = false

  /** @throws FAIRLANE_ERR_OPTION */
  constructor (options) {
    const { keep, keepMs, clock } = readHistoryOptions(options)
    this.#ledger = new Ledger({ keep, keepMs, isExact: clock === 'exact' })
  }

  /**
   * Reads what save() has written.
   * @returns {Promise<History>} rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CORRUPT
   * @throws FAIRLANE_ERR_ARGUMENT
   */
  static open (path) {
    return History.#open(readPath(path))
  }

  static async #open (path) {
    const { load } = require('./file')
    const history = new History()
    history.#isOpened = true
    await load(history.#ledger, path)
    return history
  }

  /** Attaches it to a queue; undefined once it is. */
  get [OBSERVE] () {
    return this.#isObserving ? undefined : this.#observe
  }

  /** A job, or undefined if there is no record of it. O(1). @throws FAIRLANE_ERR_ARGUMENT */
  get (id, options) {
    const ledger = this.#recent
    const rows = ledger.find(readId(id))
    const back = options === undefined ? 0 : readGet(options).back
    if (rows === undefined) return undefined
    if (back === 0) return jobOf(ledger, rows, ledger.row, id)
    const versions = versionsOf(rows, ledger.row)
    return jobAsOf(ledger, rows, ledger.row, id, versions.slice(0, Math.max(1, versions.length - back)))
  }

  /** Each transition of each attempt, oldest first; none of a job without a record. O(attempts). @throws FAIRLANE_ERR_ARGUMENT */
  versions (id) {
    const ledger = this.#recent
    const rows = ledger.find(readId(id))
    return rows === undefined ? [] : versionsShown(ledger, rows, ledger.row)
  }

  /** Records by state. O(1) for a type, else O(types). @throws FAIRLANE_ERR_TYPE */
  counts (type) {
    const { names } = this.#recent
    const name = readTypeOf(type)
    const counts = noCounts()
    for (const number of name === undefined ? names.numbers.values() : numbersOf(names, name)) names.addTo(counts, number)
    return shown(counts)
  }

  /** Jobs, the newest first. O(records looked at). @returns {IterableIterator<object>} @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  list (options) {
    const { state: [first, last], type, since, until, before, limit } = readList(options)
    const ledger = this.#recent
    const { names, time: { originMs } } = ledger
    const hasTimes = since !== -Infinity || until !== Infinity
    return descending(ledger, before, limit, first === NONE ? [] : [first, last], (rows, row, id) => {
      if (type !== undefined && rows.words[row * WORDS + TYPE] !== names.numbers.get(type)) return undefined
      if (hasTimes && !isWithin(changedAt(rows, row) + originMs, since, until)) return undefined
      return jobOf(ledger, rows, row, id)
    })
  }

  /** Of a column, over jobs that have ended. O(records in the range, and strays). @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE */
  sum (column, options) {
    return this.#sum(readColumn(column), readSum(options), NOW)
  }

  /** @returns {Map<string | undefined, object>} by type, over jobs that have ended. O(records). @throws FAIRLANE_ERR_ARGUMENT */
  stats (options) {
    const { since, until } = readTimes(options)
    const ledger = this.#recent
    const { names, time: { originMs } } = ledger
    const byNumber = new Map()
    scan(ledger, -Infinity, Infinity, (rows, row) => {
      const values = valuesOf(rows, row, NOW)
      if (values.state <= DELAYED || !isWithin(values.endedAt + originMs, since, until)) return
      const number = rows.words[row * WORDS + TYPE]
      let totals = byNumber.get(number)
      if (totals === undefined) byNumber.set(number, totals = new Totals())
      totals.add(values)
    })
    return new Map([...byNumber].map(([number, totals]) => [names.textOf(number), totals.shown()]))
  }

  /** What was so at a time, as far as records are kept. @throws FAIRLANE_ERR_ARGUMENT */
  at (ms) {
    const moment = readMoment(ms)
    return {
      counts: type => this.#countsAt(readTypeOf(type), moment),
      sum: (column, options) => this.#sum(readColumn(column), readSum(options), moment)
    }
  }

  /**
   * Forgets a job that has ended. O(1).
   * @returns {boolean} false if there is no record of it
   * @throws FAIRLANE_ERR_ARGUMENT for any other job
   */
  remove (id) {
    const ledger = this.#recent
    const rows = ledger.find(readId(id))
    if (rows === undefined) return false
    if (isLive(rows.stateOf(ledger.row))) throw typeError('FAIRLANE_ERR_ARGUMENT', `remove: job ${id} has not ended, or is a dead letter`)
    ledger.remove(id, rows)
    return true
  }

  /** Writes all to a file. @returns {Promise<void>} rejects with FAIRLANE_ERR_IO @throws FAIRLANE_ERR_ARGUMENT */
  save (path) {
    const { save } = require('./file')
    return save(this.#recent, readPath(path))
  }

  /** Appends all to a table. O(records). @returns {number | undefined} the last id @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_IO */
  exportTo (database, options) {
    const { exportTo } = require('./sqlite')
    return exportTo(this.#recent, readDatabase(database), readExport(options))
  }

  /** The ledger, without what is too old. */
  get #recent () {
    this.#ledger.retention.expire()
    return this.#ledger
  }

  /**
   * @param {object} queue
   * @param {object | undefined} ledger the queue's, if another observer has made it
   * @param {{ clock: object, hasIds?: boolean }} options hasIds: the queue has ids of its own
   * @returns {object} the queue's ledger
   */
  #observe (queue, ledger, { clock, hasIds = false }) {
    if (this.#isObserving) throw typeError('FAIRLANE_ERR_OPTION', 'observers: this History already observes another queue')
    if (this.#isOpened && (hasIds || ledger !== undefined)) {
      throw typeError('FAIRLANE_ERR_OPTION', 'observers: a History that was opened can only be the first observer of a queue in memory')
    }
    if (this.#isOpened) require('./file').resume(this.#ledger, clock)
    else if (ledger === undefined) this.#ledger.begin(clock)
    else ledger.records.widen(this.#ledger)
    this.#isObserving = true
    this.#ledger = ledger?.records ?? this.#ledger
    return ledger ?? this.#ledger
  }

  #sum (column, { type, first, last, since, until }, moment) {
    const ledger = this.#recent
    const { names, time: { originMs } } = ledger
    const number = type === undefined ? undefined : names.numbers.get(type) ?? -1
    const ms = moment - originMs
    let sum = 0
    scan(ledger, first, last, (rows, row) => {
      if (number !== undefined && rows.words[row * WORDS + TYPE] !== number) return
      const values = valuesOf(rows, row, ms)
      if (values.state > DELAYED && isWithin(values.endedAt + originMs, since, until)) sum += Math.max(0, values[column])
    })
    return sum
  }

  #countsAt (type, moment) {
    const ledger = this.#recent
    const { names, time: { originMs } } = ledger
    const number = type === undefined ? undefined : names.numbers.get(type) ?? -1
    const counts = noCounts()
    scan(ledger, -Infinity, Infinity, (rows, row) => {
      if (number === undefined || rows.words[row * WORDS + TYPE] === number) counts[stateAt(rows, row, moment - originMs)]++
    })
    return shown(counts)
  }
}

/** What is added up of the jobs of a type. */
class Totals {
  constructor () {
    this.counts = noCounts()
    this.wait = { count: 0, sum: 0, max: undefined }
    this.run = { count: 0, sum: 0, max: undefined }
  }

  add ({ state, waitMs, runMs }) {
    this.counts[state]++
    addTo(this.wait, waitMs)
    if (runMs >= 0) addTo(this.run, runMs)
  }

  shown () {
    const { counts, wait, run } = this
    const ended = { done: counts[DONE], failed: counts[FAILED] + counts[DEAD], cancelled: counts[CANCELLED] }
    return { ...ended, waitMs: average(wait), runMs: average(run) }
  }
}

function addTo (total, ms) {
  total.count++
  total.sum += ms
  total.max = Math.max(total.max ?? ms, ms)
}

function average ({ count, sum, max }) {
  return { mean: count === 0 ? undefined : sum / count, max }
}

/** By the numbers of states. */
function noCounts () {
  return [0, 0, 0, 0, 0, 0, 0, 0]
}

function shown ([, waiting, running, delayed, done, failed, cancelled, dead]) {
  return { waiting, running, delayed, done, failed: failed + dead, cancelled }
}

function numbersOf (names, type) {
  const number = names.numbers.get(type)
  return number === undefined ? [] : [number]
}

/** Whether a time is since one, and before another one. */
function isWithin (ms, since, until) {
  return ms >= since && ms < until
}

module.exports = { History }
