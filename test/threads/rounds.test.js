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
    }
  }
})

async function play (seed, perThread) {
  const random = seeded(seed)
  const threads = 1 + random.below(3)
  const runner = start('jobs.js', { threads, perThread })
  const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal' })
  await runner.ready()

  const acts = Array.from({ length: 40 }, () => random.pick(ACTS))
  const told = acts.map(() => 0)
  const ends = await Promise.all(acts.map((act, i) => new Promise(resolve => {
    const type = random.pick(TYPES)
    const end = err => {
      told[i]++
      resolve(err ? err.code === DOMException.DATA_CLONE_ERR ? err.name : err.code : 'done')
    }
    if (act === 'uncloned') queue.pushType(type, { act: 'value', value: () => {} }, end)
    else if (act === 'timedOut') queue.add({ act: 'loop' }, { type, timeoutMs: 5 + random.below(20) }).then(() => end(), end)
    else if (act === 'aborted') abortedAtRandom(type).then(() => end(), end)
    else queue.pushType(type, { act, value: i * Number(act !== 'failWith') }, end)
  })))

  // once it has begun, or before
  async function abortedAtRandom (type) {
    const controller = new AbortController()
    const begun = gate()
    const job = queue.add({ act: 'loop', gate: begun }, { type, signal: controller.signal })
    job.catch(() => {})
    if (random.chance(0.5)) await Promise.race([arrived(begun, 1), job])
    controller.abort()
    return job
  }

  const mayCrash = perThread > 1
  for (const [i, act] of acts.entries()) {
    const isExpected = ENDS[act].ends.includes(ends[i]) || (mayCrash && ends[i] === 'FAIRLANE_ERR_CRASHED')
    assert(isExpected, `${act} has ended with ${ends[i]}`)
  }
  await queue.onIdle()
  assert(told.every(count => count === 1))
  const { accepted, done, failed, cancelled, misuse, running, waiting } = queue.stats()
  assert.deepEqual({ settled: done + failed + cancelled, misuse, running, waiting }, { settled: accepted, misuse: 0, running: 0, waiting: 0 })
  const { running: inThreads, threads: threadCount } = runner.stats()
  assert.deepEqual({ inThreads, threadCount }, { inThreads: 0, threadCount: threads })

  // all slots are there, and all threads
  const held = gate()
  const all = Array.from({ length: threads }, (_, value) => queue.add({ act: 'pass', gate: held, value }, { type: 'all' }))
  await arrived(held, 1)
  const rest = Array.from({ length: runner.concurrency - threads }, (_, value) => queue.add({ act: 'value', value }, { type: 'all' }))
  while (queue.running < runner.concurrency) await new Promise(setImmediate)
  letPass(held)
  await Promise.all([...all, ...rest])
  assert.equal(await queue.close(), 0)
}
