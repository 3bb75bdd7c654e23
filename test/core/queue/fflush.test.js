'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { seeded } = require('../../support/random')
const { quiet } = require('../../support/turns')

describe('fflush', function () {
  it('calls back asynchronously at once on an empty queue', async function () {
    const queue = fairlane(() => {})
    let fired = 0
    const called = new Promise((resolve) => queue.fflush(() => { fired++; resolve() }))
    assert.equal(fired, 0)
    await called
    await quiet()
    assert.equal(fired, 1)
  })

  it('calls back on a queue whose jobs have all settled', async function () {
    const queue = fairlane((payload, done) => done(), 2)
    queue.push(1).push(2)
    await queue.onIdle()
    await new Promise((resolve) => queue.fflush(resolve))
    await queue.fflush()
  })

  it('gives a promise without a callback', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner)
    queue.push(1)
    let fired = false
    const flushed = queue.fflush()
    assert.ok(flushed instanceof Promise)
    flushed.then(() => { fired = true })
    await gate.until(1)
    await quiet()
    assert.equal(fired, false)
    gate.release()
    await flushed
    assert.ok(queue.fflush(undefined) instanceof Promise)
  })

  it('waits for jobs that wait and for jobs that run', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    let fired = false
    for (let i = 0; i < 4; i++) queue.push(i)
    await gate.until(2)
    queue.fflush(() => { fired = true })
    for (let i = 0; i < 4; i++) {
      await quiet()
      assert.equal(fired, false)
      gate.release()
    }
    assert.equal(fired, true)
  })

  it('waits for the slowest, not for the last pushed', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    let fired = false
    for (let i = 0; i < 3; i++) queue.push(i)
    queue.fflush(() => { fired = true })
    await gate.until(3)
    gate.open.pop().done()
    gate.open.pop().done()
    await quiet()
    assert.equal(fired, false)
    gate.release()
    assert.equal(fired, true)
  })

  it('does not wait for jobs pushed later', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push(1)
    let fired = false
    queue.fflush(() => { fired = true })
    queue.push(2).push(3)
    await gate.until(1)
    gate.release()
    assert.equal(fired, true)
    assert.equal(queue.length, 2)
  })

  it('does not wait for jobs unshifted later, though they start sooner', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    queue.push('old')
    let fired = false
    queue.fflush(() => { fired = true })
    queue.unshift('urgent')
    await gate.until(2)
    assert.deepEqual(gate.payloads, ['urgent', 'old'])
    gate.started[1].done()
    assert.equal(fired, true)
    assert.equal(queue.running, 1)
  })

  it('waits for the jobs before it that later unshifts delay', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push('old')
    let fired = false
    queue.fflush(() => { fired = true })
    queue.unshift('urgent').unshift('more urgent')
    for (let i = 1; i <= 2; i++) {
      await gate.until(i)
      gate.release()
      await quiet()
      assert.equal(fired, false)
    }
    gate.release()
    assert.equal(fired, true)
    assert.deepEqual(gate.payloads, ['more urgent', 'urgent', 'old'])
  })

  it('does not wait for a later job that runs on while new ones keep coming', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    queue.push('old')
    const flushed = queue.fflush()
    queue.push('endless')
    await gate.until(2)
    gate.release()
    await flushed
    assert.equal(queue.running, 1)
  })

  it('called between pushes fires at the point of each', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const fired = []
    queue.fflush(() => fired.push('none'))
    for (let i = 0; i < 5; i++) {
      queue.push(i)
      queue.fflush(() => fired.push(i))
      queue.fflush(() => fired.push(`${i} again`))
    }
    const expected = ['none']
    for (let i = 0; i < 5; i++) {
      await gate.until(i + 1)
      await quiet()
      assert.deepEqual(fired, expected)
      gate.release()
      expected.push(i, `${i} again`)
      assert.deepEqual(fired, expected)
    }
  })

  it('called from a callback does not wait for the job of that callback', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let fired = false
    queue.push(1, () => queue.fflush(() => { fired = true }))
    await gate.until(1)
    gate.release()
    await quiet()
    assert.equal(fired, true)
  })

  it('called from a callback waits for the others', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let fired = false
    queue.push(1, () => queue.fflush(() => { fired = true })).push(2)
    await gate.until(1)
    gate.release()
    await gate.until(2)
    queue.push(3)
    await quiet()
    assert.equal(fired, false)
    gate.release()
    assert.equal(fired, true)
  })

  it('called from a runner waits for the job of that runner', async function () {
    const settled = outcomes()
    const events = []
    const queue = fairlane((payload, done) => {
      queue.fflush(() => events.push(`fflush ${payload}`))
      done()
    }, 1)
    for (let i = 0; i < 3; i++) {
      const callback = settled.callback(i)
      queue.push(i, () => { events.push(`callback ${i}`); callback() })
    }
    await settled.until(3)
    await quiet()
    assert.deepEqual(settled.names(), [0, 1, 2])
    for (let i = 0; i < 3; i++) assert.ok(events.indexOf(`callback ${i}`) < events.indexOf(`fflush ${i}`))
    assert.ok(events.indexOf('callback 2') < events.indexOf('fflush 0'), 'the others waited when it was called')
  })

  it('called from drain and from an fflush callback fires', async function () {
    const queue = fairlane((payload, done) => done(), 1)
    const all = new Promise((resolve) => {
      queue.drain = () => queue.fflush(() => queue.fflush(resolve))
    })
    queue.push(1)
    await all
  })

  it('lets its callback push, and waits for no such job', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const fired = []
    queue.push(1)
    queue.fflush(() => { fired.push(1); queue.push(2) })
    queue.fflush(() => fired.push(2))
    await gate.until(1)
    gate.release()
    assert.deepEqual(fired, [1, 2])
    await gate.until(2)
  })

  it('fires after clear cancelled all that it waited for', async function () {
    const queue = fairlane(() => {})
    queue.pause().push(1).push(2)
    let fired = 0
    queue.fflush(() => fired++)
    queue.clear()
    await quiet()
    assert.equal(fired, 1)
  })

  it('goes on waiting for running jobs after clear', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push(1).push(2).push(3)
    let fired = false
    queue.fflush(() => { fired = true })
    await gate.until(1)
    queue.clear()
    await quiet()
    assert.equal(fired, false)
    gate.release()
    await quiet()
    assert.equal(fired, true)
  })

  it('fires after remove took the last job that it waited for', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let fired = false
    queue.push('running')
    await gate.until(1)
    queue.pause()
    queue.push('removed')
    queue.fflush(() => { fired = true })
    queue.push('later')
    gate.release()
    await quiet()
    assert.equal(fired, false)
    queue.remove(({ payload }) => payload === 'removed')
    await quiet()
    assert.equal(fired, true)
    assert.equal(queue.waiting, 1)
  })

  it('is exact where only removed jobs stood between two calls', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const fired = []
    queue.pause()
    queue.push('a')
    queue.fflush(() => fired.push('after a'))
    queue.push('b')
    queue.fflush(() => fired.push('after b'))
    queue.push('c')
    queue.fflush(() => fired.push('after c'))
    queue.remove(({ payload }) => payload === 'b')
    await quiet()
    assert.deepEqual(fired, [])
    queue.resume()
    await gate.until(1)
    gate.release()
    await gate.until(2)
    await quiet()
    assert.deepEqual(fired, ['after a', 'after b'])
    gate.release()
    assert.deepEqual(fired, ['after a', 'after b', 'after c'])
  })

  it('keeps a thousand overlapping calls exact', async function () {
    const random = seeded(11)
    const gate = gates()
    const queue = fairlane(gate.runner, 5)
    const unsettled = new Set()
    const pending = []
    let accepted = 0
    let calls = 0
    let fires = 0

    function push (add) {
      const id = accepted++
      unsettled.add(id)
      queue[add](id, () => unsettled.delete(id))
    }

    while (calls < 1000 || unsettled.size > 0) {
      if (calls < 1000) {
        for (let i = random.below(4); i > 0; i--) push(random.chance(0.3) ? 'unshift' : 'push')
        for (let i = random.below(4); i > 0; i--) {
          const flush = { before: [...unsettled], fired: 0 }
          pending.push(flush)
          calls++
          queue.fflush(() => { flush.fired++; fires++ })
        }
        if (random.chance(0.02)) queue.remove(({ payload }) => payload % 3 === 0)
      }
      await quietTurn()
      for (let i = random.below(calls < 1000 ? 4 : 6); i > 0 && gate.open.length > 0; i--) {
        gate.open.splice(random.below(gate.open.length), 1)[0].done()
      }
      await quietTurn()
      for (const flush of pending) {
        assert.equal(flush.fired, flush.before.some((id) => unsettled.has(id)) ? 0 : 1)
      }
      if (pending.length > 100) pending.splice(0, pending.findIndex((flush) => !flush.fired))
    }
    assert.equal(fires, calls)
    assert.equal(queue.length, 0)
  })

  it('holds up while a hundred thousand jobs wait', async function () {
    const queue = fairlane((payload, done) => done(), 10)
    const order = []
    for (let i = 1; i <= 100000; i++) {
      queue.push(i)
      if (i % 100 === 0) queue.fflush(() => order.push(i))
    }
    await queue.fflush()
    assert.equal(order.length, 1000)
    assert.deepEqual(order, Array.from({ length: 1000 }, (_, i) => (i + 1) * 100))
    assert.equal(queue.length, 0)
  })
})

// A turn and a half: what an empty queue does "at once" is done as well.
async function quietTurn () {
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
}
