'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { internalsOf } = require('../../lib/core/internals')
const { Fair, Equal } = require('../../schedulers')
const { fakeClock } = require('../../lib/testing')
const { setPace } = require('../support/pace')
const { captureWarnings } = require('../support/uncaught')
const { turns } = require('../support/turns')

/** First come, first served. */
class Window {
  waiting () {}
  start () {}
  done () {}
  removed () {}
  select () { return 0 }
}

const WRONG_INDICES = {
  NaN,
  undefined,
  null: null,
  'a string': '0',
  'a fraction': 0.5,
  Infinity,
  'too large': 1e6,
  'an object': {},
  'a BigInt': 0n
}
const WRONG_LANES = {
  null: null,
  'a number': 0,
  'a string': 'a',
  'what looks like a lane': { type: 'a', isShared: false, size: 1, running: 0, headSeq: 0, isPaused: false },
  'a copy': lane => ({ ...lane }),
  'a proxy': lane => new Proxy(lane, {}),
  'what throws when it is looked at': new Proxy({}, { get () { throw new Error('boom') } }),
  'an empty lane': (lane, empty) => empty,
  'a lane of another queue': () => foreignLane()
}

function foreignLane () {
  let lane
  const scheduler = new Fair()
  scheduler.queued = queued => { lane = queued }
  fairlane(() => {}, { scheduler }).pause().pushType('a', 1)
  return lane
}

/** Fair, with lanes at hand. */
class Lanes extends Fair {
  lanes = []
  queued (lane) {
    if (!this.lanes.includes(lane)) this.lanes.push(lane)
    super.queued(lane)
  }

  forget () { return false }
}

