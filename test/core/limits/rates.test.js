'use strict'

const assert = require('node:assert')
const fairlane = require('../../..')
const { batches } = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { revoked } = require('../../support/proxies')
const { mostWithin, startsOf } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds } = require('../../support/rounds')
const { quiet } = require('../../support/turns')
const { captureUncaught, captureWarnings } = require('../../support/uncaught')

describe('the option rate', function () {
  it('lets so many jobs start in a stretch, and each other one as soon as it may', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 2, intervalMs: 100 } })
    for (let i = 0; i < 5; i++) queue.push(i)
    await pass(1000)
    assert.deepEqual(times(), [0, 0, 100, 100, 200])
  })

  it('spaces jobs evenly with a limit of 1', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 1, intervalMs: 30 } })
    for (let i = 0; i < 3; i++) queue.push(i)
    await pass(100)
    assert.deepEqual(times(), [0, 30, 60])
  })

  it('counts starts, not ends', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 1, intervalMs: 30 } }, () => {})
    queue.push(1).push(2)
    await pass(100)
    assert.deepEqual(times(), [0, 30])
  })

  it('does not count jobs that are cleared', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 1, intervalMs: 1000 } })
    const told = []
    queue.pause()
    for (let i = 0; i < 5; i++) queue.push(i, error => told.push(error.code))
    queue.clear()
    assert.deepEqual(told, Array(5).fill('FAIRLANE_ERR_CLEARED'))
    queue.resume().push(6)
    await pass(0)
    assert.deepEqual(times(), [0])
  })

  it('may be several, all of which hold', async function () {
    const { queue, pass, times } = startsOf(fairlane, { rate: [{ limit: 2, intervalMs: 10 }, { limit: 3, intervalMs: 100 }] })
    for (let i = 0; i < 6; i++) queue.push(i)
    await pass(200)
    assert.deepEqual(times(), [0, 0, 10, 100, 100, 110])
  })

  for (const scheduler of ['fair', 'capped', 'equal', { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }]) {
    it(`holds with the scheduler ${typeof scheduler === 'string' ? scheduler : 'of windows'}`, async function () {
      const { queue, pass, times } = startsOf(fairlane, { rate: { limit: 2, intervalMs: 100 }, scheduler })
      for (let i = 0; i < 3; i++) queue.pushType('a', i).pushType('b', i)
      await pass(1000)
      assert.deepEqual(times(), [0, 0, 100, 100, 200, 200])
    })
  }

  it('sets a timer only while a job waits for it', async function () {
    const { queue, clock, pass } = startsOf(fairlane, { rate: { limit: 1, intervalMs: 3600000 } })
    queue.push(1)
    await quiet()
    assert.equal(clock.timerCount, 0)
    queue.push(2)
    await quiet()
    assert.equal(clock.timerCount, 1)
    queue.clear()
    assert.equal(clock.timerCount, 0)
    const { signal, abort } = aborter()
    queue.add(3, { signal }).catch(() => {})
    await quiet()
    assert.equal(clock.timerCount, 1)
    abort()
    assert.equal(clock.timerCount, 0)
    await pass(0)
  })
})

