'use strict'

// A rate: so many starts, or so many units of cost, in so long, in the words that all queues have for it.

const { readChoice, readInteger, readOwn, wrong } = require('./fields')

const RATE_NAMES = ['limit', 'intervalMs', 'of']
const COUNTED = ['jobs', 'cost']

module.exports = { readRate }

/**
 * @param {(value: any, name: string, code: string) => number} [readInterval] for queues whose intervals have bounds of their own
 * @returns {{ limit: number, intervalMs: number, of?: 'cost' }} of: where units of cost are counted, and not jobs
 * @throws of the code
 */
function readRate (value, name, code, readInterval = readFiniteInterval) {
  const { limit, intervalMs, of = 'jobs' } = readOwn(value, name, RATE_NAMES, code)
  const rate = {
    limit: readInteger(limit, `${name}.limit`, 1, Number.MAX_SAFE_INTEGER, code),
    intervalMs: readInterval(intervalMs, `${name}.intervalMs`, code)
  }
  return readChoice(of, `${name}.of`, COUNTED, code) === 'cost' ? { ...rate, of } : rate
}

function readFiniteInterval (value, name, code) {
  if (Number.isFinite(value) && value > 0) return value
  throw wrong(value, 'number', code, `${name} must be a finite time in ms above 0`)
}
