'use strict'

const assert = require('node:assert/strict')
const { Pending, PENDING } = require('../../lib/pending')
const { seeded, seedFromEnvironment } = require('../support/random')

const ENDED = -2
const seed = seedFromEnvironment()

describe('the started jobs that pend', function () {
  it(`are found, however many come and go (SEED=${seed})`, function () {
    const random = seeded(seed)
    const pending = new Pending()
    const jobs = new Set()
    for (let step = 0; step < 20000; step++) {
      const most = step % 4000 < 2000 ? 500 : 5
      if (jobs.size < most && random.chance(0.6)) {
        const job = { state: PENDING, step }
        jobs.add(job)
        pending.add(job, jobs.size)
      } else if (jobs.size > 0) {
        const job = [...jobs][random.below(jobs.size)]
        job.state = ENDED
        jobs.delete(job)
      }
      if (step % 100 === 0) assert.deepEqual(new Set(pending.list()), jobs)
    }
  })

  it('give memory back after a flood', function () {
    const pending = new Pending()
    const jobs = Array.from({ length: 10000 }, () => ({ state: PENDING }))
    jobs.forEach((job, i) => pending.add(job, i + 1))
    assert.equal(pending.list().length, 10000)
    for (const job of jobs) job.state = ENDED
    for (let i = 0; i < 40000; i++) pending.add({ state: ENDED }, 1)
    assert.ok(pending.places.length <= 64)
    jobs.forEach((job, i) => pending.add(job, i + 1))
    pending.reset()
    assert.equal(pending.places.length, 32)
    pending.reset()
    assert.deepEqual(pending.list(), [])
  })
})
