'use strict'

// Question: how many bytes does a waiting job take, beyond its payload?
//
// One slot, whose first job never ends; behind it wait n jobs. Payloads are small integers, which take no heap of their
// own, and all jobs share one callback (with queues that return promises: one `.then` each, as their users need).
// Bytes are what heap, external memory and array buffers hold more than before the pushes, after full collections.
// The same queue was filled once before, as another instance, so that compiled code is not counted.

const { CALLBACK_QUEUES, PROMISE_QUEUES, contenders, entriesFor } = require('../contenders')
const { heldBytes } = require('../heap')

module.exports = {
  name: 'memory',
  title: 'Bytes per waiting job beyond the payload',
  about: 'One slot is taken for good and the jobs wait behind it; payloads are small integers and the callback is ' +
    'shared.',
  metrics: [{ key: 'bytes', label: 'bytes', unit: 'B/job' }],
  execArgv: ['--expose-gc'],
  budgetMs: 10000,

  cells ({ quick }) {
    return (quick ? [1e4] : [1e4, 1e6]).map((jobs) => ({
      id: jobs === 1e6 ? '1e6' : '1e4',
      label: `${jobs.toLocaleString('en')} waiting`,
      jobs,
      contenders: [
        ...entriesFor(CALLBACK_QUEUES, 'callback'),
        ...entriesFor(PROMISE_QUEUES, 'promise')
      ],
      weight: jobs >= 1e6 ? 4 : 1
    }))
  },

  async measure ({ jobs }, contender) {
    await fill(contender, 1e4)
    return { bytes: await fill(contender, jobs) / jobs }
  }
}

/** The queue being weighed: held here, because one that is only waited for may be collected. */
let queue

/** Bytes taken by `jobs` jobs behind a head that never ends. */
async function fill (contender, jobs) {
  let started = 0
  const style = PROMISE_QUEUES.includes(contender) ? 'promise' : 'callback'
  const runner = () => {
    started++
    return new Promise(() => {})
  }
  queue = await contenders[contender].create(runner, { concurrency: 1, style })
  queue.push(0, fail)
  const before = await heldBytes()
  for (let i = 0; i < jobs; i++) queue.push(i, fail)
  const after = await heldBytes()
  if (started !== 1) throw new Error(`${contender}: ${started} jobs started where one slot is taken for good`)
  return after - before
}

function fail () {
  throw new Error('a job settled that never ends')
}
