'use strict'

const assert = require('node:assert')
const { Forgetting } = require('../../lib/platform/forgetting')
const { fakeClock } = require('../../lib/testing')
const { stoppedTime, withoutTime } = require('../support/time')
const { turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

/** What is over at certain times, by its name, and how it is forgotten. */
function made (clock = fakeClock(), pace) {
  const times = new Map()
  const looks = []
  const look = ([name, at], now) => {
    looks.push(name)
    if (at > now) return at
    times.delete(name)
    return Infinity
  }
  let calls = 0
  const call = fn => {
    calls++
    fn()
  }
  const forgetting = new Forgetting(clock, call, () => times, look, pace)
  const add = (name, at) => {
    times.set(name, at)
    forgetting.note(at)
  }
  return { clock, times, looks, forgetting, add, callsCount: () => calls }
}

describe('forgetting', () => {
  it('comes when the first of all is over, again when the next one is, and leaves no timer behind', () => {
    const { clock, times, add, callsCount } = made()
    add('b', 20)
    add('a', 10)
    add('c', 30)
    assert.deepEqual([clock.timerCount, callsCount()], [1, 3])
    for (const left of ['abc', 'bc', 'c', '']) {
      assert.equal([...times.keys()].sort().join(''), left)
      clock.advance(10)
    }
    assert.deepEqual([times.size, clock.timerCount], [0, 0])
  })

  it('does not look again for a while when it has looked at many', async () => {
    await withoutTime(() => {
      const { clock, times, looks, add } = made()
      for (let i = 0; i < 10000; i++) add(i, 1000 + i / 1000)
      add('late', 1e6)
      clock.advance(1020)
      assert.equal(looks.length, 10001)
      clock.advance(1)
      assert.equal(looks.length, 20001)
      add('soon', 1030)
      clock.advance(19)
      assert.equal(times.has('soon'), true)
      clock.advance(3)
      assert.equal(times.has('soon'), false)
      clock.advance(1e6)
      assert.equal(times.size, 0)
    })
  })

  it('goes through many in slices, between which the event loop turns, and sees what comes meanwhile', async () => {
    const { clock, times, add } = made(undefined, { ms: 2, pieces: 16 })
    for (let i = 0; i < 1000; i++) add(i, 10)
    const time = stoppedTime()
    try {
      const { now } = performance
      performance.now = () => {
        time.pass(1)
        return now()
      }
      clock.advance(10)
      let turnsCount = 0
      for (let before = 1000; times.size > 0; turnsCount++) {
        assert(before - times.size <= 128, `${before - times.size} at once`)
        before = times.size
        if (turnsCount === 2) add('new', 10)
        await turn()
      }
      assert(turnsCount > 5, `${turnsCount} turns`)
      await turn()
      clock.advance(100)
      assert.equal(clock.timerCount, 0)
      performance.now = now
    } finally {
      time.release()
    }
  })

  it('may be begun before, and begins no second time while it goes on', async () => {
    const { clock, times, looks, add, forgetting } = made(undefined, { ms: 0, pieces: 10 })
    for (let i = 0; i < 15; i++) add(i, 10 + i)
    clock.advance(9)
    forgetting.begin()
    forgetting.begin()
    assert.equal(looks.length, 10)
    add('sooner', 9.5)
    assert.equal(clock.timerCount, 0)
    while (clock.timerCount === 0) await turn()
    assert.equal(looks.length, 16)
    clock.advance(1)
    while (clock.timerCount === 0) await turn()
    assert.equal(times.size, 14)
    forgetting.stop()
  })

  it('stops: there is no timer, nothing is looked at, and nothing begins', async () => {
    const { clock, looks, add, forgetting } = made(undefined, { ms: 0, pieces: 10 })
    for (let i = 0; i < 15; i++) add(i, 10)
    clock.advance(10)
    assert.equal(looks.length, 10)
    forgetting.stop()
    await turn()
    forgetting.begin()
    add('later', 20)
    assert.equal(clock.timerCount, 0)
    clock.advance(20)
    assert.deepEqual([looks.length, clock.timerCount], [10, 0])
    const other = made()
    other.add('a', 10)
    other.forgetting.stop()
    other.forgetting.stop()
    assert.equal(other.clock.timerCount, 0)
  })

  it('stops in the middle of a slice', () => {
    const clock = fakeClock()
    const seen = []
    const forgetting = new Forgetting(clock, fn => fn(), () => [1, 2, 3], item => {
      seen.push(item)
      forgetting.stop()
      return 50
    })
    forgetting.begin()
    assert.deepEqual([seen, clock.timerCount], [[1], 0])
  })

  it('keeps no process alive', () => {
    let unrefs = 0
    const clock = fakeClock()
    const { add } = made({ ...clock, setTimeout: (...args) => Object.assign(clock.setTimeout(...args), { unref () { unrefs++ } }) })
    add('a', 10)
    assert.equal(unrefs, 1)
  })

  it('waits for longer than a timer can', () => {
    const clock = fakeClock()
    let longest = 0
    const { times, add } = made({
      ...clock,
      setTimeout (fn, ms) {
        longest = Math.max(longest, ms)
        return clock.setTimeout(fn, ms)
      }
    })
    add('a', 1e10)
    clock.advance(1e10)
    assert.deepEqual([times.size, longest], [0, 2 ** 31 - 1])
  })

  it('goes with a clock that sets no timer, or calls at once, when more comes', async () => {
    const uncaught = captureUncaught()
    try {
      const clock = fakeClock()
      let isBroken = true
      const { times, add } = made({ ...clock, setTimeout: (...args) => { if (isBroken) throw new Error('no timer'); return clock.setTimeout(...args) } })
      add('a', 10)
      await uncaught.until(1)
      isBroken = false
      add('b', 20)
      clock.advance(10)
      assert.equal(times.size, 1)
    } finally {
      uncaught.release()
    }
    const { looks, add } = made({ now: () => 0, setTimeout: fn => fn(), clearTimeout () {} })
    add('a', 10)
    assert.deepEqual(looks, [])
  })
})
