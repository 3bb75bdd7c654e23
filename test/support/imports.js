'use strict'

// Which files the package has, and what each of them imports.

const { readdirSync, readFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const ts = require('typescript')
const { root } = require('./child')

const FILES = ['index.js', ...filesBelow('lib'), ...filesBelow('schedulers')]

module.exports = { FILES, importsOf, roomOf }

function filesBelow (folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map(file => posix.join(folder, file.replaceAll('\\', '/')))
    .filter(file => file.endsWith('.js'))
    .sort()
}

/** What a file requires: packages by name, files by their path in the repository. */
function importsOf (file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true)
  return importedFiles.map(({ fileName }) => fileName.startsWith('.') ? resolve(file, fileName) : fileName)
}

function resolve (from, path) {
  const target = posix.join(posix.dirname(from), path)
  if (target.endsWith('.js')) return target
  const candidates = [`${target}.js`, posix.join(target, 'index.js')]
  return candidates.find(name => FILES.includes(name)) ?? target
}

/** lib/durable/push/keys.js is in durable, and index.js in core. */
function roomOf (file) {
  if (file === 'index.js') return 'core'
  const [first, second] = file.split('/')
  return first === 'schedulers' ? first : second
}
