'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { start, endAll, gate, letPass, arrived } = require('./start')

describe('a queue that shares threads equally', () => {
  afterEach(endAll)

  for (const threads of [1, 2]) {
    it(`starts a quiet tenant's job behind a backlog after two job lengths at most, with ${threads} threads`, async () => {
      const runner = start('jobs.js', { threads })
      const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal' })
      let passed = 4
      const held = gate(passed)
      const noisy = Array.from({ length: 40 }, () => queue.add({ act: 'pass', gate: held }, { type: 'noisy' }))
      await arrived(held, passed + threads)
      const quiet = gate()
      const answer = queue.add({ act: 'pass', gate: quiet, value: 'quiet' }, { type: 'quiet' })
      // one job ends after the other, and makes room for one
      while (Atomics.load(quiet, 1) === 0) {
        letPass(held, ++passed)
        assert(passed - 4 <= 2 * threads, 'others have started first')
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
