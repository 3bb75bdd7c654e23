'use strict'

// Writes a queue on disk of everything that a folder may hold, and a queue of bytes, by whatever version of the package it is given. The
// folders beside this file were written so, each by the version that it is named for.
//
//   node test/durable/folders/write.js /path/to/a/clone 0.2.0

const { mkdirSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

const [code, version] = process.argv.slice(2)
const { durable } = require(join(code, 'lib/durable'))
const { PersistentQueue } = require(join(code, 'lib/log'))
const YEARS_MS = 1e12 // longer than anybody will run the tests

main()

async function main () {
  const folder = join(__dirname, version)
  mkdirSync(folder)
  await writeJobs(join(folder, 'jobs'))
  const bytes = await PersistentQueue.open(join(folder, 'bytes'))
  await bytes.push([Buffer.from('first'), Buffer.from('second'), Buffer.from('third')])
  await bytes.pop()
  await bytes.close()
  for (const name of ['jobs', 'bytes']) rmSync(join(folder, name, 'reserve')) // empty, and made again
}

async function writeJobs (path) {
  const runner = async payload => {
    if (payload === 'dead') throw new Error('it is dead')
    if (payload === 'again') throw new Error('it is tried again')
    return { of: payload }
  }
  const queue = await durable(runner, {
    path, scheduler: 'equal', priorityMs: 60000, maxAttempts: 2, backoffMs: YEARS_MS, settleBy: 'promise'
  })
  await queue.setSchedule('daily', { everyMs: 86400000, type: 's', payload: 'scheduled' })
  await queue.pauseSchedule('daily')
  await queue.add('with a result', { type: 'k', key: 'kept', keyUntil: YEARS_MS })
  await queue.pushType('a', 'dead', { maxAttempts: 1 })
  await queue.pushType('a', 'again')
  await sleep(200)
  queue.pause()
  await queue.pushType('a', { is: new Map([['structured', 1n]]) })
  await queue.pushType('a', 'costs', { cost: 5, timeoutMs: 60000, maxAttempts: 7 })
  await queue.pushType('b', 'first', { priority: 3 })
  await queue.pushType('b', 'later', { delayMs: YEARS_MS })
  await queue.pushType('__proto__', 'waits for so long', { maxWaitMs: YEARS_MS })
  await queue.pushType('', 'with a key', { key: 'waits' })
  await queue.close()
}
