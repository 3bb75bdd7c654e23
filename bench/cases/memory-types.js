'use strict'

// Question: how many bytes do jobs of types take, and the types themselves?
//
// Bytes are what heap and external memory hold more than before, after full collections, as in the case memory: one slot,
// whose job never ends, and the others wait behind it. Per job: 1,000,000 jobs of ten types. Per type: 100,000 types with one
// job each, names not counted. Kept: what a queue still holds, and nothing else may, when 1,000,000 types with one job each
// have come and gone, 10,000 at a time.

const { SCHEDULERS, contenders, entriesFor } = require('../contenders')
const { createLoad } = require('../load')
const { typeNames } = require('../types')
const { heldBytes } = require('../heap')

const SIZES = { jobs: 1e6, types: 1e5, bursts: 100, oneShots: 1e4 }
const QUICK_SIZES = { jobs: 1e4, types: 1e4, bursts: 2, oneShots: 1e4 }

module.exports = {
  name: 'memory-types',
  page: 'docs/benchmarks/schedulers.md',
  title: 'Memory of jobs and types',
  about: 'Bytes per job beyond the payload with ten types; bytes of a type with one waiting job beyond its name; what is kept ' +
    'when a million types with one job each have come and gone.',
  metrics: [
    { key: 'perJob', label: 'per job', unit: 'B' },
    { key: 'perType', label: 'per type', unit: 'B' },
    { key: 'keptMB', label: 'kept', unit: 'MB', noRatio: true }
  ],
  execArgv: ['--expose-gc'],
  budgetMs: 20000,

  cells ({ quick }) {
    return [{
      id: 'types',
      label: 'beyond payloads and names',
      ...(quick ? QUICK_SIZES : SIZES),
      contenders: entriesFor(SCHEDULERS, 'callback'),
      weight: 6
    }]
  },

  async measure ({ jobs, types, bursts, oneShots }, contender) {
    const tenTypes = typeNames(10)
    const manyTypes = typeNames(types)
    await fill(contender, 1e4, tenTypes) // compiles
    const perJob = await fill(contender, jobs, tenTypes) / jobs
    const perType = await fill(contender, types, manyTypes) / types
    queue = undefined
    return { perJob, perType, keptMB: await keptBytes(contender, bursts, oneShots) / 1e6 }
  }
}

/** The queue being weighed: held here, because one that is only waited for may be collected. */
let queue

/** Bytes taken by `jobs` jobs, of the types in turn, behind a job that never ends. */
async function fill (contender, jobs, types) {
  let started = 0
  queue = await contenders[contender].create(() => { started++ }, { concurrency: 1, style: 'callback' })
  queue.pushType('first', 0, fail)
  const before = await heldBytes()
  for (let i = 0; i < jobs; i++) queue.pushType(types[i % types.length], i, fail)
  const after = await heldBytes()
  if (started !== 1) throw new Error(`${contender}: ${started} jobs started where one slot is taken for good`)
  return after - before
}

/** Bytes that a queue holds when bursts of types with one job each have come and gone. */
async function keptBytes (contender, bursts, oneShots) {
  const load = createLoad(contender, 'setImmediate', [])
  await load.renew()
  await load.runOf(typeNames(oneShots)) // compiles
  const before = await heldBytes()
  for (let i = 0; i < bursts; i++) await load.runOf(Array.from({ length: oneShots }, (_, j) => `one shot ${i} ${j}`))
  const after = await heldBytes()
  await load.check()
  return after - before
}

function fail () {
  throw new Error('a job settled that never ends')
}
