'use strict'

const assert = require('node:assert')
const { readdirSync, readFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const ts = require('typescript')
const { root } = require('../support/child')

// Who may import whom. lib/README.md draws it; a file without a row here has no room in the house.
const LEAVES = ['lib/errors.js', 'lib/clock.js', 'lib/context.js']
const rooms = {
  'index.js': ['lib/queue.js', 'lib/errors.js'],
  'lib/queue.js': [
    'eventemitter3', ...LEAVES, 'lib/options.js', 'lib/dispatch.js', 'lib/ticket.js', 'lib/admission.js', 'lib/closing.js',
    'lib/map.js', 'lib/promised.js', 'lib/signals.js', 'lib/stall.js', 'lib/verdict.js',
    'lib/lists/fifo.js', 'lib/lists/window.js', 'lib/lists/lanes.js', 'schedulers/index.js'
  ],
  'lib/dispatch.js': ['aflow', 'qlist', ...LEAVES, 'lib/pending.js', 'lib/promised.js', 'lib/telling.js', 'lib/values.js', 'lib/verdict.js'],
  'lib/values.js': ['lib/errors.js'],
  'lib/promised.js': [],
  'lib/slice.js': ['lib/clock.js'],
  'lib/telling.js': ['qlist', 'lib/clock.js', 'lib/slice.js'],
  'lib/verdict.js': ['lib/errors.js'],
  'lib/pending.js': [],
  'lib/options.js': ['lib/errors.js', 'lib/clock.js', 'lib/fields.js', 'lib/steady.js'],
  'lib/fields.js': ['lib/errors.js'],
  'lib/steady.js': ['lib/errors.js'],
  'lib/ticket.js': [...LEAVES, 'lib/deadlines.js', 'lib/promised.js', 'lib/signals.js', 'lib/verdict.js'],
  'lib/admission.js': ['qlist', ...LEAVES, 'lib/telling.js', 'lib/verdict.js'],
  'lib/closing.js': [...LEAVES, 'lib/verdict.js'],
  'lib/deadlines.js': ['lib/clock.js', 'lib/heap.js'],
  'lib/map.js': ['qlist', 'lib/clock.js'],
  'lib/signals.js': ['lib/clock.js'],
  'lib/stall.js': LEAVES,
  'lib/lists/fifo.js': ['qlist'],
  'lib/lists/scheduled.js': ['qlist', 'lib/errors.js', 'lib/lists/type-counts.js'],
  'lib/lists/window.js': ['qlist', 'lib/lists/fifo.js', 'lib/lists/scheduled.js', 'lib/lists/type-counts.js'],
  'lib/lists/lanes.js': ['qlist', 'lib/lists/arrival-order.js', 'lib/lists/fifo.js', 'lib/lists/lane.js', 'lib/lists/scheduled.js'],
  'lib/lists/arrival-order.js': ['lib/ranking.js'],
  'lib/lists/lane.js': ['lib/lists/type-counts.js'],
  'lib/lists/type-counts.js': [],
  'lib/heap.js': [],
  'lib/ranking.js': ['lib/heap.js'],
  'lib/errors.js': [],
  'lib/clock.js': [],
  'lib/context.js': [],
  'lib/testing/index.js': ['lib/testing/clock.js', 'lib/testing/gates.js', 'lib/testing/invariants.js', 'lib/testing/model.js', 'lib/testing/scheduler.js'],
  'lib/testing/gates.js': [],
  'lib/testing/invariants.js': ['lib/queue.js'],
  'lib/testing/model.js': [],
  'lib/durable/index.js': ['lib/durable/jobs.js', 'lib/durable/persistent-queue.js'],
  'lib/durable/jobs.js': [
    'eventemitter3', 'index.js', 'lib/clock.js', 'lib/errors.js', 'lib/options.js', 'lib/queue.js', 'lib/durable/attempts.js',
    'lib/durable/dead-letters.js', 'lib/durable/files.js', 'lib/durable/flushes.js', 'lib/durable/intake.js',
    'lib/durable/lock.js', 'lib/durable/opening.js', 'lib/durable/options.js', 'lib/durable/records.js', 'lib/durable/retries.js',
    'lib/durable/serialize.js', 'lib/durable/store.js', 'lib/durable/survey.js'
  ],
  'lib/durable/opening.js': ['lib/errors.js', 'lib/durable/attempts.js', 'lib/durable/slices.js'],
  'lib/durable/slices.js': [],
  'lib/durable/attempts.js': ['lib/values.js', 'lib/durable/delivery.js', 'lib/durable/records.js', 'lib/durable/serialize.js'],
  'lib/durable/dead-letters.js': ['lib/durable/serialize.js'],
  'lib/durable/delivery.js': ['lib/clock.js', 'lib/errors.js', 'lib/promised.js'],
  'lib/durable/flushes.js': [],
  'lib/durable/intake.js': [],
  'lib/durable/records.js': ['lib/errors.js', 'lib/durable/format.js', 'lib/durable/serialize.js'],
  'lib/durable/retries.js': [],
  'lib/durable/serialize.js': ['node:v8', 'lib/errors.js', 'lib/fields.js'],
  'lib/durable/survey.js': ['lib/durable/format.js'],
  'lib/durable/persistent-queue.js': [
    'qlist', 'lib/errors.js', 'lib/fields.js', 'lib/durable/files.js', 'lib/durable/lock.js', 'lib/durable/options.js', 'lib/durable/store.js'
  ],
  'lib/durable/store.js': [
    'node:path', 'lib/errors.js', 'lib/durable/compaction.js', 'lib/durable/format.js', 'lib/durable/log.js', 'lib/durable/reader.js',
    'lib/durable/numbers.js', 'lib/durable/recovery.js', 'lib/durable/reserve.js'
  ],
  'lib/durable/compaction.js': ['node:path', 'lib/durable/format.js'],
  'lib/durable/recovery.js': [
    'node:path', 'lib/clock.js', 'lib/errors.js', 'lib/durable/format.js', 'lib/durable/log.js', 'lib/durable/numbers.js', 'lib/durable/slices.js',
    'lib/durable/table.js'
  ],
  'lib/durable/log.js': ['node:path', 'lib/errors.js', 'lib/durable/buffers.js', 'lib/durable/format.js', 'lib/durable/reserve.js', 'lib/durable/turns.js'],
  'lib/durable/numbers.js': ['node:path'],
  'lib/durable/reserve.js': ['node:crypto', 'node:path'],
  'lib/durable/buffers.js': [],
  'lib/durable/turns.js': [],
  'lib/durable/reader.js': ['node:path', 'lib/durable/format.js'],
  'lib/durable/format.js': ['node:zlib'],
  'lib/durable/table.js': [],
  'lib/durable/options.js': ['node:path', 'lib/errors.js', 'lib/fields.js', 'lib/options.js', 'lib/durable/serialize.js'],
  'lib/durable/files.js': ['node:fs', 'node:path'],
  'lib/durable/lock.js': ['node:crypto', 'node:fs', 'node:net', 'node:path', 'lib/errors.js'],
  'lib/testing/clock.js': ['lib/heap.js'],
  'lib/testing/scheduler.js': ['lib/testing/clock.js', 'lib/options.js', 'lib/lists/lanes.js', 'lib/lists/window.js'],
  'lib/compat/quickq.js': ['index.js', 'lib/fields.js'],
  'lib/compat/fastq.js': ['index.js', 'lib/queue.js', 'lib/clock.js', 'lib/errors.js'],
  'lib/compat/async.js': ['qlist', 'index.js', 'lib/queue.js', 'lib/clock.js', 'lib/errors.js', 'lib/fields.js', 'lib/compat/priority.js'],
  'lib/compat/priority.js': ['lib/heap.js'],
  'schedulers/index.js': ['schedulers/fair.js', 'schedulers/capped.js', 'schedulers/equal.js'],
  'schedulers/fair.js': ['lib/ranking.js', 'schedulers/options.js'],
  'schedulers/capped.js': ['lib/ranking.js', 'schedulers/options.js'],
  'schedulers/equal.js': [
    'lib/errors.js', 'lib/ranking.js', 'schedulers/job-lengths.js', 'schedulers/options.js', 'schedulers/weights.js'
  ],
  'schedulers/job-lengths.js': [],
  'schedulers/weights.js': ['lib/errors.js', 'schedulers/options.js'],
  'schedulers/options.js': ['lib/errors.js', 'lib/fields.js']
}

describe('the rooms of the house', () => {
  for (const file of ['index.js', ...filesBelow('lib'), ...filesBelow('schedulers')]) {
    it(`${file} imports only what its room may import`, () => {
      assert(file in rooms, `${file} has no row in this test`)
      const imports = importsOf(file)
      assert.deepEqual(imports.filter(name => !rooms[file].includes(name)), [])
    })
  }

  it('are entered only by require with a plain path, so that this test sees every import', () => {
    for (const file of Object.keys(rooms).filter(isPresent)) {
      const calls = readFileSync(join(root, file), 'utf8').match(/\b(require|import)\s*\((?!'[^']+'\))/g)
      assert.equal(calls, null, file)
    }
  })

  it('require index.js by its whole name: for less Vite takes index.mjs, where there is no function', () => {
    for (const file of Object.keys(rooms).filter(isPresent)) {
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8'), /require\('(\.\.\/)+(index)?'\)/, file)
    }
  })

  it('use modules of Node only where Node is known to be there', () => {
    for (const file of Object.keys(rooms).filter(isPresent)) {
      const text = readFileSync(join(root, file), 'utf8')
      assert.equal(text.includes('getBuiltinModule'), ['lib/context.js', 'lib/signals.js'].includes(file), file)
    }
  })
})

function filesBelow (folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map(file => posix.join(folder, file.replaceAll('\\', '/')))
    .filter(file => file.endsWith('.js'))
    .sort()
}

function isPresent (file) {
  return file === 'index.js' || filesBelow(file.split('/')[0]).includes(file)
}

/** What a file requires: packages by name, files by their path in the repository. */
function importsOf (file) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true)
  return importedFiles.map(({ fileName }) => fileName.startsWith('.') ? resolve(file, fileName) : fileName)
}

function resolve (from, path) {
  const target = posix.join(posix.dirname(from), path)
  if (target.endsWith('.js')) return target
  const candidates = [`${target}.js`, posix.join(target, 'index.js')]
  return candidates.find(isPresent) ?? target
}
