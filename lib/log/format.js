'use strict'

// The bytes of the log. What is written where is drawn here and explained in docs/why/durability.md.
//
//   segment   header | frame | frame | …
//   header    magic 8 | version u16 | kind u16 | segment id u32 | base seq u64 | end of the one before u32 | crc u32      32 bytes
//   frame     length u32 | crc u32 | record count u32 | synced segment u32 | synced offset u32 | records       20 bytes and more
//   PUSH      1, or 2 at the front; 6, or 7 at the front, with options | seq u48 | type length u16 | payload length u32 | type | payload
//   ACK       3 | first seq u48 | count u32
//   STATE     4 | seq u48 | kind u8 | attempts u32 | not before f64 | length of the rest u32 | delay f64 if it is delayed | error
//   TRIM      5 | segment u32
//   DAMAGED   8 | as PUSH, of a job whose record was damaged when compaction came to it; what follows its length is as it was found
//
// Numbers are little endian. The length of a frame is that of all of it; its crc is of all that follows the crc, seeded
// with the segment id and the offset of the frame, so that it is of no use in another place.

const { crc32 } = require('node:zlib')

const MAGIC = Buffer.from('FAIRLANE')
const VERSION = 3
const OLDEST_VERSION = 2 // had no jobs with options. 1, that of 0.1.0: the crc of a frame was seeded with the segment id only
const HEADER_BYTES = 32
// What the payloads of a log are: a queue of bytes would take those of jobs for its own, and make nothing but dead letters the other way.
const KINDS = ['bytes', 'jobs']
const FRAME_BYTES = 20
const PUSH_BYTES = 13
const ACK_BYTES = 11
const STATE_BYTES = 24
const DELAY_BYTES = 8
const TRIM_BYTES = 5

const PUSH = 1
const PUSH_FRONT = 2
const ACK = 3
const STATE = 4
const TRIM = 5
const PUSH_WITH_OPTIONS = 6
const PUSH_FRONT_WITH_OPTIONS = 7
const DAMAGED = 8

// The kinds of states; that of a job which runs, or waits and is not delayed, is 0.
const DEAD = 1
const DELAYED = 2
const OVER = 3

const NO_TYPE = 0xffff
const MAX_TYPE_BYTES = NO_TYPE - 1
// Offsets and lengths are u32; this leaves room for a segment that begins below its limit and ends with such a frame.
const MAX_FRAME_BYTES = 2 ** 30 + 2 ** 16

// Up to here the crc is made by JavaScript, four bytes at a time: that of a frame with one job of 16 B takes 41 ns, byte by byte 67, and
// by zlib 112 (Node 24). From here on zlib is faster.
const SHORT_BYTES = 128
const CRC_TABLE = crcTable()

const SEGMENT_NAME = /^\d{10}\.log$/

module.exports = {
  HEADER_BYTES,
  FRAME_BYTES,
  PUSH_BYTES,
  ACK_BYTES,
  STATE_BYTES,
  DELAY_BYTES,
  TRIM_BYTES,
  PUSH,
  ACK,
  STATE,
  TRIM,
  DAMAGED,
  DEAD,
  DELAYED,
  OVER,
  NO_TYPE,
  MAX_TYPE_BYTES,
  MAX_FRAME_BYTES,
  SEGMENT_NAME,
  OLDEST_VERSION,
  VERSION,
  segmentName,
  encodeHeader,
  headerDefect,
  isOtherVersion,
  isOldVersion,
  versionOf,
  kindOf,
  baseSeqOf,
  previousEndOf,
  pushKind,
  isPush,
  isFront,
  hasOptions,
  markDamaged,
  finishFrame,
  seedOf,
  isFrameAt,
  findFrame,
  readSeq,
  writePush,
  writeSeq,
  writeU32,
  recordsOf,
  visitRecords,
  payloadStart,
  payloadOf,
  typeOf,
  crc32
}

function segmentName (id) {
  return `${String(id).padStart(10, '0')}.log`
}

/**
 * @param {number} previousEnd the length of the segment before, which a cut at the end of a frame would not show otherwise
 * @param {'bytes' | 'jobs'} kind
 */