describe('a scheduler that misbehaves', function () {
  let warnings

  beforeEach(function () { warnings = captureWarnings() })
  afterEach(function () { warnings.release() })

  /** Runs 20 jobs of two types with the scheduler: all must be done, each type in order, and one warning given. */
  async function runAll (scheduler, options) {
    const done = []
    const queue = fairlane((payload, done) => setImmediate(done), { scheduler, concurrency: 3, ...options })
    for (let i = 0; i < 20; i++) queue.pushType('ab'[i % 2], i, err => done.push([err, i]))
    queue.remove(({ payload }) => payload === 19)
    queue.concurrency = 4
    await queue.onIdle()
    await turns(2)
    assert.deepEqual(done.map(([, i]) => i).sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => i))
    assert.ok(done.every(([err, i]) => i === 19 ? err.code === 'FAIRLANE_ERR_CLEARED' : !err))
    for (const rest of [0, 1]) {
      const order = done.map(([, i]) => i).filter(i => i % 2 === rest && i !== 19)
      assert.deepEqual(order, order.toSorted((a, b) => a - b))
    }
    assert.deepEqual(warnings.seen.map(({ code, name }) => [code, name]), [['FAIRLANE_ERR_SCHEDULER', 'FairlaneWarning']])
    return warnings.seen[0].message
  }

  for (const [what, index] of Object.entries(WRONG_INDICES)) {
    it(`by selecting ${what}, loses no job and gets one warning`, async function () {
      assert.match(await runAll(Object.assign(new Window(), { select: () => index })), /select\(\)/)
    })
  }

  it('by selecting a job that is gone already, loses no job and gets one warning', async function () {
    let count = 0
    const select = types => {
      if (count++ % 2 === 0) return Math.min(1, types.size() - 1)
      for (let i = 1; i < types.size(); i++) if (types.peekAt(i) === undefined) return i
      return 0
    }
    await runAll({ ...methodsOf(Window.prototype), select })
  })

  for (const [what, lane] of Object.entries(WRONG_LANES)) {
    it(`by choosing ${what}, loses no job and gets one warning`, async function () {
      const scheduler = new Lanes()
      scheduler.next = () => {
        const found = scheduler.lanes.find(({ size }) => size > 0)
        const empty = scheduler.lanes.find(({ size }) => size === 0)
        if (what === 'an empty lane' && empty === undefined) return found
        return typeof lane === 'function' ? lane(found, empty) : lane
      }
      assert.match(await runAll(scheduler), /next\(\)/)
    })
  }

  for (const method of ['waiting', 'start', 'done', 'select', 'removed', 'configure']) {
    it(`by throwing in ${method}() of a window, loses no job and gets one warning`, async function () {
      const scheduler = Object.assign(new Window(), { [method] () { throw new Error('mine') } })
      assert.match(await runAll(scheduler), new RegExp(`${method}\\(\\) threw mine`))
    })
  }

  for (const thrown of [undefined, null, Symbol('mine'), Object.create(null)]) {
    it(`by throwing ${thrown === null || typeof thrown !== 'object' ? String(thrown) : 'a bare object'}, loses no job and gets one warning`, async function () {
      await runAll(Object.assign(new Window(), { select () { throw thrown } }))
      assert.equal(warnings.seen[0].detail, undefined)
    })
  }

  for (const method of ['queued', 'next', 'started', 'ended', 'removed', 'configure', 'forget']) {
    it(`by throwing in ${method}() of lanes, loses no job and gets one warning`, async function () {
      const scheduler = Object.assign(new Fair(), { forget: () => true, [method] () { throw new Error('mine') } })
      assert.match(await runAll(scheduler), new RegExp(`${method}\\(\\) threw mine`))
    })
  }

  it('by throwing in isNamed(), loses no job and gets one warning', async function () {
    await runAll(Object.assign(new Equal(), { isNamed () { throw new Error('mine') } }), { maxTypes: 1 })
  })

  for (const method of ['paused', 'resumed']) {
    it(`by throwing in ${method}(), loses no job and gets one warning`, async function () {
      const scheduler = Object.assign(new Fair(), { [method] () { throw new Error('mine') } })
      const queue = fairlane((payload, done) => done(), { scheduler })
      queue.pushType('a', 1).pauseType('a').resumeType('a')
      queue.pushType('b', 2)
      queue.scheduler.next = () => {}
      queue.scheduler.next = Fair.prototype.next
      await turns(3)
      assert.equal(warnings.seen[0].code, 'FAIRLANE_ERR_SCHEDULER')
      assert.equal(warnings.seen.length, 1)
      queue.clear()
      assert.equal(queue.length, 0)
    })
  }

  it('by choosing a lane that it was told is paused, gets a warning, and the lane stays paused', async function () {
    const scheduler = new Lanes()
    scheduler.next = () => scheduler.lanes[0]
    const started = []
    const queue = fairlane((payload, done) => {
      started.push(payload)
      done()
    }, { scheduler })
    queue.pushType('a', 1).pushType('b', 2).pauseType('a')
    await turns(3)
    assert.deepEqual(started, [2])
    assert.equal(queue.waiting, 1)
    assert.equal(warnings.seen.length, 1)
  })

  for (const [protocol, scheduler] of Object.entries({
    'a window': Object.assign(new Window(), { select: () => -1 }),
    lanes: Object.assign(new Fair(), { next () {}, mayStall: false })
  })) {
    it(`by letting nothing start though nothing runs, gets one warning, and is asked again (${protocol})`, async function () {
      const queue = fairlane((payload, done) => done(), { scheduler })
      queue.pushType('a', 1)
      await turns(3)
      queue.resume().pushType('b', 2)
      await turns(3)
      assert.deepEqual(warnings.seen.map(({ code }) => code), ['FAIRLANE_ERR_SCHEDULER'])
      assert.equal(queue.waiting, 2)
      scheduler.select = () => 0
      scheduler.next = Fair.prototype.next
      queue.resume()
      await queue.onIdle()
    })
  }

  it('by letting nothing start after it has failed, because it does not know of the jobs, loses none', async function () {
    const known = []
    const scheduler = Object.assign(new Window(), {
      waiting (type) {
        if (type === 'a') throw new Error('mine')
        known.push(type)
      },
      start: type => { if (known[0] === type) known.shift() },
      removed: () => { known.pop() },
      select: () => known.length > 0 ? 0 : -1
    })
    await runAll(scheduler)
  })

  it('... but not while jobs run, when only paused types wait, or if the scheduler may', async function () {
    let isOpen = true
    const scheduler = Object.assign(new Window(), { select: () => isOpen ? 0 : -1 })
    let end
    const queue = fairlane((payload, done) => { end = done }, { scheduler })
    queue.pushType('a', 1)
    await turns(3)
    isOpen = false
    queue.pushType('a', 2)
    await turns(3)
    isOpen = true
    end()

    const paused = fairlane(() => {}, { scheduler: Object.assign(new Fair(), { mayStall: false }) })
    paused.pushType('a', 1).pauseType('a')
    const capped = fairlane(() => {}, { scheduler: 'capped', schedulerOptions: { hard: true, maxTypeCap: 0 } })
    capped.pushType('a', 1)
    await turns(3)
    assert.deepEqual([capped.waiting, paused.waiting], [1, 1])
    assert.deepEqual(warnings.seen, [])
  })

  it('by pushing, cancelling and flushing from its methods, is served like any other caller', async function () {
    let count = 0
    const settled = []
    const push = () => {
      if (count < 40) queue.pushType('c', count, () => settled.push(1), count++)
    }
    class Restless extends Window {
      waiting () { push() }
      start () { push() }
      done () {
        push()
        queue.fflush(() => {})
      }

      select (types) {
        push()
        queue.remove(({ payload }) => payload === 7)
        queue.unshiftType('d', 'unshifted', () => settled.push(1))
        queue.remove(({ payload }) => payload === 'unshifted')
        return types.size() - 1
      }
    }
    const queue = fairlane((payload, done) => setImmediate(done), { scheduler: new Restless(), concurrency: 3 })
    push()
    await queue.onIdle()
    const { accepted, done, cancelled, waiting, running } = queue.stats()
    assert.equal(settled.length, accepted)
    assert.deepEqual([accepted, waiting, running], [done + cancelled, 0, 0])
  })

  it('by clearing the queue when it is asked, ends up with nothing to start', async function () {
    for (const Base of [Window, Fair]) {
      const scheduler = new Base()
      const queue = fairlane(() => assert.fail('started'), { scheduler })
      scheduler.select = scheduler.next = () => {
        queue.clear()
        return Base === Window ? 0 : undefined
      }
      queue.pushType('a', 1)
      await queue.onIdle()
      assert.equal(queue.stats().cancelled, 1)
    }
    assert.deepEqual(warnings.seen, [])
  })
})

