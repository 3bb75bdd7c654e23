'use strict'

// Opens a log: takes the lock, reads what is there, and ends a repair.

const { FairlaneError } = require('../arguments/errors')
const { ioError } = require('./log')
const { endRepair, recover } = require('./recovery')
const { Store } = require('./store')

/**
 * Opens the log in a folder, which is made if need be.
 * @param {string} folder
 * @param {object} options read already: segmentBytes, ack, repair, onProgress; and `kind`, what the payloads are: 'bytes' or 'jobs'. Of
 *   jobs also `serialize`, and `readState`, which makes the states that they are in: { bytes, claim, isOver, cut, write(buffer, seq, at) }
 * @param {{ files: object, lock: (folder: string) => Promise<{ release: () => Promise<void> }> }} environment
 * @param {{ safe?: (endSeq: number) => void, settled?: (group: object) => void, failed?: (err: Error) => void,
 *   unfinished?: (seq: number) => void, unwritable?: (err: Error) => void, full?: (err: Error) => void, freed?: () => void,
 *   ended?: () => void }} [owner] is told which jobs are safe, which groups are settled, that the log has failed, and that nothing can be
 *   written any more. When a write has failed and the log goes on: of bytes, which acks are undone; of jobs, that there is something
 *   `unwritten`. Also that the reserve is made use of, and that a segment was removed
 * @returns {Promise<Store>}
 * @throws FAIRLANE_ERR_LOCKED, FAIRLANE_ERR_CORRUPT, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_SERIALIZER, FAIRLANE_ERR_IO
 */
async function openStore (folder, options, { files, lock }, owner) {
  let taken // the lock
  let store
  try {
    files.makeFolder(folder)
    taken = await lock(folder)
    const found = await recover(files, folder, options)
    store = new Store(files, folder, options, taken, found, owner)
    if (found.dropped.length > 0) {
      await store.compactor.rewriteBefore(found.tail.segment)
      endRepair(files, folder)
    }
    return store
  } catch (err) {
    if (store !== undefined) store.log.fail(err)
    await (store ?? taken)?.release().catch(() => {})
    throw err instanceof FairlaneError ? err : ioError(err)
  }
}

module.exports = { openStore }
