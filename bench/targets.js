'use strict'

// The targets that the queue has to reach, computed from result files (medians of the warm numbers). A change that makes
// one of them missed has to say why.

const { NO_SCOPE } = require('./contenders')
const { geometricMean } = require('./statistics')
const { number } = require('./tables')

const PEERS = ['quickq', 'fastq', 'async.queue', 'neo-async']
const SIZES = ['1e4', '1e6']
const SIZES_ON_DISK = [['16 B', 16], ['1 KB', 1024]]
const ONE_PQUEUE = 'pqueue, one call at a time'
const STYLES = ['sync', 'nextTick', 'microtask', 'setImmediate', 'promise']
/** What is asked of a queue without a scheduler: without scopes, as its peers are, and as it comes. mean: by the major of Node. */
const SPEED = [
  { name: NO_SCOPE, mean: { 24: 0.9, 26: 1.05 }, most: 1.4, million: 0.5, cold: 1.9 },
  { name: 'fairlane', mean: { 24: 1.05, 26: 1.18 }, most: 1.6, million: 0.5, cold: 1.9 }
]

/**
 * By case, from its cells, those of all cases and the major of Node: rows of { what, value, limit, unit }; isLeast: more is better. Peers
 * that a machine has not got have no rows.
 */
const TARGETS = {
  fifo (fifo, { bursts }, major) {
    const rows = []
    for (const { name, mean, most, million, cold } of SPEED) {
      const ofMillion = STYLES.filter((style) => style !== 'sync').map((style) => toOne(fifo[`${style}-1e6`], 'fastq', name))
      if (bursts !== undefined) {
        const ratios = Object.fromEntries(burstsAndWaiting({ fifo, bursts }).map(({ what, cell }) => [what, toBest(cell, name)]))
        rows.push(
          {
            what: `${name}: job time to the best peer, geometric mean of 10 cells`,
            value: geometricMean(Object.values(ratios)),
            limit: mean[major] ?? mean[26],
            unit: '×'
          },
          { what: `${name}: the worst of these (${worst(ratios)})`, value: ratios[worst(ratios)], limit: most, unit: '×' }
        )
      }
      rows.push(
        { what: `${name}: job time to fastq, 1e6 waiting, asynchronous runners, worst`, value: Math.max(...ofMillion), limit: million, unit: '×' },
        { what: `${name}: first 100 jobs of a process to quickq, geometric mean`, value: geometricMean(STYLES.map((style) => toOne(fifo[`${style}-1e2`], 'quickq', name, 'cold'))), limit: cold, unit: '×' }
      )
    }
    return rows
  },

  startup ({ process: cell }) {
    return [
      { what: 'making the first queue', value: cell.fairlane.firstMs.value, limit: 1.4, unit: ' ms' },
      { what: 'require() to quickq', value: toOne(cell, 'quickq', 'fairlane', 'requireMs'), limit: 2.2, unit: '×' }
    ]
  },

  overhead (overhead) {
    const added = (id) => overhead[id].fairlane.added.value
    const growths = ['sync', 'nextTick', 'setImmediate'].map((style) => added(`${style}-1e6`) / Math.max(1, added(`${style}-1e4`)))
    const all = Object.fromEntries(Object.keys(overhead).map((id) => [id, added(id)]))
    return [
      { what: `added to the bare runner, worst cell (${worst(all)})`, value: all[worst(all)], limit: 50, unit: ' ns/job' },
      { what: 'growth of that from 1e4 to 1e6 waiting, worst style', value: Math.max(...growths), limit: 2, unit: '×' }
    ]
  },

  memory (memory) {
    return SIZES.map((size) => (
      { what: `bytes per waiting job, ${size} waiting`, value: memory[size].fairlane.bytes.value, limit: 24, unit: ' B' }
    ))
  },

  add (cells) {
    const limits = { 'fastq.promise': 0.8, 'p-limit': 0.35, 'p-queue': 0.2 }
    const medianOf = name => cells['1e5'][name].warm.value
    return Object.entries(limits).map(([peer, limit]) => (
      { what: `add() to ${peer}, 1e5 waiting`, value: medianOf('fairlane.add') / medianOf(peer), limit, unit: '×' }
    ))
  },

  schedulers (cells) {
    const rows = []
    for (const name of ['fair', 'capped', 'equal']) {
      const [sync, later] = name === 'equal' ? [4, 2.2] : [2.5, 1.7]
      rows.push(
        { what: `${name} to no scheduler, 1e5 waiting, 10 types, sync`, value: toFifo(cells['sync-1e5'], name), limit: sync, unit: '×' },
        { what: `${name} to no scheduler, setImmediate`, value: toFifo(cells['setImmediate-1e5'], name), limit: later, unit: '×' },
        { what: `${name}, growth from 1e4 to 1e6 waiting, worst style`, value: growth(cells, name, '1e4', '1e6'), limit: 1.5, unit: '×' }
      )
    }
    rows.push({ what: 'equal with a clock that is read once per turn, sync', value: toFifo(cells['sync-1e5'], 'equal, turn clock'), limit: 4, unit: '×' })
    return rows
  },

  types (cells) {
    return ['fair', 'capped', 'equal'].map((name) => (
      { what: `${name}, growth from 10 to 1e4 types, worst style`, value: growth(cells, name, '1e1', '1e4'), limit: 3, unit: '×' }
    ))
  },

  groups (cells) {
    const toFlat = (id, name) => cells[id][name].warm.value / cells[id].equal.warm.value
    const limits = { '1e1': ['10 types', 1.7], '1e3': ['1,000 types', 2.5], '1e5': ['100,000 types with a job each', 2.5] }
    return ['equal, groups', 'equal, each a group'].flatMap((name) => Object.entries(limits).map(([id, [what, limit]]) => (
      { what: `${name}, to equal, ${what}, worst style`, value: Math.max(toFlat(`sync-${id}`, name), toFlat(`setImmediate-${id}`, name)), limit, unit: '×' }
    )))
  },

  adaptive (cells) {
    const { SCENARIOS } = require('./adaptive/scenarios')
    return Object.entries(SCENARIOS).flatMap(([id, { least }]) => [
      { what: `adaptive, ${id}: of the best fixed limit, mean of the phases`, value: cells[id].fairlane.mean.value, limit: least.mean, unit: '', isLeast: true },
      { what: 'the same, the worst phase', value: cells[id].fairlane.worst.value, limit: least.each, unit: '', isLeast: true }
    ])
  },

  'adaptive-server' ({ burst: { fairlane, ...fixed } }) {
    const best = Math.max(...Object.values(fixed).map(({ okPerSecond }) => okPerSecond.value))
    return [{
      what: 'a real server: with a control, requests a second to those with the best fixed limit', value: fairlane.okPerSecond.value / best, limit: 0.8, unit: '×', isLeast: true
    }]
  },

  flood ({ setImmediate: cell }) {
    return ['fair', 'capped'].map((name) => (
      { what: `${name}: quickq's to its time per job when one type floods`, value: cell[`quickq ${name}`].warm.value / cell[name].warm.value, limit: 25, unit: '×', isLeast: true }
    ))
  },

  'memory-types' ({ types: cell }) {
    const worstOf = (key) => Math.max(...['fair', 'capped', 'equal'].map((name) => cell[name][key].value))
    return [
      { what: 'bytes per waiting job with 10 types, worst of fair, capped, equal', value: worstOf('perJob'), limit: 48, unit: ' B' },
      { what: 'bytes of a type with one job waiting, worst', value: worstOf('perType'), limit: 600, unit: ' B' },
      { what: 'kept after 1e6 types with one job each, worst', value: worstOf('keptMB'), limit: 2, unit: ' MB' }
    ]
  },

  'fifo-mixed' (cells) {
    const ratios = Object.values(cells).map((cell) => cell['fairlane, mixed'].warm.value / cell.fairlane.warm.value)
    return [{ what: 'no scheduler, in a process that used schedulers, geometric mean', value: geometricMean(ratios), limit: 1.05, unit: '×' }]
  },

  durable (cells) {
    const pushNs = (id, name = 'fairlane') => cells[id][name].pushNs.value
    const pqueues = SIZES_ON_DISK.flatMap(([what, size]) => [
      [`${what} in batches of 10`, size, 10, 1.2], [`${what} in batches of 100`, size, 100, 1.8]
    ])
    const times = (what, id, peer, limit, name) => (
      { what: `durable push, ${what}`, value: cells[id][peer]?.pushNs && pushNs(id, peer) / pushNs(id, name), limit, unit: '×', isLeast: true }
    )
    return [
      times('RocksQ\'s time to ours, 16 B one at a time', 'all-16-1', 'RocksQ', 2),
      times('RocksQ\'s to ours, 1 KB one at a time', 'all-1024-1', 'RocksQ', 3),
      times('RocksQ\'s to ours, 16 B in batches of 100', 'all-16-100', 'RocksQ', 4),
      times('RocksQ\'s to ours, 1 KB in batches of 100', 'all-1024-100', 'RocksQ', 4),
      ...pqueues.map(([what, size, batch, limit]) => times(`pqueue's to ours, ${what}, each awaited`, `all-${size}-${batch}`, 'pqueue', limit)),
      ...pqueues.map(([what, size, batch, limit]) => times(`pqueue's to ours, ${what}, 100 under way`, `window-${size}-${batch}`, ONE_PQUEUE, limit)),
      ...SIZES_ON_DISK.map(([what, size]) => times(`ack 'disk', 1000 under way: RocksQ's one at a time to ours, ${what}`, `window-${size}`,
        'RocksQ, one call at a time', 6, 'fairlane, disk')),
      ...SIZES_ON_DISK.map(([what, size]) => times(`the same: pqueue's batches of 100 to ours, ${what}`, `window-${size}`,
        'pqueue, batches of 100', 1, 'fairlane, disk')),
      ...SIZES_ON_DISK.map(([what, size]) => times(`ack 'disk', 100 batches of 100 under way: pqueue's to ours, ${what}`, `window-${size}-100`,
        ONE_PQUEUE, 1, 'fairlane, disk')),
      { what: 'opening 1e6 jobs of 100 B after kill -9', value: cells['recovery-kill'].fairlane.openSeconds.value, limit: 2, unit: ' s' },
      { what: 'memory of 1e6 waiting jobs of 1 KB', value: cells.memory.fairlane.rssMB.value, limit: 160, unit: ' MB' }
    ].filter(({ value }) => value !== undefined)
  },

  'durable-jobs' (cells) {
    // the worst of these cells and both operations
    const times = (what, peer, ids, keys, name) => {
      const values = ids.flatMap(id => keys.map(key => cells[id][peer]?.[key] && cells[id][peer][key].value / cells[id][name][key].value))
      return { what: `jobs on disk, ${peer}'s CPU time to ours, ${what}`, value: values.includes(undefined) ? undefined : Math.min(...values), limit: 2, unit: '×', isLeast: true }
    }
    const of = (id, ...suffixes) => Object.keys(cells).filter(cell => cell.startsWith(`${id}-`) && suffixes.some(suffix => cell.endsWith(`-${suffix}`)))
    return [
      times('push one at a time, worst size', 'plainjob', of('apart', 1), ['pushCpuUs'], 'fairlane'),
      times('push 1000 together, worst size', 'plainjob', of('apart', 1000), ['pushCpuUs'], 'fairlane'),
      times('the same, both with JSON', 'plainjob', of('apart', 1000), ['pushCpuUs'], 'fairlane, JSON'),
      times('run, worst cell', 'plainjob', of('apart', 1, 1000), ['runCpuUs'], 'fairlane'),
      times('push and run, worst cell', 'plainjob', of('beside', 1, 1000), ['bothCpuUs'], 'fairlane'),
      times("ack 'disk', run", 'plainjob, synced', of('disk-apart', 1000), ['runCpuUs'], 'fairlane, disk'),
      times("ack 'disk', push and run, at most 1000 jobs", 'plainjob, synced', of('disk-beside', 1000), ['bothCpuUs'], 'fairlane, disk')
    ].filter(({ value }) => value !== undefined)
  },

  threads (cells) {
    const valueOf = (id, name, key) => cells[id][name][key].value
    const toPiscina = (id, name) => valueOf(id, name, 'usPerJob') / valueOf(id, 'piscina', 'usPerJob')
    return [
      { what: 'empty jobs in threads, all at once, equal: time per job to piscina alone', value: toPiscina('empty', 'fairlane'), limit: 1.1, unit: '×' },
      { what: 'the same, perThread 16', value: toPiscina('empty', 'fairlane, perThread 16'), limit: 0.6, unit: '×' },
      { what: 'the same, jobs of 50 µs, equal', value: toPiscina('us50', 'fairlane'), limit: 1.1, unit: '×' },
      { what: 'the same, jobs of 1 ms, equal', value: toPiscina('ms1', 'fairlane'), limit: 1.02, unit: '×' },
      { what: '20,000 jobs a second, perThread 16: served', value: valueOf('offered', 'fairlane, perThread 16', 'servedPerSecond'), limit: 19900, unit: '/s', isLeast: true },
      { what: 'the same, push to end, 95 %', value: valueOf('offered', 'fairlane, perThread 16', 'p95Ms'), limit: 20, unit: ' ms' },
      { what: 'quiet tenant behind 600 jobs of 5 ms, 95 %', value: valueOf('quiet', 'fairlane', 'p95Ms'), limit: 15, unit: ' ms' },
      { what: "the same: piscina's to ours", value: valueOf('quiet', 'piscina', 'p95Ms') / valueOf('quiet', 'fairlane', 'p95Ms'), limit: 50, unit: '×', isLeast: true },
      { what: 'abort of an endless job to the end of the next one', value: valueOf('abort', 'fairlane', 'untilNextMs'), limit: 50, unit: ' ms' },
      {
        what: 'quiet queue beside a flood in another, to alone, 95 %',
        value: valueOf('workloads', 'fairlane', 'besideMs') / valueOf('workloads', 'fairlane', 'aloneMs'),
        limit: 1.5,
        unit: '×'
      }
    ]
  },

  flow (cells) {
    const ns = (id, name) => cells[id][name]?.ns.value
    const to = (id, name, other = 'fairlane') => ns(id, name) / ns(id, other)
    return [
      { what: 'ratePerType never reached, equal, sync: to the core', value: to('equal', 'ratePerType'), limit: 1.4, unit: '×' },
      { what: 'rate never reached, sync: added', value: ns('sync', 'rate') - ns('sync', 'fairlane'), limit: 150, unit: ' ns/job' },
      { what: 'maxAttempts: 3, none fails: added', value: ns('sync', 'maxAttempts: 3') - ns('sync', 'fairlane'), limit: 50, unit: ' ns/job' },
      { what: 'the same, each fails once', value: ns('sync', 'maxAttempts: 3, each fails once') - ns('sync', 'fairlane'), limit: 750, unit: ' ns/job' },
      { what: 'add() with a key, all different: to add() without', value: to('add', 'key'), limit: 3, unit: '×' },
      { what: 'the same, nine of ten join', value: to('add', 'key, nine of ten join'), limit: 1, unit: '×' },
      ...ns('add', 'maxAttempts') === undefined
        ? [] // a result of before
        : [{ what: 'four levels of priority: added to add() with another option', value: ns('add', 'priority, 4 levels') - ns('add', 'maxAttempts'), limit: 110, unit: ' ns/job' }],
      { what: 'add() with delayMs, 100,000 delayed: to add() without', value: to('delayed', 'delayMs'), limit: 2, unit: '×' },
      { what: 'ten types beside 1,000 that are out of rate: to alone', value: to('held', '1,000 types out of rate'), limit: 1.3, unit: '×' },
      { what: 'add() with a rate to p-queue with intervalCap', value: to('limited', 'fairlane', 'p-queue intervalCap'), limit: 0.6, unit: '×' },
      { what: 'starts in ten windows of 100', value: cells.windows.fairlane.starts.value, limit: 1000, unit: '', isLeast: true },
      { what: 'the most in any window', value: cells.windows.fairlane.most.max, limit: 100, unit: '' }
    ]
  },

  distributed (cells) {
    const valueOf = (id, key, name = 'fairlane') => cells[id][name][key].value
    const toBullMQ = (id, key) => valueOf(id, key) / valueOf(id, key, 'BullMQ')
    const rates = [[1, 0.9], [10, 0.9], [100, 1.2], [1000, 2]]
    return [
      ...rates.map(([types, limit]) => (
        { what: `at a broker, jobs a second to BullMQ's, types: ${types}`, value: toBullMQ(`types-${types}`, 'jobsPerSecond'), limit, unit: '×', isLeast: true }
      )),
      { what: "single jobs, push to result: median to BullMQ's", value: toBullMQ('single', 'p50Ms'), limit: 1.5, unit: '×' },
      { what: 'jobs a second of two workers to those of one', value: valueOf('full-2', 'jobsPerSecond') / valueOf('full-1', 'jobsPerSecond'), limit: 1.8, unit: '×', isLeast: true },
      {
        what: "quiet types behind a flood, median wait to a single BullMQ queue's",
        value: valueOf('flood', 'quietP50Ms') / valueOf('flood', 'quietP50Ms', 'BullMQ, one queue'),
        limit: 0.35,
        unit: '×'
      },
      { what: 'bytes of a waiting job at the broker', value: valueOf('bytes', 'bytesPerJob'), limit: 800, unit: ' B' },
      { what: 'bytes of a type in a producer', value: valueOf('bytes', 'producerBytesPerType'), limit: 6144, unit: ' B' },
      ...(cells.unbound === undefined ? [] : ['rate', 'ratePerType']).map(limit => ({ // results may be older than the cell
        what: `CPU time with a ${limit} that holds nothing back, to without`,
        value: valueOf('unbound', 'cpuUs', `fairlane, ${limit}`) / valueOf('unbound', 'cpuUs'),
        limit: 1.15,
        unit: '×'
      }))
    ]
  },

  eventloop (eventloop) {
    return [{ what: 'longest block in a flood of synchronous jobs', value: eventloop.sync.fairlane.blockMs.value, limit: 5, unit: ' ms' }]
  }
}

