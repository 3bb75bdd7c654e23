'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { NO_COUNTS } = require('../../support/counts')
const gates = require('../../support/gates')
const { quiet } = require('../../support/turns')

describe('stats', function () {
  it('is all zero at first, with exactly the documented names', function () {
    assert.deepEqual({ ...fairlane(() => {}).stats() }, NO_COUNTS)
  })

  it('follows the jobs', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    for (let i = 0; i < 6; i++) queue.push(i)
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, waiting: 6 })
    await gate.until(2)
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, waiting: 4, running: 2 })
    gate.open.shift().done(new Error('expected'))
    await gate.until(3)
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, waiting: 3, running: 2, failed: 1 })
    gate.release()
    await gate.until(4)
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, waiting: 2, running: 2, failed: 1, done: 1 })
    queue.remove(({ payload }) => payload === 4)
    queue.clear()
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, running: 2, failed: 1, done: 1, cancelled: 2 })
    gate.release(2)
    await quiet()
    assert.deepEqual({ ...queue.stats() }, { ...NO_COUNTS, accepted: 6, failed: 1, done: 3, cancelled: 2 })
  })

  it('is a copy', function () {
    const queue = fairlane(() => {}).pause()
    const before = queue.stats()
    queue.push(1)
    assert.equal(before.accepted, 0)
    const after = queue.stats()
    after.accepted = 99
    assert.equal(queue.stats().accepted, 1)
  })

  it('does not count refused calls', function () {
    const queue = fairlane(() => {}).pause()
    assert.throws(() => queue.push(1, 'no function'))
    assert.throws(() => queue.pushType(Symbol('type'), 1))
    assert.deepEqual({ ...queue.stats() }, NO_COUNTS)
  })

  it('agrees with the properties inside runners and callbacks', async function () {
    let checks = 0
    const queue = fairlane((payload, done) => {
      check()
      if (payload % 2) done()
      else setImmediate(done)
    }, 3)
    const wrong = []

    function check () {
      checks++
      const { accepted, waiting, running, done, failed, cancelled } = queue.stats()
      if (waiting !== queue.waiting || running !== queue.running || queue.length !== waiting + running ||
          accepted !== waiting + running + done + failed + cancelled) wrong.push(queue.stats())
    }

    for (let i = 0; i < 100; i++) queue.push(i, check)
    await queue.onIdle()
    assert.deepEqual(wrong, [])
    assert.equal(checks, 200)
  })
})

describe('the counts', function () {
  for (const name of ['length', 'running', 'waiting', 'paused']) {
    it(`${name} is read-only`, function () {
      const queue = fairlane(() => {}).pause()
      queue.push(1)
      const before = queue[name]
      assert.throws(() => { queue[name] = 7 }, TypeError)
      assert.equal(queue[name], before)
    })
  }
})
