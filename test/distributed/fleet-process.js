'use strict'

// A process of its own that runs jobs of a fleet and has the broker note when each starts and ends, by its own clock: so what is
// measured is later than it was by one call at most.
//
//   node fleet-process.js '{"path": "/tmp/…/redis.sock", "runMs": 5, "options": { … }}'

const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { distributed } = require('../../lib/distributed')

const { path, runMs, options } = JSON.parse(process.argv[2])
const NOTE = `local time = redis.call('TIME')
redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. string.format('%.0f', time[1] * 1000000 + time[2]))`

async function main () {
  const client = new Redis(path)
  const note = (what, { id, type }) => client.eval(NOTE, 1, 'log', `${what} ${process.pid} ${id} ${type}`)
  async function run (payload, context) {
    const startedAt = performance.now()
    await note('start', context)
    const lateMicros = Math.round((performance.now() - startedAt) * 1000)
    if (runMs > 0) await sleep(runMs)
    await note(`end-${lateMicros}`, context)
  }
  if (options.ratePerType !== undefined) options.ratePerType = new Map(options.ratePerType)
  await distributed(run, { name: 'jobs', connection: { path }, settleBy: 'promise', scheduler: 'equal', ...options })
  process.send('open')
}

main()
