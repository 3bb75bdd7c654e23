'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Capped, Equal, Fair } = require('../../schedulers')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const outcomes = require('../support/outcomes')
const { quiet } = require('../support/turns')

const NAMES = ['fair', 'capped', 'equal']
const windowScheduler = () => ({ waiting () {}, start () {}, done () {}, select: () => 0 })
const EACH = { ...Object.fromEntries(NAMES.map(name => [name, () => name])), 'of a window': windowScheduler }

const throwsCode = (code, fn) => assert.throws(fn, { code })

describe('the option scheduler', function () {
  const make = (scheduler, options) => fairlane(() => {}, { scheduler, ...options })

  it('takes a name or an object, and the property shows what works', function () {
    assert.ok(make('fair').scheduler instanceof Fair)
    assert.ok(make('capped').scheduler instanceof Capped)
    assert.ok(make('equal').scheduler instanceof Equal)
    for (const scheduler of [windowScheduler(), new Equal(), Object.freeze(new Fair())]) assert.equal(make(scheduler).scheduler, scheduler)
    assert.equal(make(undefined).scheduler, null)
    assert.equal(make(null).scheduler, null)
    assert.throws(() => { make('fair').scheduler = null }, TypeError)
  })

  it('refuses other names and values, and objects that lack methods', function () {
    for (const wrong of ['', 'Fair', 'fifo', 3.5, true, {}, [], { ...windowScheduler(), select: 1 }, () => {}, Symbol('fair')]) {
      throwsCode('FAIRLANE_ERR_SCHEDULER', () => make(wrong))
    }
    assert.throws(() => make('equals'), RangeError)
    assert.throws(() => make({}), TypeError)
  })

  it('prefers lanes in an object that has the methods of both protocols', async function () {
    const both = Object.assign(new Fair(), windowScheduler(), { waiting () { throw new Error('asked') } })
    const gate = gates()
    fairlane(gate.runner, { scheduler: both }).pushType('a', 1)
    await gate.until(1)
  })

  it('tells a scheduler the concurrency: at first, when it is set, at resume; never that of a pause', function () {
    for (const protocol of [windowScheduler(), { queued () {}, next () {}, started () {}, ended () {} }]) {
      const told = []
      const queue = make({ ...protocol, configure (options) { told.push(options) } }, { concurrency: 3 })
      queue.concurrency = 5
      queue.pause()
      queue.concurrency = 0
      queue.resume()
      queue.resume(7)
      assert.deepEqual(told, [3, 5, 5, 7].map(concurrency => ({ concurrency })))
    }
  })
})

describe('the option schedulerOptions', function () {
  it('reaches the scheduler, whether by name or an object, with the concurrency of the queue', function () {
    const options = Object.freeze({ maxTypeCap: 3, concurrency: 99, typeCaps: Object.freeze({ a: 1 }) })
    const { caps } = fairlane(() => {}, { scheduler: 'capped', concurrency: 4, schedulerOptions: options }).scheduler
    assert.deepEqual([caps.concurrency, caps.maxTypeCap, [...caps.typeCaps]], [4, 3, [['a', 1]]])
    const told = []
    const scheduler = { ...windowScheduler(), configure (options) { told.push(options) } }
    fairlane(() => {}, { scheduler, concurrency: 4, schedulerOptions: { mine: 1 } })
    assert.deepEqual(told, [{ mine: 1, concurrency: 4 }])
  })

  it('is checked by the scheduler, which names the option that was meant', function () {
    const make = (scheduler, schedulerOptions) => () => fairlane(() => {}, { scheduler, schedulerOptions })
    for (const name of NAMES) {
      throwsCode('FAIRLANE_ERR_OPTION', make(name, { maxTypeShares: 1 }))
      assert.throws(make(name, { maxTypeShares: 1 }), /did you mean 'maxTypeShare'/)
      throwsCode('FAIRLANE_ERR_OPTION', make(name, { maxTypeShare: '1' }))
    }
    throwsCode('FAIRLANE_ERR_OPTION', make('equal', { hard: true }))
    for (const wrong of [null, [], 5, 'x']) throwsCode('FAIRLANE_ERR_OPTION', make('fair', wrong))
    throwsCode('MINE', make({ ...windowScheduler(), configure () { throw Object.assign(new Error('mine'), { code: 'MINE' }) } }, {}))
  })

  it('is refused where nobody would read it', function () {
    throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { schedulerOptions: { maxTypeShare: 1 } }))
    throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { scheduler: windowScheduler(), schedulerOptions: {} }))
    fairlane(() => {}, { schedulerOptions: {} })
  })
})

