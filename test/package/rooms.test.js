'use strict'

const assert = require('node:assert')
const { readdirSync, readFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const ts = require('typescript')
const { root } = require('../support/child')

// Who may import whom. lib/README.md draws it; a file without a row here has no room in the house.
const LEAVES = ['lib/errors.js', 'lib/clock.js', 'lib/context.js']
const rooms = {
  'index.js': ['lib/core/queue.js', 'lib/errors.js'],
  'lib/core/queue.js': [
    'eventemitter3', ...LEAVES, 'lib/core/options.js', 'lib/core/dispatch.js', 'lib/core/tickets.js', 'lib/core/admission.js', 'lib/core/closing.js',
    'lib/core/map.js', 'lib/promised.js', 'lib/signals.js', 'lib/core/stall.js', 'lib/core/verdict.js',
    'lib/core/lists/fifo.js', 'lib/core/lists/window.js', 'lib/core/lists/lanes.js', 'schedulers/index.js'
  ],
  'lib/core/dispatch.js': ['aflow', 'qlist', ...LEAVES, 'lib/core/pending.js', 'lib/promised.js', 'lib/core/telling.js', 'lib/values.js', 'lib/core/verdict.js'],
  'lib/values.js': ['lib/errors.js'],
  'lib/promised.js': [],
  'lib/core/slice.js': ['lib/clock.js'],
  'lib/core/telling.js': ['qlist', 'lib/clock.js', 'lib/core/slice.js'],
  'lib/core/verdict.js': ['lib/errors.js'],
  'lib/core/pending.js': [],
  'lib/core/options.js': ['lib/errors.js', 'lib/clock.js', 'lib/fields.js', 'lib/core/steady.js'],
  'lib/fields.js': ['lib/errors.js'],
  'lib/core/steady.js': ['lib/errors.js'],
  'lib/core/tickets.js': [...LEAVES, 'lib/core/deadlines.js', 'lib/promised.js', 'lib/signals.js', 'lib/core/verdict.js'],
  'lib/core/admission.js': ['qlist', ...LEAVES, 'lib/core/telling.js', 'lib/core/verdict.js'],
  'lib/core/closing.js': [...LEAVES, 'lib/core/verdict.js'],
  'lib/core/deadlines.js': ['lib/clock.js', 'lib/heap.js'],
  'lib/core/map.js': ['qlist', 'lib/clock.js'],
  'lib/signals.js': ['lib/clock.js'],
  'lib/core/stall.js': LEAVES,
  'lib/core/lists/fifo.js': ['qlist'],
  'lib/core/lists/scheduled.js': ['qlist', 'lib/errors.js', 'lib/core/lists/type-counts.js'],
  'lib/core/lists/window.js': ['qlist', 'lib/core/lists/fifo.js', 'lib/core/lists/scheduled.js', 'lib/core/lists/type-counts.js'],
  'lib/core/lists/lanes.js': ['qlist', 'lib/core/lists/arrival-order.js', 'lib/core/lists/fifo.js', 'lib/core/lists/lane.js', 'lib/core/lists/scheduled.js'],
  'lib/core/lists/arrival-order.js': ['lib/run-queue.js'],
  'lib/core/lists/lane.js': ['lib/core/lists/type-counts.js'],
  'lib/core/lists/type-counts.js': [],
  'lib/heap.js': [],
  'lib/run-queue.js': ['lib/heap.js'],
  'lib/errors.js': [],
  'lib/clock.js': [],
  'lib/context.js': [],
  'lib/testing/index.js': ['lib/testing/clock.js', 'lib/testing/gates.js', 'lib/testing/invariants.js', 'lib/testing/model.js', 'lib/testing/scheduler.js'],
  'lib/testing/gates.js': [],
  'lib/testing/invariants.js': ['lib/core/queue.js'],
  'lib/testing/model.js': [],
  'lib/durable/index.js': ['lib/durable/durable-queue.js', 'lib/durable/persistent-queue.js'],
  'lib/durable/durable-queue.js': [
    'eventemitter3', 'index.js', 'lib/clock.js', 'lib/errors.js', 'lib/core/options.js', 'lib/core/queue.js', 'lib/durable/attempts.js',
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
  'lib/durable/options.js': ['node:path', 'lib/errors.js', 'lib/fields.js', 'lib/core/options.js', 'lib/durable/serialize.js'],
  'lib/durable/files.js': ['node:fs', 'node:path'],
  'lib/durable/lock.js': ['node:crypto', 'node:fs', 'node:net', 'node:path', 'lib/errors.js'],
  'lib/testing/clock.js': ['lib/heap.js'],
  'lib/testing/scheduler.js': ['lib/testing/clock.js', 'lib/core/options.js', 'lib/core/lists/lanes.js', 'lib/core/lists/window.js'],
  'lib/compat/quickq.js': ['index.js', 'lib/fields.js'],
  'lib/compat/fastq.js': ['index.js', 'lib/core/queue.js', 'lib/clock.js', 'lib/errors.js'],
  'lib/compat/async.js': ['qlist', 'index.js', 'lib/core/queue.js', 'lib/clock.js', 'lib/errors.js', 'lib/fields.js', 'lib/compat/priority.js'],
  'lib/compat/priority.js': ['lib/heap.js'],
  'schedulers/index.js': ['schedulers/fair.js', 'schedulers/capped.js', 'schedulers/equal.js'],
  'schedulers/fair.js': ['lib/run-queue.js', 'schedulers/options.js'],
  'schedulers/capped.js': ['lib/run-queue.js', 'schedulers/options.js'],
  'schedulers/equal.js': [
    'lib/errors.js', 'lib/run-queue.js', 'schedulers/job-lengths.js', 'schedulers/options.js', 'schedulers/weights.js'
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
