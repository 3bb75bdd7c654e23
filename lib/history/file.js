'use strict'

// A ledger as a file, which is there whole or not at all: it is written beside, synced, and renamed.
//
//   magic 8 | version u32 | length u32 | what is not in rows (v8) | rows of segments, 256 KB each | rows of strays | crc u32 of all before
//
// Numbers are little endian, and so are rows.

const { randomUUID } = require('node:crypto')
const { open, readFile, rename, rm } = require('node:fs/promises')
const { dirname } = require('node:path')
const { deserialize, serialize } = require('node:v8')
const { crc32 } = require('node:zlib')
const { FairlaneError } = require('../arguments/errors')
const { Rows, isLive, ROWS, TIMES, ENDED, WORDS, TYPE, NONE, WAITING, RUNNING, FAILED, DEAD } = require('../ledger/segment')
const { ascending } = require('./scan')

const MAGIC = Buffer.from('FAIRHIST')
const VERSION = 1
const HEAD_BYTES = 16
const CRC_BYTES = 4
const ROW_BYTES = 32

module.exports = { save, load, resume }

/** Writes a ledger as it is now. @returns {Promise<void>} rejects with FAIRLANE_ERR_IO */
async function save (ledger, path) {
  const parts = encode(ledger)
  const beside = `${path}.${randomUUID()}.new`
  try {
    await writeAll(beside, parts)
    await rename(beside, path)
    await syncFolder(dirname(path))
  } catch (cause) {
    await Promise.allSettled([rm(beside, { force: true })])
    throw ioError(path, cause)
  }
}

/**
 * Reads into an empty ledger. Until resume() it stands still at the time of the saving. Rejects with FAIRLANE_ERR_IO, FAIRLANE_ERR_CORRUPT.
 */
async function load (ledger, path) {
  let bytes
  try {
    bytes = await readFile(path)
  } catch (cause) {
    throw ioError(path, cause)
  }
  decode(ledger, checked(bytes, path))
}

/** A queue goes on with a ledger that was read: jobs that had not ended have failed. @param {object} clock the queue's */
function resume (ledger, clock) {
  const crash = new FairlaneError('FAIRLANE_ERR_CRASHED', 'The process ended before the job did')
  const live = []
  ascending(ledger, -Infinity, (rows, row, id) => {
    if (isLive(rows.stateOf(row))) live.push({ id, isDead: rows.stateOf(row) === DEAD })
  })
  for (const { id, isDead } of live) {
    if (isDead) ledger.buried(id)
    else ledger.ended(id, true, crash)
  }
  const { originMs } = ledger.time
  ledger.begin(clock)
  shift(ledger, originMs - ledger.time.originMs)
}

// saving

/** @returns {Buffer[]} none of which changes any more */
function encode ({ keep, keepMs, isExact, time, names, segments, strays, lastId }) {
  const present = segments.filter(segment => segment !== undefined)
  const strayRows = [...strays.rows]
  const words = new Int32Array(strayRows.length * WORDS)
  strayRows.forEach(([, row], at) => words.set(strays.words.subarray(row * WORDS, (row + 1) * WORDS), at * WORDS))
  const meta = serialize({
    keep,
    keepMs,
    isExact,
    lastId,
    originMs: time.originMs,
    savedMs: time.read(),
    types: new Map([...names.numbers].map(([type, number]) => [number, type])),
    segments: present.map(segment => ({ base: segment.base, newestAt: segment.newestAt, ...extrasOf(segment) })),
    strays: { ids: strayRows.map(([id]) => id), ...extrasOf(strays), rows: strayRows.map(([, row]) => row) }
  })
  const head = Buffer.alloc(HEAD_BYTES)
  MAGIC.copy(head)
  head.writeUInt32LE(VERSION, 8)
  head.writeUInt32LE(meta.length, 12)
  const parts = [head, meta, ...present.map(segment => Buffer.from(bytesOf(segment.words))), bytesOf(words)]
    .filter(part => part.length > 0) // the crc of nothing is 0 on Node 20, whatever came before
  const crc = Buffer.alloc(CRC_BYTES)
  crc.writeUInt32LE(parts.reduce((crc, part) => crc32(part, crc), 0))
  return [...parts, crc]
}

/** What is kept beside rows, by row. */
function extrasOf ({ costs, errors, versions }) {
  return {
    costs: byRow(costs),
    errors: byRow(errors),
    versions: [...versions ?? []].map(([row, list]) => [row, list.map(version => ({ ...version }))])
  }
}

