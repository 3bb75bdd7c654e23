'use strict'

// Reads a log without its lock, and changes nothing. Another process may have it open: then it is the log at one moment, as snapshot.js
// says, and what is not whole may be so because it is being written. So damage counts if a second look finds it, too.

const { readdirSync } = require('node:fs')
const { typeError, FairlaneError } = require('../arguments/errors')
const { CLOSED_NAME } = require('./closed')
const { SEGMENT_NAME } = require('./format')
const { ioError } = require('./log')
const { holderOf } = require('./lock')
const { NUMBERS_NAME } = require('./numbers')
const { readLog } = require('./reading')
const { MARK_NAME } = require('./serializer-mark')
const { Snapshot } = require('./snapshot')

// Between the two looks of which one finds damage: a write takes less.
const PAUSE_MS = 100
const NO_QUEUE = 'FAIRLANE_ERR_ARGUMENT'
const NO_FOLDER = ['ENOENT', 'ENOTDIR']

/**
 * @param {string} folder
 * @param {{ makeObserver: (kind: string) => object, readState: Function, onProgress?: Function }} options as those of readLog(). An
 *   observer is made for each look; what the last one saw counts
 * @returns {Promise<{ holder: object | undefined, kind: 'bytes' | 'jobs', snapshot: Snapshot, reading: object, observer: object,
 *   damage: object[] }>} holder: who has it open, as of holderOf(). snapshot: to be ended by the caller. damage: as reading.dropped
 * @throws FAIRLANE_ERR_ARGUMENT if there is no log, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_IO
 */
async function lookAt (folder, options) {
  try {
    const first = await lookOnce(folder, options)
    if (first.damage.length === 0) return first
    first.snapshot.end()
    if (first.holder !== undefined) await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    const second = await lookOnce(folder, options)
    const found = new Set(first.damage.map(placeOf))
    return { ...second, damage: second.damage.filter(damage => found.has(placeOf(damage))) }
  } catch (err) {
    throw told(err, folder)
  }
}

async function lookOnce (folder, { makeObserver, readState, onProgress }) {
  const snapshot = await Snapshot.take(folder)
  try {
    checkNames(snapshot.names, folder)
    const holder = await holderOf(folder)
    const { kind = 'jobs' } = snapshot // where no header is whole, there is nothing in it
    const observer = makeObserver(kind)
    const reading = await readLog(snapshot, folder, { repair: true, kind, observer, readState, onProgress })
    return { holder, kind, snapshot, reading, observer, damage: reading.dropped }
  } catch (err) {
    snapshot.end()
    throw err
  }
}

/** @returns {string[]} the names of the files of a log @throws FAIRLANE_ERR_ARGUMENT if there is none, FAIRLANE_ERR_IO */
function namesOf (folder) {
  try {
    return checkNames(readdirSync(folder), folder)
  } catch (err) {
    throw told(err, folder)
  }
}

function told (err, folder) {
  if (err.code === NO_QUEUE || err instanceof FairlaneError) return err
  // files of a log that are read are open, so it is the folder
  return NO_FOLDER.includes(err.code) ? typeError(NO_QUEUE, `There is no folder ${folder}`) : ioError(err)
}

function checkNames (names, folder) {
  if (names.some(isOfLog)) return names
  throw typeError(NO_QUEUE, `There is no queue in ${folder}`)
}

function isOfLog (name) {
  return SEGMENT_NAME.test(name) || NUMBERS_NAME.test(name) || MARK_NAME.test(name) || name === CLOSED_NAME
}

function placeOf ({ file, offset, what }) {
  return `${file} ${offset} ${what}`
}

module.exports = { lookAt, namesOf }
