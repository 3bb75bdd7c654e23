// Runs mails that producer.mjs pushes, on as many machines as there are workers: each tenant gets its share of the slots.
//
//   npm install fairlane bullmq@6 ioredis
//   REDIS_URL=redis://127.0.0.1:6379 node worker.mjs

import { distributed } from 'fairlane/distributed'
import { setTimeout as sleep } from 'node:timers/promises'

const connection = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

async function sendMail ({ to }, done, { signal }) {
  await sleep(20, undefined, { signal })
  return `mail to ${to}`
}

const queue = await distributed(sendMail, { name: 'mails', connection, scheduler: 'equal', concurrency: 20 })
queue.on('failed', ({ id, error }) => console.error(`${id}: ${error.message}`))
queue.on('lost', ({ id, error }) => console.error(`${id}: ${error.message}`))
console.log('ready')

// what runs ends, what was taken goes back, and other workers go on with it
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => queue.close({ timeoutMs: 10000 }))
