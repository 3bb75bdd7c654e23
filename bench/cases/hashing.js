'use strict'

// Question: what does bounded concurrency do for real work: hashing every file below node_modules?
//
// Thousands of files are read by fs streams into sha256, 16 at a time; 'no queue' starts all of them at once and may run
// out of file descriptors (its errors are counted, not hidden). The files are listed and read once beforehand, so that
// everybody finds them in the page cache. The queues' own work is a vanishing part here: what shows is what they do to
// throughput and memory. All contenders' digests, combined in the files' order, must be equal.

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { contenders, entriesFor } = require('../contenders')

const ROOT = path.join(__dirname, '../../node_modules')
const SLOTS = 16
const QUICK_FILES = 500

module.exports = {
  name: 'hashing',
  title: 'Real work: hashing every file below node_modules, 16 slots',
  about: 'fs streams into sha256. No queue starts everything at once. All digests are compared.',
  metrics: [
    { key: 'filesPerSecond', label: 'files per second', unit: '/s', higherIsBetter: true, best: true },
    { key: 'peakMB', label: 'peak memory', unit: 'MB', noRatio: true },
    { key: 'errors', label: 'errors', unit: '', noRatio: true }
  ],
  mustAgree: 'digest',

  cells ({ quick }) {
    return [{
      id: 'node_modules',
      label: quick ? `${QUICK_FILES} files` : 'every file',
      ...(quick && { limit: QUICK_FILES }),
      contenders: entriesFor(['fairlane', 'async.queue', 'fastq', 'p-limit', 'no queue'], 'callback'),
      weight: 6
    }]
  },

  /** Reads all files once, so that the first contender finds what the others find. */
  prepare ([{ limit }]) {
    for (const file of listFiles(limit)) fs.readFileSync(file)
  },

  async measure ({ limit }, contender) {
    const files = listFiles(limit)
    const digests = new Array(files.length)
    const errors = {}
    let settled = 0
    const queue = await contenders[contender].create(runner, { concurrency: SLOTS, style: 'callback' })

    function runner (index, done) {
      hashFile(files[index], (err, digest) => {
        if (err) errors[err.code] = (errors[err.code] || 0) + 1
        digests[index] = digest
        done()
      })
    }

    const begun = performance.now()
    await new Promise((resolve, reject) => {
      for (let i = 0; i < files.length; i++) {
        queue.push(i, (err) => {
          if (err) return reject(err)
          if (++settled === files.length) resolve()
        })
      }
    })
    const seconds = (performance.now() - begun) / 1000

    await new Promise((resolve) => setTimeout(resolve, 2))
    if (settled !== files.length) throw new Error(`${contender} miscounted: ${files.length} files, ${settled} settled`)
    const errorCount = Object.values(errors).reduce((sum, count) => sum + count, 0)
    if (errorCount > 0 && contender !== 'no queue') throw new Error(`${contender}: ${JSON.stringify(errors)}`)
    return {
      filesPerSecond: (files.length - errorCount) / seconds,
      peakMB: process.resourceUsage().maxRSS / 1024,
      errors: errorCount,
      errorCodes: errors,
      files: files.length,
      digest: errorCount > 0 ? undefined : combine(digests)
    }
  }
}

/** The regular files below node_modules in a fixed order; the first `limit` of them, if given. */
function listFiles (limit) {
  const files = []
  const folders = [ROOT]
  while (folders.length > 0) {
    const folder = folders.pop()
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const name = path.join(folder, entry.name)
      if (entry.isDirectory()) folders.push(name)
      else if (entry.isFile()) files.push(name)
    }
  }
  return files.sort().slice(0, limit)
}

/** Calls back when the file is closed again, so that the slots bound the open files too. */
function hashFile (file, callback) {
  const hash = crypto.createHash('sha256')
  let failure = null
  fs.createReadStream(file)
    .on('data', (chunk) => hash.update(chunk))
    .on('error', (err) => { failure = err })
    .on('close', () => failure ? callback(failure) : callback(null, hash.digest()))
}

function combine (digests) {
  const hash = crypto.createHash('sha256')
  for (const digest of digests) hash.update(digest)
  return hash.digest('hex')
}
