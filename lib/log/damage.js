'use strict'

// What is told of logs that are damaged, or have another format.

const { join } = require('node:path')
const { FairlaneError } = require('../arguments/errors')
const { OLDEST_VERSION, VERSION } = require('./format')

/** @returns {FairlaneError} with `file` */
function otherVersion (file, version) {
  const what = `The log has format ${version}, and this version of fairlane reads ${OLDEST_VERSION} and ${VERSION} (${file})`
  return Object.assign(new FairlaneError('FAIRLANE_ERR_VERSION', what), { file })
}

function wasDamaged (seq) {
  return `job ${seq} was damaged already when it was moved here`
}

/** @returns {FairlaneError} with `file` and `offset` */
function corrupt (folder, name, offset, what) {
  const file = join(folder, name)
  const error = new FairlaneError('FAIRLANE_ERR_CORRUPT', `The log is damaged: ${what} (${file}, offset ${offset})`)
  return Object.assign(error, { file, offset })
}

module.exports = { corrupt, otherVersion, wasDamaged }
