'use strict'

// Question: how long does a service take to tell a page its state, with many types, with many pages, and beside a queue that does not
// answer?
//
// A server with the handler of the page, in this process, asked by HTTP. The answer that is timed is one that nobody else has asked for in
// the last second. It takes that much of the service's own time, in memory all of it.

const { createServer } = require('node:http')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { Agent, request } = require('undici')
const { versionOf } = require('../contenders')
const { percentile } = require('../statistics')
const { typeNames } = require('../types')
const { board } = require('../../lib/board')
const { program } = require('../../test/support/redis-program')

const SLOTS = 100
const CLIENTS = 200
const POLL_MS = 2000
const KEPT_MS = 1000 // that an answer is shared, and a little more
const FRESH_MS = KEPT_MS + 50

module.exports = {
  name: 'board',
  title: 'The state that the page asks for',
  page: 'docs/benchmarks/metrics.md',
  about: `An answer of \`/state\`, asked by HTTP of a server in the process of the queue: one that is made anew, not that of the second before. The median is that of 20 answers, the first of which take longer: Node.js optimises code while it runs. Each type has a job that waits, and ${SLOTS} jobs run. Pages ask ` +
    `every ${POLL_MS / 1000} s, all of them at times of their own. Queues have metrics, in memory a history, too.`,
  metrics: [
    { key: 'ms', label: 'an answer, median', unit: 'ms', noRatio: true },
    { key: 'mostMs', label: 'the slowest one', unit: 'ms', noRatio: true },
    { key: 'kilobytes', label: 'size', unit: 'KB', noRatio: true },
    { key: 'cpu', label: 'CPU time of the process', unit: 'ms/s', noRatio: true }
  ],
  budgetMs: 60000,

  cells ({ quick }) {
    const rounds = quick ? 1 : 20
    return [
      { id: 'memory', label: '100,000 types in memory', kind: 'memory', types: quick ? 1000 : 1e5, rounds },
      ...program === undefined ? [] : [{ id: 'broker', label: '2,900 types at a broker', kind: 'broker', types: quick ? 100 : 2900, rounds }],
      { id: 'hanging', label: 'a queue of two that does not answer', kind: 'hanging', asked: quick ? 2 : 100 },
      { id: 'clients', label: `${CLIENTS} pages, 1,000 types in memory`, kind: 'clients', types: 1000, seconds: quick ? 1 : 10 }
    ].map(cell => ({ weight: 1, ...cell, contenders: [{ name: 'fairlane' }] }))
  },

  versionOf: () => versionOf('fairlane'),

  measure: cell => KINDS[cell.kind](cell)
}

const KINDS = {
  async memory ({ types, rounds }) {
    const page = await inMemory(types)
    return freshAnswers(page, rounds)
  },

  async broker ({ types, rounds }) {
    const { startRedis } = require('../../test/support/redis')
    const { distributed } = require('../../lib/distributed')
    const { Metrics } = require('../../lib/metrics')
    const server = await startRedis()
    const metrics = new Metrics()
    const queue = await distributed((payload, done) => {}, { name: 'bench', connection: server.connection, scheduler: 'equal', concurrency: SLOTS, settleBy: 'callback', observers: metrics })
    const names = typeNames(types)
    for (let i = 0; i < 2; i++) await queue.pushAll(names.map(type => ({ type, payload: i })))
    while ((await queue.counts()).running < Math.min(SLOTS, types)) await sleep(10)
    const told = await freshAnswers(await serve(board(queue, { metrics })), rounds)
    await server.stop()
    return told
  },

  /** The time until that is said; and the slowest answer of the other queue meanwhile. */
  async hanging ({ asked }) {
    const { queue, metrics } = await filled(1000)
    const ignored = ['pushType', 'pause', 'resume', 'stats', 'counts', 'pauseGlobal', 'resumeGlobal'].map(name => [name, () => {}])
    const never = { closed: false, scheduler: null, types: () => new Promise(() => {}), ...Object.fromEntries(ignored) }
    const { ask } = await serve(board({ mails: { queue, metrics }, never: { queue: never } }))
    const hanging = timed(() => ask('/state?queue=never'))
    const others = []
    for (let i = 0; i < asked; i++) others.push((await timed(() => ask('/state?queue=mails'))).ms)
    const { ms, value } = await hanging
    if (!value.includes('"error"')) throw new Error('the queue has answered')
    return { ms, mostMs: Math.max(...others) }
  },

  async clients ({ types, seconds }) {
    const page = await inMemory(types)
    const times = []
    const end = performance.now() + 1000 * seconds
    const poll = async i => {
      await sleep(POLL_MS * i / CLIENTS)
      while (performance.now() < end) {
        times.push((await timed(() => page.ask('/state'))).ms)
        await sleep(POLL_MS)
      }
    }
    await page.ask('/state')
    const before = process.cpuUsage()
    await Promise.all(Array.from({ length: CLIENTS }, (_, i) => poll(i)))
    const { user, system } = process.cpuUsage(before)
    return { ms: percentile(times, 50), mostMs: Math.max(...times), cpu: (user + system) / 1000 / seconds }
  }
}

async function inMemory (types) {
  const { queue, metrics, history } = await filled(types)
  return serve(board(queue, { metrics, history }))
}

/** A queue with a job of each type, and more that run. */
async function filled (types) {
  const fairlane = require('../..')
  const { History } = require('../../lib/history')
  const { Metrics } = require('../../lib/metrics')
  const [metrics, history] = [new Metrics(), new History()]
  const queue = fairlane((payload, done) => {}, { scheduler: 'equal', concurrency: SLOTS, observers: [metrics, history] })
  for (const type of typeNames(types)) queue.pushType(type, 1).pushType(type, 2)
  while (queue.running < SLOTS) await sleep(1)
  return { queue, metrics, history }
}

async function serve (handler) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${server.address().port}`
  const dispatcher = new Agent({ connections: 10 })
  return {
    async ask (path) {
      const { statusCode, body } = await request(`${origin}${path}`, { dispatcher })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(text)
      return text
    }
  }
}

async function freshAnswers ({ ask }, rounds) {
  const times = []
  let size = 0
  await ask('/state') // what is counted has not to load anything
  for (let i = 0; i < rounds; i++) {
    await sleep(FRESH_MS)
    const { ms, value } = await timed(() => ask('/state'))
    if (value.includes('"error"')) throw new Error(value)
    times.push(ms)
    size = value.length
  }
  return { ms: percentile(times, 50), mostMs: Math.max(...times), kilobytes: size / 1024 }
}

async function timed (fn) {
  const begun = performance.now()
  const value = await fn()
  return { ms: performance.now() - begun, value }
}
