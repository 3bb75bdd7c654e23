import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fairlane from 'fairlane'

const queue = fairlane(({ name }, _, { signal }) => work(name, signal), {
  concurrency: 8,
  scheduler: 'equal', // the slots are shared equally among the tenants that have jobs
  ratePerType: { limit: 100, intervalMs: 1000 }, // what a tenant has paid for: so many of its jobs start in a second
  maxWaiting: 200, // beyond that, and sooner for a tenant that floods, a job is refused
  maxWaitingPerType: 20,
  maxWaitMs: 10000, // after that nobody waits for the answer any more
  timeoutMs: 5000
})

/** Stands for what the service does; stops early if it is told to. */
async function work (name, signal) {
  await sleep(50, undefined, { signal })
  return `hello ${name}`
}

const statuses = {
  FAIRLANE_ERR_TYPE_FULL: 429, // the tenant has too much waiting
  FAIRLANE_ERR_QUEUE_FULL: 503, // all have
  FAIRLANE_ERR_CLOSED: 503,
  FAIRLANE_ERR_MAX_WAIT: 503,
  FAIRLANE_ERR_TIMEOUT: 504
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://service')
  if (pathname === '/stats') return response.end(JSON.stringify(queue.stats()))

  const gone = new AbortController()
  response.on('close', () => gone.abort())
  let status = 200
  let body
  try {
    body = await queue.add({ name: pathname.slice(1) }, { type: searchParams.get('tenant') ?? '', signal: gone.signal })
  } catch (err) {
    status = statuses[err.code] ?? 500
    body = err.code
    if (err.retryAfterMs !== undefined) response.setHeader('Retry-After', Math.ceil(err.retryAfterMs / 1000))
  }
  if (queue.closed) response.setHeader('Connection', 'close')
  response.writeHead(status).end(body)
})

process.once('SIGTERM', async () => {
  server.close() // no new connections
  const abandoned = await queue.close({ timeoutMs: 30000 }) // what was accepted is answered
  process.exitCode = abandoned > 0 ? 1 : 0
})

server.listen(0, '127.0.0.1', () => console.log(server.address().port))
