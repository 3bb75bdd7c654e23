'use strict'

// Where a Redis or Valkey server is to be had, for tests that start their own.

const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { programOf } = require('./path')

const FOLDER = join(__dirname, '..', 'distributed')
const SHARED = join(__dirname, '..', 'shared/job-queues.js')

module.exports = { program: programOf('REDIS_SERVER', ['redis-server', 'valkey-server']), skippedCount }

/** How many tests are skipped without one. */
function skippedCount () {
  const texts = readdirSync(FOLDER).filter(file => file.endsWith('.test.js')).map(file => readFileSync(join(FOLDER, file), 'utf8'))
  // a suite that tests of other folders have, too
  texts.push(`describeWithRedis(\n${readFileSync(SHARED, 'utf8')}`)
  return texts.filter(text => text.includes('describeWithRedis(')).flatMap(text => text.match(/^ +it\(/gm) ?? []).length
}
