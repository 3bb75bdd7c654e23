'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { readFileSync, readdirSync } = require('node:fs')
const { join, posix } = require('node:path')
const { links } = require('../docs/pages')
const { root, tool } = require('../support/child')

describe('the published package', function () {
  let packed

  before(() => { packed = packedFiles() })

  it('contains the code, its types, its papers and their pictures, and nothing else', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    const entries = ['index.d.mts', 'index.d.ts', 'index.js', 'index.mjs']
    const code = [...entries, ...filesBelow('lib', isCode), ...filesBelow('schedulers', isCode)]
    const pictures = filesBelow('bench/results', name => name.endsWith('.svg'))
    assert.deepEqual(packed, [...papers, ...code, ...pictures, ...filesBelow('docs', () => true)].sort())
  })

  it('contains all that its papers link to, and the pages that its code speaks of', () => {
    const isPacked = path => packed.some(file => file === path || file.startsWith(`${path}/`))
    for (const file of packed) {
      const text = readFileSync(join(root, file), 'utf8')
      const targets = file.endsWith('.md')
        ? links(text).filter(({ path }) => path !== '').map(({ path }) => posix.join(posix.dirname(file), path))
        : [...text.matchAll(/\bdocs\/[\w/-]+(?:\.md)?/g)].map(([path]) => packed.find(page => page.startsWith(path)) ?? path)
      assert.deepEqual(targets.filter(path => !isPacked(path)), [], file)
    }
  })

  it('contains all that its entries name', () => {
    const { exports } = require(join(root, 'package.json'))
    const named = Object.values(exports).flatMap(function targets (entry) {
      return typeof entry === 'string' ? entry.slice('./'.length) : Object.values(entry).flatMap(targets)
    })
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

/** The code, its types and the map, which is all that may lie in its folders. */
function isCode (name) {
  return /\.(js|d\.ts)$/.test(name) || name === 'README.md'
}

function filesBelow (folder, isMeant) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && isMeant(entry.name))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1).replaceAll('\\', '/'))
}
