'use strict'

// A clock of the caller's own may throw, give what is no number, or go back: the n-th time that it is read, for each n, or from then on.
// Then nothing hangs, no job and no deadline is lost, and none comes too soon.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { captureUncaught } = require('../../support/uncaught')
const { quiet } = require('../../support/turns')

const FAULTS = {
  throws: () => { throw new Error('expected') },
  'throws undefined': () => { throw undefined }, // eslint-disable-line no-throw-literal
  'gives NaN': () => NaN,
  'gives Infinity': () => Infinity,
  'gives a number beyond all times': () => Number.MAX_VALUE,
  'gives a string': time => String(time),
  'gives nothing': () => undefined,
  'goes back': time => time - 1000,
  'goes back to 0': () => 0
}

/** A fakeClock whose readings isBroken(n), from 1 on, says to be wrong. */
function brokenClock (isBroken, fault) {
  const clock = fakeClock(5000)
  let count = 0
  return {
    ...clock,
    now: () => isBroken(++count) ? fault(clock.now()) : clock.now(),
    time: clock.now,
    setTimeout: clock.setTimeout,
    get count () { return count },
    get timerCount () { return clock.timerCount }
  }
}

/**
 * A queue with all that reads the clock: limits of waiting and running, admission, 'equal', close() with a time.
 * @returns {Promise<{ name: string, how: string, at: number }[]>} what became of each job, and when, in order
 */
async function history (clock) {
  const ends = []
  const tell = name => err => { ends.push(endOf(name, err, clock)) }
  const gate = gates()
  const options = { clock, scheduler: 'equal', concurrency: 2, maxWaiting: 5, onTimeout: 'release' }
  const queue = fairlane(gate.runner, options)
  const add = (name, extras) => queue.add(name, { type: 'a', ...extras }).then(() => tell(name)(), tell(name))
  const advance = async ms => {
    clock.advance(ms)
    await quiet()
    checkInvariants(queue)
  }

  const end = () => {
    gate.release(gate.open.length)
    return quiet()
  }

  add('runs too long', { timeoutMs: 20 })
  add('runs', { timeoutMs: 1000 })
  await quiet()
  add('waits too long', { maxWaitMs: 30 })
  add('waits longer', { maxWaitMs: 60 })
  await quiet()
  for (const n of [1, 2, 3, 4, 5]) queue.pushType('b', n, tell(`b ${n}`))
  await advance(19)
  await advance(1)
  await advance(9)
  await advance(1)
  await end()
  await advance(40)
  await end()
  await end()
  add('is left', { timeoutMs: Infinity })
  add('is left too', { timeoutMs: 50000 })
  queue.close({ timeoutMs: 100 }).then(count => ends.push({ name: 'close', how: `${count} left`, at: clock.time() }))
  await quiet()
  await advance(99)
  await advance(1)
  assert.equal(clock.timerCount, 0)
  return ends
}

/** map(), whose jobs are watched for a deadlock, and wait for room. */
async function mapHistory (clock) {
  const ends = []
  const gate = gates()
  const queue = fairlane(gate.runner, { clock, concurrency: 1, maxWaiting: 1, maxWaitMs: 50 })
  const results = queue.map([1, 2, 3, 4], { maxPending: 2, settled: true })
  const read = async () => {
    for await (const { reason } of results) ends.push(endOf(`result ${ends.length}`, reason, clock))
  }
  const reading = read()
  await quiet()
  for (const ms of [49, 1]) {
    clock.advance(ms)
    await quiet()
  }
  for (let i = 0; i < 4; i++) {
    gate.release(gate.open.length)
    await quiet()
    checkInvariants(queue)
  }
  await reading
  assert.equal(clock.timerCount, 0)
  return ends
}

function endOf (name, err, clock) {
  return { name, how: err ? err.code ?? err.message : 'done', at: clock.time() }
}

/** Calls run while exceptions are collected that have no one else to go to. */
async function unheard (run) {
  const uncaught = captureUncaught()
  try {
    await run()
    await quiet()
  } finally {
    uncaught.release()
  }
}

