'use strict'

// Lists that tell a ledger, one way of ending after the other. test/history/queues.test.js has the mixtures.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { History } = require('../../lib/history')
const { internalsOf } = require('../../lib/core/internals')
const { checkInvariants, fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { quiet } = require('../support/turns')
const { seeded, seedFromEnvironment } = require('../support/random')
const { captureWarnings } = require('../support/uncaught')

const SEED = seedFromEnvironment()
const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }
const LISTS = {
  Fifo: {},
  'Lanes with a clock': { scheduler: 'equal' },
  'Lanes without a clock': { scheduler: 'fair' },
  'Lanes with shared lanes': { scheduler: 'fair', maxTypes: 1 },
  Window: { scheduler: WINDOW }
}

for (const [name, options] of Object.entries(LISTS)) {
  describe(`a list that tells a ledger (${name})`, function () {
    let clock, history, gate
    let warnings

    beforeEach(() => {
      clock = fakeClock()
      history = new History()
      gate = gates()
      warnings = captureWarnings()
    })
    afterEach(() => warnings.release())

    function makeQueue (more) {
      return fairlane(gate.runner, { concurrency: 1, clock, observers: history, ...options, ...more })
    }

    function add (queue, payload, extras = {}) {
      const settled = queue.add(payload, { ...extras, type: options.scheduler === undefined ? undefined : `type ${payload % 3}` })
      settled.catch(() => {})
      return settled
    }

    const states = () => [...history.list({ limit: Infinity })].reverse().map(({ state }) => state)

    it('says that a job has timed out, and no more when its runner ends', async function () {
      for (const onTimeout of ['hold', 'release']) {
        history = new History()
        const queue = makeQueue({ timeoutMs: 10, onTimeout })
        add(queue, 0)
        await gate.until(1)
        clock.advance(10)
        assert.deepEqual(states(), ['failed'])
        gate.started.at(-1).done()
        gate.started.at(-1).done()
        assert.deepEqual(states(), ['failed'])
        assert.equal(history.get(1).error, 'FAIRLANE_ERR_TIMEOUT: The job ran longer than 10 ms')
        checkInvariants(queue)
        gate = gates()
      }
    })

    it('says that a job was aborted, while it waits and while it runs', async function () {
      const queue = makeQueue()
      const controller = new AbortController()
      for (let i = 0; i < 30; i++) add(queue, i, { signal: controller.signal })
      add(queue, 30)
      await gate.until(1)
      controller.abort()
      assert.deepEqual(states(), [...Array(30).fill('cancelled'), 'waiting'])
      assert.deepEqual([1, 2].map(id => [history.get(id).attempts, history.get(id).error]), [1, 0].map(attempts => [attempts, 'FAIRLANE_ERR_ABORTED: The job was aborted']))
      gate.started[0].done()
      await gate.until(2)
      assert.equal(states().at(-1), 'running')
      checkInvariants(queue)
    })

    it('says what remove takes out, whatever its test does, and what clear does', async function () {
      const queue = makeQueue().pause()
      for (let i = 0; i < 90; i++) add(queue, i, { unshift: i % 2 === 1, maxWaitMs: i === 7 ? 5 : undefined })
      let isFirst = true
      const count = queue.remove(({ payload }) => {
        if (isFirst) {
          isFirst = false
          queue.remove(({ payload }) => payload < 10)
          add(queue, 1000)
          clock.advance(5)
        }
        return payload % 2 === 0
      })
      assert.equal(count, 40)
      const expected = Array.from({ length: 91 }, (_, i) => i < 10 || i % 2 === 0 ? 'cancelled' : 'waiting')
      expected[90] = 'waiting'
      assert.deepEqual(states(), expected)
      checkInvariants(queue)
      assert.equal(queue.clear(), 41)
      assert.deepEqual(new Set(states()), new Set(['cancelled']))
      assert.equal(history.get(91).error, 'FAIRLANE_ERR_CLEARED: The queue was cleared')
      assert.equal(queue.clear(), 0)
    })

    it('says of a job once that it was removed, though the test of remove removes it itself', async function () {
      const queue = makeQueue().pause()
      for (let i = 0; i < 3; i++) add(queue, i)
      let isFirst = true
      const count = queue.remove(({ payload }) => {
        if (isFirst) {
          isFirst = false
          queue.remove(({ payload }) => payload === 1)
          queue.remove(({ payload }) => payload === 0)
        }
        return payload === 0
      })
      assert.equal(count, 0)
      assert.deepEqual(states(), ['cancelled', 'cancelled', 'waiting'])
      assert.equal(internalsOf(queue).list.recorder.ledger.endedCount, 2)
      checkInvariants(queue)
      queue.resume()
      await gate.until(1)
      assert.deepEqual([gate.payloads, states()], [[2], ['cancelled', 'cancelled', 'running']])
    })

    it('takes out nothing that came in the place of what the test of remove has cleared', async function () {
      const queue = makeQueue().pause()
      for (let i = 0; i < 3; i++) add(queue, i)
      let isFirst = true
      queue.remove(() => {
        if (isFirst) {
          isFirst = false
          queue.clear()
          for (let i = 0; i < 3; i++) add(queue, i)
        }
        return true
      })
      assert.deepEqual(states(), [...Array(3).fill('cancelled'), ...Array(3).fill('waiting')])
      checkInvariants(queue)
    })

    it('drops a job whose time is up while the test of remove looks at it', async function () {
      const queue = makeQueue().pause()
      for (let i = 0; i < 40; i++) add(queue, i, { maxWaitMs: 5 })
      queue.remove(() => {
        clock.advance(5)
        return false
      })
      await quiet()
      assert.deepEqual(states(), Array(40).fill('cancelled'))
      assert.match(history.get(3).error, /^FAIRLANE_ERR_MAX_WAIT/)
      checkInvariants(queue)
    })

    it('gives ids in the order of pushes, at whichever end, and types', async function () {
      const queue = makeQueue({ concurrency: Infinity }).pause()
      for (let i = 0; i < 10; i++) add(queue, i, { unshift: i % 3 === 0 })
      queue.resume()
      await quiet()
      assert.deepEqual(gate.payloads.slice(0, 2).length, 2)
      for (let id = 1; id <= 10; id++) assert.equal(history.get(id).type, options.scheduler === undefined ? undefined : `type ${(id - 1) % 3}`)
      for (const { payload, done } of gate.started) done(payload % 2 === 0 ? null : new Error(`of ${payload}`))
      for (let id = 1; id <= 10; id++) assert.equal(history.get(id).error, (id - 1) % 2 === 0 ? undefined : `Error: of ${id - 1}`)
      const { recorder } = internalsOf(queue).list
      assert.equal((recorder.ids?.unshifted ?? recorder.holes).size, 0)
    })

    it(`knows which job is which, whatever is put in front and taken out (SEED=${SEED})`, async function () {
      const random = seeded(SEED)
      const running = []
      const ends = [] // by payload
      const queue = fairlane((payload, done) => {
        assert.equal(history.get(payload + 1).state, 'running')
        running.push(done)
      }, { clock, observers: history, ...options, concurrency: 2 })
      const settle = payload => add(queue, payload, { unshift: random.chance(0.5), maxWaitMs: random.chance(0.3) ? 5 : undefined })
        .then(() => { ends[payload] = 'done' }, () => { ends[payload] = 'cancelled' })
      for (let step = 0; step < 400; step++) {
        const kind = random.next()
        if (kind < 0.4) for (let i = random.below(30); i >= 0; i--) settle(ends.push(undefined) - 1)
        else if (kind < 0.5) queue.remove(({ payload }) => random.chance(0.02) && queue.remove(job => job.payload % 3 === payload % 3) > 0)
        else if (kind < 0.6) queue.remove(() => random.chance(0.7))
        else if (kind < 0.62) queue.clear()
        else if (kind < 0.7) clock.advance(5)
        else for (let i = random.below(20); i >= 0 && running.length > 0; i--) running.shift()()
        if (random.chance(0.3)) await quiet()
        checkInvariants(queue)
      }
      for (; queue.length > 0; await quiet()) for (const done of running.splice(0)) done()
      await quiet()
      assert.deepEqual(states(), ends)
    })

    it('tells nobody of a second end', async function () {
      const queue = makeQueue()
      add(queue, 0)
      await gate.until(1)
      gate.started[0].done()
      gate.started[0].done(new Error('late'))
      assert.deepEqual(states(), ['done'])
      assert.equal(queue.stats().misuse, 1)
    })

    it('knows more types than stand in one place', async function () {
      const queue = makeQueue({ concurrency: Infinity })
      for (let i = 0; i < 2000; i++) queue.pushType(`type ${i}`, i)
      await gate.until(2000)
      assert.deepEqual(history.counts(), { waiting: 0, running: 2000, delayed: 0, done: 0, failed: 0, cancelled: 0 })
      gate.release(2000)
      await quiet()
      assert.deepEqual([history.counts().done, history.counts('type 1999').done], [2000, 1])
    })

    it('says that none may start when none waits', () => assert.equal(internalsOf(makeQueue()).list.take(), false))
  })
}

