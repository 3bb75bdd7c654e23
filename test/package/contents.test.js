'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { readFileSync, readdirSync, statSync } = require('node:fs')
const { join, posix } = require('node:path')
const { links } = require('../docs/pages')
const { root, tool } = require('../support/child')

// what README.md may link to although it is of use in a clone only
const REPOSITORY_ONLY = ['docs/playground/index.html', 'CONTRIBUTING.md']
const MOST_BYTES = 900e3 // of the tarball (docs/decisions/0198-what-is-packed.md)

describe('the published package', function () {
  let packed, modes, size

  before(() => {
    ({ modes, size } = tarball())
    packed = [...modes.keys()].sort()
  })

  it('contains the code, its types, its papers and their charts, and nothing else', () => {
    const papers = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'package.json']
    const entries = ['index.d.mts', 'index.d.ts', 'index.js', 'index.mjs']
    const code = [...entries, ...filesBelow('lib', isCode), ...filesBelow('schedulers', isCode)]
    const charts = filesBelow('bench/results', name => name.endsWith('.svg'))
    const pages = filesBelow('docs', () => true).filter(file => !/^docs\/(decisions|pictures|playground)\//.test(file))
    const examples = filesBelow('examples', () => true).filter(file => !file.startsWith('examples/playground/'))
    assert.deepEqual(packed, [...papers, ...code, ...charts, ...pages, ...examples].sort())
  })

  it('leaves out what only those need who change it', () => {
    assert.deepEqual(packed.filter(file => /decisions|pictures|playground|^test|^lib\/README|CONTRIBUTING/.test(file)), [])
  })

  it('is not larger than has been agreed on', () => {
    assert(size <= MOST_BYTES, `${size} bytes`)
  })

  it('contains all that its papers link to', () => {
    const isPacked = path => packed.some(file => file === path || file.startsWith(`${path}/`))
    for (const file of packed.filter(file => file.endsWith('.md'))) {
      const targets = links(readFileSync(join(root, file), 'utf8'))
        .filter(({ path }) => path !== '')
        .map(({ path }) => posix.join(posix.dirname(file), path))
      assert.deepEqual(targets.filter(path => !isPacked(path) && !(file === 'README.md' && REPOSITORY_ONLY.includes(path))), [], file)
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

  it('has a lock file that agrees with package.json, so that npm install leaves a clone as it is', () => {
    const manifest = require(join(root, 'package.json'))
    const { packages: { '': locked } } = require(join(root, 'package-lock.json'))
    const kept = ['name', 'version', 'license', 'bin', 'engines', 'dependencies', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta']
    for (const field of kept) assert.deepEqual(locked[field], manifest[field], field)
  })

  it('contains the program that it names, which is executable and says by what', () => {
    const { bin } = require(join(root, 'package.json'))
    assert.deepEqual(Object.keys(bin), ['fairlane'])
    assert(readFileSync(join(root, bin.fairlane), 'utf8').startsWith('#!/usr/bin/env node\n'))
    for (const mode of [statSync(join(root, bin.fairlane)).mode, modes.get(bin.fairlane)]) assert.equal(mode & 0o111, 0o111)
  })

  it('is clean by publint', async () => {
    const { code, stdout } = await tool('publint', 'publint', ['--strict'])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /All good!/)
  })

  // node10 is how TypeScript resolves modules by default before 6.0, and how bundlers did that know no exports
  it('has types that are right for every way to import it', async () => {
    const { code, stdout } = await tool('@arethetypeswrong/cli', 'attw', ['--pack', '.', '--format', 'ascii', '--no-emoji'])
    assert.equal(code, 0, stdout)
    for (const resolution of ['node10', 'node16 (from CJS)', 'node16 (from ESM)', 'bundler']) assert(stdout.includes(`${resolution}: OK`), resolution)
  })

  it('names the types of an entry once for those who read its exports and once, the same, for those who do not', () => {
    const { exports, typesVersions } = require(join(root, 'package.json'))
    for (const [entry, { types }] of Object.entries(exports).filter(([, { types }]) => types !== undefined)) {
      const name = entry.slice('./'.length)
      const [mapped] = typesVersions['*'][name] ?? [[`${entry}.d.ts`, `${entry}/index.d.ts`].find(file => packed.includes(file.slice('./'.length)))]
      assert.equal(mapped, types, entry)
    }
  })

  it('depends on nothing but the two lists and loops that it is built on, and an emitter; what single parts need is optional', () => {
    const { dependencies, peerDependencies, peerDependenciesMeta, devDependencies, optionalDependencies } = require(join(root, 'package.json'))
    assert.deepEqual(Object.keys(dependencies).sort(), ['aflow', 'eventemitter3', 'qlist'])
    assert.deepEqual(peerDependencies, {
      '@bull-board/api': '^9',
      '@opentelemetry/api': '^1.4',
      bullmq: '^6.7.0',
      croner: '^11.0',
      ioredis: '>=5.4 <7',
      piscina: '^5.2',
      'prom-client': '^15.1'
    })
    for (const name of Object.keys(peerDependencies)) {
      assert.deepEqual(peerDependenciesMeta[name], { optional: true }, name)
      assert(name in devDependencies, name)
    }
    assert.equal(optionalDependencies, undefined)
  })
})

/** @returns {{ modes: Map<string, number>, size: number }} the modes of its files by their paths; its size in bytes */
function tarball () {
  const json = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const { files, size } = Object.values(JSON.parse(json))[0]
  return { modes: new Map(files.map(({ path, mode }) => [path, mode])), size }
}

/** The code and its types, which is all that may lie in its folders. */
function isCode (name) {
  return /\.(js|d\.ts)$/.test(name)
}

function filesBelow (folder, isMeant) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && isMeant(entry.name))
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1).replaceAll('\\', '/'))
}
