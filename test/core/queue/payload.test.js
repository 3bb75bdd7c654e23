'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { quiet } = require('../../support/turns')

describe('payloads', function () {
  const values = [
    undefined, null, 0, -0, NaN, '', false, Symbol('payload'), 10n, {}, [], () => {}, class {}, Promise.resolve(1),
    new Promise(() => {}), { then () { throw new Error('not to be called') } },
    { get then () { throw new Error('not to be read') } }, Object.create(null), Object.freeze([]), new Error('payload'), -1
  ]

  for (const settleBy of ['either', 'callback', 'promise']) {
    it(`of every kind reach the runner unchanged, settled by ${settleBy}`, async function () {
      const seen = []
      const settled = outcomes()
      const queue = fairlane((payload, done) => {
        seen.push(payload)
        if (settleBy !== 'promise') done(null, payload)
      }, { settleBy, concurrency: 1 })
      values.forEach((value, i) => queue.push(value, settled.callback(i)))
      values.forEach((value, i) => queue.pushType('t', value, settled.callback(i)))
      await settled.until(2 * values.length)
      assert.equal(seen.length, 2 * values.length)
      seen.forEach((value, i) => assert.ok(Object.is(value, values[i % values.length]), `payload ${i}`))
      assert.ok(settled.list.every((entry) => !entry[1]))
    })
  }

  it('keep their places among others, undefined and -1 too', async function () {
    const seen = []
    const queue = fairlane((payload, done) => { seen.push(payload); done() }, 2)
    const expected = []
    for (let i = 0; i < 3000; i++) {
      const payload = [undefined, -1, null, i][i % 4]
      if (i % 3) {
        queue.push(payload)
        expected.push(payload)
      } else {
        queue.unshift(payload)
        expected.unshift(payload)
      }
    }
    assert.equal(queue.length, 3000)
    await queue.onIdle()
    assert.deepEqual(seen, expected)
  })

  it('that are promises are not awaited', async function () {
    const gate = gates()
    const rejected = Promise.reject(new Error('the caller\'s own'))
    rejected.catch(() => {})
    const never = new Promise(() => {})
    const queue = fairlane(gate.runner, 3)
    queue.push(never).push(rejected).push('after')
    await gate.until(3)
    assert.equal(gate.payloads[0], never)
    assert.equal(gate.payloads[1], rejected)
    gate.release(3)
    assert.equal(queue.stats().done, 3)
  })

  it('come back as results unchanged, promises too', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = fairlane(gate.runner, 1)
    const never = new Promise(() => {})
    queue.push(never, settled.callback(1))
    await gate.until(1)
    gate.release()
    await quiet()
    assert.equal(settled.list[0][2], never)
  })
})

describe('this', function () {
  it('is nothing of the queue in runners, callbacks, drain, fflush callbacks and tests of remove', async function () {
    const seen = []
    const look = function () { seen.push(this) }
    for (const settleBy of ['either', 'callback', 'promise']) {
      const queue = fairlane(function (payload, done) {
        seen.push(this)
        return settleBy === 'promise' ? undefined : done()
      }, { settleBy })
      queue.drain = look
      queue.push(1, look)
      queue.fflush(look)
      await queue.onIdle()
      queue.pause().push(2, look)
      queue.remove(look)
      queue.clear()
    }
    assert.deepEqual(seen.map((value) => typeof value), Array(21).fill('undefined'))
  })

  it('is nothing of the queue for done: it can be called by itself', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => { setImmediate(done.bind({ any: 'this' }), null, payload) }, 1)
    queue.push(1, settled.callback(1))
    await settled.until(1)
    assert.deepEqual(settled.list, [[1, null, 1]])
  })
})

describe('the context', function () {
  it('has type, signal and attempt, and is frozen', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner)
    queue.push(1)
    await gate.until(1)
    const { context } = gate.started[0]
    assert.ok(Object.isFrozen(context))
    assert.equal(context.type, undefined)
    assert.ok('type' in context)
    assert.equal(context.attempt, 1)
    assert.ok(context.signal instanceof AbortSignal)
    assert.equal(context.signal.aborted, false)
    assert.equal(context.signal, context.signal)
    assert.throws(() => { context.type = 'x' }, TypeError)
    assert.throws(() => { context.attempt = 2 }, TypeError)
    assert.throws(() => { context.signal = null }, TypeError)
    assert.throws(() => { context.extra = 1 }, TypeError)
  })

  it('is one object for all jobs of a queue, another in another queue', async function () {
    const gate = gates()
    const other = gates()
    fairlane(gate.runner).push(1).pushType('a', 2).unshift(3)
    fairlane(other.runner).push(1)
    await gate.until(3)
    await other.until(1)
    const [first, second, third] = gate.started.map((job) => job.context)
    assert.equal(first, second)
    assert.equal(first, third)
    assert.notEqual(other.started[0].context, first)
    assert.notEqual(other.started[0].context.signal, first.signal)
    assert.equal(second.signal, first.signal)
  })

  for (const settleBy of ['either', 'callback', 'promise']) {
    it(`is the last argument, settled by ${settleBy}`, async function () {
      const seen = []
      const queue = fairlane((...args) => {
        seen.push(args)
        if (settleBy !== 'promise') args[1]()
      }, { settleBy })
      queue.push(1)
      await queue.onIdle()
      assert.equal(seen[0].length, settleBy === 'promise' ? 2 : 3)
      assert.equal(seen[0].at(-1).attempt, 1)
    })
  }
})