function toFifo (cell, name) {
  return cell[name].warm.value / cell.fairlane.warm.value
}

function growth (cells, name, from, to) {
  return Math.max(...['sync', 'setImmediate'].map((style) => (
    cells[`${style}-${to}`][name].warm.value / cells[`${style}-${from}`][name].warm.value
  )))
}

function toOne (cell, peer, name = 'fairlane', metric = 'warm') {
  return cell[name][metric].value / cell[peer][metric].value
}

function toBest (cell, name) {
  return Math.max(...PEERS.filter((peer) => cell[peer].warm).map((peer) => toOne(cell, peer, name)))
}

/** The cells by which the queue is compared with its peers: bursts that find it idle, and many jobs that wait. */
function burstsAndWaiting ({ fifo, bursts }) {
  return [
    ...STYLES.map((style) => ({ what: `${style}, bursts of 100`, cell: bursts[`${style}-1e2`] })),
    ...STYLES.map((style) => ({ what: `${style}, 10,000 waiting`, cell: fifo[`${style}-1e4`] }))
  ]
}

function worst (values) {
  return Object.keys(values).reduce((a, b) => values[b] > values[a] ? b : a)
}

/**
 * @param {Object<string, object>} results by case, as loadResults gives them
 * @returns {{ title: string, subtitle: string, header: string[], rows: string[][], notes: string[] }} a table of what is
 *   met and missed; cases without results are left out
 */
