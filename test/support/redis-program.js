'use strict'

// Where a Redis or Valkey server is to be had, for tests that start their own.

const { existsSync, readdirSync, readFileSync } = require('node:fs')
const { delimiter, join } = require('node:path')

const FOLDER = join(__dirname, '..', 'distributed')
const SHARED = join(__dirname, '..', 'shared/job-queues.js')

module.exports = { program: findProgram(), skippedCount }

/** @returns {string | undefined} where a server is to be had */
function findProgram () {
  const { REDIS_SERVER, PATH = '' } = process.env
  if (REDIS_SERVER !== undefined && REDIS_SERVER !== '') return REDIS_SERVER
  for (const name of ['redis-server', 'valkey-server']) {
    for (const folder of PATH.split(delimiter)) {
      const path = join(folder, name)
      if (existsSync(path)) return path
    }
  }
  return undefined
}

/** How many tests are skipped without one. */
function skippedCount () {
  const texts = readdirSync(FOLDER).filter(file => file.endsWith('.test.js')).map(file => readFileSync(join(FOLDER, file), 'utf8'))
  // a suite that tests of other folders have, too
  texts.push(`describeWithRedis(\n${readFileSync(SHARED, 'utf8')}`)
  return texts.filter(text => text.includes('describeWithRedis(')).flatMap(text => text.match(/^ +it\(/gm) ?? []).length
}