describe('a scheduler of lanes that gives no answer again and again', function () {
  const TYPES = 400
  let warnings, started, scheduler, queue, visited, asked

  beforeEach(function () { warnings = captureWarnings() })
  afterEach(function () { warnings.release() })

  /** A queue with as many types whose next() is that; how often a lane is looked at for the oldest job is counted. */
  function make (next, methods) {
    started = []
    visited = asked = 0
    scheduler = Object.assign(new Lanes(), {
      next () {
        asked++
        return next()
      },
      ...methods
    })
    queue = fairlane((payload, done) => {
      started.push(payload)
      done()
    }, { scheduler, concurrency: 1 }).pause()
    setPace(queue, 'all at once') // else it may have been asked fewer times when a test looks
    const { list } = internalsOf(queue)
    const { all } = list
    list.all = function * () {
      for (const lane of all.call(list)) {
        visited++
        yield lane
      }
    }
  }

  function push (from, to) {
    for (let i = from; i < to; i++) queue.pushType(`type ${i % TYPES}`, i)
  }

  let count = 0
  const answers = {
    'that throws': () => { throw new Error('mine') },
    'that returns nonsense': () => 'nonsense',
    'that throws first, and then lets nothing start': () => {
      if (asked === 1) throw new Error('mine')
    },
    'that throws every other time': () => {
      if (count++ % 2 === 0) throw new Error('mine')
      return scheduler.lanes.find(({ size }) => size > 0)
    }
  }
  for (const [which, next] of Object.entries(answers)) {
    it(`${which}: a job does not cost a look at each lane`, async function () {
      make(next)
      push(0, TYPES)
      queue.resume()
      await queue.onIdle()
      assert.deepEqual(started.sort(byNumber), numbers(0, TYPES))
      assert.ok(visited < 50 * TYPES, `${visited / TYPES} looks at each lane`)
      assert.equal(warnings.seen.length, 1)
      assert.match(warnings.seen[0].message, /not asked again until configure\(\) or resume\(\)/)
    })
  }

  it('is not asked any more: jobs start in the order of arrival, whatever is unshifted, removed and paused', async function () {
    make(answers['that throws'])
    push(0, 20)
    queue.resume()
    await queue.onIdle()
    assert.equal(asked, 10)
    queue.pause()
    push(20, 60)
    queue.unshiftType('type 30', 'first')
    queue.unshiftType('new', 'very first')
    queue.remove(({ payload }) => payload > 50)
    queue.pauseType('type 40')
    const added = queue.add('aborted', { type: 'type 22', signal: AbortSignal.abort() })
    await assert.rejects(added)
    queue.pauseType('type 41').resumeType('type 41')
    started = []
    internalsOf(queue).dispatch.concurrency = 1 // resume() would have the scheduler asked again
    push(60, 61)
    await turns(5)
    assert.deepEqual(started, ['very first', 'first', ...numbers(20, 40), ...numbers(41, 51), 60])
    assert.equal(asked, 10)
    queue.resumeType('type 40')
    await queue.onIdle()
    assert.equal(started.at(-1), 40)
    assert.equal(asked, 10)
  })

  it('is told of all jobs meanwhile, and asked again after configure() or resume()', async function () {
    let isBroken = true
    const fair = new Fair()
    const methods = Object.fromEntries(['queued', 'started', 'ended', 'removed', 'paused', 'resumed', 'configure'].map(name => [name, (...args) => fair[name](...args)]))
    for (const again of [() => scheduler.configure({ maxTypeShare: 0.5 }), () => queue.resume()]) {
      isBroken = true
      make(() => {
        if (isBroken) throw new Error('mine')
        return fair.next()
      }, methods)
      push(0, 40)
      queue.pauseType('type 30').pauseType('type 31')
      queue.remove(({ payload }) => payload === 35 || payload === 31)
      queue.resumeType('type 31')
      queue.resume()
      await turns(3)
      assert.equal(asked, 10)
      assert.equal(queue.waiting, 1)
      isBroken = false
      again()
      push(40, 60)
      queue.resumeType('type 30')
      await queue.onIdle()
      assert.equal(asked > 30, true)
      assert.equal(fair.waitingCount, 0)
      assert.equal(fair.runningTypesCount, 0)
    }
  })

  it('asked again, gives no answer as many times again before it is not asked any more', async function () {
    make(answers['that throws'])
    push(0, 100)
    queue.resume()
    await queue.onIdle()
    queue.resume()
    push(0, 100)
    await queue.onIdle()
    assert.equal(asked, 20)
  })

  it('but answers in between, is asked for ever where there are few lanes to look at', async function () {
    make(answers['that throws every other time'])
    for (let i = 0; i < 300; i++) queue.pushType('a', i)
    queue.resume()
    await queue.onIdle()
    assert.ok(asked >= 300)
  })

  it('... and while it waits for a paused type alone, nothing starts', async function () {
    make(answers['that throws'])
    push(0, 1)
    queue.pauseType('type 0').resume()
    for (let i = 0; i < 30; i++) {
      push(1, 2)
      await turns(2)
    }
    assert.deepEqual([...new Set(started)], [1])
    assert.equal(queue.waiting, 1)
  })
})