describe('the options maxTypes and clock', function () {
  it('are checked', function () {
    for (const wrong of [0, -1, 2.5, NaN, '5', null]) throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { scheduler: 'fair', maxTypes: wrong }))
    assert.throws(() => fairlane(() => {}, { scheduler: 'fair', maxTypes: 0 }), { message: 'maxTypes must be a positive integer or Infinity, not 0' })
    throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { maxTypes: 5 }))
    throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { scheduler: windowScheduler(), maxTypes: 5 }))
    for (const wrong of [null, 5, {}, { now: () => 0 }, { ...fakeClock(), now: () => NaN }, { ...fakeClock(), now: () => '5' }]) {
      throwsCode('FAIRLANE_ERR_OPTION', () => fairlane(() => {}, { clock: wrong }))
    }
    fairlane(() => {}, { scheduler: 'fair', maxTypes: 1, clock: fakeClock() })
  })

  it('can be a clock that is an instance of a class: its time is what types get equal shares of', async function () {
    class MyClock {
      #ms = 5
      now () { return this.#ms }
      advance (ms) { this.#ms += ms }
      setTimeout () {}
      clearTimeout () {}
    }
    const clock = new MyClock()
    const started = []
    const queue = fairlane((ms, done, { type }) => {
      started.push(type)
      clock.advance(ms)
      done()
    }, { scheduler: 'equal', clock, concurrency: 1 })
    for (let i = 0; i < 100; i++) queue.pushType('slow', 90).pushType('quick', 10)
    await queue.onIdle()
    const slowCount = started.slice(0, 100).filter(type => type === 'slow').length
    assert.ok(slowCount >= 8 && slowCount <= 14, `${slowCount} of 100 jobs, which take 9 times as long`)
  })
})

