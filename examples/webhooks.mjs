// PORT=8080 RECEIVERS='http://a.example/hook=4,http://b.example/hook=1' node webhooks.mjs
//
// Takes events by POST and passes each on to every receiver. Each receiver is a type: slots are shared among them, and `typeCaps` bounds how many
// requests a single one gets at once. A receiver that hangs takes the slots of its own cap, and no others. None gets more than 50 requests in a
// second. One that answers 429 gets none for as long as it says, and then the same event again, with the same key.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { fairFetch } from 'fairlane/fetch'

const caps = new Map(process.env.RECEIVERS.split(',').map(entry => {
  const at = entry.lastIndexOf('=')
  return [entry.slice(0, at), Number(entry.slice(at + 1))]
}))

const fetch = fairFetch(globalThis.fetch, {
  concurrency: 100,
  schedulerOptions: { typeCaps: caps },
  ratePerType: { limit: 50, intervalMs: 1000 },
  maxWaitingPerType: 1000, // a receiver that is down for long loses events; the others do not
  timeoutMs: 5000, // of each attempt
  maxAttempts: 5
})

async function deliver (receiver, body) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }
  const response = await fetch(receiver, { method: 'POST', body, headers, fairlane: { type: receiver, retry: true } })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`it answered ${response.status}`)
}

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.end(JSON.stringify(fetch.queue.stats()))
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  for (const receiver of caps.keys()) {
    deliver(receiver, body).catch(err => console.error(`${receiver}: ${err.code ?? err.message}`))
  }
  response.writeHead(202).end()
})

process.once('SIGTERM', async () => {
  server.close()
  await fetch.queue.close({ timeoutMs: 30000 })
  server.closeAllConnections()
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))
