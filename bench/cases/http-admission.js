'use strict'

// Question: what does it cost to have requests come by an admission, and what becomes of a quiet tenant beside one that floods?
//
// The server (../http-admission/server.js) is a process of its own, and so is the tenant that floods; the quiet one is asked from this one.
// All keep their connections. Requests per second are those of a handler that answers at once, after some that are not measured. In the
// flood the handler takes 5 ms, the tenant that floods has 500 connections, on each of which it asks again as soon as it is answered, and
// the quiet one has 2, which are there before. Its 99th percentile alone is measured then, at the same server.

const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const autocannon = require('autocannon')
const { entriesFor } = require('../durable/peers')
const { percentile } = require('../statistics')
const { SLOTS, groups, versionOf } = require('../http-admission/middleware')

const FLOOD = { connections: 500 }
const QUIET = { connections: 2 }
const SERVICE_MS = 5

module.exports = {
  name: 'http-admission',
  title: 'Requests that are shared fairly among tenants',
  page: 'docs/benchmarks/http.md',
  peers: ['express-rate-limit', 'express-queue'],
  budgetMs: 60000,
  about: `Requests per second: a handler that answers at once, 50 connections. The flood: a handler that takes ${SERVICE_MS} ms, ${SLOTS} slots, one tenant with ${FLOOD.connections} connections, ` +
    `and a quiet one with ${QUIET.connections}, whose latencies are shown: those of its requests that were answered with 200. All connections are kept; server and tenants are processes of their own on one machine.`,
  metrics: [
    { key: 'perSecond', label: 'requests per second', unit: '/s', higherIsBetter: true, best: true },
    { key: 'lost', label: 'fewer than without', unit: '%', noRatio: true },
    { key: 'aloneMs', label: 'quiet tenant alone, p99', unit: 'ms', noRatio: true },
    { key: 'besideMs', label: 'beside the flood, p99', unit: 'ms', noRatio: true },
    { key: 'slower', label: 'times as long', unit: '×', noRatio: true },
    { key: 'refused', label: 'of the quiet tenant refused', unit: '%', noRatio: true },
    { key: 'floodPerSecond', label: 'answered to the flood', unit: '/s', noRatio: true }
  ],

  cells ({ quick, peers = {} }) {
    const seconds = quick ? 0.2 : 3
    return [
      { id: 'node', label: 'node:http', group: 'node', seconds, weight: 2 },
      { id: 'express', label: 'express', group: 'express', seconds, weight: 2 },
      { id: 'flood', label: 'a flood, in express', group: 'express', seconds: quick ? 1 : 5, weight: 4 }
    ].map(cell => ({ ...cell, contenders: entriesFor(Object.keys(groups[cell.group]), groups[cell.group], peers) }))
  },

  versionOf,

  async measure ({ id, group, seconds }, contender) {
    const serviceMs = id === 'flood' ? SERVICE_MS : 0
    const server = fork(path.join(__dirname, '../http-admission/server.js'), [JSON.stringify({ group, contender, serviceMs })])
    try {
      const [port] = await once(server, 'message')
      return await (id === 'flood' ? flood(port, seconds) : rate(port, seconds))
    } finally {
      server.kill()
    }
  },

  /** What is lost to the same server without a middleware, in the same round. */
  derive (contenders) {
    const without = contenders['no middleware'].rounds
    for (const { rounds } of Object.values(contenders)) {
      rounds.forEach((round, i) => {
        if (round.perSecond !== undefined && without[i] !== undefined) round.lost = 100 * (1 - round.perSecond / without[i].perSecond)
      })
    }
  }
}

async function rate (port, seconds) {
  const load = { port, connections: 50, tenant: 'any' }
  await ask(load, { amount: seconds * 5000 }) // what is counted has not to load anything
  const result = await ask(load, { duration: seconds })
  return { perSecond: result.okCount / result.duration, ...result.refused > 0 && { refused: result.refused } }
}

async function flood (port, seconds) {
  await ask({ port, ...QUIET, tenant: 'quiet' }, { amount: 100 })
  const answers = { alone: [], between: [], beside: [] }
  let phase = 'alone'
  const run = autocannon({ url: `http://127.0.0.1:${port}`, ...QUIET, duration: 3 * seconds + 1, headers: { tenant: 'quiet' } })
  run.on('response', (client, status, bytes, ms) => answers[phase].push({ status, ms }))
  await sleep(1000 * seconds)
  phase = 'between' // until its connections are there
  const greedy = fork(path.join(__dirname, '../http-admission/flood.js'), [JSON.stringify({ port, ...FLOOD, seconds: 2 * seconds })])
  await once(greedy, 'message')
  await sleep(500 * seconds)
  phase = 'beside'
  const [{ ok }] = await once(greedy, 'message')
  phase = 'between'
  await run
  const [aloneMs, besideMs] = [answers.alone, answers.beside].map(p99Of)
  const refusedCount = answers.beside.filter(({ status }) => status !== 200).length
  const refused = 100 * refusedCount / answers.beside.length
  return { aloneMs, besideMs, slower: besideMs / aloneMs, refused, floodPerSecond: ok / (2 * seconds) }
}

function p99Of (answers) {
  const times = answers.filter(({ status }) => status === 200).map(({ ms }) => ms)
  if (times.length === 0) throw new Error('nothing was answered')
  return percentile(times, 99)
}

/** Asks as often as it is answered; fails if there is another error than an answer. */
async function ask ({ port, connections, tenant }, howLong) {
  const result = await autocannon({ url: `http://127.0.0.1:${port}`, connections, headers: { tenant }, ...howLong })
  const { '2xx': okCount, non2xx, duration, errors } = result
  if (errors > 0 || okCount === 0) throw new Error(`${errors} errors, ${okCount} answers`)
  return { okCount, duration, refused: 100 * non2xx / (okCount + non2xx) }
}
