'use strict'

// npm run test:room -- durable [more mocha arguments]
//
// The tests of a room, and the quick ones of the rooms whose files import it: what somebody who changes one room runs while at work, in
// less than a minute on two cores. Without coverage, and without what only `npm test` looks at. Which rooms import which is read from the
// code, by the reader of the test of import rules.

const { spawnSync } = require('node:child_process')
const { existsSync, readdirSync } = require('node:fs')
const { availableParallelism } = require('node:os')
const { join, posix } = require('node:path')
const { FILES, importsOf, roomOf } = require('./support/imports')

const root = join(__dirname, '..')

/** Folders of tests that are of a room, but do not have its name. */
const BESIDE = {
  core: ['test/property'],
  schedulers: ['test/property']
}

/** What tests import that start processes, servers and browsers, or play rounds at random. */
const SLOW = new Set(['node:child_process', 'test/support/redis.js', 'test/support/chromium.js', 'test/support/programs.js', 'test/support/rounds.js'])

/** More files at a time than cores: many of them wait for servers, processes and disks. */
const JOBS = String(3 * availableParallelism())

if (require.main === module) main(process.argv.slice(2))

function main ([room, ...others]) {
  const known = roomsWithTests()
  if (!known.includes(room)) {
    console.error(`usage: npm run test:room -- room [mocha arguments]\nrooms: ${known.join(', ')}`)
    process.exitCode = 2
    return
  }
  const importers = importersOf(room).filter(name => known.includes(name))
  console.log(`The tests of ${room}${importers.length === 0 ? '' : `, and the quick ones of ${importers.join(', ')}`}`)
  const own = [room, ...BESIDE[room] ?? []].flatMap(testsIn)
  const quick = importers.flatMap(testsIn).filter(file => !own.includes(file) && !isSlow(file))
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js')
  const args = [mocha, '--parallel', '--jobs', JOBS, ...own, ...quick, ...others]
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', cwd: root }).status ?? 1
}

/** @returns {string[]} the files of tests in a folder below test/ */
function testsIn (name) {
  const folder = name.startsWith('test/') ? name : `test/${name}`
  return readdirSync(join(root, folder), { recursive: true })
    .filter(file => file.endsWith('.test.js'))
    .map(file => posix.join(folder, file.replaceAll('\\', '/')))
}

/** Whether a file of tests, or what it imports of test/, imports what is slow. */
function isSlow (file, seen = new Set()) {
  if (SLOW.has(file)) return true
  if (!file.startsWith('test/') || seen.has(file)) return false
  seen.add(file)
  return importsOf(file).some(name => isSlow(name.startsWith('test/') && !name.endsWith('.js') ? `${name}.js` : name, seen))
}

/** @returns {string[]} the folders below test/ that a room of the house has */
function roomsWithTests () {
  const rooms = new Set(FILES.map(roomOf))
  return readdirSync(__dirname).filter(name => rooms.has(name) && existsSync(join(__dirname, name)))
}

/** @returns {string[]} the rooms of which a file imports one of this room; the entry and the seam stand for the core */
function importersOf (room) {
  const files = FILES.filter(file => roomOf(file) !== room && importsOf(file).some(name => FILES.includes(name) && roomOf(name) === room))
  return [...new Set(files.map(roomOf))].sort()
}

module.exports = { importersOf, roomsWithTests }
