'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { readdirSync } = require('node:fs')
const { join } = require('node:path')
const { root, tool } = require('../support/child')

describe('the published package', function () {
  this.timeout(120000)

  it('contains the code, its types and its papers, and nothing else', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    const entries = ['index.d.mts', 'index.d.ts', 'index.js', 'index.mjs']
    assert.deepEqual(packedFiles(), [...papers, ...entries, ...codeBelow('lib'), ...codeBelow('schedulers')].sort())
  })

  it('contains all that its entries name', () => {
    const { exports } = require(join(root, 'package.json'))
    const named = Object.values(exports).flatMap(function targets (entry) {
      return typeof entry === 'string' ? entry.slice('./'.length) : Object.values(entry).flatMap(targets)
    })
    const packed = packedFiles()
    assert.deepEqual(named.filter(file => !packed.includes(file)), [])
    for (const peer of ['quickq', 'fastq', 'async']) assert(named.includes(`lib/compat/${peer}.js`))
  })

  it('is clean by publint', async () => {
    const { code, stdout } = await tool('publint', 'publint', ['--strict'])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /All good!/)
  })

  // the profile leaves out Node 10, which knows no exports
  it('has types that are right for every way to import it', async () => {
    const { code, stdout } = await tool('@arethetypeswrong/cli', 'attw', ['--pack', '.', '--format', 'ascii', '--no-emoji', '--profile', 'node16'])
    assert.equal(code, 0, stdout)
  })

  it('depends on nothing but the two lists and loops that it is built on, and an emitter', () => {
    const { dependencies, peerDependencies, optionalDependencies } = require(join(root, 'package.json'))
    assert.deepEqual(Object.keys(dependencies).sort(), ['aflow', 'eventemitter3', 'qlist'])
    assert.equal(peerDependencies, undefined)
    assert.equal(optionalDependencies, undefined)
  })
})

function packedFiles () {
  const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = Object.values(JSON.parse(json))[0]
  return packed.files.map(file => file.path).sort()
}

/** The code, its types and the map below a folder, which is all that may lie there. */
function codeBelow (folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && (/\.(js|d\.ts)$/.test(entry.name) || entry.name === 'README.md'))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1).replaceAll('\\', '/'))
}
