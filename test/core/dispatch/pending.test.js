'use strict'

const assert = require('node:assert/strict')
const { Pending, PENDING } = require('../../../lib/core/pending')
const { seeded, seedFromEnvironment } = require('../../support/random')

const ENDED = -2
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
        end(pending, job)
        jobs.delete(job)
      }
      if (step % 100 > 0) continue
      assert.equal(pending.liveCount, jobs.size)
      assert.ok(pending.list().every((job, i) => job === [...jobs][i]))
    }
  })

  it('keep no more than some blocks of those that ended, though one of each block pends', function () {
    const pending = new Pending()
    const pinned = []
    for (let i = 0; i < 64000; i++) {
      const job = makeJob()
      pending.add(job)
      if (i % 64 === 0) pinned.push(job)
      else end(pending, job)
    }
    assert.ok(pending.full.length < 300, `${pending.full.length} blocks for ${pinned.length} jobs`)
    assert.deepEqual(pending.list(), pinned)
  })

  it('are not looked through again with each block, however many pend', function () {
    const pending = new Pending()
    const { sweep } = pending
    let blocksCount = 0
    pending.sweep = function () {
      blocksCount += this.full.length
      sweep.call(this)
    }
    for (let i = 0; i < 64000; i++) pending.add(makeJob())
    assert.ok(blocksCount > 0 && blocksCount < 4000, `${blocksCount} looks at 1000 blocks`)
  })

  it('keep no blocks in which none pends, though there are too many in the others for packing', function () {
    const pending = new Pending()
    for (let block = 0; block < 1000; block++) {
      const jobs = Array.from({ length: 64 }, makeJob)
      for (const job of jobs) pending.add(job)
      if (block % 3 > 0) for (const job of jobs) end(pending, job)
    }
    pending.sweep()
    assert.ok(pending.full.length <= 334, `${pending.full.length} blocks`)
  })

  it('give memory back after a flood, at once when none pends', function () {
    const pending = new Pending()
    const jobs = Array.from({ length: 10000 }, makeJob)
    for (const job of jobs) pending.add(job)
    assert.equal(pending.list().length, 10000)
    for (const job of jobs) end(pending, job)
    assert.ok(pending.full.length > 100)
    pending.reset()
    assert.equal(pending.full.length, 0)
    assert.deepEqual(pending.list(), [])
  })
})

function makeJob () {
  return { state: PENDING, block: undefined }
}

function end (pending, job) {
  job.state = ENDED
  pending.drop(job)
}
