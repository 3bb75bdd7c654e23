'use strict'

// Queues that are wrong, each in one thing, for the tests that have to find it out. From which seed on: what is found rarely would
// take long otherwise.

const { Compactor } = require('../../lib/log/compaction')
const { Log } = require('../../lib/log/log')
const { Syncer } = require('../../lib/log/syncer')
const { PersistentQueue } = require('../../lib/log')
const { SimulatedDisk } = require('./disk')

/** Puts another method in the place of one. @returns {() => void} which undoes it */
function replace (prototype, name, make) {
  const original = prototype[name]
  prototype[name] = make(original)
  return () => { prototype[name] = original }
}

/** Syncing a folder does nothing if the last change to it was of this kind. */
function namesAreNotSynced (isMaking) {
  return replace(SimulatedDisk.prototype, 'syncFolder', original => function (path) {
    const last = this.folders.get(path).changes.at(-1)
    if (last !== undefined && (last.file !== undefined) === isMaking) return
    original.call(this, path)
  })
}

const mutants = {
  'a sync of a file does nothing': {
    apply: () => replace(SimulatedDisk.prototype, 'sync', () => (fd, callback) => setImmediate(callback, null))
  },
  'a blocking sync of a file does nothing': {
    apply: () => replace(SimulatedDisk.prototype, 'syncNow', () => () => {})
  },
  'it acknowledges what is not synced': {
    apply: () => replace(Log.prototype, 'writeFirst', original => function () {
      this.waitsForDisk = false
      return original.call(this)
    })
  },
  'names of new files are not synced': { apply: () => namesAreNotSynced(true) },
  'names of removed files are not synced': { apply: () => namesAreNotSynced(false) },
  'a segment is made before the one before it is synced': {
    ack: 'os',
    apply: () => replace(Log.prototype, 'roll', () => function () { return this.createNext() })
  },
  'it takes for synced what was written during the sync': {
    apply: () => replace(Syncer.prototype, 'synced', original => function (segment) { original.call(this, segment, this.log.offset) })
  },
  'segments are removed before what was moved is synced': {
    ack: 'os',
    apply: () => replace(Compactor.prototype, 'clear', original => async function (id) {
      const { log } = this.store
      log.flush = async () => log.commitNow(false)
      await original.call(this, id).finally(() => { delete log.flush })
    })
  },
  'the newest of several segments is removed first': {
    apply: () => replace(Compactor.prototype, 'remove', original => function (ids) { original.call(this, ids.reverse()) })
  },
  'it writes a job again that is finished meanwhile': {
    from: 119,
    apply: () => replace(Compactor.prototype, 'clear', original => async function (id) {
      const { log, table } = this.store
      const records = [...table.seqsIn(id)].map(seq => Buffer.from(this.store.record(seq)))
      await log.flush()
      for (const record of records) {
        const at = log.append(record.length, 1)
        record.copy(log.group.buffer, at)
      }
      await original.call(this, id)
    })
  },
  'what a write that failed has left is not cut off': {
    faultRate: 0.1,
    apply: () => replace(SimulatedDisk.prototype, 'truncate', () => () => {})
  },
  'a segment from which a write was cut off is not synced again': {
    faultRate: 0.1,
    from: 36,
    apply: () => replace(Log.prototype, 'takeBack', original => function (err) {
      const { offset } = this.syncer
      original.call(this, err)
      this.syncer.offset = offset
    })
  },
  'a sync under way counts for what is cut off meanwhile': {
    faultRate: 0.1,
    from: 290,
    apply: () => replace(Log.prototype, 'takeBack', original => function (err) {
      original.call(this, err)
      this.syncer.cutsCount--
    })
  },
  'an acknowledgement of several is written one by one': {
    ack: 'os',
    apply: () => replace(PersistentQueue.prototype, 'ack', original => function (ids) {
      if (!Array.isArray(ids) || ids.length < 2) return original.call(this, ids)
      return ids.reduce((before, id) => before.then(() => original.call(this, id)), Promise.resolve())
    })
  }
}

module.exports = { mutants }
