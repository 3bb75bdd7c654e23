'use strict'

const assert = require('node:assert/strict')
const { Pending } = require('../../../lib/core/pending')
const { PENDING } = require('../../../lib/core/running')
const { seeded, seedFromEnvironment } = require('../../support/random')

const seed = seedFromEnvironment()

describe('the started jobs that pend', function () {
  it(`are found in the order of their starts, however many come and go (SEED=${seed})`, function () {
    const random = seeded(seed)
    const pending = new Pending()
    const jobs = new Set()
    for (let step = 0; step < 20000; step++) {
      const most = step % 4000 < 2000 ? 500 : 5
      if (jobs.size < most && random.chance(0.6)) {
        const job = makeJob()
        jobs.add(job)
        pending.add(job)
      } else if (jobs.size > 0) {
        const job = [...jobs][random.below(jobs.size)]
        pending.drop(job)
        jobs.delete(job)
      }
      if (step % 100 > 0) continue
      const listed = pending.list()
      assert.equal(listed.length, jobs.size)
      assert.ok([...jobs].every((job, i) => job === listed[i]))
    }
  })

  it('are let go of when they end, and let go of each other', function () {
    const pending = new Pending()
    const jobs = Array.from({ length: 3 }, makeJob)
    for (const job of jobs) pending.add(job)
    for (const job of [jobs[1], jobs[0], jobs[2]]) pending.drop(job)
    for (const job of jobs) assert.deepEqual([job.before, job.after], [undefined, undefined])
    assert.deepEqual([pending.before, pending.after], [pending, pending])
    assert.deepEqual(pending.list(), [])
  })
})

function makeJob () {
  return { state: PENDING, before: undefined, after: undefined }
}
