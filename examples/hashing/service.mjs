// npm install fairlane piscina
// PORT=8080 node service.mjs
// curl -d 'a password' -H 'X-Api-Key: tenant-a' http://127.0.0.1:8080
//
// Hashes passwords for tenants, in threads: the event loop stays free to answer. 'equal' shares the threads among the tenants, so one that
// imports all its users at once does not make the others wait. A client that goes away has its job stopped, in the middle of the computation.

import { createServer } from 'node:http'
import fairlane from 'fairlane'
import { threads } from 'fairlane/threads'

const runner = threads(new URL('./hash.mjs', import.meta.url))
const queue = fairlane(runner, {
  concurrency: runner.concurrency,
  scheduler: 'equal',
  maxWaitingPerType: 100,
  timeoutMs: 5000
})
await runner.ready() // otherwise the time limit of the first jobs includes the start of the threads

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.end(JSON.stringify({ queue: queue.stats(), threads: runner.stats() }))
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  try {
    response.end(await queue.add(String(Buffer.concat(chunks)), { type: request.headers['x-api-key'] ?? 'nobody', signal: gone.signal }))
  } catch (err) {
    if (err.retryAfterMs) response.setHeader('Retry-After', Math.ceil(err.retryAfterMs / 1000))
    response.writeHead(err.code === 'FAIRLANE_ERR_TYPE_FULL' ? 429 : 503).end(err.code)
  }
})

process.once('SIGTERM', async () => {
  server.close()
  await queue.close({ timeoutMs: 10000 }) // first the queue: what it has accepted is answered
  await runner.close()
})

server.listen(process.env.PORT ?? 0, '127.0.0.1', () => console.log(server.address().port))
