'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { captureUncaught } = require('../../support/uncaught')
const { seeded } = require('../../support/random')
const { quiet } = require('../../support/turns')

function paused (count, settled) {
  const queue = fairlane((payload, done) => done(null, payload), 1).pause()
  for (let i = 0; i < count; i++) queue.push(i, settled && settled.callback(i))
  return queue
}

function payloads (queue) {
  return [...queue.jobs()].map((job) => job.payload)
}

function assertCancelled (error, cause) {
  assert.ok(error instanceof fairlane.FairlaneError)
  assert.equal(error.code, 'FAIRLANE_ERR_CLEARED')
  assert.equal(error.cause, cause)
}

describe('jobs', function () {
  it('iterates over the waiting jobs in order', function () {
    const queue = paused(3)
    queue.unshift('head').pushType('t', 'tail')
    assert.deepEqual([...queue.jobs()], ['head', 0, 1, 2, 'tail'].map((payload) => ({ type: undefined, payload })))
  })

  it('is an iterable iterator', function () {
    const jobs = paused(2).jobs()
    assert.equal(jobs[Symbol.iterator](), jobs)
    assert.deepEqual(jobs.next().value, { type: undefined, payload: 0 })
    assert.deepEqual([...jobs].map((job) => job.payload), [1])
    assert.equal(jobs.next().done, true)
  })

  it('gives nothing on an empty queue', function () {
    assert.deepEqual([...fairlane(() => {}).jobs()], [])
    assert.deepEqual([...fairlane(() => {}).jobs(undefined)], [])
  })

  it('leaves out running jobs', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    for (let i = 0; i < 5; i++) queue.push(i)
    await gate.until(2)
    assert.deepEqual(payloads(queue), [2, 3, 4])
  })

  it('is a snapshot taken at the call', function () {
    const queue = paused(3)
    const jobs = queue.jobs()
    queue.push('later').unshift('sooner')
    queue.remove(({ payload }) => payload === 1)
    assert.deepEqual([...jobs].map((job) => job.payload), [0, 1, 2])
    assert.deepEqual(payloads(queue), ['sooner', 0, 2, 'later'])
    queue.clear()
    assert.deepEqual(payloads(queue), [])
  })

  it('leaves the queue as it was', async function () {
    const settled = outcomes()
    const queue = paused(2000, settled)
    for (const job of queue.jobs()) job.payload = 'changed'
    assert.equal(queue.length, 2000)
    queue.resume()
    await settled.until(2000)
    assert.deepEqual(settled.list.map((entry) => entry[2]), Array.from({ length: 2000 }, (_, i) => i))
  })

  it('shows undefined payloads', function () {
    const queue = fairlane(() => {}).pause()
    queue.push().push(null).push(undefined).push(0)
    assert.deepEqual(payloads(queue), [undefined, null, undefined, 0])
  })
})

