'use strict'

const assert = require('node:assert')
const { pathToFileURL } = require('node:url')
const { relative } = require('node:path')
const { SHARE_ENV } = require('node:worker_threads')
const { rmSync } = require('node:fs')
const fairlane = require('../..')
const { durable } = require('../../lib/durable')
const { temporaryFolder } = require('../support/folders')
const { start, counted, endAll, fileOf, gate, letPass, arrived } = require('./start')

describe('a runner in threads', () => {
  afterEach(endAll)

  const one = options => {
    const runner = start('jobs.js', { threads: 1, ...options })
    return { runner, queue: fairlane(runner, { concurrency: runner.concurrency }) }
  }

  it('calls the function of the module with the payload, the type and the attempt, and gives its result', async () => {
    const runner = start('jobs.js')
    const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal' })
    const { payload, context } = await queue.add({ act: 'tell', n: new Map([[1, 2n]]) }, { type: 'ada' })
    assert.deepEqual(payload, { n: new Map([[1, 2n]]) })
    assert.deepEqual(context, { type: 'ada', attempt: 1 })
    assert.equal(await queue.add({ act: 'value', value: undefined }, { type: 'ada' }), undefined)
    assert.equal(await queue.add({ act: 'later', value: 'later' }, { type: 'ada' }), 'later')
  })

  for (const settleBy of ['either', 'callback', 'promise']) {
    it(`settles its jobs under settleBy: '${settleBy}'`, async () => {
      const runner = start('jobs.js')
      const queue = fairlane(runner, { concurrency: runner.concurrency, settleBy })
      assert.equal(await queue.add({ act: 'value', value: 5 }), 5)
      await assert.rejects(queue.add({ act: 'fail' }), { message: 'it fails' })
      const { done, failed, misuse } = queue.stats()
      assert.deepEqual({ done, failed, misuse }, { done: 1, failed: 1, misuse: 0 })
    })

    it(`tells its function the type under settleBy: '${settleBy}'`, async () => {
      const queue = fairlane(start('jobs.js'), { settleBy, scheduler: 'equal' })
      const { context } = await queue.add({ act: 'tell' }, { type: 'ada' })
      assert.deepEqual(context, { type: 'ada', attempt: 1 })
    })
  }

  it('runs as many jobs at once as it has threads, each in a thread of its own', async () => {
    const runner = start('jobs.js', { threads: 3 })
    assert.equal(runner.concurrency, 3)
    const queue = fairlane(runner, { concurrency: runner.concurrency })
    const held = gate()
    const jobs = Array.from({ length: 4 }, (_, value) => queue.add({ act: 'pass', gate: held, value }))
    await arrived(held, 3)
    assert.deepEqual(runner.stats(), { started: 3, stopped: 0, crashed: 0, running: 3, threads: 3 })
    assert.equal(Atomics.load(held, 1), 3)
    letPass(held)
    assert.deepEqual(await Promise.all(jobs), [0, 1, 2, 3])
    assert.deepEqual(runner.stats(), { started: 4, stopped: 0, crashed: 0, running: 0, threads: 3 })
  })

  it('serves a queue with more slots than threads, in the order of the starts', async () => {
    const { queue: { concurrency }, runner } = one()
    assert.equal(concurrency, 1)
    const queue = fairlane(runner, { concurrency: 10 })
    const ended = []
    await Promise.all(Array.from({ length: 10 }, (_, value) => queue.add({ act: 'value', value }).then(value => ended.push(value))))
    assert.deepEqual(ended, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('is called by anything that gives its worker a callback', done => {
    const runner = start('jobs.js')
    runner({ act: 'value', value: 8 }, (err, value) => done(err ?? assert.equal(value, 8)))
  })

  it('does not run a job whose signal has aborted, and tells its reason', done => {
    const { runner } = one()
    const reason = new Error('too late')
    runner({ act: 'loop' }, err => {
      assert.equal(err, reason)
      assert.equal(runner.stats().started, 0)
      done()
    }, { type: undefined, attempt: 1, signal: AbortSignal.abort(reason) })
  })

  describe('takes the function', () => {
    const resultOf = (file, options) => counted(file, options, 'exit', runner => runner('x', undefined))

    it('that an ES module exports by default, or by a name', async () => {
      assert.equal(await resultOf(fileOf('module.mjs')), 'default x')
      assert.equal(await resultOf(fileOf('module.mjs'), { name: 'named' }), 'named x')
    })

    it('that CommonJS exports by a name, also where `import` does not see it', async () => {
      assert.equal(await resultOf(fileOf('jobs.js'), { name: 'named' }), 'named x')
      assert.equal(await resultOf(fileOf('compiled.js'), { name: 'hidden' }), 'hidden x')
    })

    it('that a compiler has written as `exports.default`', async () => {
      assert.equal(await resultOf(fileOf('compiled.js')), 'compiled x')
    })

    it('of a file: URL, as an object and as text, and of a path from the working directory', async () => {
      const url = pathToFileURL(fileOf('module.mjs'))
      assert.equal(await resultOf(url), 'default x')
      assert.equal(await resultOf(url.href), 'default x')
      assert.equal(await resultOf(relative(process.cwd(), fileOf('module.mjs'))), 'default x')
    })
  })

  it('hands `argv`, `env`, `workerData` and `resourceLimits` to each thread, as they were at the call', async () => {
    const { NODE_OPTIONS, ...rest } = process.env
    const env = { ...rest, FAIRLANE_TEST: 'set' }
    const argv = ['one', 2]
    const execArgv = ['--no-warnings']
    const workerData = { is: 'set' }
    const { runner, queue } = one({ env, argv, execArgv, workerData })
    env.FAIRLANE_TEST = workerData.is = 'changed'
    argv.push('more')
    execArgv.push('--no-such-option')
    const first = await queue.add({ act: 'tell' })
    assert.deepEqual([first.argv, first.env, first.workerData], [['one', '2'], 'set', { is: 'set' }])
    await assert.rejects(queue.add({ act: 'exit' }))
    const second = await queue.add({ act: 'tell' })
    assert.deepEqual([second.argv, second.env, second.workerData], [['one', '2'], 'set', { is: 'set' }])
    assert.equal(runner.stats().crashed, 1)
  })

  it('can share the environment of the process', async () => {
    const { queue } = one({ env: SHARE_ENV })
    process.env.FAIRLANE_TEST = 'shared'
    assert.equal((await queue.add({ act: 'tell' })).env, 'shared')
    delete process.env.FAIRLANE_TEST
  })

  describe('moves', () => {
    it('what `transfer` names of a payload', async () => {
      const { queue } = one({ transfer: ({ bytes }) => [bytes.buffer] })
      const bytes = new Uint8Array([1, 2, 3])
      assert.equal(await queue.add({ act: 'sum', bytes }), 6)
      assert.equal(bytes.length, 0)
    })

    it('what a job returns by `move`, whether it is alone in its message or not', async () => {
      const { runner } = one({ perThread: 3, env: undefined })
      const [first, , third] = await Promise.all(['move', 'value', 'move'].map(act => runner({ act })))
      assert.deepEqual([first, third], [new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3])])
      assert.equal(await runner({ act: 'moved' }), 0)
      assert.deepEqual(await runner({ act: 'move' }), first)
      await assert.rejects(runner({ act: 'fail' }), { code: 'OWN' })
      await assert.rejects(runner({ act: 'hostileResult' }), { message: 'has' })
      await assert.rejects(runner({ act: 'uncaught' }), { code: 'FAIRLANE_ERR_CRASHED' })
    })

    it('nothing that was moved before, so another attempt fails with FAIRLANE_ERR_OPTION and has no empty payload', async () => {
      const runner = start('jobs.js', { threads: 1, transfer: ({ bytes }) => [bytes.buffer] })
      const queue = fairlane(runner, { concurrency: 1, maxAttempts: 2, backoffMs: 0 })
      const errors = []
      queue.on('retry', ({ error }) => errors.push(error.message))
      await assert.rejects(queue.add({ act: 'fail', bytes: new Uint8Array(5) }), { name: 'TypeError', code: 'FAIRLANE_ERR_OPTION', message: /already moved/ })
      assert.deepEqual(errors, ['it fails'])
      assert.deepEqual(await queue.add({ act: 'sum', bytes: new Uint8Array(0) }), 0)
      await queue.close()
    })

    it('what each attempt of a job on disk has read anew', async () => {
      const path = temporaryFolder()
      const runner = start('jobs.js', { threads: 1, transfer: ({ bytes }) => [bytes.buffer] })
      const queue = await durable(runner, { path, concurrency: 1, maxAttempts: 3, backoffMs: 0 })
      for (const size of [10, 100000]) assert.equal(await queue.add({ act: 'sumAt', attempt: 3, bytes: new Uint8Array(size).fill(1) }), size)
      await queue.close()
      rmSync(path, { recursive: true })
    })

    it('nothing that Node.js does not let go of, which is copied: memory that several buffers share', async () => {
      const { queue } = one({ transfer: ({ bytes }) => [bytes.buffer] })
      const bytes = Buffer.from([1, 2, 3]) // of a pool
      assert.equal(await queue.add({ act: 'sum', bytes }), 6)
      assert.deepEqual([...bytes], [1, 2, 3])
    })

    it('nothing if `transfer` throws or returns no array: the job fails', async () => {
      const { runner, queue } = one({ transfer: ({ list }) => { if (list === undefined) throw new Error('none'); return list } })
      await assert.rejects(queue.add({ act: 'value' }), { message: 'none' })
      await assert.rejects(queue.add({ act: 'value', list: 5 }), { code: 'FAIRLANE_ERR_OPTION' })
      await assert.rejects(queue.add({ act: 'value', list: ['no buffer'] }), { name: /TypeError|DataCloneError/ })
      assert.equal(await queue.add({ act: 'value', list: [], value: 1 }), 1)
      assert.deepEqual(runner.stats(), { started: 1, stopped: 0, crashed: 0, running: 0, threads: 1 })
    })
  })

  it('fails with FAIRLANE_ERR_RUNNER what fails without a reason', async () => {
    const { queue } = one()
    for (const value of [undefined, null, 0, '']) {
      await assert.rejects(queue.add({ act: 'failWith', value }), { code: 'FAIRLANE_ERR_RUNNER', cause: value })
    }
    await assert.rejects(queue.add({ act: 'failWith', value: 'text' }), reason => reason === 'text')
  })

  it('fails with the error of the function: its class, message, code and other properties', async () => {
    await counted(fileOf('jobs.js'), {}, { act: 'exit' }, async runner => {
      for (const act of ['fail', 'reject']) {
        await assert.rejects(runner({ act }), err => {
          assert(err instanceof RangeError)
          assert.deepEqual([err.code, err.retryAfterMs, err.cause.code, 'helper' in err], ['OWN', 7, 'CAUSE', false])
          return /^it (fails|rejects)$/.test(err.message)
        })
      }
    })
  })

  it('fails a job whose payload cannot be cloned, and keeps its thread', async () => {
    const { runner, queue } = one()
    const before = await queue.add({ act: 'thread' })
    await assert.rejects(queue.add({ act: 'value', value: () => {} }), { name: 'DataCloneError' })
    assert.equal(await queue.add({ act: 'thread' }), before)
    assert.deepEqual(runner.stats(), { started: 2, stopped: 0, crashed: 0, running: 0, threads: 1 })
  })

  it('is closed once, however often close() is called, and by `await using`', async () => {
    const { runner, queue } = one()
    assert.equal(runner[Symbol.asyncDispose], runner.close)
    const closing = runner.close()
    assert.equal(runner.close(), closing)
    await assert.rejects(queue.add({ act: 'value' }), { code: 'FAIRLANE_ERR_CLOSED' })
    await closing
    assert.equal(runner.stats().threads, 0)
    await assert.rejects(runner.ready(), { code: 'FAIRLANE_ERR_CLOSED' })
  })

  it('that is closed while jobs run or wait for a thread ends both, each in its way', async () => {
    const { runner } = one()
    const queue = fairlane(runner, { concurrency: 2 })
    const held = gate()
    const running = assert.rejects(queue.add({ act: 'pass', gate: held }), { code: 'FAIRLANE_ERR_CRASHED' })
    const waiting = assert.rejects(queue.add({ act: 'pass', gate: held }), { code: 'FAIRLANE_ERR_CLOSED' })
    await arrived(held, 1)
    await runner.close()
    await Promise.all([running, waiting])
    assert.equal(await queue.close(), 0)
    assert.equal(runner.stats().crashed, 1)
  })

  it('that is closed refuses what callbacks push that it calls then', async () => {
    const { runner } = one()
    const held = gate()
    const running = assert.rejects(runner({ act: 'pass', gate: held }), { code: 'FAIRLANE_ERR_CRASHED' })
    const pushed = new Promise(resolve => runner({ act: 'value' }, () => runner({ act: 'value' }, resolve)))
    await arrived(held, 1)
    await runner.close()
    await running
    assert.equal((await pushed).code, 'FAIRLANE_ERR_CLOSED')
  })
})
