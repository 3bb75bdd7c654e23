'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { captureWarnings } = require('../../support/uncaught')
const { quiet } = require('../../support/turns')

describe("settleBy 'callback'", function () {
  it('does not even read then of what the runner returns', async function () {
    let reads = 0
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      setImmediate(done, null, 'by done')
      return { get then () { reads++; return undefined } }
    }, { settleBy: 'callback' })
    for (let i = 0; i < 3; i++) queue.push(i, settled.callback(i))
    await settled.until(3)
    assert.equal(reads, 0)
    assert.deepEqual(settled.list, [0, 1, 2].map((i) => [i, null, 'by done']))
  })

  it('runs a lazy query once', async function () {
    let runs = 0
    const lazyQuery = (job, done) => {
      const query = { then (resolve) { runs++; resolve() } }
      setImmediate(() => { runs++; done(null, job) })
      return query
    }
    const settled = outcomes()
    const queue = fairlane((job, done) => lazyQuery(job, done), { settleBy: 'callback' })
    queue.push('query', settled.callback('query'))
    await settled.until(1)
    await quiet()
    assert.equal(runs, 1)
  })

  it('keeps the slot until done, whatever the runner returned', async function () {
    const gate = gates()
    const queue = fairlane((payload, done, context) => {
      gate.runner(payload, done, context)
      return Promise.resolve(payload)
    }, { settleBy: 'callback', concurrency: 2 })
    queue.push(1).push(2).push(3)
    await gate.until(2)
    await quiet()
    assert.equal(queue.running, 2)
    assert.equal(queue.waiting, 1)
    gate.release()
    await gate.until(3)
    gate.release(2)
    assert.equal(queue.length, 0)
    assert.equal(queue.stats().misuse, 0)
  })

  it('fails a job whose runner throws', async function () {
    const failure = new Error('expected')
    const settled = outcomes()
    const queue = fairlane((payload, done) => { throw failure }, { settleBy: 'callback' })
    queue.push(1, settled.callback(1))
    await settled.until(1)
    assert.deepEqual(settled.list, [[1, failure, undefined]])
    assert.equal(queue.stats().failed, 1)
  })

  it('counts a second done as misuse', async function () {
    const warnings = captureWarnings()
    const settled = outcomes()
    const queue = fairlane((payload, done) => { done(null, 1); done(null, 2) }, { settleBy: 'callback' })
    queue.push(1, settled.callback(1))
    await settled.until(1)
    await quiet()
    warnings.release()
    assert.deepEqual(settled.list, [[1, null, 1]])
    assert.equal(queue.stats().misuse, 1)
  })

  it('passes done and the context', async function () {
    const seen = []
    const settled = outcomes()
    const queue = fairlane((...args) => {
      seen.push(args)
      args[1]()
    }, { settleBy: 'callback' })
    queue.push('payload', settled.callback(1))
    await settled.until(1)
    assert.equal(seen[0].length, 3)
    assert.equal(seen[0][0], 'payload')
    assert.equal(typeof seen[0][1], 'function')
    assert.equal(seen[0][2].attempt, 1)
  })
})

