'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { fakeClock } = require('../../../lib/testing')
const { captureWarnings } = require('../../support/uncaught')
const { node } = require('../../support/child')
const { quiet, turn } = require('../../support/turns')

describe('the warning about jobs that wait for jobs of their own queue', function () {
  let warnings
  let clock

  beforeEach(function () {
    warnings = captureWarnings()
    clock = fakeClock()
  })

  afterEach(function () { warnings.release() })

  /** What has been warned about by now. */
  async function codes () {
    await turn()
    return warnings.seen.map(({ code }) => code)
  }

  /** A queue whose job 'parent' waits for a job 'child', which it adds before it returns. */
  function nested () {
    const gate = gates()
    const queue = fairlane((payload, done) => {
      gate.runner(payload, done)
      if (payload === 'parent') return queue.add('child')
    }, { concurrency: 1, clock })
    return { gate, queue }
  }

  it('comes once when all slots wait for each other, names the likely cause, and leaves no timer', async function () {
    const { gate, queue } = nested()
    queue.push('parent')
    await gate.until(1)
    clock.advance(9999)
    assert.deepEqual(await codes(), [])
    clock.advance(1)
    assert.deepEqual(await codes(), ['FAIRLANE_WARN_STALLED'])
    clock.advance(100000)
    assert.deepEqual(await codes(), ['FAIRLANE_WARN_STALLED'])
    assert.match(warnings.seen[0].message, /waits for a job of its own queue/)
    queue.resume(2)
    await gate.until(2)
    gate.open[1].done()
    await queue.onIdle()
    queue.push('parent')
    await gate.until(4)
    assert.equal(clock.timerCount, 0)
    await queue.close({ drain: false })
  })

  for (const concurrency of [1, 3]) {
    it(`comes for jobs that add after an await, in all of ${concurrency} slots`, async function () {
      const queue = fairlane(async (payload) => {
        await turn()
        if (payload === 'parent') await queue.add('child')
      }, { concurrency, clock })
      for (let i = 0; i < concurrency; i++) queue.push('parent')
      await quiet()
      assert.deepEqual([queue.running, queue.waiting], [concurrency, concurrency])
      clock.advance(30000)
      assert.deepEqual(await codes(), ['FAIRLANE_WARN_STALLED'])
      await queue.close({ drain: false })
      assert.equal(clock.timerCount, 0)
    })
  }

  it('comes for a job that maps over its own queue', async function () {
    const queue = fairlane(async (payload) => {
      if (payload === 'parent') for await (const result of queue.map([1, 2])) assert.fail(result)
    }, { concurrency: 1, clock })
    queue.push('parent')
    await quiet()
    clock.advance(30000)
    assert.deepEqual(await codes(), ['FAIRLANE_WARN_STALLED'])
    await queue.close({ drain: false })
  })

  it('does not come while jobs start or settle, and keeps no timer on an empty queue', async function () {
    const { gate, queue } = nested()
    queue.push('parent')
    await gate.until(1)
    assert.equal(clock.timerCount, 1)
    clock.advance(9000)
    queue.resume(2)
    await gate.until(2)
    clock.advance(9000)
    assert.equal(clock.timerCount, 0)
    gate.open[1].done()
    await queue.onIdle()
    assert.deepEqual(await codes(), [])
  })

  it('goes on watching while jobs wait and others end, and stops when the queue is paused', async function () {
    const { gate, queue } = nested()
    queue.push('parent')
    queue.push('later').push('last')
    await gate.until(1)
    clock.advance(9000)
    gate.open[0].done()
    await gate.until(2)
    clock.advance(9000)
    assert.equal(clock.timerCount, 1)
    queue.pause()
    clock.advance(10000)
    assert.equal(clock.timerCount, 0)
    queue.add('paused').catch(() => {})
    assert.equal(clock.timerCount, 0)
    assert.deepEqual(await codes(), [])
  })

  it('does not come for a crawler, whose slow jobs add others and do not wait for them', async function () {
    const gate = gates()
    const queue = fairlane(async (page, done) => {
      gate.runner(page, done)
      await turn()
      if (page < 3) for (const link of [page + 1, page + 1]) queue.add(link).catch(() => {})
      return new Promise(() => {})
    }, { concurrency: 2, clock })
    queue.push(0)
    for (let n = 1; queue.length > 0; n++) {
      await gate.until(n)
      await quiet()
      clock.advance(9000)
      if (gate.open.length > 0) gate.release()
      await quiet()
    }
    assert.equal(queue.stats().done, 15)
    assert.deepEqual(await codes(), [])
    assert.equal(clock.timerCount, 0)
  })

  it('does not come for long jobs while others are added from outside, up to half a minute', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, clock })
    queue.push(1)
    await gate.until(1)
    for (let n = 2; n < 6; n++) {
      queue.add(n)
      clock.advance(29000)
      gate.release()
      await gate.until(n)
    }
    gate.release()
    await queue.onIdle()
    assert.deepEqual(await codes(), [])
    assert.equal(clock.timerCount, 0)
  })

  it('costs no timer while slots are free, nor without add', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 2, clock })
    queue.add(1)
    await gate.until(1)
    queue.add(2)
    await gate.until(2)
    queue.push(3).push(4)
    assert.equal(clock.timerCount, 0)
    gate.release(2)
    await gate.until(4)
    gate.release(2)
    await queue.onIdle()
  })

  it('leaves no timer when time limits have emptied the queue meanwhile', async function () {
    const gate = gates()
    const queue = fairlane((payload, done) => {
      gate.runner(payload, done)
      if (payload === 'parent') queue.add('child', { timeoutMs: Infinity, maxWaitMs: 5000 }).catch(() => {})
    }, { concurrency: 1, timeoutMs: 5000, onTimeout: 'release', clock })
    queue.push('parent')
    await gate.until(1)
    clock.advance(5000)
    assert.deepEqual([queue.length, clock.timerCount], [0, 0])
    clock.advance(100000)
    await quiet()
    assert.deepEqual([await codes(), clock.timerCount], [[], 0])
    gate.release()
  })

  it('costs no timer where a queue that has closed, and where nothing waits, refuses a job', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, clock })
    queue.push(1)
    await gate.until(1)
    await queue.close({ drain: false })
    await assert.rejects(queue.add(2), { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(clock.timerCount, 0)
    gate.release()
  })

  it('keeps no process alive', async function () {
    const { code, stdout } = await node(['--eval', `
      const queue = require('fairlane')(async n => { if (n === 0) await queue.add(1) }, 1)
      queue.push(0)
      process.on('exit', () => console.log(queue.running, queue.waiting))`], { timeoutMs: 5000 })
    assert.deepEqual([code, stdout], [0, '1 1\n'])
  })
})