function encodeHeader (id, baseSeq, previousEnd, kind, version = VERSION) {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  header.writeUInt16LE(version, 8)
  header.writeUInt16LE(KINDS.indexOf(kind), 10)
  header.writeUInt32LE(id, 12)
  header.writeBigUInt64LE(BigInt(baseSeq), 16)
  header.writeUInt32LE(previousEnd, 24)
  header.writeUInt32LE(crc32(header.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4)
  return header
}

/** @returns {string | undefined} what is wrong with the header that bytes begin with */
function headerDefect (bytes, id) {
  if (bytes.length < HEADER_BYTES) return 'the header is incomplete'
  if (!bytes.subarray(0, 8).equals(MAGIC)) return 'this is not a segment of a log'
  if (bytes.readUInt32LE(HEADER_BYTES - 4) !== crc32(bytes.subarray(0, HEADER_BYTES - 4))) return 'the header is damaged'
  if (bytes.readUInt32LE(12) !== id) return `its header says that it is segment ${bytes.readUInt32LE(12)}`
}

/** Whether a header, else whole, is of a format that this code does not know. */
function isOtherVersion (bytes) {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return false
  const version = versionOf(bytes)
  if (version >= OLDEST_VERSION && version <= VERSION) return false
  return bytes.readUInt32LE(HEADER_BYTES - 4) === crc32(bytes.subarray(0, HEADER_BYTES - 4))
}

function versionOf (bytes) {
  return bytes.readUInt16LE(8)
}

/** Whether a header that is whole is of a version whose segments are read, but not written to. */
function isOldVersion (bytes) {
  return versionOf(bytes) < VERSION
}

/** @returns {'bytes' | 'jobs' | undefined} */
function kindOf (bytes) {
  return KINDS[bytes.readUInt16LE(10)]
}

function baseSeqOf (bytes) {
  return Number(bytes.readBigUInt64LE(16))
}

function previousEndOf (bytes) {
  return bytes.readUInt32LE(24)
}

/** The kind of a PUSH record. */
function pushKind (isFront, hasOptions) {
  return (hasOptions ? PUSH_WITH_OPTIONS : PUSH) + (isFront ? 1 : 0)
}

function isPush (kind) {
  return kind === PUSH || kind === PUSH_FRONT || kind === PUSH_WITH_OPTIONS || kind === PUSH_FRONT_WITH_OPTIONS || kind === DAMAGED
}

/** Whether the job of a PUSH record was put before all others. */
function isFront (kind) {
  return kind === PUSH_FRONT || kind === PUSH_FRONT_WITH_OPTIONS
}

/** Whether there are options in a PUSH record. */
function hasOptions (kind) {
  return kind === PUSH_WITH_OPTIONS || kind === PUSH_FRONT_WITH_OPTIONS
}

/** Fills in what precedes the records of a frame that begins at 0, and will be at an offset in a segment. */
function finishFrame (buffer, length, segment, offset, count, syncedSegment, syncedOffset) {
  writeU32(buffer, length, 0)
  writeU32(buffer, count, 8)
  writeU32(buffer, syncedSegment, 12)
  writeU32(buffer, syncedOffset, 16)
  writeU32(buffer, crcOf(buffer, 8, length, seedOf(segment, offset)), 4)
}

/** Writes what precedes the type and the payload of a PUSH record. */
function writePush (bytes, kind, seq, typeLength, payloadLength, at) {
  bytes[at] = kind
  writeSeq(bytes, seq, at + 1)
  writeU16(bytes, typeLength, at + 7)
  writeU32(bytes, payloadLength, at + 9)
}

/**
 * Makes a DAMAGED record of what was found in the place of a PUSH record. Its type is kept if the lengths are still those of the record.
 */
function markDamaged (record, seq) {
  const typeLength = record.readUInt16LE(7)
  const hasType = isPush(record[0]) && typeLength !== NO_TYPE && recordLength(record, 0) === record.length
  writePush(record, DAMAGED, seq, hasType ? typeLength : NO_TYPE, record.length - PUSH_BYTES - (hasType ? typeLength : 0), 0)
}

function crcOf (bytes, at, end, seed) {
  if (end - at > SHORT_BYTES) return crc32(bytes.subarray(at, end), seed)
  let crc = ~seed
  for (; at + 4 <= end; at += 4) {
    crc ^= bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24
    crc = CRC_TABLE[768 + (crc & 0xff)] ^ CRC_TABLE[512 + (crc >>> 8 & 0xff)] ^ CRC_TABLE[256 + (crc >>> 16 & 0xff)] ^ CRC_TABLE[crc >>> 24]
  }
  while (at < end) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ bytes[at++]) & 0xff]
  return ~crc >>> 0
}

/** What a byte does to a crc; then what it does if one, two or three bytes of zeros follow it. */
function crcTable () {
  const table = new Int32Array(4 * 256)
  for (let at = 0; at < table.length; at++) {
    let crc = at < 256 ? at : table[at - 256]
    for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
    table[at] = crc
  }
  return table
}

/** Different for all offsets of a segment, and hardly ever the same in another. */
function seedOf (segment, offset) {
  return (Math.imul(segment, 0x9e3779b1) ^ offset) >>> 0
}

