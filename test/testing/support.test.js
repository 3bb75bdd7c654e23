'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { checkInvariants, gateRunner, Model } = require('../../lib/testing')
const { internalsOf } = require('../../lib/core/internals')

describe('gateRunner', function () {
  it('starts jobs when the queue says, and ends them when the test says', async function () {
    for (const settleBy of ['either', 'callback', 'promise']) {
      const gate = gateRunner()
      const queue = fairlane(gate.runner, { concurrency: 3, settleBy })
      const results = Promise.allSettled([1, 2, 3].map((n) => queue.add(n)))
      await gate.until(3)
      await gate.until(1)
      assert.equal(gate.started[2].context.attempt, 1)
      gate.fail('expected')
      gate.release(2)
      assert.deepEqual((await results).map(({ value, reason }) => value ?? reason), ['expected', 2, 3])
      assert.throws(() => gate.release(), /no job is open: wait for one with until\(count\) first/)
    }
  })
})

describe('Model', function () {
  it('fails when a job does what none may', function () {
    const model = new Model()
    model.pushed('a')
    assert.throws(() => model.pushed('a'), /job a was pushed twice/)
    model.started('a')
    assert.throws(() => model.started('a'), /started while running/)
    assert.throws(() => model.refused('a'), /refused after/)
    assert.throws(() => model.finish(fairlane(() => {})), /still running/)
    model.settled('a')
    assert.throws(() => model.settled('a'), /settled while settled/)
    assert.throws(() => model.started('b'), /b was started while not pushed/)
    assert.throws(() => model.finish(fairlane(() => {})), /counts 0 accepted jobs, but the model counts 1/)
  })

  it('agrees with a queue that refuses one job and settles another', async function () {
    const model = new Model()
    const queue = fairlane(async (payload) => model.started(payload), { concurrency: 1, maxWaiting: 0 })
    for (const job of ['a', 'b']) {
      model.pushed(job)
      queue.push(job, (error) => error ? model.refused(job) : model.settled(job))
    }
    await queue.onIdle()
    model.finish(queue)
    assert.deepEqual(model.counts, { accepted: 1, rejected: 1, settled: 1 })
  })
})

describe('checkInvariants', function () {
  it('takes a queue in memory only', function () {
    for (const other of [undefined, null, {}, () => {}, 'queue']) {
      assert.throws(() => checkInvariants(other), { code: 'FAIRLANE_ERR_ARGUMENT', message: /a queue in memory/ })
    }
  })

  it('finds what contradicts itself', function () {
    const queue = fairlane(() => {}).pause().push(1)
    checkInvariants(queue)
    internalsOf(queue).list.size++
    assert.throws(() => checkInvariants(queue), /add up/)
  })
})
