'use strict'

// The Chromium of this machine, driven by playwright-core, which brings none.

const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { programOf } = require('./path')

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const FOLDERS = ['board', 'playground'].map(name => join(__dirname, '..', name))
const START_MS = 60000

const program = programOf('CHROMIUM', NAMES)

module.exports = { NAMES, program, skippedCount, describeWithChromium, openChromium }

/** As describe(), for tests that need a browser: skipped where there is none, unless there must be one. */
function describeWithChromium (title, define) {
  if (program === undefined && process.env.REQUIRE_CHROMIUM !== '1') describe.skip(title, define)
  else describe(title, define)
}

/** How many tests are skipped without one. */
function skippedCount () {
  const files = FOLDERS.flatMap(folder => readdirSync(folder).filter(file => file.endsWith('.test.js')).map(file => join(folder, file)))
  const texts = files.map(file => readFileSync(file, 'utf8'))
  return texts.filter(text => text.includes('describeWithChromium(')).flatMap(text => text.match(/^ +it\(/gm) ?? []).length
}

/** @param {string} [executablePath] @returns {Promise<import('playwright-core').Browser>} */
function openChromium (executablePath = program) {
  const { chromium } = require('playwright-core')
  const isRoot = process.getuid?.() === 0 // whose processes Chromium cannot confine
  const thisMachineOnly = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'
  const args = ['--disable-quic', '--disable-background-networking', '--no-first-run', thisMachineOnly]
  return chromium.launch({ executablePath, timeout: START_MS, args: isRoot ? [...args, '--no-sandbox'] : args })
}
