'use strict'

// Walks through the records of a ledger, by their ids.

const {
  ROWS, SHIFT, NONE, WAITING, RUNNING, DELAYED, DONE, FAILED, CANCELLED, STATE, STATE_MASK, WORDS
} = require('../ledger/segment')

const ANY = [...Array(STATE_MASK + 1).keys()].filter(state => state !== NONE)
// Whether a segment may have a record in a state: in those that have none no record is looked at.
const MAY_HAVE = new Map([
  [WAITING, rows => rows.liveCount > 0],
  [RUNNING, rows => rows.runningCount > 0],
  [DELAYED, rows => rows.liveCount > 0],
  [DONE, rows => rows.endedCount > 0],
  [FAILED, rows => rows.failedCount > 0],
  [CANCELLED, rows => rows.endedCount > 0]
])

module.exports = { scan, descending, ascending }

/** Calls visit(rows, row) for each record of the ids from first to last, in no order. O(of these, and strays). */
function scan (ledger, first, last, visit) {
  const { segments, strays } = ledger
  const begin = Math.max(first, ledger.first)
  const end = Math.min(last, ledger.end - 1)
  const lastAt = begin > end ? -1 : (end - ledger.first) >> SHIFT
  for (let at = (begin - ledger.first) >> SHIFT; at <= lastAt; at++) {
    const segment = segments[at]
    if (segment === undefined) continue
    const lastRow = Math.min(end - segment.base, ROWS - 1)
    for (let row = Math.max(begin - segment.base, 0); row <= lastRow; row++) {
      if (segment.stateOf(row) !== NONE) visit(segment, row)
    }
  }
  for (const [id, row] of strays.rows) if (id >= first && id <= last) visit(strays, row)
}

/**
 * What `select` makes of records, the newest first, as far as it is asked for. Records may change meanwhile: those of a segment are looked
 * at at once, when the first of them is asked for.
 * @param {number} before only smaller ids
 * @param {number} limit so many at most
 * @param {number[]} states of records that are looked at: one, or FAILED and DEAD; none: any
 * @param {(rows: object, row: number, id: number) => any} select undefined: not that one
 */
function * descending (ledger, before, limit, states, select) {
  const mayHave = MAY_HAVE.get(states[0])
  const wanted = bitsOf(states.length === 0 ? ANY : states)
  let left = limit
  for (const piece of piecesOf(ledger, -Infinity, before - 1).reverse()) {
    if (left === 0) return
    const found = []
    walk(ledger, piece, -1, wanted, mayHave, (rows, row, id) => {
      const value = id < before ? select(rows, row, id) : undefined
      if (value !== undefined) found.push(value)
      return found.length < left
    })
    left -= found.length
    yield * found
  }
}

/** Calls visit(rows, row, id) for each record with an id above `after`, the oldest first. */
function ascending (ledger, after, visit) {
  const wanted = bitsOf(ANY)
  for (const piece of piecesOf(ledger, after + 1, Infinity)) {
    walk(ledger, piece, 1, wanted, undefined, (rows, row, id) => {
      if (id > after) visit(rows, row, id)
      return true
    })
  }
}

/** @returns {{ base: number, isStray: boolean }[]} segments, by the ids of their first rows, and strays, ascending */
function piecesOf (ledger, first, last) {
  const segments = ledger.segments
    .filter(segment => segment !== undefined && segment.base + ROWS > first && segment.base <= last)
    .map(({ base }) => ({ base, isStray: false }))
  const strays = ledger.strays.idsBetween(first, last).map(id => ({ base: id, isStray: true }))
  return [...segments, ...strays].sort((a, b) => a.base - b.base)
}

function bitsOf (states) {
  return states.reduce((bits, state) => bits | 1 << state, 0)
}

/**
 * Calls visit for the records of a piece in the wanted states, in either direction, until it returns false.
 * @param {((rows: object) => boolean) | undefined} mayHave undefined: any segment may have some
 */
function walk (ledger, { base, isStray }, step, wanted, mayHave, visit) {
  const segment = isStray ? undefined : ledger.segmentAt(base)
  if (segment === undefined) {
    // it is gone since, and its live jobs are strays
    const ids = isStray ? [base] : ledger.strays.idsBetween(base, base + ROWS - 1)
    for (const id of step < 0 ? ids.reverse() : ids) {
      const rows = ledger.find(id)
      if (rows !== undefined && (wanted >> rows.stateOf(ledger.row) & 1) === 1 && !visit(rows, ledger.row, id)) return
    }
    return
  }
  if (mayHave?.(segment) === false) return
  for (let row = step < 0 ? ROWS - 1 : 0; row >= 0 && row < ROWS; row += step) {
    // read anew each time: who visits may change them
    if ((wanted >> (segment.words[row * WORDS + STATE] & STATE_MASK) & 1) === 1 && !visit(segment, row, base + row)) return
  }
}
