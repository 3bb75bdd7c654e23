// UPSTREAM=https://api.example RATE=50 PORT=8080 ADMIN_PORT=8081 node gateway.mjs
//
// A gateway in front of an API that allows so many calls in a second. Requests wait by tenant, told by their key, each in a lane of its own. Calls go
// out at the rate of the API, again when they failed, and none while it wants to be left alone. A client that goes away takes its call with it. At
// another port are, for those who run it, the page, and /metrics/requests and /metrics/calls for Prometheus.

import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { board } from 'fairlane/board'
import { fairFetch } from 'fairlane/fetch'
import { admission } from 'fairlane/http'
import { Metrics } from 'fairlane/metrics'

const { UPSTREAM, RATE = '50', PORT = '0', ADMIN_PORT = '0' } = process.env
const metrics = { requests: new Metrics({ name: 'requests' }), calls: new Metrics({ name: 'calls' }) }

const admit = admission({ tenant: ({ headers }) => headers['x-api-key'], exempt: ({ url }) => url === '/healthz', observers: metrics.requests })
const fetch = fairFetch(globalThis.fetch, {
  rate: { limit: Number(RATE), intervalMs: 1000 }, maxWaitMs: 10000, timeoutMs: 10000, maxAttempts: 3, until: 'body', observers: metrics.calls
})
// What is said of a connection, of bytes that fetch has decoded, and to the gateway alone.
const NOT_PASSED = ['connection', 'content-encoding', 'content-length', 'expect', 'host', 'keep-alive', 'te', 'transfer-encoding', 'upgrade', 'x-api-key']
const STATUSES = { FAIRLANE_ERR_MAX_WAIT: 503, FAIRLANE_ERR_CLOSED: 503, FAIRLANE_ERR_TIMEOUT: 504 }

async function forward (request, response) {
  const { method, url, headers: given } = request
  if (url === '/healthz' || !url.startsWith('/')) return response.writeHead(url === '/healthz' ? 200 : 400).end()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const headers = Object.entries(given).filter(([name]) => !NOT_PASSED.includes(name))
    const body = 'content-length' in given || 'transfer-encoding' in given ? Readable.toWeb(request) : undefined
    const answer = await fetch(UPSTREAM + url, { method, headers, body, duplex: 'half', redirect: 'manual', signal: gone.signal })
    response.statusCode = answer.status
    response.setHeaders(answer.headers)
    for (const name of NOT_PASSED) response.removeHeader(name)
    await pipeline(answer.body ?? [], response)
  } catch (err) {
    if (response.headersSent) response.destroy()
    else response.writeHead(STATUSES[err.code] ?? 502).end(err.code)
  }
}

const page = board({ requests: { queue: admit.queue, metrics: metrics.requests }, calls: { queue: fetch.queue, metrics: metrics.calls } })
const admin = createServer((request, response) => {
  const asked = metrics[request.url.match(/^\/metrics\/(requests|calls)$/)?.[1]]
  if (asked === undefined) page(request, response)
  else response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(asked.toText())
})
const server = createServer((request, response) => admit(request, response, () => forward(request, response)))
server.listen(Number(PORT), '127.0.0.1', () => console.log(server.address().port))
admin.listen(Number(ADMIN_PORT), '127.0.0.1', () => console.log(admin.address().port))

process.once('SIGTERM', async () => {
  server.close()
  await admit.close({ timeoutMs: 30000 })
  server.closeAllConnections()
  admin.close().closeAllConnections()
})
