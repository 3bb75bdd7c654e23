// Shows the types that have jobs in bull-board, the largest first: their jobs with payloads and errors, and dead letters to retry or delete.
//
//   npm install fairlane bullmq@6 ioredis express @bull-board/api @bull-board/express
//   REDIS_URL=redis://127.0.0.1:6379 PORT=3000 node dashboard.mjs

import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import { Queue } from 'bullmq'
import express from 'express'
import { distributed } from 'fairlane/distributed'
import { Redis } from 'ioredis'

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

const mails = await distributed(null, { name: 'mails', connection: url })
const connection = new Redis(url, { maxRetriesPerRequest: null })
const serverAdapter = new ExpressAdapter()
const board = createBullBoard({ queues: [], serverAdapter })
const shown = new Map() // type → what bull-board shows of it

function adapterOf (type) {
  const name = encodeURIComponent(type) || '%'
  const adapter = new BullMQAdapter(new Queue(name, { connection, prefix: '{fairlane:mails}', skipMetasUpdate: true }))
  adapter.getName = () => type.replaceAll('%', '％') || '(none)' // bull-board's own URLs do not bear a percent sign
  return adapter
}

async function refresh () {
  const types = (await mails.types({ limit: 100 })).map(({ type }) => type)
  for (const type of types) if (!shown.has(type)) shown.set(type, adapterOf(type))
  board.setQueues(types.map(type => shown.get(type)))
}

await refresh()
setInterval(() => refresh().catch(console.error), 2000)
const server = express().use(serverAdapter.getRouter()).listen(Number(process.env.PORT ?? 3000), () => console.log(server.address().port))
