'use strict'

// Removes a log that nobody has open: the files that are its own, and the folder if there are no others in it.

const { join } = require('node:path')
const { FairlaneError } = require('../arguments/errors')
const { CLOSED_NAME } = require('./closed')
const { SEGMENT_NAME } = require('./format')
const { ioError } = require('./log')
const { NUMBERS_NAME } = require('./numbers')
const { REPAIR_NAME } = require('./reading')
const { RESERVE_NAME } = require('./reserve')
const { CONDENSED_NAME } = require('./segments')
const { MARK_NAME } = require('./serializer-mark')

const OTHER_NAMES = [CLOSED_NAME, CONDENSED_NAME, REPAIR_NAME, RESERVE_NAME]

/** Rejects with FAIRLANE_ERR_LOCKED or FAIRLANE_ERR_IO. */
async function removeStore (folder, { files, lock }) {
  try {
    if (list(files, folder).length > 0) await removeFiles(folder, files, await lock(folder))
    files.removeFolder(folder)
  } catch (err) {
    throw err instanceof FairlaneError ? err : ioError(err)
  }
}

async function removeFiles (folder, files, taken) {
  try {
    // Looked up under the lock, since another process may have been closing it. The oldest segment first: what a crash leaves of
    // it cannot be taken for a whole log.
    for (const name of list(files, folder).sort()) files.remove(join(folder, name))
  } finally {
    await taken.release()
  }
}

/** The names of the files of a log. */
function list (files, folder) {
  return files.list(folder).filter(
    name => SEGMENT_NAME.test(name) || NUMBERS_NAME.test(name) || MARK_NAME.test(name) || OTHER_NAMES.includes(name)
  )
}

module.exports = { removeStore }
