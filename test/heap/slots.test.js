'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { internalsOf } = require('../../lib/core/internals')
const { checkInvariants } = require('../../lib/testing')
const { collect, retainedCount } = require('../support/memory')
const { turns } = require('../support/turns')

const WAYS = { 'no scheduler': {}, lanes: { scheduler: 'equal' }, 'settleBy promise': { settleBy: 'promise' }, 'a time limit': { timeoutMs: 60000 } }

describe('a slot', function () {
  for (const [name, options] of Object.entries(WAYS)) {
    it(`that is lost is freed, as failed, and one warning says so; with ${name}`, async function () {
      const warnings = []
      const listener = ({ code }) => { if (code.startsWith('FAIRLANE')) warnings.push(code) }
      process.on('warning', listener)
      const queue = fairlane(null, { concurrency: 2, ...options })
      const failures = []
      queue.on('failed', ({ error }) => { failures.push(error.code) })
      await lose(queue)
      await lose(queue)
      const next = queue.acquire({ type: 'b' })
      await until(() => failures.length === 2)
      ;(await next).release()
      await turns(2)
      process.off('warning', listener)
      assert.deepEqual([failures, warnings], [['FAIRLANE_ERR_SLOT_LOST', 'FAIRLANE_ERR_SLOT_LOST'], ['FAIRLANE_WARN_SLOT_LOST']])
      const { done, failed, running } = queue.stats()
      assert.deepEqual([done, failed, running], [1, 2, 0])
      checkInvariants(queue)
    })
  }

  it('that somebody can still release is not lost, however long it is held', async function () {
    const queue = fairlane(null, 2)
    const { release } = await queue.acquire()
    const kept = await queue.acquire()
    const works = internalsOf(queue).dispatch.pending.list().map(({ whenSettled }) => whenSettled.work)
    await until(() => works.every(({ isRegistered }) => isRegistered))
    for (let i = 0; i < 5; i++) await collect()
    assert.equal(queue.running, 2)
    release()
    kept.release()
    assert.deepEqual([queue.running, queue.stats().failed], [0, 0])
  })

  it('and a function leave nothing behind when they have ended', async function () {
    const refs = []
    const queue = fairlane(null, { concurrency: 5, scheduler: 'equal' })
    const note = thing => {
      refs.push(new WeakRef(thing))
      return thing
    }
    const use = async n => {
      const controller = new AbortController()
      note(controller.signal)
      const slot = note(await queue.acquire({ type: n, signal: controller.signal }))
      note(slot.signal)
      slot.release(n === 1 ? note(new Error('expected')) : undefined)
      await queue.run(note(() => note({})), { type: n, signal: controller.signal })
    }
    await Promise.all([1, 2, 3, 4, 5].map(use))
    await until(async () => await retainedCount(refs) === 0)
    assert.equal(queue.running, 0)
  })
})

async function lose (queue) {
  await queue.acquire({ type: 'a' })
}

/** Collects garbage until the test is true. */
async function until (test) {
  const end = Date.now() + 60000
  while (!await test()) {
    assert(Date.now() < end, `it has not come: ${test}`)
    await collect()
  }
}