for (const [name, makeScheduler] of Object.entries(EACH)) {
  describe(`a queue with a scheduler ${name}`, function () {
    const make = (runner, options) => fairlane(runner, { scheduler: makeScheduler(), ...options })

    it('takes jobs only with a type', function () {
      const queue = make(() => {})
      throwsCode('FAIRLANE_ERR_TYPE_REQUIRED', () => queue.push(1))
      throwsCode('FAIRLANE_ERR_TYPE_REQUIRED', () => queue.unshift(1))
      throwsCode('FAIRLANE_ERR_TYPE', () => queue.pushType(Symbol('a'), 1))
      throwsCode('FAIRLANE_ERR_CALLBACK', () => queue.pushType('a', 1, null))
      assert.equal(queue.length, 0)
    })

    it('passes the type, as a string, in a context that is the same for all jobs of the type', async function () {
      const gate = gates()
      const queue = make(gate.runner)
      queue.pushType(7, 1).pushType('7', 2).pushType('undefined', 3).unshiftType({ toString: () => 'b' }, 4)
      await gate.until(4)
      const byPayload = new Map(gate.started.map(({ payload, context }) => [payload, context]))
      assert.deepEqual([1, 2, 3, 4].map(payload => byPayload.get(payload).type), ['7', '7', 'undefined', 'b'])
      assert.equal(byPayload.get(1), byPayload.get(2))
      assert.ok(Object.isFrozen(byPayload.get(1)) && !byPayload.get(1).signal.aborted)
    })

    it('takes any string for a type, and undefined for a payload', async function () {
      const types = ['__proto__', 'constructor', 'toString', '', 'undefined', '0', '💥', 'x'.repeat(10000)]
      const gate = gates()
      const queue = make(gate.runner)
      for (const type of types) queue.pushType(type, undefined).pushType(type, undefined)
      assert.deepEqual([...queue.jobs()].map(({ type }) => type), types.flatMap(type => [type, type]))
      for (const type of types) assert.equal(queue.stats(type).waiting, 2)
      for (let i = 1; i <= 16; i++) {
        await gate.until(i)
        gate.release()
      }
      assert.deepEqual(gate.started.map(({ context }) => context.type).sort(), types.flatMap(type => [type, type]).sort())
      assert.equal(queue.stats().types, 0)
    })

    it('lists the waiting jobs in arrival order, all or those of a type', function () {
      const queue = make(() => {})
      queue.pushType('a', 1).pushType('b', 2).pushType('a', 3).unshiftType('b', 4)
      assert.deepEqual([...queue.jobs()], [{ type: 'b', payload: 4 }, { type: 'a', payload: 1 }, { type: 'b', payload: 2 }, { type: 'a', payload: 3 }])
      assert.deepEqual([...queue.jobs('a')].map(({ payload }) => payload), [1, 3])
      assert.deepEqual([...queue.jobs('none')], [])
      throwsCode('FAIRLANE_ERR_TYPE', () => queue.jobs(Symbol('a')))
    })

    it('cancels by test, by type, or all, and calls back in arrival order', async function () {
      const settled = outcomes()
      const gate = gates()
      const queue = make(gate.runner)
      for (let i = 0; i < 12; i++) queue.pushType('abc'[i % 3], i, settled.callback(i))
      queue.unshiftType('c', 12, settled.callback(12))
      assert.equal(queue.remove(({ type, payload }) => type === 'c' && payload < 3), 1)
      assert.equal(queue.clear({ type: 'b', reason: 'left' }), 4)
      assert.equal(queue.clear({ type: 'none' }), 0)
      assert.deepEqual(queue.stats('b'), queue.stats('none'))
      assert.equal(queue.clear(), 8)
      assert.deepEqual(settled.names(), [2, 1, 4, 7, 10, 12, 0, 3, 5, 6, 8, 9, 11])
      assert.ok(settled.list.every(([, err]) => err.code === 'FAIRLANE_ERR_CLEARED'))
      assert.equal(settled.list[1][1].cause, 'left')
      assert.equal(queue.length, 0)
      queue.pushType('a', 13, settled.callback(13))
      await gate.until(1)
      assert.deepEqual(gate.payloads, [13])
    })

    it('counts by type while the type has jobs', async function () {
      const gate = gates()
      const queue = make(gate.runner, { concurrency: 2 })
      const of = (type, ...names) => names.map(name => queue.stats(type)[name])
      queue.pushType('a', 1).pushType('a', 2).pushType('a', 3).pushType('a', 4)
      assert.deepEqual(of('a', 'accepted', 'waiting', 'running', 'types'), [4, 4, 0, 1])
      await gate.until(2)
      gate.open[0].done(new Error('failed'))
      gate.open[0].done()
      gate.open[1].done()
      queue.remove(({ payload }) => payload === 4)
      await quiet()
      const { accepted, waiting, running, done, failed, cancelled, rejected, misuse, overrun, types } = queue.stats('a')
      assert.equal(accepted, waiting + running + done + failed + cancelled)
      assert.deepEqual([accepted, waiting, done, failed, rejected, misuse, overrun, types], [4, 0, 1, 1, 0, undefined, undefined, 1])
      assert.equal(queue.stats().misuse, 1)
      assert.equal(running + cancelled, 2)
      assert.deepEqual(queue.stats('b'), { accepted: 0, waiting: 0, running: 0, overdue: 0, done: 0, failed: 0, cancelled: 0, rejected: 0, types: 0, delayed: 0, retried: 0, throttled: 0, joined: 0, spent: 0 })
      while (queue.running > 0) {
        gate.open.at(-1).done()
        gate.open.pop()
        await quiet()
      }
      assert.deepEqual(of('a', 'waiting', 'running', 'types'), [0, 0, 0])
    })

    it('counts the types that have jobs', async function () {
      const gate = gates()
      const queue = make(gate.runner, { concurrency: 3 })
      queue.pushType('a', 1).pushType('b', 2).pushType('c', 3).pushType('c', 4)
      assert.equal(queue.stats().types, 3)
      await gate.until(3)
      gate.release(3)
      await quiet()
      assert.equal(queue.stats().types, 1)
      queue.clear()
      gate.release(queue.running)
      assert.equal(queue.stats().types, 0)
    })

    it('flushes the jobs of before, whatever is pushed or unshifted later', async function () {
      const order = []
      const gate = gates()
      const queue = make(gate.runner, { concurrency: 1 })
      const push = (type, payload) => queue.pushType(type, payload, () => order.push(payload))
      push('a', 'a1')
      push('b', 'b1')
      queue.fflush(() => order.push('flush 1'))
      push('a', 'a2')
      queue.unshiftType('c', 'c0', () => order.push('c0'))
      queue.fflush(() => order.push('flush 2'))
      push('b', 'b2')
      queue.unshiftType('a', 'a0', () => order.push('a0'))
      for (let i = 1; i <= 6; i++) {
        await gate.until(i)
        gate.release()
      }
      const before = name => order.slice(0, order.indexOf(name))
      assert.deepEqual(before('flush 1').filter(name => /^[ab]1$/.test(name)).sort(), ['a1', 'b1'])
      assert.equal(order[order.indexOf('flush 1') - 1], gate.payloads.filter(name => /^[ab]1$/.test(name)).at(-1))
      const second = before('flush 2')
      assert.ok(['a1', 'b1', 'a2', 'c0'].every(name => second.includes(name)))
      assert.equal(second.at(-1) === 'flush 1' ? second.at(-2) : second.at(-1), gate.payloads.filter(name => !['b2', 'a0'].includes(name)).at(-1))
    })

    it('starts nothing inside pushType, unshiftType, configure and resume', async function () {
      const gate = gates()
      const queue = make(gate.runner)
      queue.pushType('a', 1).unshiftType('a', 2)
      if (queue.scheduler.configure) queue.scheduler.configure({ concurrency: 10 })
      queue.resume()
      assert.equal(gate.started.length, 0)
      await gate.until(2)
    })
  })
}