describe('remove', function () {
  it('cancels the waiting jobs that the test picks, and says how many', async function () {
    const settled = outcomes()
    const queue = paused(10, settled)
    assert.equal(queue.remove(({ payload }) => payload % 3 === 0), 4)
    assert.deepEqual(settled.names(), [0, 3, 6, 9])
    settled.list.forEach(([, error, result]) => {
      assertCancelled(error)
      assert.equal(result, undefined)
    })
    assert.equal(queue.length, 6)
    assert.equal(queue.waiting, 6)
    assert.deepEqual(payloads(queue), [1, 2, 4, 5, 7, 8])
    queue.resume()
    await settled.until(10)
    assert.deepEqual(settled.names().slice(4), [1, 2, 4, 5, 7, 8])
    const { accepted, done, cancelled } = queue.stats()
    assert.deepEqual({ accepted, done, cancelled }, { accepted: 10, done: 6, cancelled: 4 })
  })

  it('hands the test type and payload, in order, once each', function () {
    const queue = paused(3)
    queue.pushType('t', 'typed')
    const seen = []
    assert.equal(queue.remove((...args) => { seen.push(args); return false }), 0)
    assert.deepEqual(seen.map((args) => args[0]), [0, 1, 2, 'typed'].map((payload) => ({ type: undefined, payload })))
    assert.equal(queue.length, 4)
  })

  it('takes any true value for yes', function () {
    const queue = paused(4)
    const answers = [1, '', 'yes', undefined]
    assert.equal(queue.remove(({ payload }) => answers[payload]), 2)
    assert.deepEqual(payloads(queue), [1, 3])
  })

  it('does not touch running jobs', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = fairlane(gate.runner, 2)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await gate.until(2)
    assert.equal(queue.remove(() => true), 3)
    assert.deepEqual(settled.names(), [2, 3, 4])
    assert.equal(queue.running, 2)
    gate.release(2)
    assert.deepEqual(settled.names(), [2, 3, 4, 0, 1])
    assert.equal(queue.length, 0)
  })

  it('removes from the head, the middle and the end of many thousands', async function () {
    const settled = outcomes()
    const queue = paused(10000, settled)
    const picks = [
      (i) => i < 1500, (i) => i >= 8500, (i) => i >= 4000 && i < 6500, (i) => i % 2 === 1, (i) => i % 4 === 0, (i) => i % 7 === 0
    ]
    let left = Array.from({ length: 10000 }, (_, i) => i)
    for (const pick of picks) {
      const kept = left.filter((i) => !pick(i))
      assert.equal(queue.remove(({ payload }) => pick(payload)), left.length - kept.length)
      left = kept
      assert.equal(queue.length, left.length)
      assert.deepEqual(payloads(queue), left)
    }
    const removed = settled.list.length
    queue.resume()
    await settled.until(10000)
    assert.deepEqual(settled.names().slice(removed), left)
  })

  it('keeps order and counts among pushes and unshifts that follow', async function () {
    const random = seeded(23)
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(), 1).pause()
    let model = []
    let accepted = 0
    for (let round = 0; round < 400; round++) {
      for (let i = random.below(40); i > 0; i--) {
        const id = accepted++
        if (random.chance(0.4)) {
          queue.unshift(id, settled.callback(id))
          model.unshift(id)
        } else {
          queue.push(id, settled.callback(id))
          model.push(id)
        }
      }
      if (random.chance(0.4)) {
        const modulus = 2 + random.below(6)
        const rest = random.below(modulus)
        queue.remove(({ payload }) => payload % modulus === rest)
        model = model.filter((id) => id % modulus !== rest)
      }
      if (random.chance(0.02)) {
        queue.clear()
        model = []
      }
      assert.equal(queue.length, model.length)
      if (round % 10 === 0) assert.deepEqual(payloads(queue), model)
    }
    const cancelled = settled.list.length
    queue.resume()
    await settled.until(accepted)
    assert.deepEqual(settled.names().slice(cancelled), model)
  })

  it('removes nothing where the test throws, and passes the throw on', async function () {
    const settled = outcomes()
    const queue = paused(10, settled)
    const failure = new Error('expected')
    assert.throws(() => queue.remove(({ payload }) => {
      if (payload === 7) throw failure
      return true
    }), (error) => error === failure)
    assert.equal(queue.length, 10)
    assert.deepEqual(settled.list, [])
    assert.equal(queue.stats().cancelled, 0)
    queue.resume()
    await settled.until(10)
    assert.equal(queue.stats().done, 10)
  })

  it('has all counts right before the first callback', function () {
    const queue = fairlane(() => {}).pause()
    const seen = []
    const look = () => seen.push([queue.length, queue.waiting, queue.stats().cancelled, queue.stats().waiting])
    for (let i = 0; i < 6; i++) queue.push(i, look)
    queue.remove(({ payload }) => payload < 4)
    assert.deepEqual(seen, Array(4).fill([2, 2, 4, 2]))
  })

  for (const [name, call, expected] of [
    ['push', (queue) => queue.push('new'), ['a', 'c', 'new']],
    ['unshift', (queue) => queue.unshift('new'), ['new', 'a', 'c']],
    ['clear', (queue) => queue.clear(), []],
    ['another remove of the same job', (queue) => queue.remove(({ payload }) => payload === 'b'), ['a', 'c']],
    ['another remove of others', (queue) => queue.remove(({ payload }) => payload !== 'b'), []],
    ['jobs', (queue) => [...queue.jobs()], ['a', 'c']],
    ['pause and resume', (queue) => queue.resume().pause(), ['a', 'c']]
  ]) {
    it(`stands ${name} inside its test function`, async function () {
      const settled = outcomes()
      const queue = fairlane((payload, done) => done(null, payload), 1).pause()
      for (const id of ['a', 'b', 'c']) queue.push(id, settled.callback(id))
      let called = false
      queue.remove(({ payload }) => {
        if (payload === 'b' && !called) {
          called = true
          call(queue)
        }
        return payload === 'b'
      })
      assert.deepEqual(payloads(queue), expected)
      assert.equal(queue.length, expected.length)
      const { accepted, cancelled } = queue.stats()
      assert.equal(accepted - cancelled, expected.length)
      queue.resume()
      await queue.onIdle()
      for (const id of ['a', 'b', 'c']) assert.equal(settled.of(id).length, 1, id)
      assert.equal(queue.length, 0)
      assert.equal(queue.stats().done, expected.length)
    })
  }

  it('hands its test function nothing but jobs, though a clear inside that has cancelled them all', function () {
    for (const options of [{}, { scheduler: 'equal' }, { scheduler: { waiting () {}, start () {}, done () {}, select: () => 0 } }]) {
      const queue = fairlane(() => {}, options).pause()
      for (let i = 0; i < 5; i++) options.scheduler === undefined ? queue.push({ i }) : queue.pushType('a', { i })
      const seen = []
      const count = queue.remove(({ payload }) => {
        seen.push(payload.i)
        if (payload.i === 2) queue.clear()
        return true
      })
      assert.deepEqual([count, queue.waiting, seen.slice(0, 3)], [0, 0, [0, 1, 2]])
    }
  })

  it('stands that a running job ends inside its test function', async function () {
    const settled = outcomes()
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    for (const id of ['running', 'a', 'b', 'c']) queue.push(id, settled.callback(id))
    await gate.until(1)
    let ended = false
    queue.remove(({ payload }) => {
      if (!ended) {
        ended = true
        gate.release()
      }
      return payload === 'a' || payload === 'c'
    })
    while (queue.length > 0) {
      await quiet()
      if (gate.open.length > 0) gate.release()
    }
    await quiet()
    for (const id of ['running', 'a', 'b', 'c']) assert.equal(settled.of(id).length, 1, id)
    assert.ok(gate.payloads.every((payload) => ['running', 'a', 'b', 'c'].includes(payload)))
    const { accepted, done, cancelled } = queue.stats()
    assert.equal(accepted, 4)
    assert.equal(done + cancelled, 4)
    assert.equal(done, gate.started.length)
    assert.equal(queue.running, 0)
  })
})

