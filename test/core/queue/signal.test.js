'use strict'

const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const fairlane = require('../../..')
const { Fifo } = require('../../../lib/core/lists/fifo')
const { fakeClock } = require('../../../lib/testing')
const { NO_COUNTS } = require('../../support/counts')
const gates = require('../../support/gates')
const { turn } = require('../../support/turns')

const KINDS = {
  'no scheduler': {},
  lanes: { scheduler: 'equal' },
  'shared lanes': { scheduler: 'equal', maxTypes: 1 },
  'a window': {
    scheduler: { waiting () {}, start () {}, done () {}, removed () {}, select: (types) => types.size() === 0 ? -1 : 0 }
  }
}

/** A signal with a listener that lets no later one hear of the abort. */
function stopping () {
  const controller = new AbortController()
  controller.signal.addEventListener('abort', (event) => event.stopImmediatePropagation())
  return { signal: controller.signal, abort: () => controller.abort() }
}

describe('the signal of a job', function () {
  it('cancels it while it waits', async function () {
    const queue = fairlane(() => {}).pause()
    const controller = new AbortController()
    const promise = queue.add(1, { signal: controller.signal })
    controller.abort('why')
    assert.equal(queue.length, 0)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED', cause: 'why' })
    assert.equal(queue.stats().cancelled, 1)
  })

  it('settles it at once while it runs, tells its runner, and holds the slot until that ends', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const controller = new AbortController()
    const promise = queue.add(1, { signal: controller.signal })
    await gate.until(1)
    const { signal } = gate.started[0].context
    assert.equal(signal.aborted, false)
    controller.abort('why')
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason.code, 'FAIRLANE_ERR_ABORTED')
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED', cause: 'why' })
    assert.equal(queue.running, 1)
    let isFlushed = false
    queue.fflush(() => { isFlushed = true })
    queue.push(2)
    await turn()
    assert.equal(gate.started.length, 1)
    gate.release()
    await gate.until(2)
    gate.release()
    await queue.onIdle()
    assert.equal(isFlushed, true)
    assert.deepEqual({ ...queue.stats(), types: 0 }, { ...NO_COUNTS, accepted: 2, done: 1, cancelled: 1 })
  })

  it('that is read first after the abort is aborted', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner)
    const controller = new AbortController()
    const promise = queue.add(1, { signal: controller.signal })
    await gate.until(1)
    controller.abort()
    await assert.rejects(promise)
    assert.equal(gate.started[0].context.signal.aborted, true)
  })

  it('that has aborted already refuses it', async function () {
    const queue = fairlane(() => {})
    await assert.rejects(queue.add(1, { signal: AbortSignal.abort('early') }), { code: 'FAIRLANE_ERR_ABORTED', cause: 'early' })
    assert.deepEqual([queue.stats().accepted, queue.stats().rejected], [0, 1])
  })

  it('that has aborted already counts the job as rejected, of its type too, and of no type that has no jobs', async function () {
    for (const options of Object.values(KINDS)) {
      const queue = fairlane(() => {}, options).pause()
      const hasTypes = options.scheduler !== undefined
      if (hasTypes) queue.pushType('a', 1)
      for (const type of ['a', 'b']) {
        await assert.rejects(queue.add(1, { type, signal: AbortSignal.abort() }), { code: 'FAIRLANE_ERR_ABORTED' })
      }
      const { accepted, waiting, rejected, cancelled } = queue.stats()
      assert.deepEqual([accepted, waiting, rejected, cancelled], [Number(hasTypes), Number(hasTypes), 2, 0])
      if (hasTypes) assert.deepEqual([queue.stats('a').rejected, queue.stats('b').rejected], [1, 0])
    }
  })

  it('that aborts inside the runner settles it when that returns, unless it has ended', async function () {
    const controller = new AbortController()
    const second = new AbortController()
    const queue = fairlane((payload, done) => {
      if (payload === 1) {
        controller.abort()
        return setImmediate(done)
      }
      if (payload === 2) {
        second.abort()
        done(null, 'ended')
        return
      }
      setImmediate(done, null, 'plain')
    }, { concurrency: 1, settleBy: 'callback' })
    await assert.rejects(queue.add(1, { signal: controller.signal }), { code: 'FAIRLANE_ERR_ABORTED' })
    assert.equal(await queue.add(2, { signal: second.signal }), 'ended')
    assert.equal(await queue.add(3), 'plain')
    await queue.onIdle()
    assert.equal(queue.stats().misuse, 0)
  })

  it('gives a runner a context of its own only where the job has a signal or a time to run, and not where its wait is limited', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 4 })
    const { signal } = new AbortController()
    for (const options of [undefined, { maxWaitMs: 60000 }, { signal }, { timeoutMs: 60000 }]) queue.add(1, options)
    await gate.until(4)
    const [first, ...others] = gate.started.map(({ context }) => context)
    assert.deepEqual(others.map(context => context === first), [true, false, false])
    assert.deepEqual(others.map(context => context.signal === first.signal), [true, false, false])
    gate.release(4)
    await queue.onIdle()
  })

  it('gives the same signal to its runner each time, and copes with a scheduler that aborts in turn', async function () {
    const gate = gates()
    const controllers = [new AbortController(), new AbortController()]
    const scheduler = { waiting () {}, start () {}, done () {}, removed () { controllers[1].abort() }, select: () => 0 }
    const queue = fairlane(gate.runner, { concurrency: 1, scheduler })
    const promises = controllers.map(({ signal }) => queue.add(1, { type: 'a', signal }))
    promises.push(queue.add(2, { type: 'a', signal: controllers[1].signal }), queue.add(3, { type: 'a', signal: controllers[0].signal }))
    await gate.until(1)
    const { context } = gate.started[0]
    assert.equal(context.signal, context.signal)
    controllers[0].abort()
    for (const promise of promises) await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED' })
    assert.equal(queue.stats().cancelled, 4)
    gate.release()
    await queue.onIdle()
  })

  it('does nothing to a job that has ended in its runner, or settles with others that the abort settles', async function () {
    const controller = new AbortController()
    const queue = fairlane((payload, done) => {
      done(null, payload)
      controller.abort()
    }, { scheduler: 'equal', concurrency: 1 })
    const first = queue.add(1, { type: 'a', signal: controller.signal })
    const second = queue.add(2, { type: 'a', signal: controller.signal })
    assert.equal(await first, 1)
    await assert.rejects(second, { code: 'FAIRLANE_ERR_ABORTED' })
    const nested = new AbortController()
    const outer = new AbortController()
    const removing = { waiting () {}, start () {}, done () {}, removed () { nested.abort() }, select: () => 0 }
    const paused = fairlane(() => {}, { scheduler: removing }).pause()
    outer.signal.addEventListener('abort', () => nested.abort())
    const both = [paused.add(1, { type: 'a', signal: outer.signal }), paused.add(2, { type: 'a', signal: nested.signal })]
    outer.abort()
    for (const promise of both) await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED' })
  })

  it('copes with a scheduler that clears the queue when a job is removed', async function () {
    const controller = new AbortController()
    const scheduler = { waiting () {}, start () {}, done () {}, removed () { queue.clear() }, select: () => 0 }
    const queue = fairlane(() => {}, { scheduler }).pause()
    const promises = [1, 2].map((n) => queue.add(n, { type: 'a', signal: controller.signal }))
    controller.abort()
    await assert.rejects(promises[0], { code: 'FAIRLANE_ERR_ABORTED' })
    await assert.rejects(promises[1], { code: 'FAIRLANE_ERR_CLEARED' })
    assert.equal(queue.stats().cancelled, 2)
  })

  it('is heard though a listener before stops the event, of a job that waits or runs, and of the queue', async function () {
    const { signal, abort } = stopping()
    const queue = fairlane(() => {}, { concurrency: 1, signal })
    const own = stopping()
    const promises = [1, 2].map((n) => queue.add(n, { signal: own.signal }))
    const other = queue.add(3)
    await turn()
    own.abort()
    for (const promise of promises) await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED' })
    abort()
    await assert.rejects(other, { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(queue.closed, true)
  })

  it('may be of another make', async function () {
    const target = Object.assign(new EventTarget(), { aborted: false, reason: undefined })
    const queue = fairlane(() => {}).pause()
    const promise = queue.add(1, { signal: target })
    target.reason = 'why'
    target.dispatchEvent(new Event('abort'))
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED', cause: 'why' })
  })

  it('has one listener, however many jobs, which goes with the last of them', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    const { signal } = new AbortController()
    for (let i = 0; i < 10; i++) queue.add(i, { signal }).catch(() => {})
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    queue.remove(({ payload }) => payload > 3)
    await gate.until(2)
    gate.release(2)
    await gate.until(4)
    gate.release(1)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    gate.release(1)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('aborts 20,000 waiting jobs in linear time and touches no others', async function () {
    const queue = fairlane(() => {}).pause()
    const controller = new AbortController()
    const promises = []
    for (let i = 0; i < 20000; i++) {
      promises.push(queue.add(i, { signal: controller.signal }))
      if (i % 100 === 0) queue.push(`other ${i}`)
    }
    // the work is what the list looks at, beside the jobs that it is told where to find
    let visitCount = 0
    const { scan } = Fifo.prototype
    Fifo.prototype.scan = function (visit) {
      return scan.call(this, (...args) => {
        visitCount++
        return visit(...args)
      })
    }
    try {
      controller.abort()
    } finally {
      Fifo.prototype.scan = scan
    }
    const results = await Promise.allSettled(promises)
    assert(results.every(({ reason }) => reason.code === 'FAIRLANE_ERR_ABORTED'))
    assert.equal(queue.waiting, 200)
    assert(visitCount > 0 && visitCount <= 2 * promises.length, `${visitCount} looks at jobs`)
  })

  for (const [name, options] of Object.entries(KINDS)) {
    it(`takes jobs from the middle without a change of order or counts, with ${name}`, async function () {
      const gate = gates()
      const removed = []
      const queue = fairlane(gate.runner, { concurrency: 1, ...options }).pause()
      const types = options.scheduler === undefined ? [undefined] : ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
      const kept = new Map(types.map((type) => [type, []]))
      const controllers = []
      for (let i = 0; i < 600; i++) {
        const type = types[i % types.length]
        const controller = new AbortController()
        queue.add(i, { type, signal: controller.signal, unshift: i % 7 === 0 }).catch(() => removed.push(i))
        if (i % 6 === 0) kept.get(type)[i % 7 === 0 ? 'unshift' : 'push'](i)
        else controllers.push(controller)
      }
      for (const controller of controllers) controller.abort()
      await turn()
      assert.equal(removed.length, 500)
      assert.equal(queue.waiting, 100)
      queue.resume()
      for (let n = 1; n <= 100; n++) {
        await gate.until(n)
        gate.release()
      }
      await queue.onIdle()
      const started = new Map(types.map((type) => [type, []]))
      for (const { payload, context } of gate.started) started.get(context.type).push(payload)
      assert.deepEqual(started, kept)
      assert.deepEqual([queue.stats().done, queue.stats().cancelled, queue.stats().types], [100, 500, 0])
    })
  }

  it('lets a type move to a lane of its own with its jobs, and still finds them', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxTypes: 1 }).pause()
    const controller = new AbortController()
    queue.pushType('first', 0)
    const promise = queue.add(1, { type: 'second', signal: controller.signal })
    queue.add(2, { type: 'second' })
    queue.pauseType('second')
    assert.equal(queue.stats('second').waiting, 2)
    controller.abort()
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_ABORTED' })
    assert.equal(queue.stats('second').waiting, 1)
    queue.clear()
  })

  it('can abort from the callback of a job that is cleared with its own', async function () {
    const queue = fairlane(() => {}).pause()
    const controller = new AbortController()
    queue.push(1, () => controller.abort())
    const promise = queue.add(2, { signal: controller.signal })
    assert.equal(queue.clear(), 2)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_CLEARED' })
    assert.equal(queue.stats().cancelled, 2)
  })

  it('is waited for by fflush, wherever it takes jobs out', async function () {
    const queue = fairlane(() => {}).pause()
    const controller = new AbortController()
    const promise = queue.add(1, { signal: controller.signal })
    const flushed = queue.fflush()
    queue.push(2)
    controller.abort()
    await assert.rejects(promise)
    await flushed
    assert.equal(queue.waiting, 1)
  })

  for (const [name, end] of [['done()', (done) => done(null, 'ended')], ['a throw', () => { throw new Error('ended') }]]) {
    it(`that aborts in a runner which then ends by ${name} leaves nothing behind for a close in the next runner`, async function () {
      const controller = new AbortController()
      const queue = fairlane((n, done) => {
        if (n === 1) return queue.close({ drain: false })
        controller.abort()
        end(done)
      }, { concurrency: 1, settleBy: 'callback' })
      const [first, second] = [queue.add(0, { signal: controller.signal }), queue.add(1)]
      assert.equal(await first.catch(({ message }) => message), 'ended')
      await assert.rejects(second, { code: 'FAIRLANE_ERR_CLOSED' })
      assert.equal(await queue.close(), 1)
    })
  }

  for (const [first, second] of [['abort', 'close'], ['close', 'abort']]) {
    it(`counts inside the runner if it comes there before or after another end: ${first}, then ${second}`, async function () {
      const controller = new AbortController()
      const ends = { abort: () => controller.abort(), close: () => { queue.close({ drain: false }) } }
      const queue = fairlane(() => {
        ends[first]()
        ends[second]()
      })
      const code = { abort: 'FAIRLANE_ERR_ABORTED', close: 'FAIRLANE_ERR_CLOSED' }[first]
      await assert.rejects(queue.add(1, { signal: controller.signal }), { code })
      assert.equal(queue.stats().cancelled, 1)
    })
  }

  it('counts inside the runner before a timeout that comes there, and behind one', async function () {
    for (const [isFirst, code] of [[true, 'FAIRLANE_ERR_ABORTED'], [false, 'FAIRLANE_ERR_TIMEOUT']]) {
      const clock = fakeClock()
      const controller = new AbortController()
      const queue = fairlane(() => {
        if (isFirst) controller.abort()
        clock.advance(10)
        if (!isFirst) controller.abort()
      }, { clock, timeoutMs: 10 })
      await assert.rejects(queue.add(1, { signal: controller.signal }), { code })
    }
  })

  it('aborts a job from inside its runner, whether or not one before it ended there after its own abort', async function () {
    const controllers = [new AbortController(), new AbortController()]
    const queue = fairlane((n, done) => {
      controllers[n].abort()
      if (n === 0) done(null, 'done')
    }, 1)
    const first = queue.add(0, { signal: controllers[0].signal })
    const second = queue.add(1, { signal: controllers[1].signal })
    assert.equal(await first, 'done')
    await assert.rejects(second, { code: 'FAIRLANE_ERR_ABORTED' })
  })
})
