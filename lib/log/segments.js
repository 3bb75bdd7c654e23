'use strict'

// Files of a log come and go whole: what is made or removed here is so after a crash too, or the error says what is left to be done.

const { join } = require('node:path')
const { HEADER_BYTES, encodeHeader, segmentName } = require('./format')

// What a segment is written to that is to take the place of another one.
const CONDENSED_NAME = 'condensed'

/**
 * Makes the file of a segment, with its header and with its name synced into the folder. If that fails, there is no file, or the error
 * has `leftOver`, its path; if it isn't known whether there is one, the error has `isUnknown` and a `cause`.
 * @returns {number} its descriptor
 */
function createSegment (files, folder, id, { baseSeq, previousEnd, kind }) {
  const path = join(folder, segmentName(id))
  const fd = files.create(path)
  try {
    writeWhole(files, fd, encodeHeader(id, baseSeq, previousEnd, kind), HEADER_BYTES, 0)
    syncName(files, folder)
    return fd
  } catch (err) {
    files.close(fd)
    if (!err.isUnknown) orLeave(files, folder, path, err)
    throw err
  }
}

/** Removes what there is of a segment: it may not come back, since the one before it goes on. */
function orLeave (files, folder, path, err) {
  try {
    removeDurably(files, folder, path)
  } catch (later) {
    if (later.isUnknown) throw later
    err.leftOver = path
  }
}

/** Removes a file that may be gone already, for good. If it isn't known whether it is, the error has `isUnknown` and a `cause`. */
function removeDurably (files, folder, path) {
  try {
    files.remove(path)
  } catch (err) {
    if (err.code !== 'ENOENT') throw err
  }
  syncName(files, folder)
}

/**
 * Puts another file in the place of that of a segment, with these bytes, which say the same. If that fails, all is as before; if it isn't
 * known which of the two is there, the error has `isUnknown` and a `cause`.
 * @returns {number} its descriptor
 */
function replaceSegment (files, folder, id, bytes) {
  const path = join(folder, CONDENSED_NAME)
  const fd = files.create(path)
  try {
    writeWhole(files, fd, bytes, bytes.length, 0)
    files.syncNow(fd)
    files.syncFolder(folder) // there is a descriptor for that
    files.rename(path, join(folder, segmentName(id)))
  } catch (err) {
    files.close(fd)
    files.remove(path)
    throw err
  }
  try {
    files.syncFolder(folder)
    return fd
  } catch (cause) {
    files.close(fd)
    throw Object.assign(new Error('the name of a segment could not be synced', { cause }), { isUnknown: true, cause })
  }
}

function syncName (files, folder) {
  try {
    files.syncFolder(folder)
  } catch (cause) {
    // without a descriptor for the folder nothing was begun
    if (cause.syscall === 'open') throw cause
    throw Object.assign(new Error('a name in the folder could not be synced', { cause }), { isUnknown: true })
  }
}

/** Writes all bytes. A short write does not say why it was short: the next one does. */
function writeWhole (files, fd, buffer, length, position) {
  let done = 0
  while (done < length) {
    const count = files.write(fd, buffer, done, length - done, position + done)
    if (count === 0) throw new Error('nothing could be written')
    done += count
  }
}

module.exports = { CONDENSED_NAME, createSegment, removeDurably, replaceSegment, writeWhole }
