'use strict'

// The event loop beside the queue. Time stands still in most of these but for what the runners take of it, so that what happens
// between two turns of the loop does not depend on the machine.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { once } = require('../support/attempts')
const { isLong } = require('../support/rounds')
const { stoppedTime } = require('../support/time')
const { turns } = require('../support/turns')

const MANY = isLong ? 1e6 : 1e5
const JOB_MS = 0.01
// The queue yields after two milliseconds at most, a look at the clock every 32 starts included.
const MOST_STARTS = 2 / JOB_MS + 64
// ... and of runners of one millisecond each so many may start in a turn.
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

/** Counts what begins between two turns of the loop, from now on until stopped. */
function watchTurns () {
  const watch = { count: 0, starts: 0, most: 0, begin, stop: () => clearImmediate(next) }
  let next = setImmediate(look)

  function begin () {
    watch.most = Math.max(watch.most, ++watch.starts)
  }

  function look () {
    watch.count++
    watch.starts = 0
    next = setImmediate(look)
  }

  return watch
}

/** Has time stand still in each test of the suite. */
function withStoppedTime () {
  beforeEach(function () { time = stoppedTime() })
  afterEach(function () {
    time.release()
    watch.stop()
  })
}

let time
let watch

describe('the event loop beside many jobs', function () {
  withStoppedTime()

  /** A job of ten microseconds has begun. */
  function work () {
    watch.begin()
    time.pass(JOB_MS)
  }

  for (const [name, complete] of Object.entries(STYLES)) {
    it(`keeps turning with ${name}`, async function () {
      const queue = fairlane((payload, done) => {
        work()
        return complete(done)
      }, 10)
      for (let i = 0; i < MANY; i++) queue.push(i)
      watch = watchTurns()
      await queue.onIdle()
      assert.equal(queue.stats().accepted, MANY)
      assert.equal(queue.stats().done + queue.stats().failed, MANY)
      assert.ok(watch.most <= MOST_STARTS, `${watch.most} starts between two turns`)
      assert.ok(watch.count >= MANY / MOST_STARTS, `${watch.count} turns`)
    })
  }

  it('is not blocked by those that a synchronous runner pushes itself', async function () {
    let left = MANY
    const queue = fairlane((payload, done) => {
      work()
      if (left-- > 0) queue.push(left)
      done()
    }, 3)
    watch = watchTurns()
    queue.push(0)
    await queue.onIdle()
    assert.equal(queue.stats().done, MANY + 1)
    assert.ok(watch.most <= MOST_STARTS, `${watch.most} starts between two turns`)
  })

  it('is not blocked by those that end others inside their runners', async function () {
    let endLast = () => {}
    const queue = fairlane((payload, done) => {
      work()
      endLast()
      endLast = done
    }, 2)
    for (let i = 0; i < MANY / 10; i++) queue.push(i)
    watch = watchTurns()
    while (queue.stats().done < MANY / 10 - 1) await turns(10)
    assert.ok(watch.most <= MOST_STARTS, `${watch.most} starts between two turns`)
  })

  it('is not blocked by those that callbacks push', async function () {
    let left = MANY
    const queue = fairlane((payload, done) => {
      work()
      queueMicrotask(done)
    }, 3)
    const push = () => { if (left-- > 0) queue.push(left, push) }
    watch = watchTurns()
    for (let i = 0; i < 10; i++) push()
    await queue.onIdle()
    assert.equal(queue.stats().done, MANY)
    assert.ok(watch.most <= MOST_STARTS, `${watch.most} starts between two turns`)
  })

  it('has each pass start a job at least, though every look at the clock comes too late', async function () {
    const { now } = performance
    performance.now = () => {
      time.pass(3)
      return now()
    }
    const queue = fairlane((payload, done) => {
      work()
      done()
    }, 2)
    for (let i = 0; i < 20; i++) queue.push(i)
    watch = watchTurns()
    await turns(30)
    performance.now = now
    assert.equal(queue.stats().done, 20)
    assert.ok(watch.count >= 20 / 2, `${watch.count} turns`)
  })

  it('has timers fire, by the time of the machine', async function () {
    time.release()
    watch = watchTurns()
    const queue = fairlane((payload, done) => done(), 10)
    for (let i = 0; i < 1e6; i++) queue.push(i)
    let fires = 0
    const interval = setInterval(() => { fires++ }, 1)
    await queue.onIdle()
    clearInterval(interval)
    assert.equal(queue.stats().done, 1e6)
    assert.ok(fires >= 3, `${fires} times`)
  })
})

