'use strict'

// What else than time `equal` shares: what jobs cost, and that for as long as they are held.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { Equal, makeEqual } = require('../../schedulers')
const gates = require('../support/gates')
const { Levels } = require('../support/levels')
const { Slots } = require('../support/slots')
const { quiet } = require('../support/turns')

/** What types were charged at the starts of jobs, and later. */
function unitsOf (log) {
  const units = {}
  for (const { kind, type, cost } of log) if (kind === 'start' || kind === 'charge') units[type] = (units[type] ?? 0) + cost
  return units
}

describe("'equal' by cost", function () {
  it('shares units by weights, however long jobs take, and reads no clock', function () {
    const scheduler = makeEqual({ chargeBy: 'cost', weights: { heavy: 2 } })
    assert.deepEqual([scheduler.needsClock, scheduler.needsCost, scheduler instanceof Equal], [false, true, true])
    const levels = new Levels(scheduler, 3)
    for (let i = 0; i < 3000; i++) {
      levels.push('dear', 1, 100)
      levels.push('cheap', 10, 1)
      levels.push('heavy', 5, 7)
    }
    levels.runUntil(500)
    const { dear, cheap, heavy } = unitsOf(levels.log)
    assert.ok(Math.abs(dear - cheap) <= 101 && Math.abs(dear - heavy / 2) <= 100 + 7, JSON.stringify({ dear, cheap, heavy }))
  })

  it('has no type served before another one that has used less', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost' }))
    slots.push('x', 9)
    slots.push('a', 1)
    slots.begin('a')
    slots.charge('a', 4)
    slots.end('a', 1, 1, 5)
    slots.push('a', 1)
    slots.push('b', 1)
    const { scheduler } = slots
    assert.deepEqual([scheduler.precedes(slots.lane('a'), slots.lane('b')), scheduler.precedes(slots.lane('b'), slots.lane('a'))], [false, true])
  })

  it('has types take turns if each job costs as much', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost' }))
    slots.push('a', 9)
    slots.push('b', 9)
    let order = ''
    for (let i = 0; i < 8; i++) {
      order += slots.start()
      slots.end(order.at(-1), 1, order.at(-1) === 'a' ? 100 : 1)
    }
    assert.equal(order, 'abababab')
  })

  it('charges what runners say at once, and gives back what they do not need', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost', concurrency: 100 }))
    slots.push('a', 100)
    slots.push('b', 100)
    assert.equal(slots.start(4), 'abab')
    slots.charge('a', 3)
    assert.equal(slots.start(3), 'bbb')
    slots.charge('a', -3)
    assert.equal(slots.start(3), 'aaa')
    slots.charge('b', 2)
    assert.equal(slots.start(2), 'aa')
  })

  it('charges a type whose jobs all run, too: it is behind when it comes back', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost', concurrency: 100 }))
    slots.push('a', 1)
    slots.push('b', 100)
    assert.equal(slots.start(2), 'ab')
    slots.charge('a', 10)
    slots.push('a', 100)
    assert.equal(slots.start(10), 'b'.repeat(10))
  })

  it('lets jobs that cost nothing not be first for ever, whether they were said to, or turn out to', function () {
    for (const [cost, said] of [[0, 0], [5, 0]]) {
      const levels = new Levels(makeEqual({ chargeBy: 'cost' }), 1)
      for (let i = 0; i < 2000; i++) levels.push('free', 1, cost, said === cost ? [] : [{ atPart: 0.5, cost: said }])
      for (let i = 0; i < 3; i++) levels.push('other', 1, 1)
      levels.runUntil(2003)
      const starts = levels.log.filter(({ kind }) => kind === 'start').map(({ type }) => type)
      const before = starts.slice(0, starts.lastIndexOf('free')).filter(type => type === 'other')
      assert.ok(before.length >= 2, `with ${cost}, then ${said}`)
    }
  })

  it('has a type that waits not starve while others come with one job each', function () {
    const levels = new Levels(makeEqual({ chargeBy: 'cost' }), 4)
    let count = 0
    const comes = () => levels.push(`stranger ${count++}`, 1, 1)
    levels.onEnd = type => { if (type !== 'busy') comes() }
    for (let i = 0; i < 2000; i++) levels.push('busy', 1, 1)
    for (let i = 0; i < 8; i++) comes()
    levels.runUntil(3000)
    const { busy } = unitsOf(levels.log)
    const part = busy / levels.log.filter(({ kind }) => kind === 'start').length
    assert.ok(part > 0.86 / 9, `${part}`)
  })

  it('has a type that is known begin no further behind than a job of it has cost', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost', concurrency: 100 }))
    const { scheduler } = slots
    slots.push('a', 1)
    slots.begin('a')
    scheduler.fluidTime = 1e6
    scheduler.jobLengths.usualMs = 1000
    assert.equal(scheduler.floorOf(slots.lane('a').state), scheduler.virtualTime + 1)
    slots.push('b', 1)
    assert.equal(scheduler.floorOf(slots.lane('b').state), scheduler.virtualTime + 8000)
  })

  it('shares units among groups, and within them', function () {
    const groupOf = type => type[0]
    const levels = new Levels(makeEqual({ chargeBy: 'cost', groupOf, groupWeights: { b: 2 }, weights: { a1: 3 } }), 2)
    for (let i = 0; i < 2000; i++) {
      for (const [type, cost] of [['a1', 10], ['a2', 3], ['b1', 50], ['b2', 20]]) levels.push(type, 1, cost, [{ atPart: 0.9, cost: 2 * cost }])
    }
    levels.runUntil(1500)
    const { a1, a2, b1, b2 } = unitsOf(levels.log)
    const all = a1 + a2 + b1 + b2
    for (const [part, wanted] of [[a1, 1 / 4], [a2, 1 / 12], [b1, 1 / 3], [b2, 1 / 3]]) {
      assert.ok(Math.abs(part / all - wanted) < 0.02, JSON.stringify({ a1, a2, b1, b2 }))
    }
  })

  it('forgets types that are idle, also where they wait again', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost' }))
    slots.push('a', 1)
    slots.push('b', 2)
    slots.start(2)
    slots.end('a')
    assert.equal(slots.scheduler.forget(slots.lane('a')), false)
    slots.start()
    slots.end('b', 2)
    assert.ok(slots.scheduler.forget(slots.lane('a')) && slots.scheduler.forget(slots.lane('b')))
  })

  it('goes by what add() and spent() say', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, scheduler: 'equal', schedulerOptions: { chargeBy: 'cost' }, clock: fakeClock() })
    for (let i = 0; i < 6; i++) queue.add(i, { type: 'a', cost: 2 }).catch(() => {})
    for (let i = 0; i < 6; i++) queue.add(i, { type: 'b', cost: 1 }).catch(() => {})
    let order = ''
    for (let i = 0; i < 9; i++) {
      await quiet()
      const [{ context }] = gate.open
      order += context.type
      if (i === 4) context.spent(context.type === 'a' ? 7 : 6)
      gate.release()
    }
    await quiet()
    assert.match(order, /^abbabaab/)
    queue.clear()
    gate.release()
    await queue.onIdle()
    assert.equal(queue.stats().types, 0)
  })

  it('says how many other types may be served before a job', async function () {
    for (const [chargeBy, wanted] of [['cost', 1], ['cost*time', 2]]) {
      const gate = gates()
      const queue = fairlane(gate.runner, { concurrency: 1, scheduler: 'equal', schedulerOptions: { chargeBy } })
      queue.pushType('x', 0)
      await gate.until(1)
      queue.pushType('a', 1).pushType('b', 2).pushType('c', 3)
      assert.equal(queue.explain('b', { ahead: true }).ahead, wanted, chargeBy)
    }
  })
})

