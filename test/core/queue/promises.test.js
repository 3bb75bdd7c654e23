'use strict'

// In which order promises of add() come, successes and failures alike, and what waits for all jobs comes behind them: a program that
// collects what has failed, awaits the end and then reports must not miss the last ones.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { fakeClock } = require('../../../lib/testing')
const { LOOKS } = require('../../shared/looks')
const { turn } = require('../../support/turns')

const failing = async text => { throw new Error(text) }

const WAITS = { onIdle: queue => queue.onIdle(), fflush: queue => queue.fflush(), close: queue => queue.close() }
const LATER = new Error('later')
// how jobs fail, given the queue and a function that adds one
const FAILURES = {
  'an async runner': { runner: failing },
  'a runner that throws': { runner (text) { throw new Error(text) } },
  'done, inside the runner': { runner (text, done) { done(new Error(text)) } },
  'done, later': { runner (text, done) { setImmediate(done, new Error(text)) } },
  'a key that others share': { options: { key: 'k' }, runner: failing },
  'a key, for one with a signal': { options: { key: 'k', signal: new AbortController().signal }, runner: failing },
  'a signal that is there': { options: { signal: new AbortController().signal }, runner: failing }
}

describe('What waits for all jobs comes when their promises have been handled', function () {
  for (const [wait, begin] of Object.entries(WAITS)) {
    for (const [look, attach] of Object.entries(LOOKS)) {
      for (const [failure, { options, runner }] of Object.entries(FAILURES)) {
        it(`${wait} and ${look}, of jobs that fail by ${failure}`, async function () {
          const queue = fairlane(runner)
          const told = []
          for (const text of ['a', 'b', 'c']) attach(queue.add(text, options), told)
          await begin(queue)
          assert.equal(told.length, 3)
        })
      }

      it(`${wait} and ${look}, of jobs that time out, and are cleared`, async function () {
        const clock = fakeClock()
        const queue = fairlane(() => {}, { clock, timeoutMs: 10, concurrency: 1, onTimeout: 'release' })
        const told = []
        attach(queue.add('runs'), told)
        await turn()
        attach(queue.add('waits'), told)
        const over = begin(queue)
        queue.clear()
        clock.advance(10)
        await over
        assert.equal(told.length, 2)
      })

      for (const [kind, options] of Object.entries({ plain: undefined, 'of keys and signals': { signal: new AbortController().signal } })) {
        it(`${wait} and ${look}, of many jobs that are cleared or aborted at once, ${kind}`, async function () {
          const queue = fairlane(() => {}).pause()
          const controller = new AbortController()
          const told = []
          for (let i = 0; i < 40; i++) {
            attach(queue.add(i, options && { ...options, key: i }), told)
            attach(queue.add(i, { signal: controller.signal, ...options && { key: `aborted ${i}` } }), told)
          }
          const over = begin(queue)
          controller.abort()
          queue.clear()
          await over
          assert.equal(told.length, 80)
        })
      }

      it(`${wait} and ${look}, of jobs that are refused`, async function () {
        const queue = fairlane(async () => {})
        const told = []
        attach(queue.add('aborted', { signal: AbortSignal.abort(LATER) }), told)
        await begin(queue)
        assert.equal(told.length, 1)
      })
    }
  }

  it('and there is no unhandled rejection of one that is handled at once', async function () {
    const unhandled = []
    const listener = err => unhandled.push(err)
    process.on('unhandledRejection', listener)
    const queue = fairlane(failing)
    const results = await Promise.allSettled(['a', 'b'].map(text => queue.add(text)))
    await queue.onIdle()
    await turn()
    process.off('unhandledRejection', listener)
    assert.deepEqual([unhandled, results.map(({ reason }) => reason.message)], [[], ['a', 'b']])
  })
})

describe('Promises of jobs that succeed and fail', function () {
  it('come in the order in which the jobs have settled', async function () {
    const told = []
    const queue = fairlane((n, done) => n % 2 ? done(n) : done(null, n))
    const jobs = Array.from({ length: 9 }, (_, n) => queue.add(n).then(result => told.push(result), reason => told.push(reason)))
    await Promise.all(jobs)
    assert.deepEqual(told, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('come in the order of the jobs where many are cleared at once, and then others as soon as ever', async function () {
    const told = []
    const queue = fairlane((n, done) => n === 'well' ? done(null, n) : done(n)).pause()
    for (let n = 0; n < 40; n++) queue.add(n).catch(() => told.push(n))
    queue.clear()
    await turn()
    assert.deepEqual(told, Array.from({ length: 40 }, (_, n) => n))
    told.splice(0)
    queue.resume()
    await Promise.all([1, 'well', 2].map(n => queue.add(n).then(result => told.push(result), reason => told.push(reason))))
    assert.deepEqual(told, [1, 'well', 2])
  })

  it('reject with whatever a job has failed with', async function () {
    const queue = fairlane((reason, done) => done(reason))
    for (const reason of ['text', 1, { then () { throw new Error('expected') } }, Promise.resolve(1), () => {}]) {
      await assert.rejects(queue.add(reason).then(() => {}, given => { throw Object.assign(new Error('told'), { given }) }), ({ given }) => given === reason)
    }
  })
})
