'use strict'

// Schedulers whose methods call back into the queue that calls them: no job, no count and no settlement is lost by that.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const gates = require('../support/gates')
const { checkInvariants, fakeClock } = require('../../lib/testing')
const { quiet, turn } = require('../support/turns')

/** A scheduler of lanes that takes the first lane with a job. */
function firstLane (methods) {
  const lanes = new Set()
  return {
    queued (lane) { lanes.add(lane) },
    next: () => [...lanes].find(({ size }) => size > 0),
    started () {},
    ended () {},
    ...methods
  }
}

function firstWaiting (methods) {
  return { waiting () {}, start () {}, done () {}, select: () => 0, ...methods }
}

describe('a scheduler that calls back', function () {
  for (const [kind, make] of [['lane', firstLane], ['window', firstWaiting]]) {
    it(`into the queue from removed(), by aborting jobs that are being removed: ${kind} scheduler`, async function () {
      const controller = new AbortController()
      const queue = fairlane((payload, done) => done(null, payload), { scheduler: make({ removed: () => controller.abort() }) })
      const outcome = promise => assert.rejects(promise, { code: 'FAIRLANE_ERR_CLEARED' })
      const removed = ['x', 'y'].map(payload => outcome(queue.add(payload, { type: 'a', signal: controller.signal })))
      const kept = queue.add('z', { type: 'a' })
      assert.equal(queue.remove(({ payload }) => payload !== 'z'), 2)
      checkInvariants(queue)
      await Promise.all(removed)
      assert.equal(await kept, 'z')
      assert.deepEqual([queue.stats().cancelled, queue.stats().done], [2, 1])
      assert.equal(await queue.close(), 0)
    })
  }

  it('into the queue from removed(), by fflush: that waits for the jobs that were left', async function () {
    const gate = gates()
    const told = []
    let queue = null
    const removed = () => queue.fflush(() => told.push('flushed'))
    queue = fairlane(gate.runner, { concurrency: 2, scheduler: firstWaiting({ removed }) })
    for (const payload of [1, 2, 3, 4]) queue.pushType('a', payload)
    queue.fflush(() => told.push('first'))
    await gate.until(2)
    assert.equal(queue.remove(({ payload }) => payload === 4), 1)
    checkInvariants(queue)
    gate.release()
    await gate.until(3)
    gate.release()
    await turn()
    assert.deepEqual(told, [])
    gate.release()
    await queue.onIdle()
    assert.deepEqual(told, ['first', 'flushed'])
  })

  it('into the queue from started(), by aborting the job that starts: its runner learns of it, and its slot is free when that has ended', async function () {
    const controller = new AbortController()
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, scheduler: firstLane({ started: () => controller.abort() }) })
    const added = queue.add(1, { type: 'a', signal: controller.signal })
    const rejected = assert.rejects(added, { code: 'FAIRLANE_ERR_ABORTED' })
    await gate.until(1)
    await rejected
    checkInvariants(queue)
    assert.equal(gate.started[0].context.signal.aborted, true)
    assert.deepEqual([queue.running, queue.waiting, queue.stats().cancelled], [1, 0, 1])
    gate.release()
    await queue.onIdle()
    checkInvariants(queue)
  })

  it('into the queue from forget(), by pushing a job of that type', async function () {
    let queue = null
    let count = 0
    const told = []
    const forget = () => {
      if (count++ === 0) queue.pushType('a', 'second', () => told.push('second'))
      return true
    }
    queue = fairlane((payload, done) => done(), { scheduler: firstLane({ forget }) })
    queue.pushType('a', 'first', () => told.push('first'))
    await queue.onIdle()
    assert.deepEqual(told, ['first', 'second'])
    checkInvariants(queue)
  })

  it('from queued(), by ending another job so that the new one starts: only its time to run is limited then', async function () {
    const clock = fakeClock()
    const gate = gates()
    const queued = ({ type }) => { if (type === 'b') gate.release() }
    const scheduler = firstLane()
    const add = scheduler.queued
    scheduler.queued = lane => { add(lane); queued(lane) }
    const queue = fairlane(gate.runner, { concurrency: 1, clock, scheduler })
    queue.pushType('a', 1)
    await gate.until(1)
    const added = queue.add(2, { type: 'b', maxWaitMs: 10, timeoutMs: 1000 })
    await gate.until(2)
    checkInvariants(queue)
    clock.advance(999)
    await turn()
    assert.deepEqual([queue.running, queue.stats().failed], [1, 0])
    clock.advance(1)
    await assert.rejects(added, { code: 'FAIRLANE_ERR_TIMEOUT' })
    gate.release()
    assert.equal(clock.timerCount, 0)
  })
})

