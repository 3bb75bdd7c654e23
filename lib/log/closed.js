'use strict'

// The file `closed`: where a log ends that was closed in order, and which number comes next. What is missing at its end can be missed then,
// and no number is skipped.

const { join } = require('node:path')
const { crc32 } = require('./format')

const CLOSED_NAME = 'closed'

/** Nothing else depends on it, so that a disk which is full now is not worth an error. */
function writeClosed (files, folder, segment, offset, nextSeq) {
  const text = `${segment} ${offset} ${nextSeq}`
  const bytes = Buffer.from(`${text} ${crc32(text)}\n`)
  let fd
  try {
    fd = files.create(join(folder, CLOSED_NAME))
    files.write(fd, bytes, 0, bytes.length, 0)
    files.syncNow(fd)
    files.syncFolder(folder)
  } catch {
    // as if it had not been closed
  } finally {
    if (fd !== undefined) files.close(fd)
  }
}

/**
 * @returns {{ segment: number, offset: number, nextSeq: number } | undefined} undefined if it was not finished: of no use then, and no loss
 */
function readClosed (text) {
  const [, numbers, segment, offset, nextSeq, crc] = /^((\d+) (\d+) (\d+)) (\d+)\n$/.exec(text) ?? []
  if (numbers === undefined || crc32(numbers) !== Number(crc)) return undefined
  return { segment: Number(segment), offset: Number(offset), nextSeq: Number(nextSeq) }
}

module.exports = { writeClosed, readClosed, CLOSED_NAME }
