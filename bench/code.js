'use strict'

// Which of the package's files a measurement has loaded, and whether they are still what they were: so that a table can say that it is
// older than the code it describes.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
const SOURCES = ['lib', 'schedulers', 'index.js']

/** @returns {string[]} the package's files that this process has loaded, from the repository's root */
function loadedFiles () {
  return Object.keys(require.cache)
    .map((file) => path.relative(ROOT, file).split(path.sep).join('/'))
    .filter((file) => SOURCES.includes(file.split('/')[0]))
}

/**
 * @param {Iterable<string>} files from the repository's root
 * @returns {Object<string, string>} a digest by file
 */
function digestsOf (files) {
  return Object.fromEntries([...files].sort().map((file) => [file, digestOf(file)]))
}

/**
 * @param {{ code?: Object<string, string> }} report a result
 * @returns {string | undefined} how the code has changed since it was measured; undefined if it has not
 */
function staleness ({ code }) {
  if (code === undefined) return 'measured before results kept what code they are of'
  const files = Object.keys(code)
  const changed = files.filter((file) => digestOf(file) !== code[file])
  if (changed.length > 0) return `since then ${changed.length} of the ${files.length} files that were measured have changed`
}

function digestOf (file) {
  let text
  try {
    text = fs.readFileSync(path.join(ROOT, file))
  } catch {
    return 'gone'
  }
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

module.exports = { loadedFiles, digestsOf, staleness }
