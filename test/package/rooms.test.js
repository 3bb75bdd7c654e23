'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { builtinModules } = require('node:module')
const { dirname, join } = require('node:path').posix
const { root } = require('../support/child')
const { FILES, importsOf } = require('../support/imports')

// Who may import whom. lib/README.md draws it.
const PUBLIC = 'index.js'
const INTERNALS = 'lib/core/internals.js'
const NO_CLOCKWORK = ['lib/core/queue.js', 'lib/core/batches.js', 'lib/core/rooms.js', INTERNALS]

// From outside the package; modules of Node are for the rooms that run in Node only.
const PACKAGES = {
  aflow: ['lib/core/dispatch.js'],
  piscina: ['lib/threads/peer.js'],
  '@bull-board/api/dist/queueAdapters/base.js': ['lib/board/peer.js'],
  eventemitter3: ['lib/adaptive/control.js', 'lib/core/emitter.js', 'lib/core/kept-queue.js', 'lib/durable/life/events.js', 'lib/metrics/metrics.js'],
  '@opentelemetry/api': ['lib/metrics/tracing.js'],
  bullmq: ['lib/distributed/broker/peers.js'],
  croner: ['lib/job/schedule-times.js'],
  ioredis: ['lib/distributed/broker/peers.js'],
  qlist: [
    'lib/core/admission.js', 'lib/core/flushes.js', 'lib/core/map.js', 'lib/core/notifications.js', 'lib/core/lists/fifo.js',
    'lib/core/lists/idle-lanes.js', 'lib/core/lists/scheduled.js', 'lib/core/lists/window.js', 'lib/compat/async.js', 'lib/log/admission.js', 'lib/testing/invariants.js'
  ]
}
const FOR_NODE = ['lib/log/', 'lib/durable/', 'lib/distributed/', 'lib/threads/', 'lib/board/', 'lib/cli/', 'lib/history/file.js', 'lib/job/serializers.js']

// What all rooms share; each of these may import those before it.
const SHARED = ['lib/arguments', 'lib/platform', 'lib/job']

// Of the room for queues at a broker: its folders, and what stands loose in it that knows nothing of the rest.
const DISTRIBUTED = ['lib/distributed/broker', 'lib/distributed/calls', 'lib/distributed/limits', 'lib/distributed/worker']
const LOOSE_IN_DISTRIBUTED = ['lib/distributed/names.js', 'lib/distributed/serialize.js']

// What the command line is given of other rooms: entries, and what these have for it alone.
const OF_CLI = ['lib/board/index.js', 'lib/metrics/index.js', 'lib/durable/visit/visit.js', 'lib/distributed/visit.js']

const OF_ENTRY = ['lib/core/queue.js', 'lib/core/batches.js', 'lib/job/exports.js']

/** What files of a room may import beside packages and what stands with them. */
const RULES = [
  { of: file => file === PUBLIC, may: name => OF_ENTRY.includes(name) },
  { of: isShared, may: (name, file) => SHARED.slice(0, SHARED.indexOf(roomOf(file)) + 1).includes(roomOf(name)) },
  { of: file => file === 'lib/core/rooms.js', may: name => isShared(name) || isIn(name, 'lib/core') || isIn(name, 'schedulers') },
  { of: file => isIn(file, 'lib/core/lists'), may: name => isShared(name) || isIn(name, 'lib/core/lists') },
  { of: file => isIn(file, 'lib/core'), may: name => isShared(name) || isIn(name, 'lib/core') },
  { of: file => isIn(file, 'schedulers'), may: name => isShared(name) || isIn(name, 'schedulers') },
  // it may look inside
  { of: file => isIn(file, 'lib/testing'), may: name => name === PUBLIC || isShared(name) || isIn(name, 'lib/core') || isIn(name, 'lib/testing') },
  // the one that puts other rooms together
  { of: file => isIn(file, 'lib/cli'), may: name => OF_CLI.includes(name) || isShared(name) || isIn(name, 'lib/cli') },
  // what may be asked of schedulers
  { of: file => file === 'lib/board/actions.js', may: (name, file) => mayAnyRoom(name, file) || name === 'schedulers/shares.js' },
  { of: file => file === 'lib/metrics/metrics.js', may: (name, file) => mayAnyRoom(name, file) || isIn(name, 'lib/ledger') || name === 'schedulers/shares.js' },
  // what those have in common that observe queues
  { of: file => ['lib/adaptive', 'lib/history', 'lib/metrics'].some(room => isIn(file, room)), may: (name, file) => mayAnyRoom(name, file) || isIn(name, 'lib/ledger') },
  // whose jobs are in a log
  { of: file => isIn(file, 'lib/durable'), may: (name, file) => mayAnyRoom(name, file) || isIn(name, 'lib/log') },
  // calls and worker are built on the broker, and know nothing of each other; parts.js puts them together
  { of: file => DISTRIBUTED.some(place => isIn(file, place)), may: mayInDistributed },
  { of: file => isIn(file, 'lib'), may: mayAnyRoom }
]

