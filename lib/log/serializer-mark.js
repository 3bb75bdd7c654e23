'use strict'

// Which serializer the payloads of a folder come from, by the name of an empty file. Another one would make dead letters of all jobs:
//
//   serializer-structured, serializer-json, or serializer-custom for an object of the caller's
//
// docs/decisions/0101-serializer-mark.md says why.

const { join } = require('node:path')
const { FairlaneError } = require('../arguments/errors')
const { nameOf } = require('../job/serializers')

const MARK_NAME = /^serializer-(structured|json|custom)$/

class SerializerMark {
  /**
   * @param {object} files
   * @param {string} folder
   * @param {string[]} names of the files that are in it
   * @param {object} serializer which it is opened with
   */
  constructor (files, folder, names, serializer) {
    this.files = files
    this.folder = folder
    this.name = `serializer-${nameOf(serializer)}`
    this.isThere = names.includes(this.name)
    this.others = names.filter(name => MARK_NAME.test(name) && name !== this.name)
  }

  /** @throws FAIRLANE_ERR_SERIALIZER */
  check (jobsCount) {
    if (jobsCount === 0 || this.isThere || this.others.length === 0) return
    const [theirs, ours] = [this.others[0], this.name].map(name => MARK_NAME.exec(name)[1])
    throw new FairlaneError(
      'FAIRLANE_ERR_SERIALIZER', `The jobs were pushed with serialize: '${theirs}', and the queue was opened with '${ours}' (${this.folder})`
    )
  }

  /**
   * Marks the folder, which was checked, for a caller who will sync it before there is another job. That it cannot be marked now, as the
   * disk is full, is no error; that another mark stays is one.
   */
  set () {
    for (const name of this.others) this.files.remove(join(this.folder, name))
    if (this.isThere) return
    try {
      this.files.close(this.files.create(join(this.folder, this.name)))
    } catch {
      // the next opening will
    }
  }
}

/** @returns {'structured' | 'json' | 'custom' | undefined} the serializer whose mark a folder has, by the names of its files */
function markIn (names) {
  const [found] = names.filter(name => MARK_NAME.test(name))
  return found === undefined ? undefined : MARK_NAME.exec(found)[1]
}

module.exports = { SerializerMark, MARK_NAME, markIn }
