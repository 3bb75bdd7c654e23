'use strict'

const assert = require('node:assert/strict')
const { ArrivalOrder } = require('../../../lib/core/lists/arrival-order')
const { seeded, seedFromEnvironment } = require('../../support/random')

const METHODS = ['queued', 'started', 'ended', 'charged', 'removed', 'paused', 'resumed', 'forget', 'isNamed']

describe('the arrival order in the place of a scheduler', function () {
  it('passes on all that it is told and asked, with each argument', function () {
    const told = []
    const scheduler = Object.fromEntries(METHODS.map(name => [name, (...args) => {
      told.push([name, ...args])
      return name
    }]))
    const order = new ArrivalOrder(scheduler, [])
    const lane = { size: 1, headSeq: 0, isPaused: false }
    const calls = METHODS.map(name => [name, name === 'isNamed' ? 'a' : lane, ...{ started: [5, 2], ended: [5, 6, 3], charged: [1, 5] }[name] ?? []])
    for (const [name, ...args] of calls) {
      const returned = order[name](...args)
      if (name === 'forget' || name === 'isNamed') assert.equal(returned, name)
    }
    assert.deepEqual(told, calls)
  })

  it('does without removed() and charged(), and knows what has happened though the scheduler throws', function () {
    const fail = () => { throw new Error('mine') }
    const lanes = [{ size: 1, headSeq: 3, isPaused: false }, { size: 1, headSeq: 2, isPaused: false }]
    const order = new ArrivalOrder({ queued: fail, started: fail, ended: fail, paused: fail, resumed: fail }, lanes)
    assert.equal(order.next(), lanes[1])
    lanes[1].size = 0
    order.removed(lanes[1])
    order.charged(lanes[1], 1)
    assert.equal(order.next(), lanes[0])
    lanes[0].isPaused = true
    assert.throws(() => order.paused(lanes[0]), /mine/)
    assert.equal(order.next(), undefined)
    lanes[0].isPaused = false
    assert.throws(() => order.resumed(lanes[0]), /mine/)
    lanes[1].size = 1
    lanes[1].headSeq = -1
    assert.throws(() => order.queued(lanes[1]), /mine/)
    assert.equal(order.next(), lanes[1])
    lanes[1].size = 0
    assert.throws(() => order.started(lanes[1], 0), /mine/)
    assert.equal(order.next(), lanes[0])
  })

  it('has the oldest job next, against a naive model', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    const lanes = Array.from({ length: 20 }, () => ({ size: 0, headSeq: 0, isPaused: false }))
    const order = new ArrivalOrder(Object.fromEntries(METHODS.map(name => [name, () => {}])), lanes)
    for (let i = 0; i < 5000; i++) {
      const lane = random.pick(lanes)
      const isChange = random.chance(0.1)
      if (isChange) lane.isPaused = !lane.isPaused
      else Object.assign(lane, { size: random.below(2), headSeq: random.chance(0.2) ? -i : i })
      order[isChange ? (lane.isPaused ? 'paused' : 'resumed') : random.pick(['queued', 'started', 'removed'])](lane)
      const [oldest] = lanes.filter(({ size, isPaused }) => size > 0 && !isPaused).sort((a, b) => a.headSeq - b.headSeq)
      assert.equal(order.next(), oldest, `SEED=${seed}`)
    }
  })
})
