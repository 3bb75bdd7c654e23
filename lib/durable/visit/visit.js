'use strict'

// How the command line comes to a folder of jobs: it runs none. It reads the folder whoever has it open, or opens it itself, as a queue in
// which nothing starts.

const { json, structured } = require('../../job/serializers')
const { lookAt, namesOf } = require('../../log/looking')
const { readPath } = require('../../log/options')
const { markIn } = require('../../log/serializer-mark')
const { openVisited } = require('../durable-queue')
const { TimedSurvey } = require('../life/timed-survey')
const { JobState } = require('../run/job-state')
const { Folder } = require('./folder')

const SERIALIZERS = new Map([['json', json], ['structured', structured]])
const RAW = { encode: payload => payload, decode: bytes => bytes } // of a service's own, or of a folder that does not say

/** Payloads of a queue of bytes have no times. */
function makeObserver (kind) {
  return kind === 'bytes' ? undefined : new TimedSurvey()
}

/** As lookAt(), of a log of whatever kind. @throws as lookAt() */
function look (path, onProgress) {
  return lookAt(readPath(path), { makeObserver, readState: JobState.read, onProgress })
}

/**
 * @param {string} path
 * @param {{ onProgress?: Function, now?: number }} [options]
 * @returns {Promise<{ kind: 'bytes' | 'jobs', serializer: string | undefined, folder: Folder }>} to be closed by the caller. A payload is a
 *   Buffer where it cannot be decoded here
 * @throws FAIRLANE_ERR_ARGUMENT if there is no queue, FAIRLANE_ERR_VERSION, FAIRLANE_ERR_IO
 */
async function readFolder (path, { onProgress, now = Date.now() } = {}) {
  const found = await look(path, onProgress)
  const serializer = markIn(found.snapshot.names)
  const folder = new Folder(readPath(path), found, { serializer: SERIALIZERS.get(serializer) ?? RAW, now })
  return { kind: found.kind, serializer, folder }
}

/**
 * @param {string} path
 * @param {object} [options] of durable(), but for the path and `serialize`
 * @returns {Promise<DurableQueue>} in which nothing starts. A payload is a Buffer where it cannot be decoded here
 * @throws FAIRLANE_ERR_ARGUMENT if there is no queue, FAIRLANE_ERR_LOCKED with `pid`, FAIRLANE_ERR_CORRUPT and others of durable()
 */
async function openFolder (path, options) {
  const serialize = SERIALIZERS.get(markIn(namesOf(readPath(path)))) ?? RAW
  return openVisited({ ...options, path, serialize })
}

module.exports = { openFolder, readFolder }
