'use strict'

// A process of its own that runs jobs of a fleet and notes when each starts and ends, in a file that outlives it. All processes of the
// machine, and the broker, have one clock: so what is noted is when the runner was called, by the clock that the limits go by.
//
//   node fleet-process.js '{"path": "/tmp/…/redis.sock", "folder": "/tmp/…", "runMs": 5, "clockMs": 0, "options": { … }}'

const { openSync, writeSync } = require('node:fs')
const { join } = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { distributed } = require('../../lib/distributed')
const { micros } = require('./fleet-checks')

const { path, folder, runMs, clockMs, options } = JSON.parse(process.argv[2])
const { now: time } = Date
Date.now = () => time() + clockMs // a process's clock is not the broker's
const BEAT_MS = 20
const file = openSync(join(folder, `runs-${process.pid}`), 'a')

function note (...words) {
  writeSync(file, `${words.join(' ')} ${micros()}\n`)
}

async function run (payload, { id, type, signal }) {
  note('start', id, type)
  if (runMs === 0) {
    note('end', id)
    return
  }
  signal.addEventListener('abort', () => note('lost', id), { once: true })
  await sleep(runMs)
  note('end', id)
}

/** A process that gets no time loses its lease as one that is stopped does. */
function watch () {
  let last = micros()
  setInterval(() => {
    const now = micros()
    if (now - last > options.leaseMs * 1000 / 3) writeSync(file, `gap ${last} ${now}\n`)
    last = now
  }, BEAT_MS)
}

async function main () {
  if (options.ratePerType !== undefined) options.ratePerType = new Map(options.ratePerType)
  watch()
  await distributed(run, { name: 'jobs', connection: { path }, settleBy: 'promise', scheduler: 'equal', ...options })
  process.send('open')
}

main()
