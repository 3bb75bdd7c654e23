'use strict'

// Where a log that was read goes on: at the end of its last segment, or in a new one behind that. All that was read is synced before
// anything is written.

const { join } = require('node:path')
const { HEADER_BYTES, segmentName } = require('./format')
const { createSegment } = require('./segments')

/**
 * Also removes segments whose removal was begun.
 * @param {{ files: object, folder: string, kind: string, segments: Map<number, object>, trimmed: number, nextSeq: number, cut: object |
 *   undefined, isOld: boolean }} log that was read. segments: which are there; changed. cut: what is to be cut off the last one. isOld:
 *   that is of a version which is not written to
 * @param {boolean} isDamaged what is damaged stays as it is
 * @returns {Promise<{ segment: number, offset: number, fd: number }>}
 */
async function openTail (log, isDamaged) {
  const tail = await (isDamaged || log.segments.size === 0 ? newTail(log) : oldTail(log))
  await removeTrimmed(log, tail)
  return tail
}

/** What was read may not have been synced: it is from now on. */
async function oldTail (log) {
  const { files, folder, segments, cut, isOld } = log
  const segment = [...segments.keys()].at(-1)
  const fd = files.open(join(folder, segmentName(segment)))
  const offset = segments.get(segment).bytes
  await orClose(files, fd, () => {
    if (cut?.file === segmentName(segment)) files.truncate(fd, offset)
    return sync(files, fd)
  })
  if (!isOld) return { segment, offset, fd }
  // what is written from here on would be damage to who knows that version only
  files.close(fd)
  return newTail(log)
}

async function newTail ({ files, folder, kind, segments, trimmed, nextSeq }) {
  const last = [...segments.keys()].at(-1) ?? trimmed
  const segment = last + 1
  if (segments.has(last)) await syncSegment(files, folder, last)
  const fd = createSegment(files, folder, segment, { baseSeq: nextSeq, previousEnd: segments.get(last)?.bytes ?? 0, kind })
  await orClose(files, fd, () => sync(files, fd))
  segments.set(segment, { bytes: HEADER_BYTES, liveCount: 0 })
  return { segment, offset: HEADER_BYTES, fd }
}

/**
 * Segments whose removal was begun. They come back when a crash forgets it. What says so, and what was moved out of them, is
 * in the tail, and synced by now.
 */
async function removeTrimmed ({ files, folder, segments, trimmed }, tail) {
  for (const [id, { liveCount }] of segments) {
    if (id > trimmed || liveCount > 0) return
    await orClose(files, tail.fd, () => {
      files.remove(join(folder, segmentName(id)))
      files.syncFolder(folder)
    })
    segments.delete(id)
  }
}

async function syncSegment (files, folder, id) {
  const fd = files.open(join(folder, segmentName(id)))
  try {
    await sync(files, fd)
  } finally {
    files.close(fd)
  }
}

function sync (files, fd) {
  return new Promise((resolve, reject) => files.sync(fd, err => err ? reject(err) : resolve()))
}

async function orClose (files, fd, use) {
  try {
    await use()
  } catch (err) {
    files.close(fd)
    throw err
  }
}

module.exports = { openTail }
