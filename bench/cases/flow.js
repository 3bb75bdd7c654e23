'use strict'

// Question: what do limits of rate, attempts, delays, keys and priorities cost a job, used or not, and does a limit of rate hold?
//
// CPU time of the process, from before the first push until the last end, mean of bursts after some that are not measured. Starts and ends
// are counted. What is added is the time less that of fairlane without any of these in the same round. What priorities add has its target
// against add() with another option, one that changes nothing (maxAttempts: 1): a job with any has an object that is read and a ticket, and
// the question is what levels cost beside these. In the last cell the time of each start is taken.

const { entriesFor, versionIn } = require('../durable/peers')
const { versionOf } = require('../contenders')
const { queues } = require('../flow/queues')

const WINDOWS = 10
const LIMIT = 100
// Names of groups in which fairlane is the queue without any option.
const WITH_OPTIONS = new Set(['plain', 'equal', 'add'].flatMap(group => Object.keys(queues[group])))

module.exports = {
  name: 'flow',
  title: 'Rates, attempts, delays, keys and priorities',
  page: 'docs/benchmarks/limits.md',
  peers: ['bottleneck', 'limiter', 'p-retry'],
  about: 'CPU time from before the first push of a burst until its last end, 10 jobs at a time, in bursts of 10,000, of 3,000 where others are ' +
    'compared, and of 100,000 with `delayMs`. The runner does nothing. `maxAttempts` under *Promises* is 1: it shows what any option of a job costs, be it a priority. Under *Callbacks* and *Promises* fairlane is the queue without any option, in the other tables one that does what these say. In the last ones a queue gets half a window\'s jobs, and a backlog of 2,000 when the window, a second, is nearly over.',
  metrics: [
    { key: 'ns', label: 'CPU time', unit: 'ns/job', best: true },
    { key: 'added', label: 'added', unit: 'ns/job' },
    { key: 'starts', label: `started in ${WINDOWS} windows`, unit: 'jobs', noRatio: true },
    { key: 'most', label: 'most in any window', unit: 'jobs', noRatio: true }
  ],
  budgetMs: 40000,

  cells ({ quick, peers = {} }) {
    const size = (jobs, bursts) => quick ? { jobs: jobs / 10, warmups: 0, bursts: 1 } : { jobs, warmups: Math.ceil(bursts / 2), bursts }
    return [
      { id: 'sync', label: 'sync', group: 'plain', style: 'sync', ...size(10000, 60) },
      { id: 'setImmediate', label: 'setImmediate', group: 'plain', style: 'setImmediate', names: ['fairlane'], ...size(10000, 40) },
      { id: 'equal', label: "sync, 'equal', ten types", group: 'equal', style: 'sync', ...size(10000, 40) },
      { id: 'add', label: 'add()', group: 'add', names: ['fairlane', 'key', 'key, nine of ten join', 'maxAttempts', 'priority, 4 levels'], ...size(10000, 30) },
      { id: 'delayed', label: 'add(), 100,000 jobs', group: 'add', names: ['fairlane', 'delayMs'], ...size(100000, 4) },
      { id: 'held', label: 'ten types that may start', group: 'held', style: 'sync', ...size(10000, 40) },
      { id: 'limited', label: 'a rate that is never reached', group: 'limited', ...size(3000, 6) },
      { id: 'limitedTypes', label: 'a rate of each of ten types that is never reached', group: 'limitedTypes', ...size(3000, 6) },
      { id: 'retried', label: 'each job fails once', group: 'retried', ...size(3000, 6) },
      { id: 'windows', label: `${LIMIT} in a window`, group: 'limited', intervalMs: quick ? 60 : 1000, weight: 4 }
    ].map(({ names, ...cell }) => {
      const group = queues[cell.group]
      return { weight: 1, section: SECTIONS[cell.id], ...cell, contenders: entriesFor(names ?? Object.keys(group), group, peers) }
    })
  },

  versionOf (name, peers) {
    const queue = Object.values(queues).find(group => group[name] !== undefined)[name]
    return queue.peer === undefined ? versionOf(queue.package) : versionIn(queue, peers)
  },

  measure ({ group, ...cell }, contender) {
    const queue = queues[group][contender]
    return cell.intervalMs === undefined ? costOf(queue, cell) : startsOf(queue, cell)
  },

  /** Round by round, of our own queues: what is taken less what it takes without any option. */
  derive ({ fairlane, ...others }) {
    for (const [name, { rounds }] of Object.entries(others)) {
      if (!WITH_OPTIONS.has(name)) continue
      rounds.forEach((round, i) => {
        const without = fairlane.rounds[i]?.ns
        if (round.ns !== undefined && without !== undefined) round.added = round.ns - without
      })
    }
  }
}

const SECTIONS = {
  sync: 'Callbacks',
  setImmediate: 'Callbacks',
  equal: 'Callbacks',
  add: 'Promises',
  delayed: 'Promises',
  held: 'Beside types that are out of rate',
  limited: 'Beside others',
  limitedTypes: 'Beside others',
  retried: 'Beside others',
  windows: 'What a limit lets through'
}

async function costOf ({ open, startsPerJob = 1 }, { style, jobs, warmups, bursts }) {
  let started = 0
  let settled = 0
  const runner = {
    sync (payload, done) { started++; done() },
    setImmediate (payload, done) { started++; setImmediate(done) }
  }[style]
  const promise = async () => { started++ }
  let expected = 0
  let sum = 0
  for (let n = 0; n < warmups + bursts; n++) {
    const push = await open(runner, promise)
    const before = process.cpuUsage()
    await new Promise((resolve, reject) => {
      expected += jobs
      const whenSettled = err => {
        if (err) reject(err)
        if (++settled === expected) resolve()
      }
      const isCalled = style !== undefined
      for (let i = 0; i < jobs; i++) {
        if (isCalled) push(i, whenSettled)
        else push(i).then(() => whenSettled(), whenSettled)
      }
    })
    const { user, system } = process.cpuUsage(before)
    push.end?.()
    if (n >= warmups) sum += (user + system) * 1000 / jobs
  }
  if (settled !== expected || started !== expected * startsPerJob) throw new Error(`miscounted: ${expected} jobs, ${started} started, ${settled} settled`)
  return { ns: sum / bursts }
}

/**
 * How many start in some windows, from the first start on, and the most that do in any stretch of that length, less what a clock may be
 * off.
 */
async function startsOf ({ open }, { intervalMs }) {
  const times = []
  const push = await open(undefined, async () => { times.push(performance.now()) }, { limit: LIMIT, intervalMs })
  const isOver = new Promise(resolve => setTimeout(resolve, (WINDOWS + 1) * intervalMs))
  for (let i = 0; i < LIMIT / 2; i++) push(i)
  await new Promise(resolve => setTimeout(resolve, 0.95 * intervalMs))
  for (let i = 0; i < 2 * WINDOWS * LIMIT; i++) push(i)
  await isOver
  const starts = times.filter(time => time < times[0] + WINDOWS * intervalMs).length
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last] - times[first] >= 0.999 * intervalMs) first++
    most = Math.max(most, last - first + 1)
  }
  return { starts, most }
}
