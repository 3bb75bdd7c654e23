'use strict'

// Dead letters, as far as somebody looks at them: a page of those that match, what they failed with, and what is done to all that match.
// No payload is read but that of one, if it is asked for.

const { inspect } = require('node:util')
const { cut, errorLine } = require('./texts')

const PAGE = 50
const MOST_SCANNED = 2000 // that are looked at for one answer
const MOST_CAUSES = 20
const TOGETHER = 200 // that are read, retried or deleted with one call
const SLICE_MS = 1000 // after which an answer says how far it has come
const MOST_CHARACTERS = 65536 // of a payload

module.exports = { deadLettersOf, payloadOf, sweep, PAGE, TOGETHER }

/**
 * A page of dead letters, the oldest first, and the causes of all those that were looked at for it.
 * @param {object} queue
 * @param {{ type?: string, error?: string, after?: number | string }} which those of a type, whose error has this text in it, behind that
 *   one
 * @returns {Promise<{ letters: object[], causes: object[], matchCount: number, seenCount: number, isWhole: boolean,
 *   after: number | string | null }>} isWhole: the counts are of all that match; after: behind which the next page begins, if there may
 *   be more. Rejects with what the queue throws
 */
async function deadLettersOf (queue, { type, error, after }) {
  const found = { letters: [], causes: new Map(), matchCount: 0, seenCount: 0 }
  const enough = after === undefined ? Infinity : PAGE // causes are those that the first page tells
  let isWhole = false
  let last = after
  while (!isWhole && found.seenCount < MOST_SCANNED && found.matchCount < enough) {
    const some = await queue.deadLetters({ type, limit: TOGETHER, after: last })
    isWhole = some.length < TOGETHER
    found.seenCount += some.length
    last = some.at(-1)?.id
    for (const letter of some) look(found, letter, error)
  }
  const { letters, causes, matchCount, seenCount } = found
  return {
    letters,
    causes: [...causes.values()].sort((a, b) => b.count - a.count).slice(0, MOST_CAUSES),
    matchCount,
    seenCount,
    isWhole,
    after: matchCount > letters.length ? letters.at(-1).id : isWhole ? null : last
  }
}

/**
 * Does something to all dead letters that match, as far as it comes within a second.
 * @param {object} queue
 * @param {(id: number | string) => Promise<boolean>} how
 * @param {{ type?: string, error?: string, after?: number | string, before?: number }} which as of deadLettersOf(); before: only those that
 *   had died by then, in ms since 1970: whoever is retried may die again
 * @returns {Promise<{ done: number, left: number, after: number | string | null, before: number }>} done: so many; left: so many could not;
 *   after: where to go on, if there may be more. Rejects with what the first one fails with, if all of a call fail
 */
async function sweep (queue, how, { type, error, after, before = Date.now() }) {
  const end = performance.now() + SLICE_MS
  const swept = { done: 0, left: 0, after, before }
  do {
    const some = await queue.deadLetters({ type, limit: TOGETHER, after: swept.after })
    const wanted = some.filter(letter => matches(letter, error) && !(letter.at > before))
    const outcomes = await Promise.allSettled(wanted.map(({ id }) => how(id)))
    const done = outcomes.filter(({ value }) => value === true).length
    const failed = outcomes.filter(({ status }) => status === 'rejected')
    if (failed.length > 0 && failed.length === outcomes.length) throw failed[0].reason
    swept.done += done
    swept.left += outcomes.length - done
    swept.after = some.length < TOGETHER ? null : some.at(-1).id
  } while (swept.after !== null && performance.now() < end)
  return swept
}

/** @returns {Promise<string | undefined>} what a job was pushed with, as text; undefined: there is no such job */
async function payloadOf (queue, id) {
  const job = await queue.get(id)
  return job === undefined ? undefined : cut(shown(job.payload), MOST_CHARACTERS)
}

function look (found, letter, error) {
  if (!matches(letter, error)) return
  const { id, type = '', attempts, at = null } = letter
  const line = errorLine(letter.error)
  found.matchCount++
  const key = JSON.stringify([type, line])
  const cause = found.causes.get(key) ?? { type, error: line, count: 0 }
  cause.count++
  found.causes.set(key, cause)
  if (found.letters.length < PAGE) found.letters.push({ id, type, attempts, at, error: line })
}

function matches ({ error }, text = '') {
  return errorLine(error).toLowerCase().includes(text.toLowerCase())
}

function shown (payload) {
  try {
    const text = JSON.stringify(payload, undefined, 2)
    if (text !== undefined) return text
  } catch {} // a circle, or a bigint
  return inspect(payload)
}
