'use strict'

// What a type under 'equal' still has to get when its cap or its weight changes, and what one that comes has to wait for.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { Equal } = require('../../schedulers')
const gates = require('../support/gates')
const { share } = require('../support/shares')
const { simulation } = require('../support/simulation')
const { Slots } = require('../support/slots')
const { quiet } = require('../support/turns')

describe("a type of 'equal' whose cap changes", function () {
  let slots

  /** Both types have jobs waiting and have used as much; those of 'a' took a second, those of 'b' 10 ms. */
  beforeEach(function () {
    slots = new Slots(new Equal({ concurrency: 1000, typeCaps: { a: 2 } }))
    slots.run('a', 1000, 30)
    slots.run('b', 10, 30)
    slots.push('a', 1000)
    slots.push('b', 1000)
  })

  /** A job of 'a' ends much earlier than expected: 'a' is some 490 ms behind. */
  function fallBehind () {
    while (slots.start() !== 'a') slots.end('b', 1, 10)
    assert.equal(slots.start(50), 'b'.repeat(50))
    slots.end('a', 1, 1)
    slots.end('b', 50, 9)
  }

  /** Two jobs of 'a' run at a time, while more wait. */
  function reachCap () {
    slots.begin('a')
    slots.begin('a')
    slots.end('a', 2, 10)
  }

  /** How many of the next 20 jobs, one after the other and of 1 ms each, are of 'a'. */
  function countNext () {
    let count = 0
    for (let i = 0; i < 20; i++) {
      const type = slots.start()
      slots.end(type, 1, 1)
      if (type === 'a') count++
    }
    return count
  }

  it('gets what it is behind if it has never been at its cap', function () {
    fallBehind()
    slots.scheduler.configure({ typeCaps: { a: 3 } })
    assert.equal(countNext(), 20)
  })

  it('loses it if it has been there, however long ago: behind that may be what others got meanwhile', function () {
    reachCap()
    for (let i = 0; i < 100; i++) {
      const type = slots.start()
      slots.end(type, 1, type === 'a' ? 1000 : 10)
    }
    fallBehind()
    slots.scheduler.configure({ typeCaps: { a: 3 } })
    assert.ok(countNext() < 13)
  })

  it('loses it if it waits there just now', function () {
    fallBehind()
    slots.scheduler.configure({ typeCaps: { a: 0 } })
    slots.scheduler.configure({ typeCaps: { a: 2 } })
    assert.ok(countNext() < 13)
  })

  it('loses it once: what it falls behind afterwards it gets when its cap is raised again', function () {
    reachCap()
    slots.scheduler.configure({ typeCaps: { a: 3 } })
    fallBehind()
    slots.scheduler.configure({ typeCaps: { a: 4 } })
    assert.equal(countNext(), 20)
  })

  it('gets what it has fallen behind since it came back', function () {
    reachCap()
    slots.pause('a')
    slots.resume('a')
    fallBehind()
    slots.scheduler.configure({ typeCaps: { a: 3 } })
    assert.equal(countNext(), 20)
  })

  for (const [how, cap] of [['lowered', 1], ['set to what it was', 2]]) {
    it(`keeps it if the cap is ${how}`, function () {
      reachCap()
      fallBehind()
      slots.scheduler.configure({ typeCaps: { a: cap } })
      assert.equal(countNext(), 20)
    })
  }
})

describe("a type of 'equal' whose weight changes", function () {
  it('while it waits at its cap does not get what others got meanwhile', function () {
    const slots = new Slots(new Equal({ concurrency: 1000, typeCaps: { a: 1 } }))
    slots.push('a', 1000)
    slots.push('b', 2000)
    assert.equal(slots.start(2), 'ab')
    slots.end('b', 1, 1)
    for (let i = 0; i < 10; i++) {
      assert.equal(slots.start(100), 'b'.repeat(100))
      slots.end('b', 100, 1)
    }
    slots.scheduler.configure({ weights: { a: 0.01 } })
    slots.end('a', 1)
    let order = ''
    for (let i = 0; i < 20; i++) {
      const type = slots.start()
      slots.end(type, 1, 1)
      order += type
    }
    assert.ok(order.replaceAll('b', '').length < 3, order)
  })

  for (const [from, to] of [[1, 10], [10, 1]]) {
    it(`from ${from} to ${to} while it waits gets its part, whoever comes and goes`, async function () {
      const sim = simulation({ scheduler: 'equal', schedulerOptions: { weights: { busy: from } } })
      let count = 0
      const push = () => sim.push(`once ${count++}`, 100)
      sim.onEnd = type => { if (type !== 'busy') push() }
      sim.push('busy', 10, 50000)
      for (let i = 0; i < 20; i++) push()
      await sim.runUntil(3000)
      sim.queue.scheduler.configure({ weights: { busy: to } })
      await sim.runUntil(13000)
      const part = share(sim.log, 4000, 13000, type => type === 'busy') / (to / (20 + to))
      assert.ok(part > 0.86 && part < 0.9, `${part} of its part`)
    })
  }
})

describe("a type that comes to 'equal'", function () {
  it('waits for no more than eight usual jobs of another that long ones have left behind', function () {
    const slots = new Slots(new Equal({ concurrency: 1000 }))
    slots.run('hog', 10, 130)
    slots.push('hog', 9)
    assert.equal(slots.start(9), 'hog'.repeat(9))
    slots.push('b', 100)
    slots.end('hog', 8, 1000)
    slots.push('new')
    const count = slots.start(100).indexOf('new')
    assert.ok(count > 4 && count <= 8, `${count}`)
  })
})

describe("types of 'equal' that have used more than the others", function () {
  it('are forgotten when the last job that waits is cancelled', async function () {
    const gate = gates()
    const clock = fakeClock()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, clock })
    queue.pushType('a', 1).pushType('hog', 2).pushType('b', 3)
    for (const ms of [1, 1000]) {
      await gate.until(ms === 1 ? 1 : 2)
      clock.advance(ms)
      if (ms > 1) queue.pause()
      gate.release()
    }
    await quiet()
    assert.equal(queue.stats('hog').accepted, 1)
    queue.clear()
    await quiet()
    assert.equal(queue.stats('hog').accepted, 0)
  })
})

describe("configure() of 'equal'", function () {
  it('has another maxTypeCap hold at once, for types that wait, too', function () {
    const slots = new Slots(new Equal({ maxTypeCap: 1 }))
    slots.push('a', 10)
    assert.equal(slots.start(2), 'a')
    slots.scheduler.configure({ maxTypeCap: 3 })
    assert.equal(slots.start(3), 'aa')
  })

  it('has a type start as many jobs as there are slots, however many these become', function () {
    const slots = new Slots(new Equal({ concurrency: 2 }))
    slots.push('a', 10)
    assert.equal(slots.start(2), 'aa')
    slots.scheduler.configure({ concurrency: 5 })
    assert.equal(slots.start(3), 'aaa')
    slots.scheduler.configure({ concurrency: 1, maxTypeShare: 0.5 })
    slots.end('a', 5)
    assert.equal(slots.start(3), 'a')
  })
})