describe('the option ratePerType', function () {
  it('lets so many jobs of each type start, while others go on', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'equal', concurrency: 1, ratePerType: { limit: 2, intervalMs: 100 } })
    for (let i = 0; i < 5; i++) queue.pushType('a', i)
    for (let i = 0; i < 2; i++) queue.pushType('b', i)
    await pass(1000)
    assert.deepEqual(times('a'), [0, 0, 100, 100, 200])
    assert.deepEqual(times('b'), [0, 0])
  })

  it('may differ by type, and be asked for', async function () {
    const asked = []
    const rates = new Map([['a', { limit: 1, intervalMs: 10 }], ['b', [{ limit: 1, intervalMs: 20 }]]])
    for (const ratePerType of [rates, type => { asked.push(type); return rates.get(type) }]) {
      const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType })
      for (let i = 0; i < 3; i++) queue.pushType('a', i).pushType('b', i).pushType('c', i)
      await pass(100)
      assert.deepEqual([times('a'), times('b'), times('c')], [[0, 10, 20], [0, 20, 40], [0, 0, 0]])
    }
    assert.deepEqual(asked.filter(type => type !== 'c').sort(), ['a', 'a', 'a', 'b', 'b', 'b'], 'once for each window')
  })

  it('is of none where what is asked throws or gives nonsense, which is an uncaught exception', async function () {
    const uncaught = captureUncaught()
    try {
      const answers = { a: () => { throw new Error('expected') }, b: () => ({ limit: 0, intervalMs: 1 }) }
      const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType: type => answers[type]() })
      queue.pushType('a', 1).pushType('b', 2)
      await pass(1)
      await uncaught.until(2)
      assert.deepEqual([times('a'), times('b')], [[0], [0]])
      assert.deepEqual(uncaught.seen.map(({ message, code }) => code ?? message).sort(), ['FAIRLANE_ERR_OPTION', 'expected'])
    } finally {
      uncaught.release()
    }
  })

  it('holds back a job of a type that has one which runs, by rates and holds that came meanwhile', async function () {
    const changes = [queue => queue.setRates({ ratePerType: { limit: 1, intervalMs: 100 } }), queue => queue.holdType('a', 100)]
    for (const ratePerType of [{ limit: 5, intervalMs: 100 }, new Map([['b', { limit: 1, intervalMs: 100 }]])]) {
      for (const change of changes) {
        const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType }, () => {})
        queue.pushType('a', 1).pushType('b', 1)
        await pass(0)
        change(queue)
        queue.pushType('a', 2)
        await pass(0)
        queue.pushType('a', 3)
        await pass(200)
        assert.deepEqual(times('a').slice(0, 2), ratePerType.size === 1 && change === changes[0] ? [0, 0] : [0, 100]) // no rate has counted the first
        assert(times('a').includes(100))
      }
    }
  })

  it('outlives the idleness of a type', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pushType('a', 1)
    await pass(50)
    assert.equal(queue.stats().types, 0)
    queue.pushType('a', 2)
    await pass(100)
    assert.deepEqual(times(), [0, 100])
  })

  it('takes no slot, and charges a type nothing, while that is out of rate', async function () {
    const { queue, pass, starts } = startsOf(fairlane, { scheduler: 'equal', concurrency: 2, ratePerType: new Map([['a', { limit: 1, intervalMs: 1000 }]]) }, (payload, done) => {})
    for (let i = 0; i < 3; i++) queue.pushType('a', i).pushType('b', i)
    await pass(10)
    assert.deepEqual(starts.map(({ type }) => type).sort(), ['a', 'b'])
    assert.deepEqual([queue.running, queue.stats().heldTypes], [2, 1])
  })

  it('is told to no scheduler but as a pause, before it hears of the job', async function () {
    const told = []
    const lanes = new Set()
    const tell = name => lane => { told.push(`${name} ${lane.type} ${lane.size}`) }
    const scheduler = {
      queued: lane => { lanes.add(lane); tell('queued')(lane) },
      next: () => [...lanes].find(lane => lane.size > 0 && !lane.isPaused),
      started: tell('started'),
      ended: tell('ended'),
      paused: lane => { lanes.add(lane); tell('paused')(lane) },
      resumed: tell('resumed'),
      removed: tell('removed')
    }
    const warnings = captureWarnings()
    const { queue, pass } = startsOf(fairlane, { scheduler, ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pushType('a', 1)
    await pass(1)
    queue.pushType('a', 2)
    queue.pushType('a', 3)
    await pass(100)
    queue.clear()
    warnings.release()
    assert.deepEqual(warnings.seen, [])
    assert.deepEqual(told, [
      'queued a 1', 'started a 0', 'ended a 0', 'paused a 1', 'resumed a 2', 'started a 1', 'paused a 1', 'ended a 1', 'resumed a 0'
    ])
  })

  it('is independent of pauses by users', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pushType('a', 1).pushType('a', 2).pushType('a', 3)
    await pass(10)
    assert.equal(queue.isTypePaused('a'), false)
    queue.resumeType('a')
    await pass(10)
    assert.deepEqual(times(), [0], 'to resume it does not lift the limit')
    queue.pauseType('a')
    await pass(200)
    assert.deepEqual(times(), [0], 'nor does its end lift the pause')
    assert.equal(queue.isTypePaused('a'), true)
    queue.resumeType('a')
    await pass(10)
    assert.deepEqual(times(), [0, 220])
    queue.pauseType('a').close()
    await pass(100)
    assert.deepEqual(times(), [0, 220, 320], 'which close() lifts')
  })

  it('sets no timer for a type without waiting jobs', async function () {
    const { queue, clock } = startsOf(fairlane, { scheduler: 'fair', ratePerType: { limit: 1, intervalMs: 3600000 } })
    queue.pushType('a', 1).pushType('a', 2)
    await quiet()
    assert.equal(clock.timerCount, 1)
    assert.equal(queue.clear(), 1)
    assert.deepEqual([clock.timerCount, queue.stats().heldTypes], [0, 0])
    const { signal, abort } = aborter()
    queue.add(3, { type: 'a', signal }).catch(() => {})
    assert.deepEqual([clock.timerCount, queue.stats().heldTypes], [1, 1])
    abort()
    assert.deepEqual([clock.timerCount, queue.stats().heldTypes, queue.stats().types], [0, 0, 0])
  })

  it('is shared by the types that share a lane, and goes on where a type gets one of its own', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', maxTypes: 1, ratePerType: { limit: 2, intervalMs: 100 } })
    queue.pushType('own', 0).pushType('own', 0)
    for (let i = 0; i < 2; i++) queue.pushType('b', i).pushType('c', i)
    await pass(10)
    assert.deepEqual(times('own'), [0, 0])
    assert.deepEqual([...times('b'), ...times('c')], [0, 0])
    queue.pauseType('b').resumeType('b')
    await pass(10)
    assert.deepEqual([...times('b'), ...times('c')], [0, 0])
    checkInvariants(queue)
    await pass(100)
    assert.deepEqual([...times('b'), ...times('c')].sort((a, b) => a - b), [0, 0, 100, 100])
  })

  it('loses no job of a type that gets a lane of its own while it is asked for the rate of that', async function () {
    let isOpening = false
    const { queue, pass, times } = startsOf(fairlane, {
      scheduler: 'equal',
      maxTypes: 1,
      ratePerType: type => {
        if (isOpening) {
          isOpening = false
          queue.pauseType(type).resumeType(type)
        }
        return { limit: 1, intervalMs: 100 }
      }
    })
    queue.pushType('own', 0).pushType('b', 1).pushType('b', 2).pushType('b', 3)
    await pass(0)
    isOpening = true
    queue.holdType('b', 10)
    checkInvariants(queue)
    assert.equal(queue.stats('b').waiting, 2)
    await pass(1000)
    assert.deepEqual(times('b'), [0, 100, 200])
  })

  it('needs a scheduler whose types can be paused', function () {
    const ratePerType = { limit: 1, intervalMs: 1 }
    const scheduler = { queued () {}, next () {}, started () {}, ended () {} }
    for (const options of [{ ratePerType }, { ratePerType, scheduler }]) assert.throws(() => fairlane(() => {}, options), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => fairlane(() => {}, { scheduler }).setRates({ ratePerType }), { code: 'FAIRLANE_ERR_SCHEDULER' })
    fairlane(() => {}, { scheduler: 'equal', ratePerType: new Map() })
  })
})

