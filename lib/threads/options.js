'use strict'

// The file and the options of threads(), read once. What is the caller's is copied: threads that replace others get what the first ones
// got.

const { availableParallelism } = require('node:os')
const { resolve } = require('node:path')
const { pathToFileURL } = require('node:url')
const { SHARE_ENV } = require('node:worker_threads')
const { typeError, describe } = require('../arguments/errors')
const { checkObject, isArray, readFunction, readInteger, readLimitMs, readOwn } = require('../arguments/fields')

const OPTION = 'FAIRLANE_ERR_OPTION'
const LOAD_TIMEOUT_MS = 60000
const NAMES = ['threads', 'name', 'perThread', 'transfer', 'loadTimeoutMs', 'resourceLimits', 'workerData', 'env', 'argv', 'execArgv']

module.exports = { readFile, readOptions }

/** @param {string | URL} file @returns {string} its URL */
function readFile (file) {
  const isText = typeof file === 'string' && file !== ''
  if (isText && !file.startsWith('file:')) return pathToFileURL(resolve(file)).href
  if ((isText || file instanceof URL) && URL.canParse(file)) {
    const { href, protocol } = new URL(file)
    if (protocol === 'file:') return href
  }
  throw typeError('FAIRLANE_ERR_RUNNER', `the file of the runner must be a path or a file: URL, not ${describe(file)}`)
}

function readOptions (options = {}) {
  const fields = readOwn(options, 'the options', NAMES, OPTION)
  const { threads = availableParallelism(), perThread = 1, name = 'default', transfer, loadTimeoutMs = LOAD_TIMEOUT_MS } = fields
  if (typeof name !== 'string') throw typeError(OPTION, `name must be a string, not ${describe(name)}`)
  return {
    threads: readCount(threads, 'threads'),
    perThread: readCount(perThread, 'perThread'),
    name,
    transfer: transfer === undefined ? undefined : readFunction(transfer, 'transfer', OPTION),
    loadTimeoutMs: readLimitMs(loadTimeoutMs, 'loadTimeoutMs', OPTION),
    worker: {
      resourceLimits: readObject(fields, 'resourceLimits'),
      workerData: readData(fields),
      env: fields.env === SHARE_ENV ? SHARE_ENV : readObject(fields, 'env'),
      argv: readList(fields, 'argv'),
      execArgv: readList(fields, 'execArgv')
    }
  }
}

function readCount (value, name) {
  return readInteger(value, name, 1, Number.MAX_SAFE_INTEGER, OPTION)
}

function readObject (fields, name) {
  const { [name]: object } = fields
  if (object === undefined) return undefined
  checkObject(object, name, OPTION)
  return { ...object }
}

function readList (fields, name) {
  const { [name]: list } = fields
  if (list === undefined) return undefined
  if (isArray(list)) return [...list]
  throw typeError(OPTION, `${name} must be an array, not ${describe(list)}`)
}

function readData ({ workerData }) {
  try {
    return structuredClone(workerData)
  } catch (cause) {
    throw typeError(OPTION, 'workerData cannot be cloned', { cause })
  }
}
