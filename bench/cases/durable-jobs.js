'use strict'

// Question: what does a job cost in a queue on disk, from the push to the end that is written?
//
// durable() with its attempts, beside plainjob, which keeps jobs in a table of SQLite and writes their attempts and ends too, and beside a
// loop that only writes what has to be written. CPU time counts more than jobs per second, since it depends less on what else
// the machine does. Jobs are counted and their payloads compared (../durable/job-load.js).

const path = require('node:path')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { heldBytes } = require('../heap')
const { jobQueues } = require('../durable/job-queues')
const { runJobs, CONCURRENCY } = require('../durable/job-load')
const { entriesFor, versionIn } = require('../durable/peers')
const { placeCells, inFolderOfItsOwn } = require('../durable/place')

const WITH_SYSTEM = ['fairlane', 'fairlane, JSON', 'plainjob', 'bare loop']
const WITH_DISK = ['fairlane, disk', 'plainjob, synced', 'bare loop, synced']
const SIZES = [16, 256, 1024]
const ENDS = [16, 1024]
const COUNT = 10000
/** Of those that wait for the disk one after the other. */
const FEW = 2000
const TOGETHER = 1000
const MB = 2 ** 20

module.exports = {
  name: 'durable-jobs',
  title: 'Job queues on disk',
  page: 'docs/benchmarks/durable.md',
  peers: ['better-sqlite3', 'plainjob'],
  about: `The runner is an async function that ends at once; ${CONCURRENCY} slots. Payloads are objects of so many bytes as JSON, made beforehand. ` +
    'Each attempt is written before it begins, and each end after it. Every start and every end is counted, and every payload compared. CPU time is that ' +
    'of all threads. Queues are warm. Without another word nobody waits for the disk: what is acknowledged survives the end of the process, not a power ' +
    'failure. fairlane is `durable()` with ack `\'os\'`, *fairlane, disk* with ack `\'disk\'`.',
  metrics: [
    { key: 'pushCpuUs', label: 'push, CPU time', unit: 'µs per job', best: true },
    { key: 'runCpuUs', label: 'run, CPU time', unit: 'µs per job', best: true },
    { key: 'bothCpuUs', label: 'push and run, CPU time', unit: 'µs per job', best: true },
    { key: 'pushPerSecond', label: 'push', unit: 'jobs per second', higherIsBetter: true, best: true },
    { key: 'runPerSecond', label: 'run', unit: 'jobs per second', higherIsBetter: true, best: true },
    { key: 'bothPerSecond', label: 'push and run', unit: 'jobs per second', higherIsBetter: true, best: true },
    { key: 'openSeconds', label: 'open', unit: 's', noRatio: true, best: true },
    { key: 'bytesPerJob', label: 'heap and buffers', unit: 'bytes per job', noRatio: true },
    { key: 'rssMB', label: 'RSS above that of the process before, after a collection', unit: 'MB', noRatio: true }
  ],
  execArgv: ['--expose-gc'],
  budgetMs: 60000,

  cells ({ quick, peers = {} }) {
    return [
      ...SIZES.flatMap(size => [1, TOGETHER].map(burst => apart(quick, { size, burst, count: COUNT, names: WITH_SYSTEM }))),
      ...SIZES.map(size => beside(quick, { size, window: TOGETHER, count: COUNT, names: WITH_SYSTEM })),
      ...ENDS.map(size => beside(quick, { size, window: 1, count: COUNT, names: WITH_SYSTEM })),
      ...ENDS.map(size => apart(quick, { size, burst: 1, count: FEW, names: WITH_DISK })),
      ...ENDS.map(size => apart(quick, { size, burst: TOGETHER, count: COUNT, names: WITH_DISK })),
      ...ENDS.map(size => beside(quick, { size, window: TOGETHER, count: COUNT, names: WITH_DISK })),
      ...ENDS.map(size => beside(quick, { size, window: 1, count: FEW, names: WITH_DISK })),
      waiting(quick)
    ].map(cell => ({ weight: 1, ...cell, contenders: entriesFor(cell.contenders, jobQueues, peers) }))
  },

  prepare: placeCells,
  versionOf: (name, peers) => versionIn(jobQueues[name], peers),

  measure (cell, contender) {
    return inFolderOfItsOwn(cell.folder, folder => KINDS[cell.kind](cell, contender, folder))
  }
}

/** Jobs are pushed, then run. */
function apart (quick, { size, burst, count, names }) {
  return ofLoad(quick, names, {
    id: `apart-${size}-${burst}`,
    label: `${bytes(size)}, ${burst === 1 ? 'one at a time' : `${burst} together`}`,
    section: 'Push all, then run all',
    load: { shape: 'apart', size, count, burst }
  })
}

/** Jobs are pushed while others run. */
function beside (quick, { size, window, count, names }) {
  return ofLoad(quick, names, {
    id: `beside-${size}-${window}`,
    label: `${bytes(size)}, ${window === 1 ? 'one job at a time' : `at most ${window} jobs`}`,
    section: 'Push while jobs run',
    load: { shape: 'beside', size, count, burst: Math.ceil(window / 2), window }
  })
}

function ofLoad (quick, names, { id, section, load, ...cell }) {
  const waitsForDisk = names === WITH_DISK
  return {
    ...cell,
    id: waitsForDisk ? `disk-${id}` : id,
    section: waitsForDisk ? `${section}; a push waits for the disk` : section,
    kind: 'load',
    load: quick ? { ...load, count: Math.max(load.burst, load.count / 50), isCold: true } : load,
    contenders: names
  }
}

function waiting (quick) {
  const count = quick ? 20000 : 300000
  return {
    id: 'waiting',
    label: `${count.toLocaleString('en')} × 1 KB`,
    section: 'Opening a queue with jobs that wait',
    kind: 'waiting',
    count,
    size: 1024,
    contenders: ['fairlane', 'fairlane, equal', 'fairlane, maxWaitMs'],
    weight: 3
  }
}

const KINDS = {
  load: ({ load }, name, folder) => runJobs(load, jobQueues[name], folder),

  /** Fills a queue in a process of its own, and opens it here. */
  async waiting ({ count, size }, name, folder) {
    const filler = fork(path.join(__dirname, '../durable/fill-jobs.js'), [name, folder, count, size])
    const [code, signal] = await once(filler, 'exit')
    if (code !== 0) throw new Error(`the process that fills ended with ${signal ?? `code ${code}`}`)
    const before = await memory()
    const begun = process.hrtime.bigint()
    const queue = await jobQueues[name].open(folder, { runner () {}, concurrency: CONCURRENCY, whenDone () {}, whenFailed () {} })
    const openSeconds = Number(process.hrtime.bigint() - begun) / 1e9
    const after = await memory()
    const { left } = queue.counts()
    if (left !== count) throw new Error(`miscounted: ${left} jobs wait, of ${count}`)
    await queue.leave()
    return { openSeconds, bytesPerJob: (after.held - before.held) / count, rssMB: (after.rss - before.rss) / MB }
  }
}

async function memory () {
  return { held: await heldBytes(), rss: process.memoryUsage.rss() }
}

function bytes (size) {
  return size < 1024 ? `${size} B` : `${size / 1024} KB`
}
