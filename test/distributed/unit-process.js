'use strict'

// A process of unit-kills.test.js: runs jobs that cost something, and kills itself in some of them. One line per event in the file
// `units-` and its pid, in one write each, so that it is there whatever becomes of the process:
//
//   start id attempt type cost charged from to     a runner begins: what was charged since the last line, and when, between two µs
//   spent id attempt total µs                      is to be said, and is less than before
//
//   node unit-process.js '{"path": "/tmp/…/redis.sock", "folder": "/tmp/…", "options": { … }}'

const { openSync, writeSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { distributed } = require('../../lib/distributed')
const { micros } = require('./fleet-checks')

const { path, folder, options } = JSON.parse(process.argv[2])
const TICK_MS = 5
const file = openSync(join(folder, `units-${process.pid}`), 'a')
let queue
let known = 0 // of what was charged in this process
let tickedAt = micros()

const say = (...words) => writeSync(file, `${words.join(' ')}\n`)

/** The process may have got no time between the look at the clock that let the job start and this one. */
async function run ({ cost, parts, ms, isPoison }, { id, attempt, type, spent }) {
  const now = micros()
  const total = queue.stats().spent
  say('start', id, attempt, type, cost, total - known, Math.min(now, tickedAt + TICK_MS * 1000), now)
  known = total
  for (const units of parts) {
    await sleep(ms)
    say('spent', id, attempt, units, micros())
    spent(units)
    known = queue.stats().spent
  }
  if (isPoison && attempt === 1) process.kill(process.pid, 'SIGKILL')
  await sleep(ms)
  return id
}

async function main () {
  setInterval(() => { tickedAt = micros() }, TICK_MS)
  queue = await distributed(run, { name: 'jobs', connection: { path }, settleBy: 'promise', ...options })
  process.send('open')
}

main()
