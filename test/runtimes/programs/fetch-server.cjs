'use strict'

// What fetch-checks.cjs asks, as a handler of requests of node:http: '/fetch/KIND/ID', each ID with answers of its own.

const seen = new Map() // id → how often it was asked

module.exports = { answerFetch }

async function answerFetch (request, response) {
  const [, , kind, id] = request.url.split('/')
  const count = (seen.get(id) ?? 0) + 1
  seen.set(id, count)
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const isFirst = count === 1
  if (kind === 'busy') response.writeHead(isFirst ? 503 : 200).end(text)
  else if (kind === 'limited') response.writeHead(isFirst ? 429 : 200, isFirst ? { 'Retry-After': '1' } : {}).end()
  else if (kind === 'cut' && isFirst) request.socket.destroy()
  else if (kind === 'half') response.writeHead(200, { 'Content-Length': '100' }).write('te', () => setTimeout(() => request.socket.destroy(), 20))
  else if (kind === 'endless') response.writeHead(200).write('te')
  else if (kind !== 'stall') response.end(kind === 'echo' ? text : 'text')
}
