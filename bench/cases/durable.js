'use strict'

// Question: what do queues on disk cost, and what do they hold in memory?
//
// RocksQ's own loads (write all and read all, write and read in turn, at three sizes) and those of pqueue (10,000 entries in
// batches of ten, writing, and writing and reading), beside loads that show what batches and pushes in flight are worth.
// Peers in other languages run as programs that measure themselves; a table in SQLite and LMDB are what a Node program
// would use otherwise. In these nothing is synced before it is acknowledged, but where that is what is asked.
// Whatever is popped is counted and compared with what was pushed (../durable/load.js).

const { once } = require('node:events')
const { fork } = require('node:child_process')
const path = require('node:path')
const { heldBytes } = require('../heap')
const { entriesFor, versionIn } = require('../durable/peers')
const { placeCells, inFolderOfItsOwn } = require('../durable/place')
const { runLoad, pushInWindow, createPayload, isPayload } = require('../durable/load')
const { queues } = require('../durable/queues')

const OTHERS = ['RocksQ', 'pqueue', 'better-sqlite3', 'node:sqlite', 'lmdb']
const WINDOW = 1000
const BATCHES_WINDOW = 100
const MB = 2 ** 20
/** Payloads pushed, by size and batch. */
const COUNTS = {
  16: { 1: 200000, 10: 500000, 100: 1e6 },
  1024: { 1: 100000, 10: 200000, 100: 300000 }
}

module.exports = {
  name: 'durable',
  title: 'Queues on disk',
  page: 'docs/benchmarks/durable.md',
  peers: ['rocksq', 'pqueue', 'better-sqlite3', 'lmdb', 'node:sqlite'],
  about: 'One caller; the loads of RocksQ\'s and pqueue\'s own benchmarks, and further ones. Where RocksQ\'s have a million ' +
    'payloads these have 50,000 to a million, where they have 1,000 of 1 MB these have 200; pqueue\'s 10,000 are fewer above ' +
    '2 KB. Payloads are random bytes, made beforehand; all that is popped is counted and checked. Without another ' +
    'word nobody waits for the disk: what is acknowledged survives the end of the process, not a power failure. fairlane is ' +
    '`PersistentQueue` with ack `\'os\'`, *fairlane, disk* with ack `\'disk\'`; *write* is no queue, but a file and a system call for each push.',
  metrics: [
    { key: 'pushNs', label: 'push', unit: 'ns per payload', best: true },
    { key: 'popNs', label: 'pop', unit: 'ns per payload', best: true },
    { key: 'turnNs', label: 'push and pop', unit: 'ns per payload', best: true },
    { key: 'callsPerSecond', label: 'calls that are on the disk when they return', unit: '/s', higherIsBetter: true, best: true },
    { key: 'openSeconds', label: 'open', unit: 's', noRatio: true, best: true },
    { key: 'rssMB', label: 'memory', unit: 'MB', noRatio: true }
  ],
  execArgv: ['--expose-gc'],
  budgetMs: 9000,

  cells ({ quick, peers = {} }) {
    return [
      ...pushAndPop(quick, 16),
      ...pushAndPop(quick, 1024),
      inTurn(quick, 16),
      inTurn(quick, 1024),
      ...megabytes(quick),
      inWindow(quick, 16),
      inWindow(quick, 1024),
      ...[16, 1024].flatMap(size => [10, 100].map(batch => batchesInWindow(quick, size, batch))),
      ...[16, 256, 2048, 16384, 65536].flatMap(size => ofPqueue(quick, size)),
      synced(quick, 1),
      synced(quick, 10),
      synced(quick, 100),
      recovery(quick, 'close'),
      recovery(quick, 'kill'),
      memory(quick)
    ].map(cell => ({ weight: 1, ...cell, contenders: entriesFor(cell.contenders, queues, peers) }))
  },

  prepare: placeCells,
  versionOf: (name, peers) => versionIn(queues[name], peers),

  measure (cell, contender) {
    return inFolderOfItsOwn(cell.folder, folder => KINDS[cell.kind](cell, queues[contender], folder))
  }
}

function pushAndPop (quick, size) {
  return [1, 10, 100].map(batch => ({
    ...ofLoad(quick, {
      id: `all-${size}-${batch}`,
      label: `${bytes(size)}, ${batch === 1 ? 'one at a time' : `batches of ${batch}`}`,
      section: 'Push all, then pop all',
      load: { shape: 'all', size, batch, count: COUNTS[size][batch] }
    }),
    contenders: ['fairlane', ...OTHERS, 'write']
  }))
}

function inTurn (quick, size) {
  return ofLoad(quick, {
    id: `turns-${size}`,
    label: `${bytes(size)}, one at a time`,
    section: 'Push and pop in turn',
    load: { shape: 'turns', size, batch: 1, count: 50000 }
  })
}

function megabytes (quick) {
  return [['all', 'all, then all'], ['turns', 'in turn']].map(([shape, label]) => ofLoad(quick, {
    id: `${shape}-1MB`,
    label: `1 MB, ${label}`,
    section: 'Large payloads',
    load: { shape, size: MB, batch: 1, count: 200 }
  }))
}

function inWindow (quick, size) {
  return {
    ...ofLoad(quick, {
      id: `window-${size}`,
      label: bytes(size),
      section: `Single pushes, ${WINDOW} of them under way, beside others that wait for each call`,
      load: { shape: 'window', size, batch: 1, window: WINDOW, count: COUNTS[size][1] }
    }),
    contenders: ['fairlane', 'fairlane, disk', 'RocksQ', 'lmdb', 'RocksQ, one call at a time', 'pqueue, batches of 100']
  }
}