describe('a queue without a scheduler', function () {
  it('takes an undefined type in clear, jobs and stats for none', function () {
    const queue = fairlane(() => {}, { scheduler: 'equal' }).pause()
    const fill = () => queue.pushType('a', 1).pushType('b', 2).pushType('undefined', 3)
    for (const options of [{ type: undefined }, { type: undefined, reason: undefined }, {}, undefined]) {
      fill()
      assert.equal(queue.clear(options), 3)
    }
    fill()
    assert.equal([...queue.jobs(undefined)].length, 3)
    assert.equal(queue.stats(undefined).waiting, 3)
    assert.equal(queue.clear({ type: 'undefined' }), 1)
    throwsCode('FAIRLANE_ERR_TYPE', () => queue.clear({ type: null }))
    for (const options of [{ typ: 'a' }, { types: undefined }, null, 'a', ['a']]) throwsCode('FAIRLANE_ERR_ARGUMENT', () => queue.clear(options))
    assert.equal(queue.waiting, 2)
  })

  it('has no types to list, clear, count or pause', function () {
    const queue = fairlane(() => {})
    for (const call of [() => queue.jobs('a'), () => queue.clear({ type: 'a' }), () => queue.stats('a')]) throwsCode('FAIRLANE_ERR_ARGUMENT', call)
    for (const call of [() => queue.pauseType('a'), () => queue.resumeType('a')]) throwsCode('FAIRLANE_ERR_SCHEDULER', call)
    assert.equal(queue.stats().types, 0)
  })
})

describe('pauseType and resumeType', function () {
  it('throw where the scheduler can not pause a type', function () {
    for (const scheduler of [windowScheduler(), { queued () {}, next () {}, started () {}, ended () {}, paused () {} }]) {
      const queue = fairlane(() => {}, { scheduler })
      throwsCode('FAIRLANE_ERR_SCHEDULER', () => queue.pauseType('a'))
      throwsCode('FAIRLANE_ERR_SCHEDULER', () => queue.resumeType('a'))
    }
    throwsCode('FAIRLANE_ERR_TYPE', () => fairlane(() => {}, { scheduler: 'fair' }).pauseType(Symbol('a')))
  })

  for (const scheduler of NAMES) {
    it(`hold back one type and nobody else (${scheduler})`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, { scheduler, concurrency: 2 })
      queue.pauseType('a').pauseType('a').pauseType('never used')
      queue.pushType('a', 'a1').pushType('b', 'b1').pushType('a', 'a2').pushType('b', 'b2')
      await gate.until(2)
      assert.deepEqual(gate.payloads, ['b1', 'b2'])
      gate.release(2)
      await quiet()
      assert.deepEqual([queue.waiting, queue.running, queue.stats('a').waiting], [2, 0, 2])
      assert.equal(queue.resumeType('a'), queue)
      queue.resumeType('a').resumeType('never used').resumeType('unknown')
      assert.equal(queue.running, 0)
      await gate.until(4)
      assert.deepEqual(gate.payloads.slice(2), ['a1', 'a2'])
    })

    it(`let running jobs of the type end, and their type be forgotten after resumeType (${scheduler})`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, { scheduler, concurrency: 2 })
      queue.pushType('a', 1).pushType('a', 2).pushType('a', 3)
      await gate.until(2)
      queue.pauseType('a')
      gate.release(2)
      await quiet()
      assert.equal(queue.running, 0)
      queue.clear()
      assert.equal(queue.stats().types, 0)
      queue.resumeType('a')
      queue.pushType('a', 4)
      await gate.until(3)
      assert.equal(gate.payloads[2], 4)
    })
  }
})

