'use strict'

// npm run playground            builds the page into a folder of its own, and serves it until you press Ctrl-C
// npm run playground:build      builds docs/playground, which also opens from the disk
//
// The package is in a file beside the page, since it changes more often.

const { createServer } = require('node:http')
const { mkdirSync, mkdtempSync, readFileSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const esbuild = require('esbuild')
const { version } = require('../../package.json')

const PORT = 8090
const BUILT = join(__dirname, '../../docs/playground')
const PARTS = `globalThis.fairlaneForPlayground = { version: '${version}', fairlane: require('./index.js'), fakeClock: require('./lib/testing').fakeClock }`

if (require.main === module) main(process.argv[2])

function main (what) {
  if (what === 'build') return build(BUILT)
  const folder = build(mkdtempSync(join(tmpdir(), 'playground-')))
  const types = { '/': ['index.html', 'text/html'], '/fairlane.js': ['fairlane.js', 'text/javascript'] }
  const server = createServer(({ url }, response) => {
    const [file, type] = types[url.replace(/\?.*/, '')] ?? []
    if (file === undefined) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(readFileSync(join(folder, file)))
  })
  server.listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`))
}

/** @param {string} folder @returns {string} the folder */
function build (folder) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'index.html'), pageOf())
  writeFileSync(join(folder, 'fairlane.js'), bundle({ stdin: { contents: PARTS, resolveDir: join(__dirname, '../..') } }))
  return folder
}

/** The page, with what is its own. */
function pageOf () {
  const read = name => readFileSync(join(__dirname, name), 'utf8')
  const parts = { style: read('style.css').trim(), script: bundle({ entryPoints: [join(__dirname, 'main.js')] }).trim() }
  return read('page.html').replaceAll(/\{\{(\w+)\}\}/g, (_, name) => parts[name])
}

function bundle (input) {
  const options = { bundle: true, write: false, format: 'iife', minify: input.stdin !== undefined, target: 'es2023', charset: 'utf8', logLevel: 'error' }
  const { outputFiles: [{ text }] } = esbuild.buildSync({ ...options, ...input })
  return text
}

module.exports = { BUILT, build, pageOf }