describe('the rooms of the house', () => {
  for (const file of FILES) {
    it(`${file} imports only what its room may import`, () => {
      const { may } = RULES.find(({ of }) => of(file))
      for (const name of importsOf(file)) {
        if (FILES.includes(name)) assert(may(name, file), name)
        else if (builtinModules.includes(name.replace('node:', ''))) assert(FOR_NODE.some(place => file.startsWith(place)) && name.startsWith('node:'), name)
        else assert(PACKAGES[name]?.includes(file), name)
      }
    })
  }

  it('are where the packages are used that the rules speak of', () => {
    for (const [name, users] of Object.entries(PACKAGES)) {
      assert.deepEqual(FILES.filter(file => importsOf(file).includes(name)).sort(), [...users].sort(), name)
    }
  })

  it('have what is made for the command line, which nobody else imports', () => {
    const usersOf = name => FILES.filter(file => roomOf(file) !== roomOf(name) && importsOf(file).includes(name)).map(roomOf)
    for (const name of OF_CLI.slice(2)) assert.deepEqual([...new Set(usersOf(name))], ['lib/cli'], name)
    for (const name of FILES.filter(file => isIn(file, 'lib/cli'))) assert.deepEqual(usersOf(name), [], name)
  })

  it('are entered without going round in circles', () => {
    const done = new Set()
    for (const file of FILES) visit(file, [])

    function visit (file, path) {
      assert(!path.includes(file), [...path, file].join(' → '))
      if (done.has(file)) return
      for (const name of importsOf(file)) if (FILES.includes(name)) visit(name, [...path, file])
      done.add(file)
    }
  })

  it('know nothing of the queue where they are runners', () => {
    for (const file of FILES.filter(file => isIn(file, 'lib/threads'))) {
      const others = importsOf(file).filter(name => FILES.includes(name) && !isIn(name, 'lib/threads'))
      assert.deepEqual(others.filter(name => !isShared(name)), [], file)
    }
  })

  it('do not know the public class, but for what is built on it', () => {
    for (const file of FILES.filter(file => isIn(file, 'lib/core') && !NO_CLOCKWORK.includes(file))) {
      assert.deepEqual(importsOf(file).filter(name => NO_CLOCKWORK.includes(name)), [], file)
    }
  })

  it('are entered only by require with a plain path, so that this test sees every import; threads import the module of the caller', () => {
    for (const file of FILES.filter(file => file !== 'lib/threads/entry.js')) {
      const calls = readFileSync(join(root, file), 'utf8').match(/\b(require|import)\s*\((?!'[^']+'\))/g)
      assert.equal(calls, null, file)
    }
  })

  it('require index.js by its whole name: for less Vite takes index.mjs, where there is no function', () => {
    for (const file of FILES) {
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8'), /require\('(\.\.\/)+(index)?'\)/, file)
    }
  })

  it('use modules of Node only where Node is known to be there', () => {
    for (const file of FILES) {
      const text = readFileSync(join(root, file), 'utf8')
      assert.equal(text.includes('getBuiltinModule'), ['lib/platform/channels.js', 'lib/platform/context.js', 'lib/platform/signals.js'].includes(file), file)
    }
  })
})

function isShared (file) {
  return SHARED.includes(roomOf(file))
}

/** What every room may import. */
function mayAnyRoom (name, file) {
  return name === PUBLIC || name === INTERNALS || isShared(name) || isIn(name, roomOf(file))
}

function isIn (file, folder) {
  return file.startsWith(`${folder}/`)
}

function mayInDistributed (name, file) {
  if (!isIn(name, 'lib/distributed')) return mayAnyRoom(name, file)
  return isIn(name, 'lib/distributed/broker') || isIn(name, dirname(file)) || LOOSE_IN_DISTRIBUTED.includes(name)
}

/** The folder of a published entry, or the core. */
function roomOf (file) {
  return file.split('/').slice(0, 2).join('/')
}
