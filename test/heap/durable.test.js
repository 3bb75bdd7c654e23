'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { durable } = require('../../lib/durable')
const { temporaryFolder } = require('../support/folders')
const { bytesUsed, retainedCount } = require('../support/memory')
const { isLong } = require('../support/rounds')
const { quiet } = require('../support/turns')
const { Bench } = require('../durable/bench')

const JOBS = isLong ? 200000 : 100000
const PAYLOAD = 'x'.repeat(1024)

describe('memory of the jobs that wait on disk', function () {
  let path

  beforeEach(() => { path = temporaryFolder() })
  afterEach(() => fs.rmSync(path, { recursive: true }))

  for (const options of [{}, { timeoutMs: 1000 }, { scheduler: 'equal' }]) {
    it(`is that of their numbers: ${JSON.stringify(options)}`, async () => {
      const open = () => durable(async () => {}, { path, ack: 'os', ...options })
      let queue = await open()
      queue.pause()
      await fill(queue, 1000)
      const before = await bytesUsed()
      await fill(queue, JOBS)
      const perJob = (await bytesUsed() - before) / JOBS
      assert.equal(queue.waiting, JOBS + 1000)
      assert.ok(perJob < 60, `${perJob} bytes per waiting job`)
      await queue.close()
      queue = await open()
      assert.equal(queue.waiting, JOBS + 1000)
      await queue.onIdle()
      const left = await bytesUsed() - before
      assert.ok(left < 15 * JOBS, `${left} bytes left`)
      await queue.close()
    })
  }
})

describe('results of keys for a time, on disk', () => {
  it('are held until that time, and not longer, though nothing else comes', async () => {
    const bench = new Bench()
    const queue = await bench.open({ runner: async () => ({}), settleBy: 'promise' })
    const refs = []
    for (let i = 0; i < 50; i++) refs.push(new WeakRef(await queue.add('x', { key: i, keyUntil: 1000 })))
    await quiet()
    bench.events.length = 0
    assert.equal(await retainedCount(refs), 50)
    bench.clock.advance(1000)
    await quiet()
    assert.deepEqual([await retainedCount(refs), bench.clock.timerCount], [0, 0])
    await queue.close()
  })
})

async function fill (queue, count) {
  for (let i = 0; i < count; i += 1000) {
    await Promise.all(Array.from({ length: 1000 }, (_, j) => queue.pushType(j % 10, PAYLOAD)))
  }
}
