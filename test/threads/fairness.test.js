'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { start, endAll, gate, letPass, arrived } = require('./start')

describe('a queue that shares threads equally', () => {
  afterEach(endAll)

  for (const threads of [1, 2]) {
    it(`starts a quiet tenant's job behind a backlog after two job lengths at most, with ${threads} threads`, async () => {
      const runner = start('jobs.js', { threads })
      const clock = fakeClock()
      const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal', clock })
      const held = gate()
      let passed = 0
      // one job after the other ends, 10 ms after the last one, and makes room for one
      const endOne = () => {
        clock.advance(10)
        letPass(held, ++passed)
      }
      const noisy = Array.from({ length: 40 }, () => queue.add({ act: 'pass', gate: held }, { type: 'noisy' }))
      await arrived(held, threads)
      for (let i = 0; i < 6; i++) {
        endOne()
        await arrived(held, passed + threads)
      }
      const quiet = gate()
      const answer = queue.add({ act: 'pass', gate: quiet, value: 'quiet' }, { type: 'quiet' })
      const before = passed
      while (Atomics.load(quiet, 1) === 0) {
        endOne()
        assert(passed - before <= 2 * threads, 'others have started first')
        await Promise.race([arrived(quiet, 1), arrived(held, passed + threads)])
      }
      letPass(quiet)
      assert.equal(await answer, 'quiet')
      letPass(held)
      await Promise.all(noisy)
      assert.equal(runner.stats().crashed, 0)
    })
  }
})