/** @returns {[number, any][]} those rows of which there is something */
function byRow (sparse = []) {
  const found = []
  sparse.forEach((value, row) => found.push([row, value]))
  return found
}

async function writeAll (path, parts) {
  const file = await open(path, 'wx')
  try {
    for (const part of parts) await file.writeFile(part)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** So that the new name is there after a power failure; not every system can. */
async function syncFolder (path) {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

// opening

function checked (bytes, path) {
  const corrupt = (offset, what) => Object.assign(new FairlaneError('FAIRLANE_ERR_CORRUPT', `${path}: ${what}`), { file: path, offset })
  const isHistory = bytes.length >= HEAD_BYTES + CRC_BYTES && bytes.subarray(0, MAGIC.length).equals(MAGIC)
  if (!isHistory) throw corrupt(0, 'this is not a history file')
  if (bytes.readUInt32LE(8) !== VERSION) throw corrupt(8, 'the file is of another version')
  const end = bytes.length - CRC_BYTES
  if (bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end))) throw corrupt(end, 'the file is damaged or incomplete')
  return bytes.subarray(0, end)
}

function decode (ledger, bytes) {
  const begin = HEAD_BYTES + bytes.readUInt32LE(12)
  const { types, segments, strays, originMs, savedMs, ...fields } = deserialize(bytes.subarray(HEAD_BYTES, begin))
  Object.assign(ledger, fields)
  ledger.time = { originMs, ms: savedMs, isFresh: true, now: () => savedMs, read: () => savedMs }
  let at = begin
  for (const { base, newestAt, ...extras } of segments) {
    const segment = Object.assign(new Rows(ROWS), { base, newestAt })
    bytesOf(segment.words).set(bytes.subarray(at, at += ROWS * ROW_BYTES))
    for (let row = 0; row < ROWS; row++) adopt(ledger, segment, row, types)
    addExtras(segment, extras, row => row)
    ledger.addSegment(segment)
  }
  const rowsBySaved = new Map()
  strays.ids.forEach((id, i) => {
    const row = ledger.strays.open(id)
    rowsBySaved.set(strays.rows[i], row)
    bytesOf(ledger.strays.words).set(bytes.subarray(at, at += ROW_BYTES), row * ROW_BYTES)
    adopt(ledger, ledger.strays, row, types)
  })
  addExtras(ledger.strays, strays, row => rowsBySaved.get(row))
  for (const id of endedOf(ledger.strays)) ledger.strays.hasEnded(id)
}

/** @returns {number[]} the ids of those that have ended, in the order of their ends */
function endedOf (strays) {
  const endedAt = id => strays.times[strays.rows.get(id) * TIMES + ENDED]
  return [...strays.rows.keys()].filter(id => !isLive(strays.stateOf(strays.rows.get(id)))).sort((a, b) => endedAt(a) - endedAt(b))
}

/** Counts a record that was read, and has it name its type by the number that this has now. */
function adopt ({ names }, rows, row, types) {
  const state = rows.stateOf(row)
  if (state === NONE) return
  const { words } = rows
  const number = words[row * WORDS + TYPE] = names.add(types.get(words[row * WORDS + TYPE]))
  names.move(number, WAITING, state)
  rows.count++
  if (!isLive(state)) rows.endedCount++
  if (state === FAILED || state === DEAD) rows.failedCount++
  if (state === RUNNING) rows.runningCount++
}

/** Files of versions before have no costs. */
function addExtras (rows, { costs = [], errors, versions }, rowOf) {
  for (const [row, units] of costs) rows.charge(rowOf(row), units)
  for (const [row, text] of errors) rows.setError(rowOf(row), text)
  if (versions.length > 0) rows.versions = new Map(versions.map(([row, list]) => [rowOf(row), list]))
}

/** The clock that was saved began at another time. */
function shift ({ segments, strays }, ms) {
  strays.oldestAt += ms
  for (const rows of [...segments.filter(segment => segment !== undefined), strays]) {
    rows.newestAt += ms
    for (let at = 0; at < rows.times.length; at++) if (at % TIMES < 3) rows.times[at] += ms
    for (const versions of rows.versions?.values() ?? []) for (const version of versions) version.at += ms
  }
}

/** The memory of rows. */
function bytesOf (words) {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength)
}

function ioError (path, cause) {
  return new FairlaneError('FAIRLANE_ERR_IO', `${path}: ${cause.message}`, { cause })
}
