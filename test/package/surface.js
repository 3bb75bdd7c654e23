'use strict'

// What others may use of the package, as text. `npm run surface` writes it to surface.txt, which a test compares with the code. What
// that means is told in docs/reference/stability.md.

const { readFileSync, writeFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const ts = require('typescript')
const { codes, warnings } = require('../../lib/arguments/codes')
const { Broker } = require('../../lib/distributed/broker/broker')
const { History } = require('../../lib/history')
const log = require('../../lib/log/format')
const { Metrics } = require('../../lib/metrics')
const manifest = require('../../package.json')
const { root } = require('../support/child')

const FILE = join(__dirname, 'surface.txt')

if (require.main === module) writeFileSync(FILE, surface())

module.exports = { FILE, declarations, surface }

/** @returns {string} a line for each name, and all declarations without their comments; the same on each version of Node.js */
function surface () {
  return [
    section('formats', [`log ${log.OLDEST_VERSION} to ${log.VERSION}`, `broker ${Broker.format}`]),
    section('codes of errors', Object.keys(codes).sort()),
    section('codes of warnings', Object.keys(warnings).sort()),
    section('metrics', metrics()),
    section('columns of exported tables', columns()),
    section('programs', Object.keys(manifest.bin)),
    section('peers', Object.entries(manifest.peerDependencies).map(([name, range]) => `${name} ${range}`)),
    section('engines', [manifest.engines.node]),
    ...Object.keys(manifest.exports).filter(isCode).map(entry => section(nameOf(entry), valuesOf(nameOf(entry)))),
    ...declarations().map(file => section(file, [printed(file)]))
  ].join('\n')
}

/** Names as Prometheus and OpenTelemetry have them. */
function metrics () {
  const observed = new Metrics({ name: 'name' })
  const names = [...Buffer.from(observed.toText()).toString().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  const instrument = kind => (name, { unit }) => names.push(`${name} ${kind} ${unit}`)
  observed.meter({
    createObservableCounter: instrument('counter'), createObservableGauge: instrument('gauge'), addBatchObservableCallback () {}
  })
  return names.sort()
}

/** Each with its type, as `exportTo()` of a history makes them. */
function columns () {
  const made = []
  const database = { exec: sql => { made.push(/^CREATE TABLE .*?\((.*)\)$/.exec(sql)) }, prepare: () => ({ run () {} }) }
  new History().exportTo(database)
  return made.filter(found => found !== null).flatMap(([, columns]) => columns.split(', '))
}

function isCode (entry) {
  return entry !== './package.json'
}

function nameOf (entry) {
  return manifest.name + entry.slice(1)
}

function section (title, lines) {
  return `== ${title}\n${lines.join('\n')}\n`
}

/** What an entry has at run time. */
function valuesOf (name) {
  const entry = require(name)
  const itself = typeof entry === 'function' ? ['(a function)'] : []
  return [...itself, ...Object.keys(entry).sort()]
}

/** The files of types that entries name, and those that these export from. */
function declarations () {
  const files = new Set()
  const visit = file => {
    if (files.has(file)) return
    files.add(file)
    for (const [, other] of readFileSync(join(root, file), 'utf8').matchAll(/^export .* from '(\.[^']*)'/gm)) {
      const path = posix.join(posix.dirname(file), other).replace(/\.js$/, '')
      visit(`${path}.d.ts`)
    }
  }
  JSON.stringify(manifest.exports, (key, value) => {
    if (key === 'types') visit(posix.normalize(value))
    return value
  })
  return [...files].sort()
}

function printed (file) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest)
  return ts.createPrinter({ removeComments: true }).printFile(source).trimEnd()
}
