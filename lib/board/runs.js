'use strict'

// What runs now: by a history, or by the queue, if that is on disk or at a broker, where it knows of runners, too, that go on although
// their jobs have ended. Of these the page has numbers by type in any case.

const { supports } = require('../arguments/unsupported')
const { cut } = require('./texts')

const MOST_RUNS = 50
const MOST_ASKED = 10 // types, of a queue at a broker, where each is a call

module.exports = { runsOf }

/**
 * @param {{ queue: object, history: object | undefined }} one
 * @param {object} reading of it
 * @returns {Promise<object[] | null>} those that have run longest, as far as that is known; null: nobody knows
 */
async function runsOf ({ queue, history }, { counts: { running }, isGlobal, rows }) {
  const runs = history === undefined ? await told(queue, isGlobal, rows) : recorded(history, running)
  return runs === null ? null : runs.slice(0, MOST_RUNS).map(({ type = '', ...run }) => ({ type: cut(type), ...run }))
}

function recorded (history, count) {
  const runs = Array.from(history.list({ state: 'running', limit: Math.max(count, 1) }), ({ id, type, attempts, startedAt }) => {
    return { id, type, attempt: attempts, startedAt }
  })
  return runs.sort((a, b) => a.startedAt - b.startedAt)
}

async function told (queue, isGlobal, rows) {
  if (!supports(queue, ['listRunning']) || queue.closed) return null
  if (!isGlobal) return queue.listRunning({ limit: MOST_RUNS })
  const busy = rows.filter(row => row.running > 0).sort((a, b) => b.running - a.running).slice(0, MOST_ASKED)
  const runs = await Promise.all(busy.map(({ type }) => queue.listRunning({ type, limit: MOST_RUNS })))
  return runs.flat().sort((a, b) => a.startedAt - b.startedAt)
}