describe("'equal' by cost and time", function () {
  /** Units times ms that types held until a time. */
  function heldUntil (log, end) {
    const held = {}
    for (const { kind, at, type, ms, cost } of log) {
      if (kind === 'start') held[type] = (held[type] ?? 0) + cost * Math.min(ms, end - at)
    }
    return held
  }

  for (const groupOf of [undefined, () => 'all']) {
    it(`shares what is held for as long as it is held${groupOf === undefined ? '' : ', within a group, too'}`, function () {
      const scheduler = makeEqual({ chargeBy: 'cost*time', weights: { weighty: 2 }, groupOf })
      assert.deepEqual([scheduler.needsClock, scheduler.needsCost], [true, true])
      const levels = new Levels(scheduler, 8)
      for (const [type, ms, cost] of [['long', 100, 1], ['large', 10, 10], ['both', 50, 20], ['weighty', 1, 100]]) {
        for (let i = 0; i < 2000; i++) levels.push(type, ms, cost)
      }
      levels.runUntil(5000)
      const { long, large, both, weighty } = heldUntil(levels.log, 5000)
      const told = JSON.stringify({ long, large, both, weighty })
      for (const units of [large, both, weighty / 2]) assert.ok(Math.abs(units - long) < 6000, told)
    })
  }

  it('counts what runners say for the whole time, while their jobs run and afterwards', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost*time', concurrency: 100 }))
    for (const type of 'ab') slots.push(type, 1000)
    slots.start(2)
    slots.now = 100
    slots.charge('a', 1)
    slots.charge('b', 0)
    slots.now = 101
    assert.equal(slots.start(), 'b')
    slots.end('a', 1, 0, 2)
    slots.end('b', 2, 0, 1)
    // a has had 202, b 101
    let order = ''
    for (let i = 0; i < 25; i++) {
      const type = slots.start()
      slots.end(type, 1, 10)
      order += type
    }
    assert.ok(order.startsWith('bbbbbbbb') && order.includes('a'), order)
  })

  it('expects of a new type what jobs took lately, and forgets that with a group', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost*time', groupOf: () => 'g' }))
    slots.pause('z') // or 'a' would be alone
    slots.run('a', 50)
    slots.push('b', 1)
    const { state } = slots.lane('b')
    assert.equal(state.estimateMs, 50)
    slots.cancel('b')
    slots.resume('z')
    for (const type of 'baz') assert.equal(slots.scheduler.forget(slots.lane(type)), true)
    slots.push('c', 1)
    const { estimateMs, used } = slots.lane('c').state
    assert.deepEqual([estimateMs, used], [1, 0])
    slots.start()
    slots.end('c', 1, 40)
    slots.push('d', 1)
    assert.equal(slots.lane('d').state.estimateMs, 40)
  })

  it('has a corrected type that starts no other job have its place at once', function () {
    const slots = new Slots(makeEqual({ chargeBy: 'cost*time', concurrency: 100 }))
    slots.push('a', 1)
    slots.push('b', 50)
    assert.equal(slots.start(2), 'ab')
    slots.charge('a', 10)
    slots.push('a', 50)
    assert.equal(slots.start(10), 'b'.repeat(10))
  })

  for (const chargeBy of ['cost', 'cost*time']) {
    it(`chooses no lane of which it has forgotten what it knew, by ${chargeBy}`, function () {
      const slots = new Slots(makeEqual({ chargeBy, concurrency: 9 }))
      slots.push('a', 2)
      slots.start()
      slots.cancel('a')
      slots.end('a', 1, 10)
      const lane = slots.lane('a')
      assert.equal(slots.scheduler.forget(lane), true)
      lane.state = undefined
      slots.push('a', 1)
      assert.equal(slots.start(9), 'a')
    })
  }

  it('has nothing left of running jobs when none runs, however much they cost', function () {
    const costs = [Number.MAX_SAFE_INTEGER, 1, 1, 1]
    const slots = new Slots(makeEqual({ chargeBy: 'cost*time', concurrency: 9 }))
    const { scheduler } = slots
    const lane = slots.lane('a')
    slots.push('a', costs.length)
    for (const cost of costs) {
      scheduler.next(1000.5)
      lane.size--
      lane.running++
      scheduler.started(lane, 1000.5, cost)
    }
    for (const cost of costs.slice().reverse()) {
      lane.running--
      scheduler.ended(lane, 1000.5, 1010, cost)
    }
    assert.deepEqual([lane.state.costSum, lane.state.startSum], [0, 0])
  })
})
