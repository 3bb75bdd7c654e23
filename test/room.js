'use strict'

// npm run test:room -- durable [more mocha arguments]
//
// The tests of a room, and of the rooms whose files import it: what somebody who changes one room runs while at work. Without coverage, and
// without what only `npm test` looks at. Which rooms import which is read from the code, by the reader of the test of import rules.

const { spawnSync } = require('node:child_process')
const { existsSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { FILES, importsOf, roomOf } = require('./support/imports')

const root = join(__dirname, '..')

/** Folders of tests that are of a room, but do not have its name. */
const BESIDE = {
  core: ['test/property', 'test/loop'],
  schedulers: ['test/property']
}

if (require.main === module) main(process.argv.slice(2))

function main ([room, ...others]) {
  const known = roomsWithTests()
  if (!known.includes(room)) {
    console.error(`usage: npm run test:room -- room [mocha arguments]\nrooms: ${known.join(', ')}`)
    process.exitCode = 2
    return
  }
  const rooms = [room, ...importersOf(room).filter(name => known.includes(name))]
  console.log(`The tests of ${rooms.join(', ')}`)
  const folders = new Set(rooms.flatMap(name => [`test/${name}`, ...BESIDE[name] ?? []]))
  const specs = Array.from(folders, folder => `${folder}/**/*.test.js`)
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js')
  process.exitCode = spawnSync(process.execPath, [mocha, '--parallel', '--jobs', '2', ...specs, ...others], { stdio: 'inherit', cwd: root }).status ?? 1
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
