'use strict'

// The handler of requests. It answers three addresses, relative to where it is mounted:
//
//   GET /        the page
//   GET /state   what is told of the queues, as JSON
//   POST /act    what a button of the page does; nothing acts that does not come from the page itself, or from no page
//
// It promises: a request that is refused has changed nothing; each is answered, within a time, unless nobody is there any more; no request
// makes it throw.

const { act } = require('./actions')
const { readBody, Refusal } = require('./body')
const { listen } = require('./server')
const { readQueues } = require('./options')
const { requireOwnPage } = require('./origin')
const { HEADERS, PAGE } = require('./page')
const { Patience } = require('./patience')
const { stateOf } = require('./state')
const { errorOf, errorText } = require('../job/error-text')
const { isOf } = require('../arguments/fields')

const JSON_TYPE = 'application/json; charset=utf-8'

const ROUTES = new Map([
  ['/', { methods: ['GET', 'HEAD'], answer: () => ({ type: 'text/html; charset=utf-8', text: PAGE }) }],
  ['/state', { methods: ['GET', 'HEAD'], answer: tellState }],
  ['/act', { methods: ['POST'], answer: doAct }]
])

module.exports = { board, handlerOf }

/**
 * @param {object} queue or an object of { queue, metrics, history, readOnly } by name
 * @param {{ name?: string, metrics: object, history?: object, readOnly?: boolean }} [options]
 * @returns {((request: object, response: object) => void) & { listen: (...args: any[]) => import('node:http').Server }}
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
function board (...args) {
  const handler = handlerOf(readQueues(args))
  handler.listen = (...address) => listen(handler, address)
  return handler
}

/** @param {object[]} queues as options.js reads them @param {object} [clock] that limits for how long they are waited for */
function handlerOf (queues, clock) {
  const patience = new Patience(clock)
  return (request, response) => { handle({ queues, patience }, request, response) }
}

async function handle (shown, request, response) {
  let answer
  try {
    answer = await answerTo(shown, request)
  } catch (err) {
    answer = refusalOf(err)
  }
  try {
    send(answer, request, response)
  } catch {
    response.destroy() // what somebody has put before it threw
  }
}

function send ({ status = 200, headers, type = JSON_TYPE, text }, { method }, response) {
  if (response.headersSent || response.destroyed) return // whoever mounted it was faster, perhaps by a time limit; or the client is gone
  response.writeHead(status, { ...HEADERS, ...headers, 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(method === 'HEAD' ? undefined : text)
}

async function answerTo (shown, request) {
  const [path, search] = request.url.split('?', 2)
  const route = ROUTES.get(path || '/') // what is left of an address may be nothing
  if (route === undefined) throw new Refusal(404, 'There is nothing at this address.')
  const { methods, answer } = route
  if (!methods.includes(request.method)) {
    throw new Refusal(405, `This address answers ${methods.join(' and ')}.`, { allow: methods.join(', ') })
  }
  return answer(shown, request, new URLSearchParams(search))
}

async function tellState ({ queues, patience }, request, search) {
  const name = search.get('queue')
  const wanted = name === null ? queues : [named(queues, name, 404)]
  const states = await Promise.all(wanted.map(one => stateOrError(patience, one, search.get('filter') ?? '')))
  return { text: `{"names":${JSON.stringify(queues.map(({ name }) => name))},"queues":[${states.join()}]}` }
}

/** A broker that is away must not hide the other queues. @returns {Promise<string>} JSON */
async function stateOrError (patience, one, filter) {
  try {
    return JSON.stringify(await patience.ask(one, () => stateOf(one, filter)))
  } catch (err) {
    return JSON.stringify({ name: one.name, error: told(err) })
  }
}

async function doAct ({ queues, patience }, request) {
  if (queues.every(({ readOnly }) => readOnly)) throw readOnlyRefusal()
  requireOwnPage(request)
  const asked = await readBody(request)
  const one = asked.queue === undefined && queues.length === 1 ? queues[0] : named(queues, asked.queue, 400)
  if (one.readOnly) throw readOnlyRefusal()
  return json({ result: await patience.act(act(one.queue, asked)) })
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
  const error = told(err)
  if (isOf(err, Refusal)) return { status: err.status, headers: err.headers, ...json({ error }) }
  const isWrongUse = (isOf(err, TypeError) || isOf(err, RangeError)) && error.code !== undefined
  return { status: isWrongUse ? 400 : 500, ...json({ error }) }
}

/** Of an error that may be anything. */
function told (err) {
  const { code, message } = errorOf(errorText(err))
  return { code, message }
}