describe('a scheduler whose next() ends another job', function () {
  it('and gives none is asked again, for there is one more slot', async function () {
    const gate = gates()
    let isEnding = false
    const { next, ...others } = firstLane()
    const scheduler = {
      ...others,
      next () {
        if (!isEnding) return next()
        isEnding = false
        gate.release()
        return undefined
      }
    }
    const queue = fairlane(gate.runner, { concurrency: 3, scheduler })
    for (const payload of [1, 2]) queue.pushType('a', payload)
    await gate.until(2)
    isEnding = true
    queue.pushType('a', 3)
    await gate.until(3)
    checkInvariants(queue)
    assert.deepEqual([queue.running, queue.stats().done], [2, 1])
  })
})

describe('a scheduler that calls back while a type gets a lane of its own', function () {
  let queue, jobs, told, actAt, act

  beforeEach(function () {
    jobs = new Map() // name → its done, while it runs
    told = []
    actAt = undefined
  })

  function push (type, name) {
    queue.pushType(type, name, () => told.push(name))
  }

  function end (name) {
    const done = jobs.get(name)
    jobs.delete(name)
    done()
  }

  /** 'b1' and 'b2' run from an overflow lane, and 'b' has a name from now on. The hook acts once. */
  async function overflow (hook) {
    let isNamed = false
    const scheduler = firstLane({ isNamed: type => isNamed && type === 'b', configure () {} })
    const method = scheduler[hook]
    scheduler[hook] = lane => {
      method(lane)
      if (actAt !== hook) return
      actAt = undefined
      act()
    }
    queue = fairlane((name, done) => { jobs.set(name, done) }, { scheduler, concurrency: 3, maxTypes: 1 })
    for (const [type, name] of [['a', 'a1'], ['b', 'b1'], ['b', 'b2']]) push(type, name)
    await quiet()
    assert.deepEqual([...jobs.keys()], ['a1', 'b1', 'b2'])
    isNamed = true
    actAt = hook
    return scheduler
  }

  async function endAll () {
    while (jobs.size > 0) {
      for (const name of jobs.keys()) end(name)
      await quiet()
    }
    assert.deepEqual([queue.length, queue.stats().types], [0, 0])
    checkInvariants(queue)
  }

  for (const hook of ['queued', 'started', 'ended']) {
    it(`from ${hook}(), by ending a job of it: that is told, once, and all counts are right`, async function () {
      act = () => end('b1')
      const scheduler = await overflow(hook)
      scheduler.configure()
      checkInvariants(queue)
      assert.deepEqual(told, ['b1'])
      assert.deepEqual([queue.running, queue.stats('b').running], [2, 1])
      push('b', 'b3')
      await quiet()
      await endAll()
      assert.deepEqual(told.sort(), ['a1', 'b1', 'b2', 'b3'])
    })

    it(`from ${hook}(), by ending all that it has and pushing another: that one is not lost, nor are later ones`, async function () {
      act = () => {
        end('b1')
        end('b2')
        push('b', 'b3')
      }
      await overflow(hook)
      push('b', 'b4')
      checkInvariants(queue)
      await quiet()
      await endAll()
      assert.deepEqual(told.sort(), ['a1', 'b1', 'b2', 'b3', 'b4'])
    })
  }
})

