'use strict'

// The server of the fetch case: each tenant, by the path, may ask it so often in any window. Who asks more often is answered 429, with the
// seconds until there is room. It counts, tells its parent the port and then, when that asks, the counts, and ends with it.

const http = require('node:http')

const { limit, windowMs } = JSON.parse(process.argv[2])

const accepted = new Map() // tenant → when, as far back as a window
const arrivals = new Map() // ... those that were refused, too: all of them
let refusedCount = 0

const server = http.createServer((request, response) => {
  const now = performance.now()
  const times = ofTenant(accepted, request.url)
  ofTenant(arrivals, request.url).push(now)
  while (times.length > 0 && times[0] + windowMs <= now) times.shift()
  if (times.length < limit) {
    times.push(now)
    response.end('ok')
    return
  }
  refusedCount++
  response.writeHead(429, { 'Retry-After': Math.max(1, Math.ceil((times[0] + windowMs - now) / 1000)) }).end()
})

function ofTenant (map, tenant) {
  if (!map.has(tenant)) map.set(tenant, [])
  return map.get(tenant)
}

/** The most that any window of a tenant has. */
function mostIn (times) {
  let first = 0
  return Math.max(...times.map((time, last) => {
    while (times[first] + windowMs <= time) first++
    return last - first + 1
  }))
}

server.keepAliveTimeout = 60000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => process.send({ refused: refusedCount, most: Math.max(...[...arrivals.values()].map(mostIn)) }))
process.on('disconnect', () => process.exit())