for (const [name, live] of Object.entries({ 'a queue with limits': history, map: mapHistory })) {
  describe(`the clock of ${name}`, function () {
    let expected
    let readCount

    before(async function () {
      const clock = brokenClock(() => false)
      expected = await live(clock)
      readCount = clock.count
      assert(readCount > 10, 'too few readings')
    })

    for (const [title, fault] of Object.entries(FAULTS)) {
      it(`${title} once, at any reading: nothing changes`, async function () {
        for (let broken = 1; broken <= readCount; broken++) {
          assert.deepEqual(await live(brokenClock(n => n === broken, fault)), expected, `reading ${broken}`)
        }
      })

      it(`${title} from any reading on: each job ends once, in time or because of that`, async function () {
        const namesOf = ends => ends.map(({ name }) => name).sort()
        await unheard(async () => {
          for (let broken = 3; broken <= readCount; broken++) {
            const ends = await live(brokenClock(n => n >= broken, fault))
            assert.deepEqual(namesOf(ends), namesOf(expected), `reading ${broken}`)
            if (title.startsWith('goes back')) assert.deepEqual(ends, expected, `reading ${broken}`)
          }
        })
      })
    }
  })
}

describe('a clock', function () {
  /** A fakeClock with other methods. */
  const clockWith = (makeMethods) => {
    const clock = fakeClock()
    return { ...clock, ...makeMethods(clock), advance: clock.advance, next: clock.next }
  }

  it('that stands still, or goes back further each time, while its timers go on, ends what is due when they do', async function () {
    for (const step of [0, 1]) {
      let reading = 1000
      const clock = clockWith(() => ({ now: () => { reading -= step; return reading } }))
      const queue = fairlane(() => {}, { clock }).pause()
      const codes = [10, 20].map(maxWaitMs => queue.add(1, { maxWaitMs }).catch(({ code }) => code))
      let count = 0
      while (clock.next()) assert(++count < 10, 'its timer is set for ever')
      assert.deepEqual(await Promise.all(codes), ['FAIRLANE_ERR_MAX_WAIT', 'FAIRLANE_ERR_MAX_WAIT'])
    }
  })

  it('that stands still and calls its timers at once ends what is due at once', async function () {
    const clock = clockWith(() => ({ setTimeout: fn => { fn() } }))
    const queue = fairlane(() => {}, { clock }).pause()
    await assert.rejects(queue.add(1, { maxWaitMs: 10 }), { code: 'FAIRLANE_ERR_MAX_WAIT' })
    checkInvariants(queue)
  })

  describe('that is behind by a second', function () {
    let behindMs
    let clock
    let queue
    let codes

    beforeEach(function () {
      behindMs = 0
      codes = []
      clock = clockWith(fake => ({ now: () => fake.now() - behindMs }))
      clock.advance(5000)
      queue = fairlane(() => {}, { clock }).pause()
      add(100)
      behindMs = 1000
    })

    const add = maxWaitMs => queue.add(1, { maxWaitMs }).catch(({ code }) => codes.push(code))

    /** Each time after so many ms, so many jobs have ended in all. */
    async function ends (expected) {
      for (const [ms, count] of expected) {
        clock.advance(ms)
        await quiet()
        assert.equal(codes.length, count, `at ${clock.now() + behindMs}`)
      }
      assert.equal(clock.timerCount, 0)
    }

    it('for a while makes nothing come too soon when it is right again', async function () {
      add(120)
      clock.advance(50)
      add(100)
      behindMs = 0
      await ends([[49, 0], [1, 1], [19, 1], [1, 2], [29, 2], [1, 3]])
    })

    it('for good puts deadlines off by no more than the time for which it was not read', async function () {
      clock.advance(50)
      add(10)
      add(100)
      await ends([[10, 1], [89, 1], [1, 3]])
    })
  })

  it('whose clearTimeout does nothing but throw ends no job by a timer that was to be cleared', async function () {
    await unheard(async () => {
      const clock = clockWith(() => ({ clearTimeout () { throw new Error('expected') } }))
      const queue = fairlane(() => {}, { clock }).pause()
      const controller = new AbortController()
      const aborted = queue.add(1, { maxWaitMs: 10, signal: controller.signal })
      controller.abort()
      await assert.rejects(aborted, { code: 'FAIRLANE_ERR_ABORTED' })
      clock.advance(9)
      const late = queue.add(2, { maxWaitMs: 10 }).catch(({ code }) => `${code} at ${clock.now()}`)
      clock.advance(9)
      await quiet()
      assert.equal(queue.waiting, 1)
      clock.advance(1)
      assert.equal(await late, 'FAIRLANE_ERR_MAX_WAIT at 19')
    })
  })

  it('whose setTimeout throws without a reason ends the job with a reason, and so does a signal', async function () {
    const thrower = () => { throw undefined } // eslint-disable-line no-throw-literal
    const queue = fairlane(() => {}, { clock: clockWith(() => ({ setTimeout: thrower })) })
    const signal = { aborted: false, addEventListener: thrower, removeEventListener () {} }
    for (const options of [{ maxWaitMs: 5 }, { signal }]) await assert.rejects(queue.add(1, options), { code: 'FAIRLANE_ERR_OPTION' })
    checkInvariants(queue)
  })

  it('whose setTimeout calls back at once and then throws loses no deadline', async function () {
    await unheard(async () => {
      let isBroken = false
      const clock = clockWith(fake => ({
        setTimeout (fn, ms) {
          if (!isBroken) return fake.setTimeout(fn, ms)
          isBroken = false
          fn()
          throw new Error('expected')
        }
      }))
      const queue = fairlane(() => {}, { clock }).pause()
      const late = queue.add(1, { maxWaitMs: 20 })
      isBroken = true
      await assert.rejects(queue.add(2, { maxWaitMs: 10 }))
      clock.advance(20)
      await assert.rejects(late, { code: 'FAIRLANE_ERR_MAX_WAIT' })
      checkInvariants(queue)
    })
  })

  it('whose setTimeout throws as the watch for deadlocks begins has add() return its promise nonetheless', async function () {
    const uncaught = captureUncaught()
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, clock: clockWith(() => ({ setTimeout () { throw new Error('expected') } })) })
    queue.push(1)
    await gate.until(1)
    const second = queue.add(2)
    await uncaught.until(1)
    uncaught.release()
    gate.release()
    await gate.until(2)
    gate.release()
    assert.equal(await second, 2)
  })

  it('is not asked for a timer by close() with a time without end', async function () {
    const clock = fakeClock()
    const queue = fairlane(async () => {}, { clock }).push(1)
    const closed = queue.close({ timeoutMs: Infinity })
    assert.equal(clock.timerCount, 0)
    assert.equal(await closed, 0)
  })

  it('whose setTimeout throws once loses no deadline, whoever it throws to', async function () {
    const uses = {
      'a new job': queue => queue.add(1, { maxWaitMs: 5 }).catch(() => {}),
      'the timer': (queue, clock) => { try { clock.advance(10) } catch ({ message }) { assert.equal(message, 'expected') } },
      'close()': queue => queue.close({ timeoutMs: 5 })
    }
    for (const use of Object.values(uses)) {
      await unheard(async () => {
        let isBroken = false
        let hasRetried
        const retried = new Promise(resolve => { hasRetried = resolve })
        const clock = clockWith(fake => ({
          setTimeout (fn, ms) {
            if (isBroken) throw new Error('expected')
            if (ms > 0) hasRetried()
            return fake.setTimeout(fn, ms)
          }
        }))
        const queue = fairlane(() => {}, { clock, scheduler: 'equal' })
        const codes = [10, 20].map(maxWaitMs => queue.pauseType('a').add(1, { type: 'a', maxWaitMs }).catch(({ code }) => code))
        const [first, second] = codes
        isBroken = true
        use({ add: (n, options) => queue.add(n, { type: 'a', ...options }), close: options => queue.close(options) }, clock)
        isBroken = false
        await retried
        await quiet()
        clock.advance(20)
        assert.match(await first, /MAX_WAIT|CLOSED/)
        assert.match(await second, /MAX_WAIT|CLOSED/)
        checkInvariants(queue)
      })
    }
  })
})