describe("settleBy 'promise'", function () {
  for (const asyncContext of ['queue', 'push', 'none']) {
    it(`calls the runner with payload and context, also of jobs with extras, with asyncContext: '${asyncContext}'`, async function () {
      const seen = []
      const queue = fairlane(async (...args) => {
        seen.push(args)
        if (args[0] === 'twice' && args[1].attempt === 1) throw new Error('expected')
      }, { settleBy: 'promise', asyncContext, backoffMs: 0 })
      await queue.add('plain')
      await queue.add('with extras', { timeoutMs: 1000 })
      await queue.add('twice', { maxAttempts: 2, key: 'k' })
      assert.deepEqual(seen.map(([payload, { attempt }, ...more]) => [payload, attempt, more]), [
        ['plain', 1, []], ['with extras', 1, []], ['twice', 1, []], ['twice', 2, []]
      ])
    })
  }

  it('leaves the default of a second parameter out of use', async function () {
    const queue = fairlane((payload, { type } = assert.fail()) => [payload, type], { settleBy: 'promise', scheduler: 'fair' })
    assert.deepEqual(await queue.add(1, { type: 'a' }), [1, 'a'])
  })

  it('settles by the promise', async function () {
    const failure = new Error('expected')
    const settled = outcomes()
    const queue = fairlane(async (payload) => {
      if (payload === 'bad') throw failure
      return payload
    }, { settleBy: 'promise', concurrency: 1 })
    queue.push('good', settled.callback('good')).push('bad', settled.callback('bad')).push('last', settled.callback('last'))
    await settled.until(3)
    assert.deepEqual(settled.list, [['good', null, 'good'], ['bad', failure, undefined], ['last', null, 'last']])
    const { done, failed, misuse } = queue.stats()
    assert.deepEqual({ done, failed, misuse }, { done: 2, failed: 1, misuse: 0 })
  })

  it('keeps the slot until the promise settles', async function () {
    const resolvers = []
    const queue = fairlane(() => new Promise((resolve) => resolvers.push(resolve)), { settleBy: 'promise', concurrency: 2 })
    queue.push(1).push(2).push(3)
    await quiet()
    assert.equal(queue.running, 2)
    resolvers[1]()
    await quiet()
    assert.equal(queue.running, 2)
    assert.equal(queue.waiting, 0)
    resolvers[0]()
    resolvers[2]()
    await queue.onIdle()
    assert.equal(queue.length, 0)
  })

  it('settles at once by a returned value that is no thenable', async function () {
    const values = [undefined, null, 0, '', 'text', { then: 1 }, [], () => {}]
    const settled = outcomes()
    const queue = fairlane((payload) => payload, { settleBy: 'promise', concurrency: 1 })
    values.forEach((value, i) => queue.push(value, settled.callback(i)))
    await settled.until(values.length)
    settled.list.forEach(([i, error, result]) => {
      assert.equal(error, null)
      assert.equal(result, values[i])
    })
    assert.equal(queue.stats().done, values.length)
  })

  it('fails a job whose runner throws', async function () {
    const failure = new Error('expected')
    const settled = outcomes()
    const queue = fairlane(() => { throw failure }, { settleBy: 'promise' })
    queue.push(1, settled.callback(1))
    await settled.until(1)
    assert.deepEqual(settled.list, [[1, failure, undefined]])
  })

  it('runs a hundred thousand jobs that return values without deep recursion', async function () {
    const settled = outcomes()
    const queue = fairlane((payload) => payload, { settleBy: 'promise', concurrency: 3 })
    for (let i = 0; i < 100000; i++) queue.push(i)
    queue.push('last', settled.callback('last'))
    await settled.until(1)
    assert.equal(queue.stats().done, 100001)
  })
})

describe("settleBy 'either'", function () {
  it('is the default and may be named', async function () {
    const settled = outcomes()
    for (const options of [{}, { settleBy: 'either' }]) {
      const queue = fairlane((payload, done) => payload === 'callback' ? done(null, payload) : Promise.resolve(payload), options)
      queue.push('callback', settled.callback('callback')).push('promise', settled.callback('promise'))
    }
    await settled.until(4)
    assert.equal(settled.of('callback').length, 2)
    assert.equal(settled.of('promise').length, 2)
  })

  it('takes a runner of any declared length for what it does', async function () {
    const settled = outcomes()
    const runners = [
      function () { arguments[1](null, 'length 0') },
      (payload) => Promise.resolve('length 1'),
      (payload, done) => Promise.resolve('length 2'),
      (...args) => { args[1](null, 'rest') }
    ]
    for (const runner of runners) fairlane(runner).push(1, settled.callback(1))
    await settled.until(4)
    assert.deepEqual(settled.list.map((entry) => entry[2]).sort(), ['length 0', 'length 1', 'length 2', 'rest'])
  })
})