describe('slow synchronous runners', function () {
  withStoppedTime()

  for (const [name, complete] of Object.entries(LATER_STYLES)) {
    for (const concurrency of [1, 10, Infinity]) {
      it(`of a millisecond start at most ${MOST_SLOW_STARTS} times between two turns, ${concurrency} slots, with ${name}`, async function () {
        const queue = fairlane((payload, done) => {
          watch.begin()
          time.pass(1)
          return complete(done)
        }, concurrency)
        for (let i = 0; i < 100; i++) queue.push(i)
        watch = watchTurns()
        await queue.onIdle()
        assert.ok(watch.most <= MOST_SLOW_STARTS, `${watch.most} starts between two turns`)
        assert.ok(watch.count >= 100 / MOST_SLOW_STARTS)
      })
    }
  }

  it('of 20 milliseconds start once or twice between two turns', async function () {
    const queue = fairlane((payload, done) => {
      watch.begin()
      time.pass(20)
      done()
    }, 10)
    for (let i = 0; i < 10; i++) queue.push(i)
    watch = watchTurns()
    await queue.onIdle()
    assert.ok(watch.most <= 2, `${watch.most} starts between two turns`)
  })

  it('that follow many fast ones start few times between two turns', async function () {
    const queue = fairlane((payload, done) => {
      if (payload === 'slow') {
        watch.begin()
        time.pass(1)
      }
      done()
    }, 10)
    for (let i = 0; i < 50; i++) {
      for (let fast = 0; fast < 2000; fast++) queue.push('fast')
      for (let slow = 0; slow < 10; slow++) queue.push('slow')
    }
    watch = watchTurns()
    await queue.onIdle()
    // A look at the clock every 16 starts at most, so that many slow ones may start before the first is noticed.
    assert.ok(watch.most <= 16 + MOST_SLOW_STARTS, `${watch.most} starts between two turns`)
  })

  it('hold up no other queue: two queues share the loop', async function () {
    watch = watchTurns()
    const starts = []
    const make = (name) => fairlane((payload, done) => {
      starts.push(name)
      time.pass(1)
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
    it(`does not grow over many jobs with ${name}`, async function () {
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
      for (let i = 0; i < MANY; i++) queue.push(i, i % 1000 === 500 ? look : undefined)
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

describe('what many are told at once', function () {
  const HALF_A_MILLION = 5e5
  const noop = () => {}
  const MANY = HALF_A_MILLION / 5 // of them take longer than a slice of time on any machine

  /** The most that were told in one turn, from the call on, until all were. */
  async function mostInOneTurn (act, toldCount, count = HALF_A_MILLION) {
    let most = 0
    let last = 0
    act()
    do {
      await new Promise((resolve) => setImmediate(resolve))
      const told = toldCount()
      most = Math.max(most, told - last)
      last = told
    } while (last < count)
    return most
  }

  function cpuMs () {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }

  it('takes many turns: a queue that gives up half a million jobs', async function () {
    this.timeout(120000)
    let told = 0
    const queue = fairlane(noop).pause()
    for (let i = 0; i < HALF_A_MILLION; i++) queue.push(i, () => { told++ })
    const most = await mostInOneTurn(() => { queue.close({ drain: false }) }, () => told)
    assert.ok(most < MANY, `${most} in one turn`)
  })

  it('takes many turns: jobs with keys, of one each and of one that many share, which one signal ends', async function () {
    this.timeout(120000)
    const COUNT = 2 * MANY
    for (const keyOf of [i => i, () => 'shared']) {
      let told = 0
      const controller = new AbortController()
      const queue = fairlane(noop).pause()
      for (let i = 0; i < COUNT; i++) queue.add(i, { key: keyOf(i), signal: controller.signal }).catch(() => { told++ })
      const toldAtIdle = queue.onIdle().then(() => told)
      const most = await mostInOneTurn(() => { controller.abort() }, () => told, COUNT)
      assert.ok(most < MANY, `${most} in one turn`)
      assert.equal(await toldAtIdle, COUNT)
    }
  })

  it('takes many turns: half a million promises of ready() when the queue closes', async function () {
    this.timeout(120000)
    let told = 0
    const queue = fairlane(noop, { maxWaiting: 0, concurrency: 1 }).push(1)
    for (let i = 0; i < HALF_A_MILLION; i++) queue.ready().catch(() => { told++ })
    const most = await mostInOneTurn(() => { queue.close({ drain: false }) }, () => told)
    assert.ok(most < MANY, `${most} in one turn`)
  })

  /** CPU time until ready() of so many types has resolved, and of an end of a job before that. */
  async function readyTimes (count) {
    const told = { count: 0 }
    const queue = fairlane((payload, done) => { dones.push(done) }, { scheduler: 'equal', concurrency: 100, maxWaitingPerType: 1, maxWaiting: 100 })
    const dones = []
    for (let i = 0; i < 200; i++) queue.pushType(`filler ${i}`, i)
    while (dones.length < 100) await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < count; i++) queue.ready(`type ${i}`).then(() => { told.count++ })
    assert.equal(told.count, 0)
    let begun = cpuMs()
    queue.pause()
    for (let i = 0; i < 90; i++) dones[i]()
    const endsMs = cpuMs() - begun
    begun = cpuMs()
    queue.concurrency = 1000
    while (told.count < count) await new Promise((resolve) => setImmediate(resolve))
    const releaseMs = cpuMs() - begun
    queue.clear()
    return { endsMs, releaseMs }
  }

  it('is no more per type with ten times the types that are waited for, nor do ends of jobs take longer for it', async function () {
    this.timeout(120000)
    await readyTimes(20000)
    await once(async () => {
      const few = await readyTimes(20000)
      const many = await readyTimes(200000)
      assert.ok(many.releaseMs < 40 * Math.max(few.releaseMs, 5), `${many.releaseMs} ms after ${few.releaseMs} ms`)
      assert.ok(many.endsMs < 5 * Math.max(few.endsMs, 5), `${many.endsMs} ms after ${few.endsMs} ms`)
    })
  })
})