/** Whether a whole frame of the segment begins at `at`; `bytes` are those of the segment from `base` on. */
function isFrameAt (bytes, at, segment, base = 0) {
  if (at + FRAME_BYTES > bytes.length) return false
  const length = bytes.readUInt32LE(at)
  if (length < FRAME_BYTES || at + length > bytes.length) return false
  return crcOf(bytes, at + 8, at + length, seedOf(segment, base + at)) === bytes.readUInt32LE(at + 4)
}

/** @returns {number} where the next whole frame begins, at `at` or behind and below `end`; `end` if there is none */
function findFrame (bytes, at, end, segment, base = 0) {
  while (at < end && !(looksLikeFrame(bytes, at, segment, base) && isFrameAt(bytes, at, segment, base))) at++
  return Math.min(at, end)
}

/**
 * What is quickly seen of a frame, at a place where any bytes may be. A crc at every byte that might be a length takes minutes where a
 * payload of integers was torn.
 */
function looksLikeFrame (bytes, at, segment, base) {
  if (at + FRAME_BYTES > bytes.length) return false
  const end = at + bytes.readUInt32LE(at)
  const mark = bytes.readUInt32LE(at + 12)
  if (end > bytes.length || mark > segment || (mark === segment && bytes.readUInt32LE(at + 16) > base + at)) return false
  let next = at + FRAME_BYTES
  let count = bytes.readUInt32LE(at + 8)
  for (; next < end && count > 0; count--) {
    const length = recordLength(bytes, next)
    if (length === 0) return false
    next += length
  }
  return next === end && count === 0
}

/** The length of the record at `at`; 0 if there is none. */
function recordLength (bytes, at) {
  switch (bytes[at]) {
    case PUSH:
    case PUSH_FRONT:
    case PUSH_WITH_OPTIONS:
    case PUSH_FRONT_WITH_OPTIONS:
    case DAMAGED: {
      if (at + PUSH_BYTES > bytes.length) return 0
      const typeLength = bytes.readUInt16LE(at + 7)
      return PUSH_BYTES + (typeLength === NO_TYPE ? 0 : typeLength) + bytes.readUInt32LE(at + 9)
    }
    case ACK:
      return ACK_BYTES
    case STATE:
      return at + STATE_BYTES > bytes.length ? 0 : STATE_BYTES + bytes.readUInt32LE(at + 20)
    case TRIM:
      return TRIM_BYTES
    default:
      return 0
  }
}

function readSeq (bytes, at) {
  return bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 0x100000000
}

function writeSeq (bytes, seq, at) {
  writeU32(bytes, seq | 0, at)
  writeU16(bytes, (seq / 0x100000000) | 0, at + 4)
}

/** As Buffer's writeUInt32LE, which took 6 ns where this takes 1.4 (Node 20). */
function writeU32 (bytes, value, at) {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

function writeU16 (bytes, value, at) {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
}

/** Where in a PUSH record the payload begins. */
function payloadStart (record) {
  const typeLength = record.readUInt16LE(7)
  return PUSH_BYTES + (typeLength === NO_TYPE ? 0 : typeLength)
}

/** The payload of a PUSH record, in the same memory. */
function payloadOf (record) {
  return record.subarray(payloadStart(record))
}

/** The type in a PUSH record, or undefined. */
function typeOf (record) {
  const length = record.readUInt16LE(7)
  return length === NO_TYPE ? undefined : record.toString('utf8', PUSH_BYTES, PUSH_BYTES + length)
}

/** Where the records of the whole frame at `at` are, for visitRecords(). */
function recordsOf (bytes, at) {
  return { next: at + FRAME_BYTES, end: at + bytes.readUInt32LE(at), count: bytes.readUInt32LE(at + 8) }
}

/**
 * Calls the visitor for the records of a frame, no more than `max` of them: push(seq, kind, at, length), ack(seq, count),
 * state(seq, at, length), trim(segment).
 * @param {{ next: number, end: number, count: number }} records from recordsOf(): goes on
 * @returns {boolean} false if the records are not those of a frame, whatever the crc says. All were visited if records.next is its end
 */
function visitRecords (bytes, records, visitor, max) {
  for (; records.next < records.end && records.count > 0 && max > 0; max--, records.count--) {
    const { next } = records
    const length = recordLength(bytes, next)
    const kind = bytes[next]
    if (isPush(kind)) visitor.push(readSeq(bytes, next + 1), kind, next, length)
    else if (kind === ACK) visitor.ack(readSeq(bytes, next + 1), bytes.readUInt32LE(next + 7))
    else if (kind === STATE) visitor.state(readSeq(bytes, next + 1), next, length)
    else if (kind === TRIM) visitor.trim(bytes.readUInt32LE(next + 1))
    else return false
    records.next += length
  }
  return records.next < records.end ? records.count > 0 : records.next === records.end && records.count === 0
}