describe('rates', function () {
  it('and other options that cannot be looked at are wrong use like other', function () {
    const proxy = revoked()
    const queue = fairlane(() => {}, { scheduler: 'equal' })
    assert.throws(() => fairlane(() => {}, { scheduler: 'equal', ratePerType: proxy }), { code: 'FAIRLANE_ERR_OPTION' })
    for (const wrong of [() => queue.add(1, proxy), () => queue.setRates({ ratePerType: proxy }), () => batches(proxy, { maxSize: 2 })]) {
      assert.throws(wrong, { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('count each attempt', async function () {
    for (const options of [{ rate: { limit: 2, intervalMs: 100 } }, { scheduler: 'equal', ratePerType: { limit: 2, intervalMs: 100 } }]) {
      const { queue, pass, times } = startsOf(fairlane, { ...options, maxAttempts: 5, backoffMs: 10 }, (payload, done) => done(new Error('expected')))
      queue.add('p', { type: 'a' }).catch(() => {})
      await pass(500)
      assert.deepEqual(times(), [0, 10, 100, 110, 200])
    }
  })

  it('are checked', function () {
    const wrong = [
      null, 3, 'fast', [], [3], new Array(2), {}, { limit: 1 }, { limit: 0, intervalMs: 1 }, { limit: 1.5, intervalMs: 1 }, { limit: Infinity, intervalMs: 1 }, { limit: '1', intervalMs: 1 },
      { limit: 1, intervalMs: 0 }, { limit: 1, intervalMs: Infinity }, { limit: 1, intervalMs: '1' }, { limit: 1, intervalMs: 1, interval: 1 }
    ]
    for (const rate of wrong) {
      assert.throws(() => fairlane(() => {}, { rate }), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(rate))
      assert.throws(() => fairlane(() => {}, { scheduler: 'fair', ratePerType: new Map([['a', rate]]) }), { code: 'FAIRLANE_ERR_OPTION' })
      if (rate !== null) assert.throws(() => fairlane(() => {}).setRates({ rate }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    for (const rates of [undefined, 3, [], { rates: 1 }]) assert.throws(() => fairlane(() => {}).setRates(rates), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.throws(() => fairlane(() => {}, { rates: 1 }), { code: 'FAIRLANE_ERR_OPTION', message: /did you mean 'rate'/ })
    assert.throws(() => fairlane(() => {}, null), { code: 'FAIRLANE_ERR_OPTION' })
    assert.equal(fairlane(() => {}, 3).concurrency, 3)
  })

  it('can be replaced, and what has started stays counted', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', rate: { limit: 4, intervalMs: 100 }, ratePerType: { limit: 2, intervalMs: 100 } })
    for (let i = 0; i < 6; i++) queue.pushType('a', i)
    await pass(10)
    queue.setRates({ ratePerType: { limit: 3, intervalMs: 100 } })
    await pass(10)
    assert.deepEqual(times(), [0, 0, 10])
    queue.setRates({ rate: { limit: 3, intervalMs: 100 }, ratePerType: null })
    await pass(10)
    assert.deepEqual(times(), [0, 0, 10])
    queue.setRates({ rate: null })
    await pass(10)
    assert.deepEqual(times(), [0, 0, 10, 30, 30, 30])
  })

  it('that name a type which shares a lane give it one of its own', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', maxTypes: 1, concurrency: 10 })
    queue.hold(10).pushType('own', 0)
    for (let i = 0; i < 3; i++) queue.pushType('b', i).pushType('a', i)
    queue.setRates({ ratePerType: new Map([['a', { limit: 1, intervalMs: 100 }]]) })
    checkInvariants(queue)
    await pass(250)
    assert.deepEqual([times('a'), times('b')], [[10, 110, 210], [10, 10, 10]])
    checkInvariants(queue)
  })

  it('that are new hold back those that wait', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', ratePerType: () => undefined }, () => {})
    queue.concurrency = 1
    for (let i = 0; i < 3; i++) queue.pushType('a', i)
    await pass(1)
    queue.setRates({ ratePerType: { limit: 1, intervalMs: 100 } })
    queue.concurrency = 10
    await pass(200)
    assert.deepEqual(times(), [0, 1, 101])
    queue.setRates({ ratePerType: type => ({ limit: 1, intervalMs: 50 }) })
    queue.pushType('a', 4).pushType('a', 5)
    await pass(10)
    assert.deepEqual(times(), [0, 1, 101, 201])
  })

  it('are kept when the queue is closed', async function () {
    const { queue, pass, times } = startsOf(fairlane, { scheduler: 'fair', rate: { limit: 3, intervalMs: 100 }, ratePerType: { limit: 1, intervalMs: 100 } })
    queue.pushType('a', 1).pushType('a', 2)
    const closed = queue.close()
    await pass(200)
    assert.deepEqual(times(), [0, 100])
    assert.equal(await closed, 0)
  })

  const seed = seedFromEnvironment()
  it(`hold at any load, with no slot free while a type may start a job (SEED=${seed})`, async function () {
    const random = seeded(seed)
    for (let round = 0; round < rounds(20); round++) {
      const of = new Map(['a', 'b', 'c'].map(type => [type, { limit: 1 + random.below(4), intervalMs: 10 + random.below(50) }]))
      const rate = random.chance(0.5) ? { limit: 1 + random.below(6), intervalMs: 10 + random.below(50) } : undefined
      const ratePerType = random.pick([of, type => of.get(type)])
      const options = { rate, ratePerType, scheduler: random.pick(['fair', 'capped', 'equal']), concurrency: 1 + random.below(5), maxTypes: random.pick([1, Infinity]) }
      const { queue, clock, pass, times } = startsOf(fairlane, options, (payload, done) => { clock.setTimeout(done, random.below(20)) })
      for (let step = 0; step < 60; step++) {
        for (let i = random.below(4); i > 0; i--) {
          const type = random.pick(['a', 'b', 'c', 'd'])
          const ms = queue.heldMs(type)
          queue.pushType(type, step)
          if (ratePerType === of) assert.equal(queue.heldMs(type), ms, 'a type without a lane is held as the one that it gets')
        }
        if (random.chance(0.1)) queue.holdType(random.pick(['b', 'd']), random.below(20))
        if (random.chance(0.05)) queue.clear({ type: random.pick(['a', 'b', 'c']) })
        if (random.chance(0.1)) queue.pauseType('a')
        if (random.chance(0.1)) queue.resumeType('a')
        await pass(random.below(10))
        checkInvariants(queue)
        const startable = ['a', 'b', 'c', 'd'].filter(type => queue.stats(type).waiting > 0 && queue.heldMs(type) === 0 && !queue.isTypePaused(type))
        if (options.maxTypes === Infinity && options.scheduler !== 'capped') assert(queue.running === queue.concurrency || startable.length === 0, `${startable} may start`)
      }
      queue.resumeType('a')
      await pass(12000) // 180 jobs at most, one in 59 ms
      assert.equal(queue.length, 0)
      if (rate) assert(mostWithin(times(), rate.intervalMs) <= rate.limit)
      for (const [type, { limit, intervalMs }] of of) {
        const most = mostWithin(times(type), intervalMs)
        assert(most <= limit || (typeof ratePerType === 'function' && options.maxTypes === 1), `round ${round}: ${most} of ${type}`)
      }
    }
  })
})

function aborter () {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
