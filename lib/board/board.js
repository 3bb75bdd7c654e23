'use strict'

// The handler of requests. It answers these addresses, relative to where it is mounted:
//
//   GET /          the page
//   GET /state     what is told of one queue, as JSON
//   GET /dead      a page of its dead letters
//   GET /payload   what one job was pushed with, where that may be shown
//   POST /act      what a button of the page does; nothing acts that does not come from the page itself, or has its token
//
// It promises: a request that is refused has changed nothing; each is answered, within a time, unless nobody is there any more; no request
// makes it throw.

const { act } = require('./actions')
const { Answers } = require('./answers')
const { readBody, Refusal } = require('./body')
const { deadLettersOf, payloadOf } = require('./dead-letters')
const { listen } = require('./server')
const { isAtBroker, readQueues } = require('./options')
const { makeToken, requireOwnPage } = require('./origin')
const { HEADERS, pageWith } = require('./page')
const { Patience } = require('./patience')
const { stateOf, SORTS } = require('./state')
const { errorOf, errorText } = require('../job/error-text')
const { isOf } = require('../arguments/fields')
const { supports } = require('../arguments/unsupported')

const JSON_TYPE = 'application/json; charset=utf-8'
const READ = ['GET', 'HEAD']

const ROUTES = new Map([
  ['/', { methods: READ, answer: ({ page }) => ({ type: 'text/html; charset=utf-8', text: page }) }],
  ['/state', { methods: READ, answer: tellState }],
  ['/dead', { methods: READ, answer: tellDead }],
  ['/payload', { methods: READ, answer: tellPayload }],
  ['/act', { methods: ['POST'], answer: doAct }]
])

module.exports = { board, handlerOf }

/**
 * @param {object} queue or an object of { queue, metrics, history, readOnly, showPayloads, onAction } by name
 * @param {{ name?: string, metrics?: object, history?: object, readOnly?: boolean, showPayloads?: boolean, onAction?: Function }} [options]
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
  const token = makeToken()
  const shown = { queues, token, page: pageWith(token), patience: new Patience(clock), answers: new Answers(clock) }
  return (request, response) => { handle(shown, request, response) }
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

/** Of the queue that is named, or the first one: the others are not asked. */
async function tellState ({ queues, token, patience, answers }, request, search) {
  const one = askedFor(queues, search)
  const view = viewOf(search)
  const share = (question, ask) => answers.share(one, question, ask)
  const state = await share(JSON.stringify(view), () => stateOrError(patience, one, () => stateOf(one, view, share)))
  return { text: `{"names":${JSON.stringify(queues.map(({ name }) => name))},"token":"${one.readOnly ? '' : token}","queue":${state}}` }
}

function viewOf (search) {
  const sort = search.get('sort') ?? 'share'
  if (!Object.hasOwn(SORTS, sort)) throw new Refusal(400, `sort must be one of ${Object.keys(SORTS).join(', ')}.`)
  return { sort, isUp: search.get('order') === 'up', filter: search.get('filter') ?? '', group: search.get('group') ?? undefined }
}

/** A broker that is away must not hide the names of the other queues. @returns {Promise<string>} JSON */
async function stateOrError (patience, one, ask) {
  try {
    return JSON.stringify(await patience.ask(`state of ${one.name}`, ask))
  } catch (err) {
    return JSON.stringify({ name: one.name, error: told(err) })
  }
}

async function tellDead ({ queues, patience, answers }, request, search) {
  const one = askedFor(queues, search)
  if (!supports(one.queue, ['deadLetters'])) throw new Refusal(404, 'This queue keeps no dead letters.')
  const which = { type: search.get('type') ?? undefined, error: search.get('error') ?? undefined, after: idOf(one, search.get('after')) }
  const ask = () => patience.ask(`dead letters of ${one.name}`, () => deadLettersOf(one.queue, which))
  return json(await answers.share(one, `dead ${JSON.stringify(which)}`, ask))
}

async function tellPayload ({ queues, patience }, request, search) {
  const one = askedFor(queues, search)
  if (!one.showPayloads || !supports(one.queue, ['get'])) throw new Refusal(403, 'This page shows no payloads.')
  const id = idOf(one, search.get('id') ?? '')
  await one.onAction?.({ action: 'showPayload', queue: one.name, id, request })
  const payload = await patience.ask(`payload of ${one.name}`, () => payloadOf(one.queue, id))
  if (payload === undefined) throw new Refusal(404, 'This job no longer exists.')
  return json({ payload })
}

async function doAct ({ queues, token, patience, answers }, request) {
  if (queues.every(({ readOnly }) => readOnly)) throw readOnlyRefusal()
  requireOwnPage(request, token)
  const asked = await readBody(request)
  const one = asked.queue === undefined && queues.length === 1 ? queues[0] : named(queues, asked.queue, 400)
  if (one.readOnly) throw readOnlyRefusal()
  try {
    return json({ result: await patience.act(act(one, asked, request)) })
  } finally {
    answers.forget(one)
  }
}

function askedFor (queues, search) {
  const name = search.get('queue')
  return name === null ? queues[0] : named(queues, name, 404)
}

function named (queues, name, status) {
  const found = queues.find(queue => queue.name === name)
  if (found === undefined) throw new Refusal(status, 'There is no queue with this name.')
  return found
}

/** On disk ids are numbers. @returns {number | string | undefined} */
function idOf ({ queue }, text) {
  if (text === null) return undefined
  return isAtBroker(queue) ? text : Number(text)
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
