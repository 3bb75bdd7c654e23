'use strict'

// The event loop beside the queue. Time on a shared machine is noisy, so that most of these count what happens between
// two turns of the loop, with runners that take a known time: a machine that stalls can only lower the counts.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { turns, spin } = require('../support/turns')

const MILLION = 1e6
// The queue yields after a few milliseconds. Of runners of one millisecond each, so many may start in a turn.
const MOST_SLOW_STARTS = 8

const STYLES = {
  'done at once': (done) => { done() },
  'done in a nextTick': (done) => { process.nextTick(done) },
  'done in a microtask': (done) => { queueMicrotask(done) },
  'a fulfilled promise': () => Promise.resolve(),
  'an async function': async () => { await null },
  'a throw': () => { throw FAILURE }
}
const FAILURE = { expected: true } // no Error: that takes microseconds to make
const LATER_STYLES = { ...STYLES, 'done in a later turn': (done) => { setImmediate(done) } }

// Counts the turns of the loop, and calls onTurn in each, until stopped.
function watchTurns (onTurn = () => {}) {
  const watch = { count: 0, stop: () => { stopped = true } }
  let stopped = false
  setImmediate(function look () {
    if (stopped) return
    watch.count++
    onTurn()
    setImmediate(look)
  })
  return watch
}

describe('the event loop beside a million jobs', function () {
  for (const [name, complete] of Object.entries(STYLES)) {
    it(`keeps turning, and an interval firing, with ${name}`, async function () {
      this.timeout(120000)
      let fires = 0
      let last
      const gaps = []
      const queue = fairlane((payload, done) => complete(done), 10)
      for (let i = 0; i < MILLION; i++) queue.push(i)

      const interval = setInterval(() => {
        const now = performance.now()
        if (last !== undefined) gaps.push(now - last)
        last = now
        fires++
      }, 1)
      const watch = watchTurns()
      const start = performance.now()
      await queue.onIdle()
      const elapsedMs = performance.now() - start
      clearInterval(interval)
      watch.stop()

      gaps.sort((a, b) => a - b)
      const median = gaps[gaps.length >> 1]
      const longest = gaps[gaps.length - 1]
      const report = `${watch.count} turns and ${fires} intervals in ${elapsedMs.toFixed(0)} ms, gaps: median ${median?.toFixed(1)} ms, longest ${longest?.toFixed(1)} ms`
      assert.equal(queue.stats().accepted, MILLION)
      assert.equal(queue.stats().done + queue.stats().failed, MILLION)
      assert.ok(watch.count >= elapsedMs / 50, report)
      assert.ok(fires >= elapsedMs / 50, report)
      assert.ok(median < 25, report)
      this.test.title += `: ${report}`
    })
  }

  it('is not blocked by a million jobs that a synchronous runner pushes itself', async function () {
    this.timeout(120000)
    let left = MILLION
    const queue = fairlane((payload, done) => {
      if (left-- > 0) queue.push(left)
      done()
    }, 3)
    const watch = watchTurns()
    queue.push(0)
    const start = performance.now()
    await queue.onIdle()
    const elapsedMs = performance.now() - start
    watch.stop()
    assert.equal(queue.stats().done, MILLION + 1)
    assert.ok(watch.count >= elapsedMs / 50, `${watch.count} turns in ${elapsedMs} ms`)
  })

  it('is not blocked by a million jobs that callbacks push', async function () {
    this.timeout(120000)
    let left = MILLION
    const queue = fairlane((payload, done) => queueMicrotask(done), 3)
    const push = () => { if (left-- > 0) queue.push(left, push) }
    const watch = watchTurns()
    for (let i = 0; i < 10; i++) push()
    const start = performance.now()
    await queue.onIdle()
    const elapsedMs = performance.now() - start
    watch.stop()
    assert.equal(queue.stats().done, MILLION)
    assert.ok(watch.count >= elapsedMs / 50, `${watch.count} turns in ${elapsedMs} ms`)
  })
})

