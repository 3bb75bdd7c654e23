// One program on three engines: where its jobs wait is one line.
//
//   node engines.mjs memory
//   node engines.mjs disk      in a folder of its own below that for temporary files; JOBS_FOLDER=./jobs keeps it
//   node engines.mjs broker    needs a Redis or Valkey server at REDIS_URL, and: npm install bullmq@6 ioredis

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fairlane, { Throttled } from 'fairlane'
import { durable } from 'fairlane/durable'
import { distributed } from 'fairlane/distributed'

const engines = {
  memory: options => fairlane(send, options),
  disk: options => durable(send, { ...options, path: process.env.JOBS_FOLDER ?? mkdtempSync(join(tmpdir(), 'jobs-')) }),
  broker: options => distributed(send, { ...options, name: `mails-${process.pid}`, connection: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
}

let isBusy = true

async function send ({ to }, { type, attempt, progress }) {
  progress(50)
  if (to === 'nobody') throw new Error('no such address')
  if (to === 'bob' && isBusy) {
    isBusy = false
    throw new Throttled(100) // the tenant is held for so long, and the attempt does not count
  }
  return `mail to ${to} of ${type}, attempt ${attempt}`
}

const queue = await engines[process.argv[2] ?? 'memory']({
  settleBy: 'promise', concurrency: 4, scheduler: 'equal', ratePerType: { limit: 100, intervalMs: 1000 }, maxAttempts: 2, backoffMs: 10, timeoutMs: 5000
})
queue.on('retry', ({ type, payload, error }) => console.log(`again for ${type}: ${payload.to}, ${error.message}`))
queue.on('failed', ({ type, attempt }) => console.log(`failed for ${type} after ${attempt} attempts`))

// a result, a job that two share by its key, one whose tenant is held, one that waits for its time and is cleared, one that fails, a source
console.log(await queue.add({ to: 'ada' }, { type: 'acme' }))
const shared = [1, 2].map(() => queue.add({ to: 'carl' }, { type: 'acme', key: 'carl', keyUntil: 'settled' }))
console.log(new Set(await Promise.all(shared)).size, 'mail for two')
console.log(await queue.add({ to: 'bob' }, { type: 'bolt' }))
const later = queue.add({ to: 'dora' }, { type: 'acme', delayMs: 3600000 }).catch(({ code }) => console.log(code))
await queue.flush()
console.log(await queue.types())
console.log('cleared', await queue.clear())
await later
await queue.add({ to: 'nobody' }, { type: 'bolt' }).catch(({ message }) => console.log(message))
for await (const sent of queue.map([{ to: 'eve' }, { to: 'finn' }], { type: 'acme' })) console.log(sent)

const { done, failed, cancelled, throttled } = queue.stats()
console.log({ done, failed, cancelled, throttled })
await queue.onIdle()
await queue.close()