function byNumber (a, b) {
  return a - b
}

function numbers (from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

describe("a function for weights of 'equal' that fails", function () {
  it('gives the weight 1, and one warning', async function () {
    const warnings = captureWarnings()
    const asked = []
    const weights = type => {
      asked.push(type)
      if (type === 'a') throw new Error('mine')
      return type === 'b' ? 0 : 5
    }
    const queue = fairlane((payload, done) => setImmediate(done), { scheduler: 'equal', schedulerOptions: { weights } })
    for (const type of ['a', 'b', 'c', 'a']) queue.pushType(type, 1)
    await queue.onIdle()
    await turns(2)
    warnings.release()
    assert.deepEqual(asked, ['a', 'b', 'c'])
    assert.deepEqual(warnings.seen.map(({ code }) => code), ['FAIRLANE_ERR_SCHEDULER'])
  })
})

describe('a clock that misbehaves', function () {
  it('stands still while it throws, goes back, or gives no finite number', async function () {
    const clock = fakeClock(100)
    const readings = [100, 110, 105, NaN, Infinity, 'x', undefined, () => { throw new Error('mine') }, 120]
    const now = () => {
      const reading = readings.length > 1 ? readings.shift() : readings[0]
      return typeof reading === 'function' ? reading() : reading
    }
    const times = []
    class Watch extends Equal {
      next (now) {
        times.push(now)
        return super.next(now)
      }
    }
    const queue = fairlane((payload, done) => setImmediate(done), { scheduler: new Watch(), clock: { ...clock, now }, concurrency: 1 })
    for (let i = 0; i < 10; i++) queue.pushType('a', i)
    await queue.onIdle()
    assert.deepEqual([...new Set(times)], [110, 120])
  })
})

function methodsOf (prototype) {
  return Object.fromEntries(Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor').map(name => [name, prototype[name]]))
}
