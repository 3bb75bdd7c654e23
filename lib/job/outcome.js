'use strict'

// What becomes of a job when an attempt at it has ended, the same in memory, on disk and at a broker. It decides, and changes nothing.
//
//   attempt ends ─┬─ well ────────────────────────────────▶ done
//                 ├─ with Throttled, Postponed ───────────▶ throttled, postponed: the attempt does not count
//                 ├─ badly, with an attempt left ─────────▶ retry, unless backoffMs gives Infinity
//                 └─ badly, with none left, or for good ──▶ failed: where there are dead letters, it is one
//
// Where others must be told before the caller is asked for a delay, endOf() comes first, and backoffAfter() when all counts are right.

const { backoffAfter } = require('./backoff')
const { isPostponed, isThrottled } = require('./postponing')

module.exports = { endOf, counts, outcomeOf }

/**
 * What a runner's end means before the caller is asked anything. No code of the caller's runs.
 * @param {any} error what the attempt failed with; if it is falsy, it has not
 * @param {number} attempt from 1
 * @param {boolean} [isFinal] another attempt would end the same
 * @returns {'done' | 'throttled' | 'postponed' | 'retry' | 'failed'}
 */
function endOf (error, attempt, maxAttempts, isFinal = false) {
  if (!error) return 'done'
  if (isThrottled(error)) return 'throttled'
  if (isPostponed(error)) return 'postponed'
  return isFinal || attempt >= maxAttempts ? 'failed' : 'retry'
}

/** Whether an attempt that has ended so is one of maxAttempts. */
function counts (end) {
  return end !== 'throttled' && end !== 'postponed'
}

/**
 * All at once.
 * @param {{ error: any, attempt: number, maxAttempts: number, isFinal?: boolean }} ended as of endOf()
 * @param {{ backoffMs: (attempt: number, error: any) => number, onFault: (err: any) => void }} queue
 * @returns {{ end: 'done' | 'throttled' | 'postponed' | 'retry' | 'failed', delayMs: number, holdMs: number }} delayMs: of the job. holdMs:
 *   of its type
 */
function outcomeOf ({ error, attempt, maxAttempts, isFinal }, { backoffMs, onFault }) {
  const end = endOf(error, attempt, maxAttempts, isFinal)
  if (end === 'throttled') return { end, delayMs: 0, holdMs: error.retryAfterMs }
  if (end === 'postponed') return { end, delayMs: error.delayMs, holdMs: 0 }
  if (end !== 'retry') return { end, delayMs: 0, holdMs: 0 }
  const delayMs = backoffAfter(backoffMs, attempt, error, onFault)
  return delayMs === Infinity ? { end: 'failed', delayMs: 0, holdMs: 0 } : { end, delayMs, holdMs: 0 }
}