describe('slow synchronous runners', function () {
  for (const [name, complete] of Object.entries(LATER_STYLES)) {
    for (const concurrency of [1, 10, Infinity]) {
      it(`of a millisecond start at most ${MOST_SLOW_STARTS} times between two turns, ${concurrency} slots, with ${name}`, async function () {
        let inTurn = 0
        let most = 0
        const queue = fairlane((payload, done) => {
          inTurn++
          most = Math.max(most, inTurn)
          spin(1)
          return complete(done)
        }, concurrency)
        for (let i = 0; i < 100; i++) queue.push(i)
        const watch = watchTurns(() => { inTurn = 0 })
        await queue.onIdle()
        watch.stop()
        assert.ok(most <= MOST_SLOW_STARTS, `${most} starts between two turns`)
        assert.ok(watch.count >= 100 / MOST_SLOW_STARTS)
      })
    }
  }

  it('of 20 milliseconds start once or twice between two turns', async function () {
    let inTurn = 0
    let most = 0
    const queue = fairlane((payload, done) => {
      inTurn++
      most = Math.max(most, inTurn)
      spin(20)
      done()
    }, 10)
    for (let i = 0; i < 10; i++) queue.push(i)
    const watch = watchTurns(() => { inTurn = 0 })
    await queue.onIdle()
    watch.stop()
    assert.ok(most <= 2, `${most} starts between two turns`)
  })

  it('that follow many fast ones start few times between two turns', async function () {
    let inTurn = 0
    let most = 0
    const queue = fairlane((payload, done) => {
      if (payload === 'slow') {
        inTurn++
        most = Math.max(most, inTurn)
        spin(1)
      }
      done()
    }, 10)
    for (let i = 0; i < 50; i++) {
      for (let fast = 0; fast < 2000; fast++) queue.push('fast')
      for (let slow = 0; slow < 10; slow++) queue.push('slow')
    }
    const watch = watchTurns(() => { inTurn = 0 })
    await queue.onIdle()
    watch.stop()
    // A look at the clock every 16 starts at most, so that many slow ones may start before the first is noticed.
    assert.ok(most <= 16 + MOST_SLOW_STARTS, `${most} starts between two turns`)
  })

  it('hold up no other queue: two queues share the loop', async function () {
    const starts = []
    const make = (name) => fairlane((payload, done) => {
      starts.push(name)
      spin(1)
      done()
    }, 10)
    const one = make('one')
    const two = make('two')
    for (let i = 0; i < 50; i++) {
      one.push(i)
      two.push(i)
    }
    await Promise.all([one.onIdle(), two.onIdle()])
    let longest = 0
    let run = 0
    starts.forEach((name, i) => {
      run = name === starts[i - 1] ? run + 1 : 1
      longest = Math.max(longest, run)
    })
    assert.ok(starts.indexOf('two') <= MOST_SLOW_STARTS)
    // When one queue is done the other may go on alone.
    const together = Math.min(starts.lastIndexOf('one'), starts.lastIndexOf('two'))
    assert.ok(together >= 60, `both were at work for ${together} starts`)
    assert.ok(longest <= 100 - together + MOST_SLOW_STARTS)
  })
})

describe('the stack', function () {
  // Frames on the stack of the caller.
  function depth () {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = Infinity
    const frames = new Error('depth').stack.split('\n').length
    Error.stackTraceLimit = stackTraceLimit
    return frames
  }

  for (const [name, complete] of Object.entries(LATER_STYLES)) {
    it(`does not grow over a million jobs with ${name}`, async function () {
      this.timeout(120000)
      let first
      let most = 0
      const queue = fairlane((payload, done) => {
        if (payload % 1000 === 0) look()
        return complete(done)
      }, 10)
      function look () {
        const frames = depth()
        first = first ?? frames
        most = Math.max(most, frames)
      }
      for (let i = 0; i < MILLION; i++) queue.push(i, i % 1000 === 500 ? look : undefined)
      await queue.onIdle()
      assert.equal(queue.stats().accepted, queue.stats().done + queue.stats().failed)
      assert.ok(most <= first + 15, `${first} frames at first, ${most} at most`)
    })
  }

  it('does not grow where each job ends the one that was started before it', async function () {
    let previous
    let most = 0
    const queue = fairlane((payload, done) => {
      most = Math.max(most, depth())
      if (previous) previous()
      previous = done
      if (payload === 'last') done()
    }, 2)
    for (let i = 0; i < 20000; i++) queue.push(i)
    queue.push('last')
    await queue.onIdle()
    assert.ok(most <= 60, `${most} frames`)
  })

  it('does not grow where drain pushes the next job, with synchronous runners', async function () {
    let left = 20000
    let most = 0
    const queue = fairlane((payload, done) => {
      most = Math.max(most, depth())
      done()
    }, 1)
    const finished = new Promise((resolve) => {
      queue.drain = () => {
        if (left-- > 0) queue.push(left)
        else resolve()
      }
    })
    queue.push('first')
    await finished
    assert.ok(most <= 60, `${most} frames`)
  })

  it('does not grow where fflush callbacks wait for one another', async function () {
    let left = 20000
    let most = 0
    const queue = fairlane((payload, done) => done(), 1)
    await new Promise((resolve) => {
      (function again () {
        most = Math.max(most, depth())
        if (left-- === 0) return resolve()
        queue.push(left)
        queue.fflush(again)
      })()
    })
    assert.ok(most <= 60, `${most} frames`)
  })
})

describe('a queue without jobs', function () {
  it('does not keep the loop busy', async function () {
    const queue = fairlane((payload, done) => done(), 1)
    queue.push(1)
    await queue.onIdle()
    await turns(3)
    assert.deepEqual(process.getActiveResourcesInfo().filter((name) => name === 'Immediate'), [])
  })

  it('that is stuck or paused does not either', async function () {
    const stuck = fairlane(() => {}, 1)
    stuck.push(1).push(2)
    const paused = fairlane(() => {}).pause()
    paused.push(1)
    await turns(5)
    assert.deepEqual(process.getActiveResourcesInfo().filter((name) => name === 'Immediate'), [])
  })
})
