'use strict'

// Where a Redis or Valkey server is to be had, for tests that start their own.

const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const { root } = require('./child')
const { programOf } = require('./path')

const FILES = ['test/distributed/*.test.js', 'test/heap/distributed.test.js', 'test/examples/distributed.test.js', 'test/bench/distributed.test.js', 'test/docs/examples.test.js']

module.exports = { program: programOf('REDIS_SERVER', ['redis-server', 'valkey-server']), skippedCount }

/** How many tests are skipped without one: those that mocha finds pending there, since some of them are made in loops. */
function skippedCount () {
  const mocha = join(root, 'node_modules/mocha', require('mocha/package.json').bin.mocha)
  const { stdout } = spawnSync(process.execPath, [mocha, '--dry-run', '--reporter', 'json', ...FILES], { cwd: root, encoding: 'utf8' })
  return JSON.parse(stdout).stats.pending
}