describe('clear', function () {
  it('cancels all waiting jobs in order and says how many', function () {
    const settled = outcomes()
    const queue = paused(5, settled)
    queue.unshift('head', settled.callback('head'))
    assert.equal(queue.clear(), 6)
    assert.deepEqual(settled.names(), ['head', 0, 1, 2, 3, 4])
    settled.list.forEach(([, error, result]) => {
      assertCancelled(error)
      assert.equal(result, undefined)
    })
    assert.equal(queue.length, 0)
    assert.equal(queue.waiting, 0)
    assert.equal(queue.stats().cancelled, 6)
    assert.equal(queue.clear(), 0)
  })

  it('keeps a reason as the cause', function () {
    for (const reason of [new Error('why'), 'text', 0, null, false]) {
      const settled = outcomes()
      paused(2, settled).clear({ reason })
      assert.equal(settled.list.length, 2)
      settled.list.forEach(([, error]) => {
        assert.ok('cause' in error)
        assertCancelled(error, reason)
      })
    }
  })

  it('takes no options for none', function () {
    for (const options of [undefined, {}, { reason: undefined }, Object.create(null)]) {
      const queue = paused(2)
      assert.equal(queue.clear(options), 2)
    }
  })

  it('does not touch running jobs', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = fairlane(gate.runner, 2)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await gate.until(2)
    assert.equal(queue.clear(), 3)
    assert.equal(queue.length, 2)
    gate.release(2)
    assert.deepEqual(settled.names(), [2, 3, 4, 0, 1])
    assert.deepEqual(settled.of(0), [[0, null, 0]])
  })

  it('has all counts right before the first callback', function () {
    const queue = fairlane(() => {}).pause()
    const seen = []
    for (let i = 0; i < 3; i++) queue.push(i, () => seen.push([queue.length, queue.waiting, queue.stats().cancelled]))
    queue.clear()
    assert.deepEqual(seen, Array(3).fill([0, 0, 3]))
  })

  it('in a callback leaves order and counts exact', async function () {
    for (const complete of [(done) => done(), process.nextTick, queueMicrotask, setImmediate]) {
      const settled = outcomes()
      const order = []
      const queue = fairlane((payload, done) => {
        order.push(payload)
        complete(done)
      }, 1)
      let cleared
      for (let i = 0; i < 10; i++) {
        const callback = settled.callback(i)
        queue.push(i, (error) => {
          callback(error)
          if (i === 3) {
            cleared = queue.clear()
            assert.equal(queue.length, 0)
            queue.push('new', settled.callback('new'))
          }
        })
      }
      await settled.until(11)
      assert.deepEqual(order, [0, 1, 2, 3, 'new'])
      assert.equal(cleared, 6)
      assert.deepEqual(settled.names(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 'new'])
      const { accepted, done, cancelled, failed } = queue.stats()
      assert.deepEqual({ accepted, done, cancelled, failed }, { accepted: 11, done: 5, cancelled: 6, failed: 0 })
      assert.equal(queue.length, 0)
    }
  })

  it('in the callback of a cleared job finds nothing more', function () {
    const settled = outcomes()
    const queue = fairlane(() => {}).pause()
    const inner = []
    for (let i = 0; i < 4; i++) {
      const callback = settled.callback(i)
      queue.push(i, (error) => {
        callback(error)
        inner.push(queue.clear())
      })
    }
    assert.equal(queue.clear(), 4)
    assert.deepEqual(inner, [0, 0, 0, 0])
    assert.deepEqual(settled.names(), [0, 1, 2, 3])
    assert.equal(queue.stats().cancelled, 4)
  })

  it('spares jobs that the callbacks of cleared jobs push', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(null, payload), 2).pause()
    for (let i = 0; i < 4; i++) {
      const callback = settled.callback(i)
      queue.push(i, (error) => {
        callback(error)
        queue.push(`after ${i}`, settled.callback(`after ${i}`))
      })
    }
    assert.equal(queue.clear(), 4)
    assert.equal(queue.length, 4)
    queue.resume()
    await settled.until(8)
    assert.deepEqual(settled.names(), [0, 1, 2, 3, 'after 0', 'after 1', 'after 2', 'after 3'])
    assert.equal(settled.list[7][1], null)
  })

  it('in a runner spares the job of that runner', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      if (payload === 1) assert.equal(queue.clear(), 3)
      done(null, payload)
    }, 10)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await settled.until(5)
    await quiet()
    assert.deepEqual(settled.names(), [0, 2, 3, 4, 1])
    assert.deepEqual(settled.of(1), [[1, null, 1]])
    assert.equal(queue.length, 0)
    assert.equal(queue.running, 0)
    assert.equal(queue.stats().failed, 0)
  })

  it('in drain does nothing', async function () {
    const queue = fairlane((payload, done) => done(), 1)
    let cleared
    queue.drain = () => { cleared = queue.clear() }
    queue.push(1)
    await queue.onIdle()
    assert.equal(cleared, 0)
  })

  it('in drain cancels what drain pushed', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(), 1)
    let drains = 0
    queue.drain = () => {
      if (++drains > 1) return
      queue.push('new', settled.callback('new'))
      assert.equal(queue.clear(), 1)
    }
    queue.push(1)
    await settled.until(1)
    await quiet()
    assert.equal(queue.length, 0)
    assertCancelled(settled.list[0][1])
    await queue.onIdle()
  })

  it('makes uncaught exceptions of what the callbacks throw, and calls them all', async function () {
    const uncaught = captureUncaught()
    const called = []
    const queue = fairlane((payload, done) => done(), 1).pause()
    for (let i = 0; i < 4; i++) {
      queue.push(i, () => {
        called.push(i)
        throw new Error(`callback ${i}`)
      })
    }
    assert.equal(queue.clear(), 4)
    assert.deepEqual(called, [0, 1, 2, 3])
    await uncaught.until(4)
    uncaught.release()
    assert.deepEqual(uncaught.seen.map((error) => error.message), [0, 1, 2, 3].map((i) => `callback ${i}`))
    queue.resume().push('next')
    await queue.onIdle()
    assert.equal(queue.stats().done, 1)
  })

  it('clears a hundred thousand jobs, and the queue goes on', async function () {
    const queue = paused(100000)
    assert.equal(queue.clear(), 100000)
    queue.resume()
    const settled = outcomes()
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await settled.until(5)
    assert.deepEqual(settled.names(), [0, 1, 2, 3, 4])
  })
})
