// Pushes mails of three tenants, of which one floods, and waits for the result of the last one of each.
//
//   npm install fairlane bullmq@6 ioredis
//   REDIS_URL=redis://127.0.0.1:6379 node producer.mjs

import { distributed } from 'fairlane/distributed'

const connection = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'
const tenants = { flood: 500, quiet: 5, calm: 5 }

const queue = await distributed(null, { name: 'mails', connection })
const started = Date.now()
await Promise.all(Object.entries(tenants).map(async ([type, count]) => {
  for (let n = 1; n < count; n++) queue.pushType(type, { to: `${type}-${n}` })
  const result = await queue.add({ to: `${type}-${count}` }, { type })
  console.log(`${result}, after ${Date.now() - started} ms`)
}))
await queue.close()