describe('a scheduler of an observed queue', function () {
  it('is not asked any more after as many failures as one of another queue', async function () {
    const warnings = captureWarnings()
    const asked = []
    for (const observers of [undefined, new History()]) {
      let count = 0
      const scheduler = {
        queued () {},
        started () {},
        ended () {},
        next () {
          count++
          throw new Error('expected')
        }
      }
      const queue = fairlane((n, done) => {
        if (n < 30) queue.unshiftType('a', n + 1)
        done()
      }, { scheduler, observers, concurrency: 1 })
      queue.pushType('a', 0)
      await queue.onIdle()
      asked.push(count)
    }
    warnings.release()
    assert(asked[0] < 30)
    assert.deepEqual(asked, Array(2).fill(asked[0]))
  })

  it('may do anything when it is told of a job, which has its record by then', async function () {
    const history = new History()
    const seen = []
    const scheduler = {
      waiting: type => {
        seen.push([...history.list()].map(({ id, state }) => `${id} ${state}`).join())
        if (type === 'a') queue.clear()
      },
      start () {},
      done () {},
      select: () => 0
    }
    const queue = fairlane((n, done) => done(), { scheduler, observers: history })
    queue.pushType('a', 1).pushType('b', 2)
    await queue.onIdle()
    assert.deepEqual(seen, ['1 waiting', '2 waiting,1 cancelled'])
    assert.deepEqual([...history.list()].map(({ state }) => state), ['done', 'cancelled'])
  })
})

describe('a ledger', () => {
  it('knows of no job without a record for how long it has waited', () => {
    const history = new History()
    const clock = fakeClock()
    const queue = fairlane(async () => {}, { observers: history, clock }).pause()
    queue.push(1)
    clock.advance(5)
    const { records } = internalsOf(queue).read.ledger
    assert.deepEqual([records.waitMsOf(1), records.waitMsOf(2)], [5, undefined])
  })
})
