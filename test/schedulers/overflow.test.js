'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Equal } = require('../../schedulers')
const gates = require('../support/gates')
const { quiet } = require('../support/turns')

/** How many jobs of a type have begun and not ended. */
const runningOf = (gate, type) => gate.open.filter(({ context }) => context.type === type).length

/** A queue in which `first` has the only lane of its own, and x shares one. */
function make (scheduler) {
  const gate = gates()
  const schedulerOptions = { maxTypeCap: 2, maxTypeShare: 1, ...(scheduler === 'capped' ? { hard: true } : {}) }
  const queue = fairlane(gate.runner, { scheduler, maxTypes: 1, schedulerOptions })
  queue.pushType('first', 'first')
  return { queue, gate }
}

for (const scheduler of ['equal', 'capped']) {
  describe(`hard caps of types that share a lane (${scheduler})`, function () {
    it('count jobs that run from there when the type gets a lane of its own', async function () {
      const { queue, gate } = make(scheduler)
      queue.pushType('x', 1).pushType('x', 2)
      await quiet()
      gate.release()
      queue.pushType('x', 3).pushType('x', 4)
      await quiet()
      assert.equal(runningOf(gate, 'x'), 2)
      assert.equal(queue.stats('x').running, 2)
      gate.release(2)
      await quiet()
      assert.equal(runningOf(gate, 'x'), 2)
      gate.release(2)
      await queue.onIdle()
      assert.equal(queue.stats().types, 0)
    })

    it('hold when the type is paused and goes on', async function () {
      const { queue, gate } = make(scheduler)
      for (let i = 0; i < 4; i++) queue.pushType('x', i)
      await quiet()
      queue.pauseType('x').resumeType('x')
      await quiet()
      assert.equal(runningOf(gate, 'x'), 2)
      gate.release(3)
      await quiet()
      gate.release(2)
      await queue.onIdle()
      assert.equal(queue.stats().types, 0)
    })

    it('hold from the moment in which the type is named', async function () {
      const { queue, gate } = make(scheduler)
      queue.pushType('x', 1)
      await quiet()
      queue.pushType('x', 2).pushType('y', 3)
      queue.scheduler.configure({ typeCaps: { x: 1 } })
      await quiet()
      assert.equal(runningOf(gate, 'x'), 1)
      queue.scheduler.configure({ typeCaps: { x: 0 } })
      gate.release(2)
      await quiet()
      assert.equal(runningOf(gate, 'x'), 0)
      assert.equal(queue.waiting, 1)
      queue.scheduler.configure({ typeCaps: { x: 1 } })
      await quiet()
      assert.equal(runningOf(gate, 'x'), 1)
    })
  })
}

for (const [scheduler, name] of [
  ['capped', queue => queue.scheduler.configure({ typeCaps: { x: 5 } })],
  ['fair', queue => queue.pauseType('x').resumeType('x')],
  ['equal', queue => queue.pauseType('x').resumeType('x')]
]) {
  describe(`a type that gets a lane of its own while its jobs run and wait (${scheduler})`, function () {
    it('goes on, whichever number its oldest job has', async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, { concurrency: 2, scheduler, maxTypes: 1 }).pause()
      // numbers -1 and -2 start; 0, which is that of a new lane, waits
      queue.unshiftType('first', 1).pushType('x', 2).pushType('x', 3).unshiftType('x', 4).resume()
      await gate.until(2)
      name(queue)
      gate.release(2)
      await gate.until(4)
      gate.release(2)
      await queue.onIdle()
      assert.equal(queue.stats().done, 4)
    })
  })
}

describe('configure() of a queue with few of its shared lanes in use', function () {
  it('names types in any of them', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', maxTypes: 9, concurrency: 100 })
    for (let i = 0; i < 9; i++) queue.pushType(`own ${i}`, i)
    queue.pushType('x', 1).pushType('x', 2)
    queue.scheduler.configure({ typeCaps: { x: 1 } })
    await quiet()
    assert.equal(runningOf(gate, 'x'), 1)
  })
})

describe('several jobs that move to a lane of their own', function () {
  for (const scheduler of ['fair', 'capped', 'equal']) {
    it(`are known to ${scheduler} from the first on`, async function () {
      const warnings = []
      const note = warning => warnings.push(warning.message)
      process.on('warning', note)
      const order = []
      const queue = fairlane((payload, done) => { order.push(payload); done() }, { scheduler, maxTypes: 1, concurrency: 1 })
      queue.pushType('own', 0)
      for (let i = 1; i <= 4; i++) queue.pushType('x', i)
      queue.pauseType('x').resumeType('x').pushType('x', 5)
      await queue.onIdle()
      process.off('warning', note)
      assert.deepEqual(warnings, [])
      assert.deepEqual(order.filter(payload => payload > 0), [1, 2, 3, 4, 5])
    })
  }
})

describe('a scheduler that aborts a job while another moves to a lane of its own', function () {
  it('leaves the count of types right', async function () {
    const gate = gates()
    const controller = new AbortController()
    const equal = new Equal()
    const started = equal.started
    equal.started = function (lane, now) {
      started.call(this, lane, now)
      if (lane.type === 'x') controller.abort()
    }
    const queue = fairlane(gate.runner, { scheduler: equal, maxTypes: 1, concurrency: 2 })
    queue.pushType('own', 1).pushType('x', 2)
    await gate.until(2)
    const aborted = queue.add(3, { type: 'y', signal: controller.signal })
    queue.pauseType('x')
    await assert.rejects(aborted, { code: 'FAIRLANE_ERR_ABORTED' })
    assert.equal(queue.stats().types, 2)
    gate.release(2)
    await queue.onIdle()
    assert.equal(queue.stats().types, 0)
  })
})

describe('one scheduler object', function () {
  const scheduler = () => ({ waiting () {}, start () {}, done () {}, select: () => 0, configure () {} })

  it('that thousands of queues had in turn is configured by one call', function () {
    const shared = scheduler()
    let calls = 0
    shared.configure = () => { calls++ }
    fairlane(() => {}, { scheduler: shared, schedulerOptions: {} })
    const { configure } = shared
    for (let i = 0; i < 2000; i++) fairlane(() => {}, { scheduler: shared, schedulerOptions: {} })
    calls = 0
    shared.configure({})
    assert.equal(calls, 1)
    assert.equal(shared.configure, configure) // and not one around another for each queue
  })

  it('may be frozen', async function () {
    const queue = fairlane((payload, done) => done(), { scheduler: Object.freeze(scheduler()) })
    queue.pushType('a', 1)
    await queue.onIdle()
    assert.equal(queue.stats().done, 1)
  })
})
