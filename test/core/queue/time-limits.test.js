'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { fakeClock } = require('../../../lib/testing')
const { node } = require('../../support/child')
const { stoppedTime } = require('../../support/time')
const { quiet } = require('../../support/turns')
const { captureWarnings } = require('../../support/uncaught')

function setUp (options) {
  const clock = fakeClock()
  const gate = gates()
  return { clock, gate, queue: fairlane(gate.runner, { clock, ...options }) }
}

/** A custom scheduler that takes the first job. */
function windowScheduler () {
  return { waiting () {}, start () {}, done () {}, select: () => 0 }
}

describe('timeoutMs', function () {
  it('fails a job at once and holds its slot until the runner ends, which is no misuse', async function () {
    const { clock, gate, queue } = setUp({ concurrency: 1, timeoutMs: 50 })
    const promise = queue.add(1)
    queue.push(2)
    await gate.until(1)
    clock.advance(49)
    assert.equal(queue.stats().failed, 0)
    clock.advance(1)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_TIMEOUT' })
    assert.deepEqual([queue.stats().failed, queue.running, queue.length, queue.stats().overrun], [1, 1, 2, 0])
    assert.equal(gate.started[0].context.signal.reason.code, 'FAIRLANE_ERR_TIMEOUT')
    gate.release()
    await gate.until(2)
    assert.equal(queue.stats().misuse, 0)
    gate.started[0].done()
    assert.equal(queue.stats().misuse, 1)
    gate.release()
    await queue.onIdle()
    assert.equal(clock.timerCount, 0)
  })

  it('frees the slot at once with onTimeout release, and counts the runner until it ends', async function () {
    const { clock, gate, queue } = setUp({ concurrency: 1, timeoutMs: 50, onTimeout: 'release', scheduler: 'equal' })
    const codes = []
    queue.pushType('a', 1, (error) => codes.push([error.code, queue.running, queue.stats().overrun]))
    queue.pushType('a', 2)
    await gate.until(1)
    clock.advance(50)
    assert.deepEqual(codes, [['FAIRLANE_ERR_TIMEOUT', 0, 1]])
    await gate.until(2)
    assert.deepEqual([queue.running, queue.stats().overrun], [1, 1])
    gate.release(2)
    await queue.onIdle()
    assert.deepEqual([queue.stats().overrun, queue.stats().misuse, queue.stats().failed, queue.stats().done], [0, 0, 1, 1])
  })

  for (const scheduler of ['equal', 'fair', windowScheduler()]) {
    const name = typeof scheduler === 'string' ? scheduler : 'a window scheduler'

    it(`is counted by type too, while runners go on in their slots or without (${name})`, async function () {
      for (const onTimeout of ['hold', 'release']) {
        const { clock, gate, queue } = setUp({ concurrency: 2, timeoutMs: 50, onTimeout, scheduler })
        const countsOf = ({ accepted, waiting, running, failed }) => [accepted, waiting, running, failed]
        queue.pushType('a', 1).pushType('a', 2).pushType('a', 3)
        await gate.until(2)
        clock.advance(50)
        if (onTimeout === 'release') await gate.until(3)
        assert.deepEqual(countsOf(queue.stats('a')), countsOf(queue.stats()))
        assert.deepEqual(countsOf(queue.stats('a')), onTimeout === 'hold' ? [3, 1, 2, 2] : [3, 0, 1, 2])
        assert.equal(queue.stats().overrun, onTimeout === 'hold' ? 0 : 2)
        gate.release(1)
        await gate.until(3)
        assert.deepEqual(countsOf(queue.stats('a')), countsOf(queue.stats()))
        gate.release(2)
        await queue.onIdle()
        assert.deepEqual([queue.stats().overrun, queue.stats().failed, queue.stats().done], [0, 2, 1])
      }
    })
  }

  it('of runners that hold their slots are counted where these are, when their type gets a lane of its own', async function () {
    const { clock, gate, queue } = setUp({ concurrency: 3, timeoutMs: 50, scheduler: 'equal', maxTypes: 1 })
    queue.pushType('first', 1).pushType('x', 2)
    await gate.until(2)
    clock.advance(50)
    queue.pauseType('x')
    assert.deepEqual([queue.stats('x').accepted, queue.stats('x').running], [0, 1])
    queue.resumeType('x').pushType('x', 3)
    await gate.until(3)
    assert.deepEqual([queue.stats('x').accepted, queue.stats('x').running], [1, 2])
    gate.release(3)
    await queue.onIdle()
    assert.equal(queue.stats().types, 0)
  })

  it('of a job goes before that of the queue, in either direction', async function () {
    const { clock, gate, queue } = setUp({ timeoutMs: 50 })
    const short = queue.add(1, { timeoutMs: 10 })
    const never = queue.add(2, { timeoutMs: Infinity })
    await gate.until(2)
    clock.advance(10)
    await assert.rejects(short, { code: 'FAIRLANE_ERR_TIMEOUT' })
    clock.advance(1000)
    gate.release(2)
    assert.equal(await never, 2)
  })

  it('that passes inside the runner settles the job when that returns', async function () {
    const clock = fakeClock()
    const ends = []
    const queue = fairlane((payload, done) => {
      ends.push(done)
      clock.advance(100)
    }, { clock, timeoutMs: 50 })
    await assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_TIMEOUT' })
    ends[0]()
    await queue.onIdle()
  })

  it('frees the slot of a late end that comes inside a callback of the queue', async function () {
    const { clock, gate, queue } = setUp({ concurrency: 2, timeoutMs: 50 })
    queue.push(1)
    queue.add(2, { timeoutMs: Infinity })
    await gate.until(2)
    clock.advance(50)
    queue.push(3, () => gate.started[0].done()).pause()
    queue.clear()
    assert.deepEqual([queue.running, queue.stats().misuse], [1, 0])
    gate.started[1].done()
    await queue.onIdle()
  })

  it('uses one timer for all jobs, and keeps no process alive without them', async function () {
    const { clock, gate, queue } = setUp({ concurrency: 100, timeoutMs: 50 })
    for (let i = 0; i < 100; i++) queue.push(i)
    await gate.until(100)
    assert.equal(clock.timerCount, 1)
    gate.release(100)
    assert.equal(clock.timerCount, 0)
    // a timer that kept it alive would do so for days
    const { code } = await node(['--eval', "require('fairlane')(async () => {}, { timeoutMs: 2 ** 30, maxWaitMs: 2 ** 30 }).push(1)"])
    assert.equal(code, 0)
  })

  it('takes the word of a timer though the system clock stands still', async function () {
    const time = stoppedTime()
    try {
      const queue = fairlane(() => {}, { timeoutMs: 1 })
      await assert.rejects(queue.add(1), { code: 'FAIRLANE_ERR_TIMEOUT' })
    } finally {
      time.release()
    }
  })

  it('works with the system clock, and with times too long for one timer', async function () {
    const queue = fairlane(() => {}, { timeoutMs: 1 })
    queue.add(1, { timeoutMs: 2 ** 40 }).catch(() => {})
    await assert.rejects(queue.add(2), { code: 'FAIRLANE_ERR_TIMEOUT' })
    await queue.close({ drain: false })
    const { clock, gate, queue: patient } = setUp({ timeoutMs: 2 ** 32 })
    const promise = patient.add(1)
    await gate.until(1)
    clock.advance(2 ** 32 - 1)
    assert.equal(patient.stats().failed, 0)
    clock.advance(1)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_TIMEOUT' })
  })

  it('sets no timer that is too long for the system: it would fire at once, and warn', async function () {
    const warnings = captureWarnings()
    const THIRTY_DAYS = 30 * 24 * 3600 * 1000
    const queue = fairlane(() => {}, { timeoutMs: THIRTY_DAYS })
    const ends = [queue.add(1), queue.add(2, { timeoutMs: 5 })].map((end) => end.catch(({ code }) => code))
    assert.equal(await ends[1], 'FAIRLANE_ERR_TIMEOUT') // by then the timer of the other one is set
    await quiet()
    warnings.release()
    assert.deepEqual(warnings.seen.map(({ name }) => name), [])
    assert.equal(queue.running, 2)
    await queue.close({ drain: false })
    assert.equal(await ends[0], 'FAIRLANE_ERR_CLOSED')
  })
})