describe('a scheduler that calls back from isNamed(), when a job is on its way into the queue', function () {
  /** Types get lanes of their own if they have a name; act is called once. */
  function make (act, { named, runner = (payload, done) => done() }) {
    let isAsked = false
    const isNamed = (type) => {
      if (!isAsked) {
        isAsked = true
        act()
      }
      return type === named
    }
    return fairlane(runner, { scheduler: firstLane({ isNamed }), concurrency: 1, maxTypes: 1 })
  }

  for (const named of ['a', 'none']) {
    it(`by pushing one of that type: they share a lane ${named === 'a' ? 'that has the name' : 'though there is room for no other'}`, async function () {
      const told = []
      const queue = make(() => queue.pushType('a', 'inner', () => told.push('inner')), { named })
      queue.pushType('a', 'outer', () => told.push('outer'))
      checkInvariants(queue)
      assert.equal(queue.stats('a').waiting, 2)
      await queue.onIdle()
      assert.deepEqual(told, ['inner', 'outer'])
    })
  }

  it('by fflush: one after the push waits for the job', async function () {
    const gate = gates()
    const told = []
    const queue = make(() => {
      queue.pushType('a', 1)
      queue.fflush(() => told.push('first'))
    }, { runner: gate.runner })
    queue.pushType('b', 2)
    queue.fflush(() => told.push('second'))
    await gate.until(1)
    gate.release()
    await gate.until(2)
    assert.deepEqual(told, ['first'])
    gate.release()
    await queue.onIdle()
    assert.deepEqual(told, ['first', 'second'])
  })

  it('by clear: drain and onIdle come when the job has ended', async function () {
    const told = []
    const queue = make(() => {
      queue.pushType('a', 1)
      queue.clear()
      queue.onIdle().then(() => told.push('idle'))
    }, {})
    queue.drain = () => told.push('drain')
    queue.pushType('b', 2, () => told.push('ended'))
    await quiet()
    assert.deepEqual(told, ['ended', 'drain', 'idle'])
  })

  for (const [is, waitingCount] of [['is full', 2], ['has room', 1]]) {
    /** A queue whose scheduler closes it when it is asked for the lane of another job. */
    function makeClosing () {
      let mayClose = false
      const isNamed = () => {
        if (mayClose) queue.close()
        return false
      }
      const queue = fairlane((payload, done) => done(), { scheduler: firstLane({ isNamed }), maxTypes: 1, maxWaitingPerType: 2 }).pause()
      queue.pushType('a', 1)
      for (let i = 0; i < waitingCount; i++) queue.pushType('b', i)
      mayClose = true
      return queue
    }

    it(`by close: the job is refused if its lane ${is}`, async function () {
      const queue = makeClosing()
      const told = []
      queue.pushType('b', 'late', err => told.push(err?.code))
      checkInvariants(queue)
      await queue.close()
      assert.deepEqual(told, ['FAIRLANE_ERR_CLOSED'])
      const { accepted, rejected, done } = queue.stats()
      assert.deepEqual([accepted, rejected, done], [1 + waitingCount, 1, 1 + waitingCount])
    })

    it(`by close: ready() rejects if the lane ${is}`, async function () {
      const queue = makeClosing()
      await assert.rejects(queue.ready('b'), { code: 'FAIRLANE_ERR_CLOSED' })
    })
  }
})

describe('a scheduler that closes the queue from isNamed() while it is looked who of those that wait may push', function () {
  it('has all of them turned away, once', async function () {
    let closes = false
    const isNamed = () => {
      if (closes) queue.close()
      return false
    }
    const scheduler = firstLane({ isNamed })
    const queue = fairlane((payload, done) => done(), { scheduler, maxTypes: 1, maxWaiting: 2, concurrency: 1 }).pause()
    for (let i = 0; i < 3; i++) queue.pushType(`type ${i}`, i)
    const codes = ['b', 'c', 'd'].map((type) => queue.ready(type).then(() => 'resolved', ({ code }) => code))
    closes = true
    queue.clear({ type: 'type 0' })
    assert.equal(queue.closed, true)
    assert.deepEqual(await Promise.all(codes), Array(3).fill('FAIRLANE_ERR_CLOSED'))
  })
})

describe('a scheduler of two queues', function () {
  it('wakes both when it is configured', async function () {
    let isOpen = false
    const scheduler = firstWaiting({ mayStall: true, select: () => isOpen ? 0 : -1, configure (options) { isOpen = options.isOpen } })
    const queues = [1, 2].map(() => fairlane((payload, done) => done(), { scheduler }))
    for (const queue of queues) queue.pushType('a', 1)
    await turn()
    assert.deepEqual(queues.map(({ waiting }) => waiting), [1, 1])
    scheduler.configure({ isOpen: true })
    await Promise.all(queues.map(queue => queue.onIdle()))
    assert.deepEqual(queues.map(queue => queue.stats().done), [1, 1])
  })
})