describe('configure', function () {
  it('by the scheduler of the queue takes effect at once, in a later turn', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'capped', schedulerOptions: { hard: true, typeCaps: { a: 0 } } })
    queue.pushType('a', 1).pushType('a', 2)
    await quiet()
    assert.equal(gate.started.length, 0)
    assert.equal(queue.scheduler.configure({ typeCaps: { a: 1 } }), queue.scheduler)
    assert.equal(gate.started.length, 0)
    await gate.until(1)
    queue.scheduler.configure({ typeCaps: null, hard: false })
    await gate.until(2)
  })

  it('by an object of the caller has the queue ask again, too', async function () {
    let isOpen = false
    const gate = gates()
    class Door {
      waiting () {}
      start () {}
      done () {}
      select () { return isOpen ? 0 : -1 }
      configure (options) {
        isOpen = options.isOpen === true
        return 'configured'
      }

      get mayStall () { return true }
    }
    const door = new Door()
    const queue = fairlane(gate.runner, { scheduler: door })
    queue.pushType('a', 1)
    await quiet()
    assert.equal(gate.started.length, 0)
    assert.equal(door.configure({ isOpen: true }), 'configured')
    await gate.until(1)
    assert.deepEqual(Object.keys(door), [])
  })

  it('changes every option of every scheduler', function () {
    const fair = new Fair()
    fair.configure({ maxTypeShare: 0.5, maxScanLength: 7, hard: true, concurrency: 20 })
    assert.deepEqual([fair.maxTypeShare, fair.maxScanLength, fair.hard, fair.concurrency], [0.5, 7, true, 20])
    for (const scheduler of [new Capped(), new Equal()]) {
      scheduler.configure({ maxTypeShare: 0.5, maxTypeCap: 3, typeCaps: { a: 1 }, concurrency: 20 })
      scheduler.configure({ typeCaps: new Map([['b', 2]]) })
      scheduler.configure({ maxTypeShare: undefined })
      scheduler.configure()
      const { maxTypeShare, maxTypeCap, typeCaps, concurrency } = scheduler.caps
      assert.deepEqual([maxTypeShare, maxTypeCap, [...typeCaps], concurrency], [0.5, 3, [['a', 1], ['b', 2]], 20])
      scheduler.configure({ typeCaps: null })
      assert.equal(scheduler.caps.typeCaps.size, 0)
    }
    const capped = new Capped()
    capped.configure({ hard: true })
    assert.equal(capped.hard, true)
  })

  it('with a wrong value throws and changes nothing', function () {
    const wrong = [{ maxTypeShare: NaN }, { maxTypeShare: -1 }, { maxTypeShare: '1' }, { concurrency: 0 }, { concurrency: NaN }, null, [], 5, { nothing: 1 }]
    const wrongCaps = [{ maxTypeCap: null }, { typeCaps: 5 }, { typeCaps: [] }, { typeCaps: { a: '1' } }, { typeCaps: { a: -1 } }]
    const wrongWeights = [{ weights: 5 }, { weights: { a: 0 } }, { weights: { a: Infinity } }, { weights: { a: -1 } }]
    const cases = [
      [new Fair(), [...wrong, { maxScanLength: -1 }, { hard: 1 }]],
      [new Capped(), [...wrong, ...wrongCaps]],
      [new Equal(), [...wrong, ...wrongCaps, ...wrongWeights]]
    ]
    for (const [scheduler, options] of cases) {
      const limits = () => JSON.stringify([scheduler.caps ?? scheduler.maxTypeShare, scheduler.concurrency])
      const before = limits()
      for (const option of options) {
        throwsCode('FAIRLANE_ERR_OPTION', () => scheduler.configure(option))
        throwsCode('FAIRLANE_ERR_OPTION', () => scheduler.configure(option === null || typeof option !== 'object' || Array.isArray(option) ? option : { maxTypeShare: 0.1, ...option }))
      }
      assert.equal(limits(), before)
    }
  })
})
