'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { setPace } = require('../../support/pace')
const { captureUncaught, captureWarnings } = require('../../support/uncaught')
const { quiet, turn } = require('../../support/turns')

const RESULT = { result: true }
const FAILURE = new Error('expected')

// How a runner may succeed with RESULT, and how it may fail with FAILURE.
const SUCCESSES = {
  'done at once': (done) => { done(null, RESULT) },
  'done in a nextTick': (done) => { process.nextTick(done, null, RESULT) },
  'done in a microtask': (done) => { queueMicrotask(() => done(null, RESULT)) },
  'done in a later turn': (done) => { setImmediate(done, null, RESULT) },
  'a promise that is fulfilled already': () => Promise.resolve(RESULT),
  'a promise that is fulfilled later': () => turn().then(() => RESULT),
  'an async function': async () => RESULT,
  'a thenable that resolves at once': () => ({ then (resolve) { resolve(RESULT) } }),
  'a thenable that resolves later': () => ({ then (resolve) { setImmediate(resolve, RESULT) } }),
  'a function that is a thenable': () => Object.assign(() => {}, { then (resolve) { resolve(RESULT) } }),
  'done at once beside a promise that is fulfilled': async (done) => { done(null, RESULT) },
  'done at once beside a promise that never is': (done) => { done(null, RESULT); return new Promise(() => {}) },
  'done at once beside a value': (done) => { done(null, RESULT); return 7 }
}

const FAILURES = {
  'done with an error at once': (done) => { done(FAILURE) },
  'done with an error in a nextTick': (done) => { process.nextTick(done, FAILURE) },
  'done with an error in a microtask': (done) => { queueMicrotask(() => done(FAILURE)) },
  'done with an error in a later turn': (done) => { setImmediate(done, FAILURE) },
  'a throw': () => { throw FAILURE },
  'a promise that is rejected already': () => Promise.reject(FAILURE),
  'a promise that is rejected later': () => turn().then(() => { throw FAILURE }),
  'a throw in an async function': async () => { throw FAILURE },
  'a thenable that rejects at once': () => ({ then (resolve, reject) { reject(FAILURE) } }),
  'a thenable that rejects later': () => ({ then (resolve, reject) { setImmediate(reject, FAILURE) } }),
  'a thenable whose then throws': () => ({ then () { throw FAILURE } }),
  'a thenable whose getter throws': () => ({ get then () { throw FAILURE } })
}

// What a second `done` may look like; each gets the job's own done.
const SECOND_DONES = {
  'done again at once': { ending: (done) => done(new Error('second')) },
  'done again many times': { ending: (done) => { for (let i = 0; i < 5; i++) done(null, 'second') }, count: 5 },
  'done again in the next turn': { later: true },
  'done again when another job has its slot': { reused: true }
}

