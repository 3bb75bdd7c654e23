'use strict'

// A rate of starts: so many in so long, in the words that all queues have for it.

const { readInteger, readOwn, wrong } = require('./fields')

const RATE_NAMES = ['limit', 'intervalMs']

module.exports = { readRate }

/**
 * @param {(value: any, name: string, code: string) => number} [readInterval] for queues whose intervals have bounds of their own
 * @returns {{ limit: number, intervalMs: number }}
 * @throws of the code
 */
function readRate (value, name, code, readInterval = readFiniteInterval) {
  const { limit, intervalMs } = readOwn(value, name, RATE_NAMES, code)
  return {
    limit: readInteger(limit, `limit of ${name}`, 1, Number.MAX_SAFE_INTEGER, code),
    intervalMs: readInterval(intervalMs, `intervalMs of ${name}`, code)
  }
}

function readFiniteInterval (value, name, code) {
  if (Number.isFinite(value) && value > 0) return value
  throw wrong(value, 'number', code, `${name} must be a finite time above 0`)
}
