'use strict'

// How types, jobs and partitions are called at the broker.
//
//   {fairlane:mails}:tenant-a:wait        a key of BullMQ's: prefix, type, what it is
//   {fairlane:mails:3}:tenant-a:wait      the same with partitions: the braces make a Redis Cluster keep what is in one partition together
//   {fairlane:mails}:.ready               a key of ours: BullMQ's have two parts behind the prefix
//   tenant-a:k3x9-1f                      the id of a job, as callers see it: type and id at the broker

const { createHash, randomBytes } = require('node:crypto')
const { crc32 } = require('node:zlib')
const { rangeError, describe } = require('../arguments/errors')
const { readWellFormed } = require('../job/well-formed')

const LONGEST_TYPE = 1024
const LONGEST_KEY = 200 // of longer ones there is a hash
const NO_TYPE = '%' // encodes '': nothing else is encoded as that

/**
 * A type as a part of a key: all that has a meaning there is percent-encoded.
 * @param {string} type
 * @throws FAIRLANE_ERR_TYPE if it is not well-formed Unicode, FAIRLANE_ERR_TOO_LARGE
 */
function nameOf (type) {
  if (type.length > LONGEST_TYPE) {
    throw rangeError('FAIRLANE_ERR_TOO_LARGE', `a type may have at most ${LONGEST_TYPE} characters, and ${describe(type)}… has ${type.length}`)
  }
  readWellFormed(type, 'the type of a job at a broker', 'FAIRLANE_ERR_TYPE')
  return type === '' ? NO_TYPE : encodeURIComponent(type)
}

function typeOf (name) {
  return name === NO_TYPE ? '' : decodeURIComponent(name)
}

/**
 * What a key of jobs is called at the broker.
 * @param {string} key
 * @throws FAIRLANE_ERR_ARGUMENT if it is not well-formed Unicode
 */
function keyNameOf (key) {
  readWellFormed(key, 'the key of a job at a broker', 'FAIRLANE_ERR_ARGUMENT')
  return key.length <= LONGEST_KEY ? `k.${key}` : `h.${createHash('sha256').update(key).digest('base64url')}`
}

/** The id of the job that a schedule has for a time. */
function scheduledName (name, time) {
  const encoded = encodeURIComponent(name)
  const short = encoded.length <= LONGEST_KEY ? encoded : createHash('sha256').update(name).digest('base64url')
  return `s.${short}.${time}`
}

/** In which partition a type lives: the same in all processes. */
function partitionOf (name, count) {
  return count === 1 ? 0 : crc32(name) % count
}

/** @returns {string[]} of each partition, what all its keys begin with */
function prefixesOf (queueName, count) {
  if (count === 1) return [`{fairlane:${queueName}}`]
  return Array.from({ length: count }, (_, index) => `{fairlane:${queueName}:${index}}`)
}

/** The id that callers get, unique in the queue. */
function publicId (name, jobName) {
  return `${name}:${jobName}`
}

/** @returns {{ type: string, jobName: string } | undefined} undefined if no job can have such an id */
function parseId (id) {
  const at = id.indexOf(':')
  if (at < 1) return undefined
  try {
    const type = typeOf(id.slice(0, at))
    return nameOf(type) === id.slice(0, at) ? { type, jobName: id.slice(at + 1) } : undefined
  } catch {
    return undefined
  }
}

/** What a process is called at the broker. */
function processName () {
  return randomBytes(6).toString('base64url').replaceAll('-', '.')
}

/** Ids of the jobs that a process pushes, and of what else it writes: never a whole number, which BullMQ gives out itself. */
class JobNames {
  constructor (processName, kind = 'j') {
    this.prefix = `${kind}.${processName}.`
    this.count = 0
  }

  next () {
    return this.prefix + (this.count++).toString(36)
  }
}

module.exports = { nameOf, typeOf, keyNameOf, scheduledName, partitionOf, prefixesOf, publicId, parseId, JobNames, processName }