describe('settlement', function () {
  let uncaught
  let warnings

  beforeEach(function () {
    uncaught = captureUncaught()
    warnings = captureWarnings()
  })

  afterEach(async function () {
    await turn()
    uncaught.release()
    warnings.release()
  })

  for (const [name, succeed] of Object.entries(SUCCESSES)) {
    it(`succeeds by ${name}`, async function () {
      const settled = outcomes()
      const queue = fairlane((payload, done) => succeed(done), 2)
      for (let i = 0; i < 7; i++) queue.push(i, settled.callback(i))
      await settled.until(7)
      await quiet()
      assert.deepEqual(settled.names().sort(), [0, 1, 2, 3, 4, 5, 6])
      settled.list.forEach(([, error, result]) => {
        assert.equal(error, null)
        assert.equal(result, RESULT)
      })
      assertEmpty(queue, { accepted: 7, done: 7, failed: 0, misuse: 0 })
      assert.deepEqual(uncaught.seen, [])
      assert.deepEqual(warnings.seen, [])
    })
  }

  for (const [name, fail] of Object.entries(FAILURES)) {
    it(`fails by ${name}`, async function () {
      const settled = outcomes()
      const queue = fairlane((payload, done) => fail(done), 2)
      for (let i = 0; i < 7; i++) queue.push(i, settled.callback(i))
      await settled.until(7)
      await quiet()
      assert.deepEqual(settled.names().sort(), [0, 1, 2, 3, 4, 5, 6])
      settled.list.forEach(([, error]) => assert.equal(error, FAILURE))
      assertEmpty(queue, { accepted: 7, done: 0, failed: 7, misuse: 0 })
      assert.deepEqual(uncaught.seen, [])
      assert.deepEqual(warnings.seen, [])
    })

    it(`fails by ${name} without a callback, and the queue goes on`, async function () {
      const settled = outcomes()
      const queue = fairlane((payload, done) => payload === 'bad' ? fail(done) : done(), 1)
      queue.push('bad').push('bad').push('good', settled.callback('good'))
      await settled.until(1)
      await quiet()
      assertEmpty(queue, { accepted: 3, done: 1, failed: 2, misuse: 0 })
      assert.deepEqual(uncaught.seen, [])
    })
  }

  it('passes error and result through as they were given to done', async function () {
    const given = [[undefined, undefined], [null, 0], [0, 'zero'], ['', 'empty'], [false, null], ['failed', 'partly'], [FAILURE, RESULT]]
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(payload[0], payload[1]), 1)
    given.forEach((pair, i) => queue.push(pair, settled.callback(i)))
    await settled.until(given.length)
    assert.deepEqual(settled.list, given.map((pair, i) => [i, ...pair]))
    assertEmpty(queue, { done: 5, failed: 2 })
  })

  it('counts as failed what is thrown, whatever it is', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => { throw payload }, 1)
    const thrown = ['text', 7, { code: 'X' }, Symbol.iterator]
    thrown.forEach((value, i) => queue.push(value, settled.callback(i)))
    await settled.until(thrown.length)
    assert.deepEqual(settled.list.map((entry) => entry[1]), thrown)
    assertEmpty(queue, { done: 0, failed: 4 })
  })

  for (const [name, fail] of Object.entries({
    'a throw': (value) => { throw value },
    'a rejected promise': (value) => Promise.reject(value),
    'a thenable that rejects': (value) => ({ then (resolve, reject) { reject(value) } }),
    'a thenable whose then throws': (value) => ({ then () { throw value } })
  })) {
    it(`gives ${name} without a reason an error of its own`, async function () {
      const reasons = [undefined, null, 0, '', false, NaN]
      const settled = outcomes()
      const queue = fairlane((payload) => fail(payload), 1)
      reasons.forEach((reason, i) => queue.push(reason, settled.callback(i)))
      await settled.until(reasons.length)
      settled.list.forEach(([i, error]) => {
        assert.ok(error instanceof fairlane.FairlaneError)
        assert.equal(error.code, 'FAIRLANE_ERR_RUNNER')
        assert.ok('cause' in error)
        assert.deepEqual(error.cause, reasons[i])
      })
      assertEmpty(queue, { done: 0, failed: 6 })
    })
  }

  it('keeps the slot until the runner ends, when it returns no promise', async function () {
    const gate = gates()
    const returned = [undefined, null, 0, 'text', {}, [], () => {}, { then: 7 }, { then: null }]
    const queue = fairlane((payload, done, context) => {
      gate.runner(payload, done, context)
      return payload
    }, 100)
    returned.forEach((value) => queue.push(value))
    await gate.until(returned.length)
    await quiet()
    assert.equal(queue.running, returned.length)
    gate.release(returned.length)
    assertEmpty(queue, { done: returned.length, misuse: 0 })
  })

  it('reads then once and calls it on the thenable', async function () {
    let reads = 0
    const settled = outcomes()
    const thenable = {
      get then () {
        reads++
        return function (resolve) {
          assert.equal(this, thenable)
          resolve(RESULT)
        }
      }
    }
    const queue = fairlane(() => thenable, 1)
    queue.push(1, settled.callback(1))
    await settled.until(1)
    assert.deepEqual(settled.list, [[1, null, RESULT]])
    assert.equal(reads, 1)
  })

  it('lets the first of done and the promise win: done', async function () {
    const settled = outcomes()
    const queue = fairlane(async (payload, done) => {
      setImmediate(done, null, 'done')
      await quiet()
      return 'promise'
    }, 1)
    queue.push(1, settled.callback(1)).push(2, settled.callback(2))
    await settled.until(2)
    await quiet()
    await quiet()
    assert.deepEqual(settled.list, [[1, null, 'done'], [2, null, 'done']])
    assertEmpty(queue, { done: 2, misuse: 0 })
  })

  it('lets the first of done and the promise win: the promise', async function () {
    const settled = outcomes()
    const dones = []
    const queue = fairlane(async (payload, done) => {
      dones.push(done)
      return 'promise'
    }, 1)
    queue.push(1, settled.callback(1)).push(2, settled.callback(2))
    await settled.until(2)
    dones.forEach((done) => done(null, 'done'))
    await quiet()
    assert.deepEqual(settled.list, [[1, null, 'promise'], [2, null, 'promise']])
    assertEmpty(queue, { done: 2, misuse: 2 })
  })

  for (const when of ['at once', 'later']) {
    it(`ignores and counts a promise that is rejected ${when} after done`, async function () {
      const settled = outcomes()
      const queue = fairlane(async (payload, done) => {
        done(null, 'done')
        if (when === 'later') await turn()
        throw new Error('too late')
      }, 1)
      queue.push(1, settled.callback(1)).push(2, settled.callback(2))
      await settled.until(2)
      await quiet()
      assert.deepEqual(settled.list, [[1, null, 'done'], [2, null, 'done']])
      assertEmpty(queue, { done: 2, failed: 0, misuse: 2 })
      assert.equal(warnings.seen.length, 1)
      assert.deepEqual(uncaught.seen, [])
    })
  }

  it('settles once by a thenable that throws after it resolved', async function () {
    for (const settle of [(resolve) => resolve('first'), (resolve, reject) => reject(FAILURE)]) {
      const settled = outcomes()
      const queue = fairlane((payload, done) => payload === 'bad'
        ? { then (resolve, reject) { settle(resolve, reject); throw new Error('after') } }
        : done(), 1)
      queue.push('bad', settled.callback('bad')).push('good', settled.callback('good'))
      await settled.until(2)
      await quiet()
      const [bad] = settled.of('bad')
      assert.ok(bad[2] === 'first' || bad[1] === FAILURE)
      assert.deepEqual(settled.names(), ['bad', 'good'])
      assertEmpty(queue, { accepted: 2 })
    }
  })

  it('settles once by a thenable that settles over and over', async function () {
    const settled = outcomes()
    const queue = fairlane(() => ({
      then (resolve, reject) {
        resolve('first')
        reject(new Error('second'))
        resolve('third')
        setImmediate(reject, new Error('fourth'))
      }
    }), 1)
    for (let i = 0; i < 4; i++) queue.push(i, settled.callback(i))
    await settled.until(4)
    await quiet()
    assert.deepEqual(settled.list, [0, 1, 2, 3].map((i) => [i, null, 'first']))
    assertEmpty(queue, { accepted: 4, done: 4, failed: 0 })
  })

  it('settles once where a thenable calls done as well', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => ({ then (resolve) { done(null, 'done'); resolve('resolved') } }), 1)
    for (let i = 0; i < 4; i++) queue.push(i, settled.callback(i))
    await settled.until(4)
    await quiet()
    assert.deepEqual(settled.list, [0, 1, 2, 3].map((i) => [i, null, 'done']))
    assertEmpty(queue, { done: 4, misuse: 0 })
  })

  const FIRSTS = { ...SUCCESSES, ...FAILURES }
  for (const [first, settle] of Object.entries(FIRSTS)) {
    for (const [second, { ending, later, reused, count = 1 }] of Object.entries(SECOND_DONES)) {
      it(`settles once by ${first}, then ${second}`, async function () {
        const settled = outcomes()
        const gate = gates()
        const queue = fairlane((payload, done, context) => {
          if (payload !== 'bad') return gate.runner(payload, done, context)
          bad = done
          return settle(done)
        }, 1)
        let bad

        queue.push('bad', (error, result) => {
          settled.callback('bad')(error, result)
          if (ending) ending(bad)
          if (later) setImmediate(bad, null, 'second')
        })
        queue.push('next', settled.callback('next'))
        queue.push('last', settled.callback('last'))
        await gate.until(1)
        if (reused) bad(new Error('second'))
        await quiet()

        assert.equal(queue.running, 1, 'the other job keeps its slot')
        assert.equal(queue.waiting, 1)
        assert.equal(queue.length, 2)
        assert.equal(gate.started.length, 1)
        gate.release()
        await gate.until(2)
        gate.release()
        await quiet()

        assert.deepEqual(settled.names(), ['bad', 'next', 'last'])
        assert.ok(settled.list[0][1] === FAILURE || settled.list[0][2] === RESULT)
        assert.deepEqual(settled.of('next'), [['next', null, 'next']])
        assertEmpty(queue, { accepted: 3, misuse: count })
        assert.equal(queue.stats().done + queue.stats().failed, 3)
        assert.equal(warnings.seen.length, 1)
        assert.deepEqual(uncaught.seen, [])
      })
    }
  }

  it('ignores done called twice inside the runner', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      done(null, 'first')
      done(null, 'second')
      done(new Error('third'))
    }, 1)
    for (let i = 0; i < 50; i++) queue.push(i, settled.callback(i))
    await settled.until(50)
    await quiet()
    assert.deepEqual(settled.list, Array.from({ length: 50 }, (_, i) => [i, null, 'first']))
    assertEmpty(queue, { accepted: 50, done: 50, misuse: 100 })
  })

  it('keeps the one settlement where the runner throws before its done is called', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      setImmediate(done, null, 'late')
      throw FAILURE
    }, 1)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await settled.until(5)
    await quiet()
    assert.deepEqual(settled.list, [0, 1, 2, 3, 4].map((i) => [i, FAILURE, undefined]))
    assertEmpty(queue, { accepted: 5, failed: 5, misuse: 5 })
    assert.equal(warnings.seen.length, 1)
  })

  it('makes an uncaught exception of what a runner throws after done', async function () {
    const settled = outcomes()
    const thrown = []
    const queue = fairlane((payload, done) => {
      done(null, payload)
      const error = new Error(`after ${payload}`)
      thrown.push(error)
      throw error
    }, 2)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await settled.until(5)
    await uncaught.until(5)
    await quiet()
    assert.deepEqual(settled.list, [0, 1, 2, 3, 4].map((i) => [i, null, i]))
    assert.deepEqual(uncaught.seen, thrown)
    assertEmpty(queue, { accepted: 5, done: 5, failed: 0 })
  })

  for (const [name, settle] of Object.entries(FIRSTS)) {
    it(`makes an uncaught exception of what a callback throws after ${name}, and goes on`, async function () {
      const settled = outcomes()
      const queue = fairlane((payload, done) => settle(done), 2)
      const errors = []
      for (let i = 0; i < 6; i++) {
        const callback = settled.callback(i)
        queue.push(i, (error, result) => {
          callback(error, result)
          const own = new Error(`callback ${i}`)
          errors.push(own)
          throw own
        })
      }
      queue.push('last', settled.callback('last'))
      await settled.until(7)
      await uncaught.until(6)
      await quiet()
      assert.equal(settled.list.length, 7)
      assert.deepEqual(uncaught.seen, errors)
      assertEmpty(queue, { accepted: 7, misuse: 0 })
    })
  }

  it('hands the throw of a callback neither to the runner nor to the caller of done', async function () {
    const settled = outcomes()
    let threw = 0
    const queue = fairlane((payload, done) => {
      try {
        done()
      } catch {
        threw++
      }
    }, 1)
    for (let i = 0; i < 3; i++) queue.push(i, () => { throw new Error('callback') })
    queue.push('last', settled.callback('last'))
    await settled.until(1)
    await uncaught.until(3)
    assert.equal(threw, 0)
    assertEmpty(queue, { done: 4, failed: 0 })
  })

  it('survives a drain, a drain listener and an fflush callback that throw', async function () {
    const settled = outcomes()
    const errors = ['property', 'listener', 'fflush'].map((name) => new Error(name))
    const queue = fairlane((payload, done) => done(), 2)
    queue.drain = () => { throw errors[0] }
    queue.on('drain', () => { throw errors[1] })
    for (let i = 1; i <= 3; i++) {
      queue.push(i, settled.callback(i))
      queue.fflush(() => { throw errors[2] })
      const idle = queue.onIdle()
      await settled.until(i)
      await uncaught.until(3 * i)
      await idle
      assert.deepEqual(uncaught.seen.slice(-3), errors)
      assertEmpty(queue, { done: i })
    }
  })

  it('calls the fflush callbacks after one that threw', async function () {
    const queue = fairlane((payload, done) => done(), 1)
    const fired = []
    queue.push(1)
    queue.fflush(() => { fired.push(1); throw FAILURE })
    queue.fflush(() => { fired.push(2) })
    const last = new Promise((resolve) => queue.fflush(() => { fired.push(3); resolve() }))
    await last
    await uncaught.until(1)
    assert.deepEqual(fired, [1, 2, 3])
  })

  it('survives done being called by the callback of another job', async function () {
    const settled = outcomes()
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    for (let i = 0; i < 3; i++) {
      queue.push(i, (error, result) => {
        settled.callback(i)(error, result)
        if (gate.open.length > 0) gate.release()
      })
    }
    for (let i = 3; i < 6; i++) queue.push(i, settled.callback(i))
    await gate.until(3)
    gate.release()
    await gate.until(6)
    assert.deepEqual(settled.names(), [0, 1, 2])
    assert.equal(queue.running, 3)
    gate.release(3)
    assert.deepEqual(settled.names(), [0, 1, 2, 3, 4, 5])
    assertEmpty(queue, { accepted: 6, done: 6, misuse: 0 })
  })

  it('settles a job whose done is called by the runner of another', async function () {
    const settled = outcomes()
    let first
    const queue = fairlane((payload, done) => {
      if (payload === 1) first = done
      if (payload === 2) {
        first(null, 'by another')
        done(null, 'own')
      }
      if (payload === 3) done(null, 'third')
    }, 2)
    for (let i = 1; i <= 3; i++) queue.push(i, settled.callback(i))
    await settled.until(3)
    assert.deepEqual(settled.list, [[1, null, 'by another'], [2, null, 'own'], [3, null, 'third']])
    assertEmpty(queue, { done: 3, misuse: 0 })
  })

  it('calls the callback exactly once under a flood of every kind of end', async function () {
    const ends = Object.values(FIRSTS)
    const counts = new Map()
    const dones = []
    const total = 20000
    let settledCount = 0
    let finish
    const finished = new Promise((resolve) => { finish = resolve })
    const queue = fairlane((payload, done) => {
      dones.push(done)
      return ends[payload % ends.length](done)
    }, 7)
    for (let i = 0; i < total; i++) {
      queue.push(i, () => {
        counts.set(i, (counts.get(i) || 0) + 1)
        if (++settledCount === total) finish()
      })
    }
    await finished
    await quiet()
    dones.forEach((done) => done(new Error('late')))
    await quiet()
    assert.equal(counts.size, total)
    assert.ok([...counts.values()].every((count) => count === 1))
    assertEmpty(queue, { accepted: total, misuse: total })
    assert.equal(warnings.seen.length, 1)
  })
})

function assertEmpty (queue, expected) {
  const stats = queue.stats()
  assert.equal(queue.length, 0, 'length')
  assert.equal(queue.running, 0, 'running')
  assert.equal(queue.waiting, 0, 'waiting')
  assert.equal(stats.running, 0)
  assert.equal(stats.waiting, 0)
  assert.equal(stats.accepted, stats.done + stats.failed + stats.cancelled)
  for (const [name, value] of Object.entries(expected)) assert.equal(stats[name], value, name)
}

describe('a callback that ends another job', function () {
  it('has returned before a third one starts', async function () {
    const told = []
    const dones = []
    const queue = setPace(fairlane((payload, done) => {
      told.push(`start ${payload}`)
      dones.push(done)
    }, 2), 'all at once')
    queue.push(1, () => {
      dones[1]()
      told.push('end 1')
    })
    queue.push(2, () => told.push('end 2'))
    queue.push(3)
    await turn()
    dones[0]()
    assert.deepEqual(told, ['start 1', 'start 2', 'end 2', 'end 1', 'start 3'])
  })
})
