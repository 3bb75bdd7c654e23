'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { seeded } = require('../../support/random')
const { quiet } = require('../../support/turns')

const STYLES = {
  synchronously: (done) => done(),
  'by nextTick': (done) => process.nextTick(done),
  'in a microtask': (done) => queueMicrotask(done),
  'by setImmediate': (done) => setImmediate(done),
  'by promise': () => Promise.resolve(),
  'by throwing': () => { throw new Error('expected') }
}

describe('push and unshift', function () {
  it('return the queue', function () {
    const queue = fairlane(() => {})
    assert.equal(queue.push(1), queue)
    assert.equal(queue.unshift(1), queue)
    assert.equal(queue.pushType('a', 1), queue)
    assert.equal(queue.unshiftType('a', 1), queue)
    assert.equal(queue.push(1, () => {}), queue)
  })

  it('hand the result to the callback', async function () {
    const queue = fairlane((payload, done) => done(null, payload * 2))
    const settled = outcomes()
    queue.push(21, settled.callback('pushed'))
    queue.unshift(4, settled.callback('unshifted'))
    await settled.until(2)
    assert.deepEqual(settled.list, [['unshifted', null, 8], ['pushed', null, 42]])
  })

  it('need no callback', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push(1)
    queue.push(2, undefined)
    queue.unshift(0)
    await gate.until(1)
    gate.release()
    await gate.until(2)
    gate.release()
    await gate.until(3)
    gate.release()
    assert.deepEqual(gate.payloads, [0, 1, 2])
    assert.equal(queue.length, 0)
  })

  it('push nothing but undefined when called without arguments', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner)
    queue.push()
    await gate.until(1)
    assert.deepEqual(gate.payloads, [undefined])
  })

  for (const [name, complete] of Object.entries(STYLES)) {
    for (const concurrency of [1, 3, Infinity]) {
      it(`start jobs in arrival order with runners that complete ${name}, ${concurrency} slots`, async function () {
        const order = []
        const settled = outcomes()
        const queue = fairlane((payload, done) => {
          order.push(payload)
          return complete(done)
        }, concurrency)
        const expected = []
        for (let i = 0; i < 5000; i++) {
          queue.push(i, settled.callback(i))
          expected.push(i)
        }
        await settled.until(5000)
        assert.deepEqual(order, expected)
        assert.equal(queue.length, 0)
      })
    }
  }

  it('put ten unshifts among pushes where they belong', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const expected = []
    for (let i = 0; i < 100; i++) {
      if (i % 10 === 5) {
        queue.unshift(i)
        expected.unshift(i)
      } else {
        queue.push(i)
        expected.push(i)
      }
      assert.equal(queue.length, i + 1)
      assert.equal(queue.waiting, i + 1)
    }
    for (let i = 0; i < 100; i++) {
      await gate.until(i + 1)
      assert.equal(queue.running, 1)
      assert.equal(queue.waiting, 99 - i)
      gate.release()
    }
    assert.deepEqual(gate.payloads, expected)
  })

  it('keep exact order over many thousands of mixed pushes, unshifts and ends', async function () {
    const random = seeded(7)
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    const waiting = []
    const expected = []
    let accepted = 0

    for (let round = 0; round < 60; round++) {
      const count = random.below(400)
      for (let i = 0; i < count; i++) {
        const payload = accepted++
        if (random.chance(0.3)) {
          queue.unshift(payload)
          waiting.unshift(payload)
        } else {
          queue.push(payload)
          waiting.push(payload)
        }
      }
      await quiet()
      while (expected.length - (gate.started.length - gate.open.length) < 3 && waiting.length > 0) expected.push(waiting.shift())
      const ends = random.below(300)
      for (let i = 0; i < ends && gate.open.length > 0; i++) {
        gate.release()
        await Promise.resolve()
        if (waiting.length > 0) expected.push(waiting.shift())
        await gate.until(expected.length)
      }
      assert.deepEqual(gate.payloads.slice(-50), expected.slice(-50))
      assert.equal(queue.length, waiting.length + gate.open.length)
    }
    assert.deepEqual(gate.payloads, expected)
  })

  it('accept jobs from inside a runner', async function () {
    const order = []
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      order.push(payload)
      if (payload === 1) {
        queue.push(3, settled.callback(3))
        queue.unshift(0, settled.callback(0))
        assert.deepEqual(order, [1], 'nothing starts inside push')
      }
      done()
    }, 1)
    queue.push(1, settled.callback(1)).push(2, settled.callback(2))
    await settled.until(4)
    assert.deepEqual(order, [1, 0, 2, 3])
  })

  it('accept jobs from inside a callback and from inside drain', async function () {
    const order = []
    let drains = 0
    const queue = fairlane((payload, done) => {
      order.push(payload)
      done()
    }, 1)
    const finished = new Promise((resolve) => {
      queue.drain = () => {
        drains++
        if (drains === 1) queue.push('from drain')
        else resolve()
      }
    })
    queue.push('first', () => queue.push('from callback'))
    await finished
    assert.deepEqual(order, ['first', 'from callback', 'from drain'])
    assert.equal(drains, 2)
  })

  it('go on after the queue has been empty', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(null, payload), 2)
    for (let i = 0; i < 20; i++) {
      queue.push(i, settled.callback(i))
      await settled.until(i + 1)
      if (i % 3 === 0) await quiet()
    }
    assert.deepEqual(settled.names(), Array.from({ length: 20 }, (_, i) => i))
  })
})

describe('pushType and unshiftType on a queue without scheduler', function () {
  it('queue as push and unshift do, whatever the type', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = fairlane(gate.runner, 1)
    queue.push('b').pushType('x', 'c', settled.callback('c')).unshiftType('y', 'a').pushType('x', 'd')
    for (let i = 1; i <= 4; i++) {
      await gate.until(i)
      gate.release()
    }
    assert.deepEqual(gate.payloads, ['a', 'b', 'c', 'd'])
    assert.deepEqual(settled.list, [['c', null, 'c']])
  })

  it('take any type that has a text of its own', function () {
    const queue = fairlane(() => {})
    const types = [0, NaN, true, 'a', '', 10n, [], () => {}, { toString: () => 'tenant' }, '__proto__', 'constructor']
    for (const type of types) {
      queue.pushType(type, 1)
      queue.unshiftType(type, 1)
    }
    assert.equal(queue.length, 2 * types.length)
  })

  it('show the runner no type', async function () {
    const gate = gates()
    fairlane(gate.runner).pushType('x', 1)
    await gate.until(1)
    assert.equal(gate.started[0].context.type, undefined)
  })
})
