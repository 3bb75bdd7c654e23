'use strict'

// The handler of requests. It answers three addresses, relative to where it is mounted:
//
//   GET /        the page
//   GET /state   what is told of the queues, as JSON
//   POST /act    what a button of the page does; nothing acts that does not come from the page itself, or from no page
//
// It promises: a request that is refused has changed nothing; no request makes it throw.

const { act } = require('./actions')
const { readBody, Refusal } = require('./body')
const { listen } = require('./server')
const { readQueues } = require('./options')
const { HEADERS, PAGE } = require('./page')
const { stateOf } = require('./state')

const JSON_TYPE = 'application/json; charset=utf-8'

const ROUTES = new Map([
  ['/', { methods: ['GET', 'HEAD'], answer: () => ({ type: 'text/html; charset=utf-8', text: PAGE }) }],
  ['/state', { methods: ['GET', 'HEAD'], answer: tellState }],
  ['/act', { methods: ['POST'], answer: doAct }]
])

module.exports = { board }

/**
 * @param {object} queue or an object of { queue, metrics, history, readOnly } by name
 * @param {{ name?: string, metrics: object, history?: object, readOnly?: boolean }} [options]
 * @returns {((request: object, response: object) => void) & { listen: (...args: any[]) => import('node:http').Server }}
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
function board (...args) {
  const queues = readQueues(args)
  const handler = (request, response) => { handle(queues, request, response) }
  handler.listen = (...address) => listen(handler, address)
  return handler
}

async function handle (queues, request, response) {
  let answer
  try {
    answer = await answerTo(queues, request)
  } catch (err) {
    answer = refusalOf(err)
  }
  const { status = 200, headers, type = JSON_TYPE, text } = answer
  if (response.headersSent) return // whoever mounted it was faster, perhaps by a time limit
  response.writeHead(status, { ...HEADERS, ...headers, 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(request.method === 'HEAD' ? undefined : text)
}

async function answerTo (queues, request) {
  const [path, search] = request.url.split('?', 2)
  const route = ROUTES.get(path || '/') // what is left of an address may be nothing
  if (route === undefined) throw new Refusal(404, 'There is nothing at this address.')
  const { methods, answer } = route
  if (!methods.includes(request.method)) throw new Refusal(405, `This address answers ${methods.join(' and ')}.`, { allow: methods.join(', ') })
  return answer(queues, request, new URLSearchParams(search))
}

async function tellState (queues, request, search) {
  const name = search.get('queue')
  const shown = name === null ? queues : [named(queues, name, 404)]
  const states = await Promise.all(shown.map(one => stateOrError(one, search.get('filter') ?? '')))
  return json({ names: queues.map(({ name }) => name), queues: states })
}

/** A broker that is away must not hide the other queues. */
async function stateOrError (one, filter) {
  try {
    return await stateOf(one, filter)
  } catch (err) {
    return { name: one.name, error: errorOf(err) }
  }
}

async function doAct (queues, request) {
  if (queues.every(({ readOnly }) => readOnly)) throw readOnlyRefusal()
  requireOwnPage(request)
  const asked = await readBody(request)
  const { queue, readOnly } = asked.queue === undefined && queues.length === 1 ? queues[0] : named(queues, asked.queue, 400)
  if (readOnly) throw readOnlyRefusal()
  return json({ result: await act(queue, asked) })
}

/**
 * Another site's page cannot send JSON here without asking first, which is not answered; where a browser says whose page it is (Sec-Fetch-Site),
 * that must be ours. What is no browser says nothing of it.
 */
function requireOwnPage ({ headers }) {
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site !== 'same-origin' && site !== 'none') throw new Refusal(403, 'This request comes from the page of another site.')
  const [type] = String(headers['content-type']).split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new Refusal(403, 'The content type must be application/json.')
}

function named (queues, name, status) {
  const found = queues.find(queue => queue.name === name)
  if (found === undefined) throw new Refusal(status, 'There is no queue of this name.')
  return found
}

function readOnlyRefusal () {
  return new Refusal(403, 'This page is read-only.')
}

function json (value) {
  return { text: JSON.stringify(value) }
}

/** Wrong use is the request's fault, all else is the queue's. */
function refusalOf (err) {
  if (err instanceof Refusal) return { status: err.status, headers: err.headers, ...json({ error: { message: err.message } }) }
  const isWrongUse = (err instanceof TypeError || err instanceof RangeError) && err.code !== undefined
  return { status: isWrongUse ? 400 : 500, ...json({ error: errorOf(err) }) }
}

function errorOf ({ code, message }) {
  return { code, message }
}