describe('a limit of time', function () {
  it('is above 0, of a queue and of a job, and the error says what is no limit', function () {
    for (const name of ['timeoutMs', 'maxWaitMs']) {
      const message = `${name} must be above 0; use Infinity for no limit`
      assert.throws(() => fairlane(() => {}, { [name]: 0 }), { name: 'RangeError', code: 'FAIRLANE_ERR_OPTION', message })
      assert.throws(() => fairlane(() => {}).add(1, { [name]: 0 }), { name: 'RangeError', code: 'FAIRLANE_ERR_ARGUMENT', message })
    }
  })
})

describe('maxWaitMs', function () {
  it('cancels a job that waits too long, also while the queue is paused', async function () {
    const { clock, queue } = setUp({ maxWaitMs: 50 })
    queue.pause()
    const promise = queue.add(1)
    const patient = queue.add(2, { maxWaitMs: 100 })
    clock.advance(50)
    await assert.rejects(promise, { code: 'FAIRLANE_ERR_MAX_WAIT' })
    assert.deepEqual([queue.stats().cancelled, queue.waiting], [1, 1])
    clock.advance(50)
    await assert.rejects(patient, { code: 'FAIRLANE_ERR_MAX_WAIT' })
    assert.equal(clock.timerCount, 0)
  })

  it('does not concern a job that has started', async function () {
    const { clock, gate, queue } = setUp({ maxWaitMs: 50 })
    const promise = queue.add(1)
    await gate.until(1)
    clock.advance(1000)
    gate.release()
    assert.equal(await promise, 1)
  })
})
