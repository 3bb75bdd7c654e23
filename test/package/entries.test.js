'use strict'

const assert = require('node:assert')
const { node } = require('../support/child')

describe('the entries of the package', () => {
  it('are the same function and the same classes for import and for require', async () => {
    await assertRuns(['--input-type=module', '--eval', `
      import assert from 'node:assert'
      import { createRequire } from 'node:module'
      import * as imported from 'fairlane'
      const fairlane = createRequire(import.meta.url)('fairlane')
      assert.equal(imported.default, fairlane)
      for (const name of Object.keys(fairlane)) assert.equal(imported[name], fairlane[name], name)
      assert.deepEqual(Object.keys(imported).sort(), [...Object.keys(fairlane), 'default'].sort())
    `])
  })

  it('of the engines export the same objects', () => {
    const engines = [require('../..'), require('../../lib/durable'), require('../../lib/distributed')]
    for (const name of ['FairlaneError', 'Throttled', 'Postponed', 'backoff']) {
      for (const engine of engines) assert.equal(engine[name], engines[0][name], name)
      assert.equal(typeof engines[0][name], 'function')
    }
  })

  it('make a queue with new and without', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      const fairlane = require('fairlane')
      const runner = (payload, done) => done()
      assert(fairlane(runner) instanceof fairlane.Queue)
      assert(new fairlane(runner) instanceof fairlane.Queue)
      assert(new fairlane.Queue(runner) instanceof fairlane.Queue)
    `])
  })

  it('of the facades are the same for import and for require', async () => {
    await assertRuns(['--input-type=module', '--eval', `
      import assert from 'node:assert'
      import { createRequire } from 'node:module'
      import quickq from 'fairlane/compat/quickq'
      import fastq, { promise } from 'fairlane/compat/fastq'
      import async, { queue, priorityQueue, cargo, cargoQueue } from 'fairlane/compat/async'
      const require = createRequire(import.meta.url)
      assert.equal(quickq, require('fairlane/compat/quickq'))
      assert.equal(fastq, require('fairlane/compat/fastq'))
      assert.equal(promise, fastq.promise)
      assert.equal(async, require('fairlane/compat/async'))
      assert.deepEqual({ queue, priorityQueue, cargo, cargoQueue }, { ...async })
    `])
  })

  for (const entry of ['log', 'durable', 'distributed', 'fetch', 'adaptive', 'history', 'metrics', 'board', 'board/bull-board', 'http', 'threads', 'testing', 'testing/contract', 'schedulers']) {
    it(`of ${entry} are the same for import and for require`, async () => {
      await assertRuns(['--input-type=module', '--eval', `
        import assert from 'node:assert'
        import { createRequire } from 'node:module'
        import * as imported from 'fairlane/${entry}'
        const { default: required, ...names } = imported
        assert.equal(required, createRequire(import.meta.url)('fairlane/${entry}'))
        delete names['module.exports']
        assert.deepEqual(Object.keys(names).sort(), Object.keys(required).sort())
        for (const name of Object.keys(required)) assert.equal(names[name], required[name], name)
      `])
    })
  }

  it('load the core and two of its three dependencies, and of the core what a queue without options uses', async () => {
    const { code, stdout, stderr } = await node(['--eval', `
      const { sep } = require('node:path')
      const queue = require('fairlane')((n, done) => { setImmediate(done) })
      queue.push(1).push(2, () => {
        const files = Object.keys(require.cache).map(file => file.slice(process.cwd().length + 1).replaceAll(sep, '/'))
        console.log(JSON.stringify(files))
      })
    `])
    assert.equal(code, 0, stderr)
    const [packages, own] = partition(JSON.parse(stdout), file => file.startsWith('node_modules/'))
    assert.deepEqual([...new Set(packages.map(file => file.split('/')[1]))].sort(), ['aflow', 'eventemitter3'])
    assert.deepEqual(own.sort(), [
      'index.js', 'lib/arguments/errors.js', 'lib/arguments/fields.js', 'lib/arguments/unsupported.js',
      'lib/core/concurrency.js', 'lib/core/dispatch.js',
      'lib/core/emitter.js', 'lib/core/lists/fifo.js', 'lib/core/options.js', 'lib/core/pace.js',
      'lib/core/queue.js', 'lib/core/ring.js', 'lib/core/rooms.js', 'lib/core/running.js', 'lib/core/unsupported.js',
      'lib/job/exports.js', 'lib/job/postponing.js',
      'lib/platform/channels.js', 'lib/platform/clock.js', 'lib/platform/context.js', 'lib/platform/promised.js'
    ])
  })

  it('load qlist when so many jobs wait that it is needed', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      const isLoaded = () => Object.keys(require.cache).some(file => file.includes('qlist'))
      const queue = require('fairlane')((n, done) => { done() })
      for (let i = 0; i < 1000; i++) queue.push(i)
      assert(!isLoaded())
      for (let i = 0; i < 9000; i++) queue.push(i)
      assert(isLoaded())
    `])
  })

  it('load what limits jobs, and what has them wait or come back, when there is a limit, or such a job', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      const { sep } = require('node:path')
      const fairlane = require('fairlane')
      const isLoaded = name => Object.keys(require.cache).some(file => file.replaceAll(sep, '/').includes(name))
      const PARTS = ['core/limits/', 'core/tickets/', 'core/tickets/planned', 'core/tickets/keys', 'core/batches', 'job/plan', 'job/backoff']
      const loaded = () => PARTS.filter(isLoaded)
      const queue = fairlane(async n => n, { scheduler: 'equal' })
      queue.add(1, { type: 'a' })
      assert.deepEqual([queue.heldMs(), queue.stats().heldTypes, loaded()], [0, 0, []])
      queue.add(1, { type: 'a', timeoutMs: 1000 })
      assert.deepEqual(loaded(), ['core/tickets/'])
      queue.add(1, { type: 'a', delayMs: 1 })
      assert.deepEqual(loaded(), ['core/tickets/', 'core/tickets/planned', 'job/plan', 'job/backoff'])
      queue.add(1, { type: 'a', key: 1 })
      assert.deepEqual(loaded(), ['core/tickets/', 'core/tickets/planned', 'core/tickets/keys', 'job/plan', 'job/backoff'])
      queue.hold(1)
      assert.deepEqual(loaded(), PARTS.filter(name => name !== 'core/batches'))
      fairlane.batches(queue, { maxSize: 2 })
      assert.deepEqual(loaded(), PARTS)
    `])
  })

  it('load what runs functions and gives out slots with the first of them', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      const { sep } = require('node:path')
      const fairlane = require('fairlane')
      const loaded = () => Object.keys(require.cache).filter(file => file.replaceAll(sep, '/').includes('core/slots/')).length
      const queue = fairlane(null)
      fairlane(async n => n).add(1, { timeoutMs: 5 })
      assert.equal(loaded(), 0)
      queue.run(() => {})
      assert(loaded() > 0)
      const isPlanned = Object.keys(require.cache).some(file => file.includes('planned'))
      assert.equal(isPlanned, false)
    `])
  })

  it('load no peer before it is needed', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      require('fairlane')
      require('fairlane/durable')
      require('fairlane/distributed')
      require('fairlane/metrics')
      require('fairlane/metrics/tracing')
      require('fairlane/board')
      require('fairlane/board/bull-board')
      assert.deepEqual(Object.keys(require.cache).filter(file => /node_modules.(@bull-board|bullmq|ioredis|croner|prom-client)/.test(file)), [])
    `])
  })

  it('of durable loads what limits the rates of jobs when there is one, or a hold', async () => {
    await assertRuns(['--eval', `
      const assert = require('node:assert')
      const { mkdtempSync } = require('node:fs')
      const { tmpdir } = require('node:os')
      const { join, sep } = require('node:path')
      const { durable } = require('fairlane/durable')
      const isLoaded = () => Object.keys(require.cache).some(file => file.includes(join('core', 'limits') + sep))
      durable(async () => {}, { path: mkdtempSync(join(tmpdir(), 'queue-')) }).then(async queue => {
        await queue.push(1)
        await queue.onIdle()
        assert.deepEqual([queue.heldMs(), queue.stats().heldTypes, isLoaded()], [0, 0, false])
        queue.hold(1)
        assert.equal(isLoaded(), true)
        await queue.close()
      })
    `])
  })

  const uses = {
    // without the classes that only some runtimes have
    fetch: `
      for (const name of ['fetch', 'Request', 'Response', 'Headers', 'ReadableStream', 'DOMException']) delete globalThis[name]
      const { fairFetch } = require('fairlane/fetch')
      const used = fairFetch(async () => ({ status: 200 }))('http://a.example/')`,
    http: `
      const { admission } = require('fairlane/http')
      const fetch = admission({ concurrency: 1, tenant: async () => 'a', timeoutMs: 1000 }).fetch(() => new Response(null))
      const used = fetch(new Request('http://a.example/'))`
  }
  for (const [room, use] of Object.entries(uses)) {
    it(`of ${room} loads nothing but its room, the core and what all share, also when it is used`, async () => {
      await assertRuns(['--eval', `
        const assert = require('node:assert')
        const { relative, sep } = require('node:path')
        ${use}
        used.then(({ status }) => {
          assert.equal(status, 200)
          const files = Object.keys(require.cache).map(file => relative(process.cwd(), file).replaceAll(sep, '/'))
          const own = /^(index.js|lib.(arguments|core|${room}|job|platform).*|schedulers.*)$|node_modules.(aflow|eventemitter3|qlist)./
          assert.deepEqual(files.filter(file => !own.test(file)), [])
        })
      `])
    })
  }

  it('keep no program alive that only loads them', async () => {
    assert.equal((await node(['--eval', "require('fairlane')(() => {})"])).code, 0)
  })
})

async function assertRuns (args) {
  const { code, stderr } = await node(args)
  assert.equal(code, 0, stderr)
}

function partition (values, test) {
  return [values.filter(test), values.filter(value => !test(value))]
}
