'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { internalsOf } = require('../../../lib/core/internals')
const { LostSlots } = require('../../../lib/core/slots/lost')
const { checkInvariants, fakeClock } = require('../../../lib/testing')
const { turns } = require('../../support/turns')

const workOf = job => job.whenSettled.work

/** A registry of which the test sees what is in it. */
function openRegistry () {
  const registered = []
  return {
    registered,
    register (slot, held, token) { registered.push([slot, held, token]) },
    unregister (token) { registered.splice(registered.findIndex(([, , other]) => other === token), 1) }
  }
}

describe('slots that may get lost', function () {
  it('are registered when they have been held for a while, and let go then', function () {
    const clock = fakeClock()
    const registry = openRegistry()
    const lost = new LostSlots(clock, registry)
    const held = { slot: {}, isRegistered: false }
    const over = { slot: {}, isRegistered: false }
    const { slot } = held
    lost.watch(held)
    lost.watch(over)
    assert.deepEqual([clock.timerCount, registry.registered], [1, []])
    over.slot = undefined
    clock.advance(1000)
    assert.deepEqual(registry.registered, [[slot, held, held]])
    assert.deepEqual([held.slot, held.isRegistered, over.isRegistered, clock.timerCount], [undefined, true, false, 0])
    lost.unwatch(held)
    assert.deepEqual(registry.registered, [])
    lost.watch({ slot: {} })
    assert.equal(clock.timerCount, 1)
    clock.advance(1000)
    assert.equal(registry.registered.length, 1)
  })

  it('are looked at before their time if there are many, so that what is over does not pile up', function () {
    const clock = fakeClock()
    const registry = openRegistry()
    const lost = new LostSlots(clock, registry)
    const kept = { slot: {} }
    lost.watch(kept)
    for (let i = 0; i < 5000; i++) lost.watch({ slot: undefined })
    assert(lost.young.length <= 1024)
    assert.deepEqual(registry.registered.map(([, held]) => held), [kept])
    assert(clock.timerCount <= 1)
  })

  it('are freed as failed, with one warning for a queue', async function () {
    const warnings = []
    const listener = ({ code }) => { warnings.push(code) }
    process.on('warning', listener)
    const clock = fakeClock()
    const queue = fairlane(null, { clock, concurrency: 3 })
    const errors = []
    queue.on('failed', ({ error }) => { errors.push(error.code) })
    const slots = await Promise.all([queue.acquire(), queue.acquire(), queue.acquire({ timeoutMs: 10 })])
    const works = internalsOf(queue).dispatch.pending.list().map(({ whenSettled }) => (whenSettled.whenSettled ?? whenSettled).work)
    works[0].lose()
    works[1].lose()
    works[1].lose()
    slots[1].release()
    clock.advance(10)
    assert.equal(queue.running, 1)
    works[2].lose()
    await turns(2)
    process.off('warning', listener)
    assert.deepEqual([errors, warnings], [
      ['FAIRLANE_ERR_SLOT_LOST', 'FAIRLANE_ERR_SLOT_LOST', 'FAIRLANE_ERR_TIMEOUT'], ['FAIRLANE_WARN_SLOT_LOST']
    ])
    assert.deepEqual([queue.running, queue.stats().failed], [0, 3])
    checkInvariants(queue)
  })

  it('are taken out of the registry when they are released', async function () {
    const queue = fairlane(null)
    const slot = await queue.acquire()
    const work = workOf(internalsOf(queue).dispatch.pending.list()[0])
    assert.deepEqual([work.slot, work.isRegistered], [slot, false])
    work.isRegistered = true // as after a while
    slot.release()
    slot.release()
    assert.deepEqual([work.slot, work.job, queue.running], [undefined, undefined, 0])
  })
})