function targetsTable (results) {
  const rows = []
  const versions = new Set()
  const all = cellsByCase(results)
  for (const [name, rowsOf] of Object.entries(TARGETS)) {
    if (!results[name]) continue
    const { environment } = results[name]
    if (environment !== undefined) versions.add(environment.node)
    for (const { what, value, limit, unit, isLeast = false } of rowsOf(all[name], all, environment?.major)) {
      const isMet = isLeast ? value >= limit : value <= limit
      rows.push([what, `${isLeast ? '≥' : '≤'} ${limit}${unit}`, `${number(value)}${unit}`, isMet ? 'met' : 'missed'])
    }
  }
  return { title: 'Targets', subtitle: versions.size === 0 ? 'simulated' : `Node ${[...versions].join(', ')}`, header: ['', 'target', 'measured', ''], rows, notes: [] }
}

/**
 * @param {Object<string, object>} results as of targetsTable()
 * @returns {object[]} a table of what a job takes to the best peer of each cell, and the geometric means; none if a case has no results
 */
function peersTables (results) {
  if (!results.fifo || !results.bursts) return []
  const { fifo, bursts } = cellsByCase(results)
  const cells = burstsAndWaiting({ fifo, bursts })
  const names = SPEED.map(({ name }) => name)
  const ratiosOf = (name) => cells.map(({ cell }) => toBest(cell, name))
  return [{
    title: 'To the best peer of each cell',
    subtitle: `Node ${results.bursts.environment.node}, ratios of the time of a job`,
    header: ['', ...names, 'the best peer'],
    rows: [
      ...cells.map(({ what, cell }) => [what, ...names.map((name) => `${toBest(cell, name).toFixed(2)}×`), bestPeer(cell)]),
      ['geometric mean', ...names.map((name) => `${geometricMean(ratiosOf(name)).toFixed(3)}×`), '']
    ],
    notes: []
  }]
}

function bestPeer (cell) {
  return PEERS.filter((peer) => cell[peer].warm).reduce((a, b) => cell[b].warm.value < cell[a].warm.value ? b : a)
}

/** Of each case the contenders of its cells, by the ids of these. */
function cellsByCase (results) {
  const cellsOf = ({ cells }) => Object.fromEntries(cells.map((cell) => [cell.id, cell.contenders]))
  return Object.fromEntries(Object.entries(results).map(([name, report]) => [name, cellsOf(report)]))
}

module.exports = { targetsTable, peersTables }