function batchesInWindow (quick, size, batch) {
  return {
    ...ofLoad(quick, {
      id: `window-${size}-${batch}`,
      label: `${bytes(size)}, batches of ${batch}`,
      section: `Batches, ${BATCHES_WINDOW} of them under way, beside others that wait for each call`,
      load: { shape: 'window', size, batch, window: BATCHES_WINDOW, count: COUNTS[size][batch] }
    }),
    contenders: ['fairlane', 'fairlane, disk', 'RocksQ, one call at a time', 'pqueue, one call at a time']
  }
}

/** Each as in pqueue's own benchmark, but for fewer of the large ones. */
function ofPqueue (quick, size) {
  const count = size >= 65536 ? 1000 : size >= 16384 ? 4000 : 10000
  const repetitions = size >= 2048 ? 4 : 20
  const label = `${count.toLocaleString('en')} × ${bytes(size)}`
  return [['all', 'writing'], ['parallel', 'writing and reading']].map(([shape, what]) => ofLoad(quick, {
    id: `pqueue-${shape}-${size}`,
    label: `${label}, ${what}`,
    section: 'Batches of ten',
    load: { shape, size, batch: 10, count, repetitions }
  }))
}

function synced (quick, batch) {
  return {
    id: `synced-${batch}`,
    label: `1 KB, ${batch === 1 ? 'one at a time' : `batches of ${batch}`}`,
    section: 'Each call waits for the disk',
    kind: 'synced',
    load: { shape: 'all', size: 1024, batch, count: batch * (quick ? 10 : 500) },
    contenders: ['fairlane, disk', 'better-sqlite3, synced', 'lmdb, synced', 'write and fdatasync']
  }
}

function recovery (quick, end) {
  const count = quick ? 20000 : 1e6
  return {
    id: `recovery-${end}`,
    label: `${count.toLocaleString('en')} × 100 B, after ${end === 'kill' ? 'kill -9' : 'close()'}`,
    section: 'Opening',
    kind: 'recovery',
    count,
    size: 100,
    end,
    contenders: ['fairlane'],
    weight: 2
  }
}

function memory (quick) {
  const count = quick ? 20000 : 1e6
  return {
    id: 'memory',
    label: `${count.toLocaleString('en')} × 1 KB waiting`,
    section: 'RSS after a collection, above the empty process',
    kind: 'memory',
    count,
    size: 1024,
    contenders: ['fairlane'],
    weight: 3
  }
}

function ofLoad (quick, { load, ...cell }) {
  const { batch, count } = load
  return {
    ...cell,
    kind: 'load',
    load: quick ? { ...load, count: Math.max(batch, Math.ceil(count / 100 / batch) * batch), repetitions: 1 } : load,
    contenders: ['fairlane', ...OTHERS]
  }
}

const KINDS = {
  async load ({ load }, queue, folder) {
    const times = await runQueue(load, queue, folder)
    return load.shape === 'window' || queue.isBare ? { pushNs: times.pushNs } : times
  },

  async synced ({ load }, queue, folder) {
    const { pushNs } = await runQueue(load, queue, folder)
    return { callsPerSecond: 1e9 / (pushNs * load.batch) }
  },

  /** Fills a queue in a process of its own, which closes it or is killed, and opens it here. */
  async recovery ({ count, size, end }, queue, folder) {
    const filler = fork(path.join(__dirname, '../durable/fill.js'), [folder, count, size, end])
    const [code, signal] = await once(filler, 'exit')
    if (end === 'kill' ? signal !== 'SIGKILL' : code !== 0) throw new Error(`the process that fills ended with ${signal ?? `code ${code}`}`)
    const begun = process.hrtime.bigint()
    const opened = await queue.open(folder)
    const openSeconds = Number(process.hrtime.bigint() - begun) / 1e9
    await checkAll(opened, count, payload => isPayload(payload, 0, size))
    return { openSeconds }
  },

  async memory ({ count, size }, queue, folder) {
    const ring = Array.from({ length: 997 }, (_, number) => createPayload(number, size))
    const before = await rssMB()
    const opened = await queue.open(folder)
    // each payload is a buffer of its own, as in a program
    await pushInWindow(payload => opened.pushOne(payload), count, WINDOW, number => Buffer.from(ring[number % ring.length]))
    const after = await rssMB()
    await checkAll(opened, count, (payload, number) => isPayload(payload, number % ring.length, size))
    return { rssMB: after - before }
  }
}

function runQueue (load, queue, folder) {
  return queue.run ? queue.run(load, folder) : runLoad(load, queue, folder)
}

/** Takes all that is there. */
async function checkAll (opened, count, isRight) {
  let number = 0
  for (let payloads = await opened.pop(1000); payloads.length > 0; payloads = await opened.pop(1000)) {
    for (const payload of payloads) {
      if (!isRight(payload, number++)) throw new Error(`payload ${number - 1} is not what was pushed`)
    }
  }
  if (number !== count) throw new Error(`miscounted: ${number} payloads of ${count}`)
  await opened.close()
}

async function rssMB () {
  await heldBytes()
  return process.memoryUsage.rss() / MB
}

function bytes (size) {
  if (size < 1024) return `${size} B`
  return `${size / 1024} KB`
}
