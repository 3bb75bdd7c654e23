'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { quiet, turn } = require('../../support/turns')

async function collect (iterator) {
  const list = []
  for await (const value of iterator) list.push(value)
  return list
}

async function takeOne (iterator) {
  assert.deepEqual(await iterator.next(), { done: false, value: 1 })
  await iterator.return()
}

/** A source that writes down how it is used. */
function source (count, log = []) {
  return {
    log,
    * [Symbol.iterator] () {
      try {
        for (let i = 0; i < count; i++) {
          log.push(i)
          yield i
        }
      } finally {
        log.push('closed')
      }
    }
  }
}

describe('map', function () {
  it('gives results in the order of the source', async function () {
    const queue = fairlane((n, done) => { n % 2 ? done(null, n) : setImmediate(done, null, n) }, 3)
    assert.deepEqual(await collect(queue.map([0, 1, 2, 3, 4])), [0, 1, 2, 3, 4])
    assert.deepEqual(await collect(queue.map([])), [])
  })

  it('has nothing more to give after return(), neither results nor the failure that comes behind them', async function () {
    for (const ending of ['results', 'a failure behind results']) {
      const gate = gates()
      const results = fairlane(gate.runner, 4).map([1, 2, 3, 4])
      const first = results.next()
      await gate.until(4)
      gate.release(2)
      if (ending === 'results') gate.release(2)
      else gate.fail(new Error('expected'))
      assert.deepEqual(await first, { done: false, value: 1 })
      await quiet()
      assert.deepEqual(await results.return('given'), { done: true, value: 'given' })
      for (let i = 0; i < 3; i++) assert.deepEqual(await results.next(), { done: true, value: undefined }, ending)
    }
  })

  it('gives results as jobs end if not ordered', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    const results = queue.map([0, 1, 2], { ordered: false })
    const first = results.next()
    await gate.until(3)
    gate.open[2].done(null, 'last')
    assert.equal((await first).value, 'last')
    gate.release(2)
    assert.deepEqual(await collect(results), [0, 1])
  })

  it('takes async sources, and promises in others, and types', async function () {
    const queue = fairlane(async (n, done, { type }) => [type, n], { scheduler: 'equal' })
    async function * numbers () {
      yield 1
      await turn()
      yield 2
    }
    assert.deepEqual(await collect(queue.map(numbers(), { type: 'a' })), [['a', 1], ['a', 2]])
    assert.deepEqual(await collect(queue.map([Promise.resolve(3)], { type: 'a' })), [['a', 3]])
    assert.throws(() => queue.map([]), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
  })

  it('takes no more ahead than maxPending, by default twice the concurrency, and nothing before it is asked', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const { log, ...values } = source(10)
    const results = queue.map(values)
    await quiet()
    assert.deepEqual(log, [])
    const first = results.next()
    await gate.until(1)
    await quiet()
    assert.deepEqual(log, [0, 1])
    gate.release()
    await first
    await quiet()
    assert.deepEqual(log, [0, 1, 2])
    const closing = results.return()
    await closing
    assert.deepEqual(log, [0, 1, 2, 'closed'])
    assert.equal(queue.waiting, 0)
  })

  it('waits for admission, so that nothing of it is refused', async function () {
    const queue = fairlane((n, done) => setImmediate(done, null, n), { concurrency: 1, maxWaiting: 1 })
    assert.deepEqual(await collect(queue.map([1, 2, 3, 4, 5, 6], { maxPending: 100 })), [1, 2, 3, 4, 5, 6])
    assert.equal(queue.stats().rejected, 0)
  })

  it('waits for admission beside others that do, whoever takes the room', async function () {
    const queue = fairlane(async (n) => { await turn(); return n }, { concurrency: 1, maxWaiting: 0 })
    const sources = [[1, 2, 3], [11, 12, 13], [21, 22, 23]]
    assert.deepEqual(await Promise.all(sources.map((values) => collect(queue.map(values)))), sources)
    assert.equal(queue.stats().rejected, 0)
  })

  it('aborts what it has queued on a break, while it waits for admission too', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, maxWaiting: 1 })
    const values = source(10)
    const results = queue.map(values, { maxPending: 10 })
    const first = results.next()
    await gate.until(1)
    await quiet()
    gate.release()
    await first
    await results.return()
    assert.equal(queue.waiting, 0)
    assert(gate.started.at(-1).context.signal.aborted || gate.started.length === 1)
    queue.clear()
    await quiet()
    assert.equal(values.log.at(-1), 'closed')
    for (const { done } of gate.started.slice(1)) done()
    await queue.onIdle()
  })

  it('throws the first failure at once, aborts the rest and closes the source', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    const error = new Error('expected')
    const values = source(10)
    const results = queue.map(values)
    const first = results.next()
    await gate.until(2)
    gate.open[1].done(error)
    await assert.rejects(first, error)
    await quiet()
    assert.equal(queue.waiting, 0)
    assert.equal(values.log.at(-1), 'closed')
    assert.equal(gate.started[0].context.signal.aborted, true)
    for (const { done } of gate.started.filter((job) => job.payload !== 1)) done()
    await queue.onIdle()
  })

  it('gives the results that came before the failure, and then throws it', async function () {
    for (const [ordered, ended, given] of [[true, [1, 0, 3], [0, 1]], [true, [1, 3], []], [false, [1, 3], [1, 3]]]) {
      const gate = gates()
      const queue = fairlane(gate.runner, 4)
      const results = queue.map([0, 1, 2, 3], { ordered })
      const first = results.next()
      await gate.until(4)
      for (const n of ended) gate.started[n].done(null, n)
      gate.started[2].done(new Error('expected'))
      await quiet()
      const list = []
      const all = (async () => {
        for (let next = await first; !next.done; next = await results.next()) list.push(next.value)
      })()
      await assert.rejects(all, { message: 'expected' })
      assert.deepEqual(list, given)
      assert.deepEqual(await results.next(), { done: true, value: undefined })
      for (const { payload, done } of gate.started) if (payload !== 2 && !ended.includes(payload)) done()
      await queue.onIdle()
    }
  })

  it('goes on after failures and gives them as results with settled', async function () {
    const queue = fairlane(async (n) => { if (n === 1) throw new Error('expected'); return n })
    const results = await collect(queue.map([0, 1, 2], { settled: true }))
    assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled'])
    assert.deepEqual([results[0].value, results[1].reason.message], [0, 'expected'])
  })

  it('throws what the source throws, and what a closed queue refuses with', async function () {
    const queue = fairlane(async (n) => n)
    function * broken () { throw new Error('expected') }
    await assert.rejects(collect(queue.map(broken())), { message: 'expected' })
    queue.close()
    await assert.rejects(collect(queue.map([1])), { code: 'FAIRLANE_ERR_CLOSED' })
  })

  it('does not wait for a source that is at work when the consumer stops', async function () {
    const queue = fairlane(async (n) => n)
    let isReturned = false
    const endless = {
      [Symbol.asyncIterator]: () => ({
        count: 0,
        next () { return this.count++ === 0 ? Promise.resolve({ done: false, value: 1 }) : new Promise(() => {}) },
        return () { isReturned = true; return Promise.reject(new Error('ignored')) }
      })
    }
    await takeOne(queue.map(endless))
    assert.equal(isReturned, true)
    const bare = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }
    await takeOne(queue.map(bare))
    await queue.onIdle()
  })

  it('is not concerned any more when the queue closes after the consumer has stopped', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, maxWaiting: 0 })
    const results = queue.map([1, 2, 3])
    const first = results.next()
    await gate.until(1)
    gate.release()
    await first
    await gate.until(2)
    await quiet()
    await results.return()
    assert.equal(await queue.close({ drain: false }), 1)
    await quiet()
  })

  it('throws for wrong use', function () {
    const queue = fairlane(() => {})
    for (const args of [[5], [null], [undefined], [[], null], [[], { order: true }], [[], { maxPending: 0 }], [[], { settled: 1 }]]) {
      assert.throws(() => queue.map(...args), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    assert.throws(() => queue.map([], { maxPending: 0 }), { message: 'maxPending must be a positive integer or Infinity, not 0' })
  })

  it('closes a source whose value is a promise that rejects, and keeps the first error if closing fails', async function () {
    let isClosed = false
    function * source () {
      try {
        yield Promise.reject(new Error('value'))
        yield 2
      } finally {
        isClosed = true
      }
    }
    const queue = fairlane(async value => value)
    await assert.rejects(async () => { for await (const result of queue.map(source())) assert.fail(result) }, { message: 'value' })
    assert.equal(isClosed, true)

    const failing = {
      [Symbol.iterator] () { return this },
      next: () => ({ done: false, value: 1 }),
      return () { throw new Error('return') }
    }
    const broken = fairlane(async () => { throw new Error('job') })
    await assert.rejects(async () => { for await (const result of broken.map(failing)) assert.fail(result) }, { message: 'job' })
  })

  it('ends at once when return() comes while a next() waits for a job, and aborts that', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const values = source(10)
    const results = queue.map(values)
    const pending = [results.next(), results.next(), results.next()]
    await gate.until(1)
    assert.deepEqual(await results.return('why'), { done: true, value: 'why' })
    assert.deepEqual(await Promise.all(pending), new Array(3).fill({ done: true, value: undefined }))
    assert.deepEqual([queue.waiting, queue.stats().cancelled, gate.started[0].context.signal.aborted], [0, 2, true])
    assert.equal(values.log.at(-1), 'closed')
    assert.deepEqual(await results.next(), { done: true, value: undefined })
    assert.deepEqual(await results.return(), { done: true, value: undefined })
    gate.release()
  })

  it('closes the source when it ends before it has begun', async function () {
    for (const end of [results => results.return(), results => results[Symbol.asyncDispose]()]) {
      let isClosed = false
      const values = {
        [Symbol.iterator]: () => ({
          next: () => assert.fail('nothing is taken'),
          return () { isClosed = true; return {} }
        })
      }
      const results = fairlane(() => {}).map(values)
      await end(results)
      assert.equal(isClosed, true)
      assert.deepEqual(await results.next(), { done: true, value: undefined })
    }
  })

  it('throw() ends it as return() does, and throws', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const values = source(10)
    const results = queue.map(values)
    const first = results.next()
    await gate.until(1)
    await assert.rejects(results.throw(new Error('expected')), { message: 'expected' })
    assert.deepEqual(await first, { done: true, value: undefined })
    assert.deepEqual([queue.waiting, values.log.at(-1)], [0, 'closed'])
    gate.release()
  })

  it('gives results to next() calls that did not wait for each other, in order', async function () {
    const queue = fairlane(async (n) => n, 2)
    const results = queue.map([1, 2, 3])
    assert.equal(results[Symbol.asyncIterator](), results)
    const given = await Promise.all([1, 2, 3, 4, 5].map(() => results.next()))
    assert.deepEqual(given.map(({ value }) => value), [1, 2, 3, undefined, undefined])
    assert.deepEqual(given.map(({ done }) => done), [false, false, false, true, true])
  })

  it('tells the failure to the first next() only, and closes the source without being asked again', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    const values = source(10)
    const results = queue.map(values)
    const taken = [results.next(), results.next()]
    await gate.until(2)
    gate.open[1].done(new Error('expected'))
    const [first, second] = await Promise.allSettled(taken)
    assert.deepEqual([first.reason.message, second.value], ['expected', { done: true, value: undefined }])
    for (const n of [0, 2]) gate.started[n].done()

    const later = queue.map(values)
    const result = later.next()
    await gate.until(5)
    gate.started[3].done(null, 'result')
    assert.equal((await result).value, 'result')
    await quiet()
    values.log.length = 0
    gate.started[4].done(new Error('later'))
    await quiet()
    assert.deepEqual(values.log, ['closed'])
    await assert.rejects(later.next(), { message: 'later' })
    assert.deepEqual(await later.next(), { done: true, value: undefined })
    for (const { done } of gate.started.slice(5)) done()
    assert.equal(queue.length, 0)
  })

  for (const [name, close] of [
    ['hangs', () => new Promise(() => {})],
    ['throws', () => { throw new Error('return') }],
    ['rejects', () => Promise.reject(new Error('return'))]
  ]) {
    for (const kind of ['iterator', 'asyncIterator']) {
      const makeSource = () => ({ [Symbol[kind]]: () => ({ next: () => ({ done: false, value: 1 }), return: close }) })

      it(`tells a failure though the return() of a source of ${kind} ${name}, and aborts`, async function () {
        const queue = fairlane(async () => { throw new Error('job') }, 1)
        await assert.rejects(collect(queue.map(makeSource())), { message: 'job' })
        assert.equal(queue.waiting, 0)
      })

      it(`aborts on a break though the return() of a source of ${kind} ${name}`, async function () {
        const queue = fairlane(async (n) => n, 1)
        const results = queue.map(makeSource())
        await results.next()
        await quiet()
        const returned = results.return()
        assert.equal(queue.waiting, 0)
        if (name !== 'hangs') await assert.rejects(returned, { message: 'return' })
        await queue.onIdle()
      })
    }
  }

  it('closes a source whose next() makes the consumer stop, and tells nobody that this fails', async function () {
    let isClosed = false
    let count = 0
    const values = {
      [Symbol.iterator] () { return this },
      next () {
        if (count++ === 1) results.return()
        return { done: false, value: count }
      },
      return () {
        isClosed = true
        throw new Error('told to nobody')
      }
    }
    const queue = fairlane(async (n) => n, 1)
    const results = queue.map(values, { maxPending: 1 })
    await results.next()
    await quiet()
    assert.equal(isClosed, true)
    assert.equal(queue.stats().accepted, 1)
  })

  it('takes sources that give thenables, strange results, or have no return()', async function () {
    const queue = fairlane(async (n) => n, 1)
    const next = () => null
    await assert.rejects(collect(queue.map({ [Symbol.iterator]: () => ({ next }) })), TypeError)
    await assert.rejects(collect(queue.map({ [Symbol.asyncIterator]: () => ({ next }) })), TypeError)
    assert.throws(() => queue.map({ [Symbol.iterator] () { throw new Error('expected') } }), { message: 'expected' })
    assert.deepEqual(await collect(queue.map([{ then: (resolve) => resolve(1) }])), [1])
    const rejecting = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('expected')) }) }
    await assert.rejects(collect(queue.map(rejecting)), { message: 'expected' })
  })
})
