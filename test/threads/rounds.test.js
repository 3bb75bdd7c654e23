'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { rounds } = require('../support/rounds')
const { seeded, seedFromEnvironment } = require('../support/random')
const { start, endAll, gate, letPass, arrived } = require('./start')

const TYPES = ['ada', 'bob', 'cleo']

// What a job may do, and the codes and names that it may end with. Beside one that ends its thread any may end with that.
const ENDS = {
  value: { ends: ['done'], weight: 12 },
  later: { ends: ['done'], weight: 4 },
  fail: { ends: ['OWN'], weight: 2 },
  reject: { ends: ['OWN'], weight: 1 },
  failWith: { ends: ['FAIRLANE_ERR_RUNNER'], weight: 1 },
  exit: { ends: ['FAIRLANE_ERR_CRASHED'], weight: 1 },
  uncaught: { ends: ['FAIRLANE_ERR_CRASHED'], weight: 1 },
  function: { ends: ['FAIRLANE_ERR_CRASHED'], weight: 1 },
  uncloned: { ends: ['DataCloneError'], weight: 1 },
  timedOut: { ends: ['FAIRLANE_ERR_TIMEOUT'], weight: 1 },
  aborted: { ends: ['FAIRLANE_ERR_ABORTED'], weight: 2 }
}
const ACTS = Object.entries(ENDS).flatMap(([act, { weight }]) => Array(weight).fill(act))

describe('random mixtures of jobs in threads', function () {
  afterEach(endAll)

  for (const perThread of [1, 3]) {
    for (let i = 0; i < rounds(2); i++) {
      const seed = (seedFromEnvironment() + i) >>> 0
      it(`each settle once, and leave all slots, ${perThread} per thread (SEED=${seed})`, () => play(seed, perThread))
      it(`each settle once when both are closed amongst them, ${perThread} per thread (SEED=${seed})`, () => closeAmongst(seed, perThread))
    }
  }
})

async function play (seed, perThread) {
  const random = seeded(seed)
  const { runner, queue, size } = await open(random, perThread)
  const jobs = pushAll(random, queue)
  await Promise.all(jobs.map(({ ended }) => ended))
  for (const { act, end } of jobs) {
    const isExpected = ENDS[act].ends.includes(end) || (perThread > 1 && end === 'FAIRLANE_ERR_CRASHED')
    assert(isExpected, `${act} has ended with ${end}`)
  }
  await queue.onIdle()
  assertSettled(queue, jobs)
  const { running, threads } = runner.stats()
  assert.deepEqual({ running, threads }, { running: 0, threads: size })

  // all slots are there, and all threads
  const held = gate()
  const all = Array.from({ length: size }, (_, value) => queue.add({ act: 'pass', gate: held, value }, { type: 'all' }))
  await arrived(held, 1)
  const rest = Array.from({ length: runner.concurrency - size }, (_, value) => queue.add({ act: 'value', value }, { type: 'all' }))
  while (queue.running < runner.concurrency) await new Promise(setImmediate)
  letPass(held)
  await Promise.all([...all, ...rest])
  assert.equal(await queue.close(), 0)
}

/** Both are closed, in either order, when some of the jobs have ended. */
async function closeAmongst (seed, perThread) {
  const random = seeded(seed)
  const { runner, queue } = await open(random, perThread)
  const jobs = pushAll(random, queue)
  let rest = random.below(jobs.length)
  await new Promise(resolve => {
    for (const { ended } of jobs) ended.then(() => rest-- <= 0 && resolve())
  })
  const closes = [() => queue.close({ drain: false }), () => runner.close()]
  if (random.chance(0.5)) closes.reverse()
  await Promise.all(closes.map(close => close()))
  await Promise.all(jobs.map(({ ended }) => ended))
  for (const { act, end } of jobs) {
    const isExpected = [...ENDS[act].ends, 'FAIRLANE_ERR_CRASHED', 'FAIRLANE_ERR_CLOSED'].includes(end)
    assert(isExpected, `${act} has ended with ${end}`)
  }
  assertSettled(queue, jobs)
  const { running, threads } = runner.stats()
  assert.deepEqual({ running, threads }, { running: 0, threads: 0 })
}

async function open (random, perThread) {
  const size = 1 + random.below(3)
  const runner = start('jobs.js', { threads: size, perThread })
  const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal' })
  await runner.ready()
  return { runner, queue, size }
}

/** @returns {{ act: string, told: number, end?: string, ended: Promise<void> }[]} */
function pushAll (random, queue) {
  return Array.from({ length: 40 }, (_, value) => {
    const job = { act: random.pick(ACTS), told: 0, end: undefined, ended: undefined }
    const type = random.pick(TYPES)
    job.ended = new Promise(resolve => {
      const end = err => {
        job.told++
        job.end = err ? (err.code === DOMException.DATA_CLONE_ERR ? err.name : err.code) : 'done'
        resolve()
      }
      if (job.act === 'uncloned') queue.pushType(type, { act: 'value', value: () => {} }, end)
      else if (job.act === 'timedOut') queue.add({ act: 'loop' }, { type, timeoutMs: 5 + random.below(20) }).then(() => end(), end)
      else if (job.act === 'aborted') abortedAtRandom(random, queue, type).then(() => end(), end)
      else queue.pushType(type, { act: job.act, value: job.act === 'failWith' ? 0 : value }, end)
    })
    return job
  })
}

/** Once it has begun, or before. */
async function abortedAtRandom (random, queue, type) {
  const controller = new AbortController()
  const begun = gate()
  const job = queue.add({ act: 'loop', gate: begun }, { type, signal: controller.signal })
  job.catch(() => {})
  if (random.chance(0.5)) await Promise.race([arrived(begun, 1), job])
  controller.abort()
  return job
}

function assertSettled (queue, jobs) {
  assert(jobs.every(({ told }) => told === 1))
  const { accepted, done, failed, cancelled, misuse, running, waiting } = queue.stats()
  const expected = { settled: accepted, misuse: 0, running: 0, waiting: 0 }
  assert.deepEqual({ settled: done + failed + cancelled, misuse, running, waiting }, expected)
}
