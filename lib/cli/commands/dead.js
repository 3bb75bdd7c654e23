'use strict'

// fairlane dead: lists dead letters, shows some, queues them again, deletes them.

const { inspect } = require('node:util')
const { jsonOf } = require('../job-json')
const { pagesOf } = require('../target')
const { cut, errorLine, shown, timeText } = require('../text')

const MOST_AT_ONCE = 1000 // changes that are under way
const COLUMNS = [
  { title: 'ID', of: ({ id }) => cut(String(id)) },
  { title: 'TYPE', of: ({ type }) => cut(type || '(none)') },
  { title: 'ATTEMPTS', of: ({ attempts }) => String(attempts), isNumber: true },
  { title: 'DIED', of: ({ at }) => timeText(at) },
  { title: 'ERROR', of: ({ error }) => cut(errorLine(error)) }
]
const TIMES = ['pushedAt', 'dueAt', 'diedAt']

async function list ({ target, values: { type, error, limit = Infinity, payloads }, output }) {
  const letters = some(target.deadLetters(type), error, limit)
  if (output.isJson) return output.array(mapped(letters, letter => jsonOf(letter, payloads)))
  await output.table(payloads ? [...COLUMNS, { title: 'PAYLOAD', of: payloadText }] : COLUMNS, letters)
}

async function show ({ target, values: { payloads }, rest: ids, output }) {
  const found = []
  for (const id of ids) {
    const job = await target.get(id)
    if (job?.state === 'dead') found.push(jsonOf(job, payloads))
    else output.note(shown(`there is no dead letter ${id}`))
  }
  if (output.isJson) await output.array(found)
  else for (const letter of found) await output.write(blockOf(letter))
  return found.length < ids.length ? 1 : 0
}

async function retry (context) {
  return change(context, 'retried', (queue, id) => queue.retryDead(id))
}

async function remove (context) {
  return change(context, 'deleted', (queue, id) => queue.deleteDead(id))
}

/** Some ids. @returns {string | undefined} what is wrong */
function checkIds (values, ids) {
  return ids.length === 0 ? 'give the ids of the dead letters' : undefined
}

/** Some ids, or what else says which dead letters are meant. */
function checkChoice ({ type, error, all }, ids) {
  const isChoice = type !== undefined || error !== undefined || all === true
  if (isChoice && ids.length > 0) return 'give either ids, or --type, --error or --all'
  return isChoice || ids.length > 0 ? undefined : 'say which dead letters: give ids, or --type, --error or --all'
}

// private from here on

async function change ({ target, values, rest: ids, output }, what, act) {
  const queue = await target.open()
  const skipped = []
  let count = 0
  const all = ids.length > 0 ? ids.length : await deadCount(queue, values.type)
  const chosen = ids.length > 0
    ? ids.map(id => ({ id: target.idOf(id), said: id }))
    : some(pagesOf(queue, values.type, all), values.error, Infinity)
  for await (const group of groupsOf(chosen)) {
    const changed = await Promise.all(group.map(({ id }) => Number.isNaN(id) ? false : act(queue, id)))
    changed.forEach((isChanged, at) => {
      if (isChanged) count++
      else skipped.push(group[at].said ?? group[at].id)
    })
    output.progress.tell(what, count + skipped.length, all)
  }
  if (output.isJson) await output.write(output.json({ [what]: count, skipped }))
  else await output.write(`${what} ${count}`)
  if (skipped.length === 0) return 0
  output.note(shown(`not ${what}, because they are no longer dead letters or other jobs have their keys: ${skipped.join(', ')}`))
  return 1
}

async function deadCount (queue, type) {
  const { dead } = type === undefined ? await queue.counts() : await queue.counts(type)
  return dead
}

/** Those whose errors have a text in them, so many at most. */
async function * some (letters, text, limit) {
  let count = 0
  for await (const letter of letters) {
    if (text !== undefined && !errorLine(letter.error).includes(text)) continue
    yield letter
    if (++count === limit) return
  }
}

async function * groupsOf (letters) {
  let group = []
  for await (const letter of letters) {
    group.push(letter)
    if (group.length < MOST_AT_ONCE) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

async function * mapped (values, map) {
  for await (const value of values) yield map(value)
}

function payloadText (letter) {
  const { payload, payloadBytes, payloadText, payloadError } = jsonOf(letter, true)
  if (payloadError !== undefined) return cut(`cannot be read: ${payloadError}`)
  return cut(payloadBytes ?? payloadText ?? JSON.stringify(payload))
}

function blockOf (letter) {
  const fields = Object.entries(letter).filter(([, value]) => value !== undefined)
  return fields.map(([name, value]) => `${name.padEnd(12)}  ${shown(textOf(name, value))}`).join('\n') + '\n'
}

function textOf (name, value) {
  if (TIMES.includes(name)) return timeText(value)
  if (name === 'error') return errorLine(value)
  return typeof value === 'object' ? inspect(value, { depth: Infinity, breakLength: Infinity }) : value
}

module.exports = { list, show, retry, remove, checkIds, checkChoice }
