'use strict'

const assert = require('node:assert/strict')
const { Equal } = require('../../schedulers')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { share } = require('../support/shares')
const { simulation } = require('../support/simulation')
const { Slots } = require('../support/slots')

describe("weights of 'equal'", function () {
  for (const [tiny, scale] of [
    [1e-9, 1], [1e-9, 1e-290], [1e-9, 1e300], [1e-20, 1], [1e-300, 1e300], [5e-324, 1], [1, 5e-324], [1, Number.MAX_VALUE]
  ]) {
    it(`may be ${tiny * scale} for long jobs: two types of weight ${scale} share the time afterwards`, async function () {
      const sim = simulation({ concurrency: 1, scheduler: 'equal', schedulerOptions: { weights: { a: scale, b: scale, tiny: tiny * scale } } })
      sim.push('a', 1)
      sim.push('tiny', 3600000, 5)
      await sim.untilIdle()
      const from = sim.clock.now()
      sim.push('a', 1, 20000)
      sim.push('b', 10, 2000)
      await sim.runUntil(from + 20000)
      const part = share(sim.log, from, from + 20000, type => type === 'a')
      assert.ok(Math.abs(part - 0.5) < 0.002, `${part}`)
    })
  }

  it('may be a thousand million times another: who has the least gets its part', function () {
    const slots = new Slots(new Equal({ weights: { light: 1e-9 } }))
    slots.push('light', 10000)
    slots.push('heavy', 1000)
    let lightMs = 0
    // a job of the heavy type is an hour, one of the light type a microsecond
    while (slots.now < 900 * 3600000) {
      const type = slots.start()
      const ms = type === 'light' ? 0.001 : 3600000
      if (type === 'light') lightMs += ms
      slots.now += ms
      slots.end(type)
    }
    assert.ok(Math.abs(lightMs - slots.now * 1e-9) < 0.0111, `${lightMs}, not ${slots.now * 1e-9}`)
  })

  it('that are less than that share of the greatest count as that share: nobody waits for ever', function () {
    for (const [light, first] of [[1e-12, 'light'], [1e-300, 'light'], [1e-300, 'heavy']]) {
      const slots = new Slots(new Equal({ weights: { light } }))
      slots.push(first, 10)
      slots.push('light', 10)
      slots.push('heavy', 1e6)
      const counts = { light: 0, heavy: 0 }
      for (let i = 0; i < 1000; i++) {
        const type = slots.start()
        counts[type]++
        slots.now += type === 'light' ? 0.01 : 1e6
        slots.end(type)
      }
      assert.ok(counts.light > 1, `${counts.light} of weight ${light}`)
    }
  })

  it('that come to be a million times as much take a type that has run a long job along at once', async function () {
    const sim = simulation({ concurrency: 1, scheduler: 'equal', schedulerOptions: { weights: { a: 1e-6 } } })
    sim.push('b', 10, 4000)
    sim.push('a', 10, 1000)
    await sim.runUntil(5000)
    sim.queue.scheduler.configure({ weights: { a: 1 } })
    await sim.runUntil(10000)
    const part = share(sim.log, 5000, 10000, type => type === 'a')
    assert.ok(Math.abs(part - 0.5) < 0.005, `${part}`)
  })

  it('that change leave a type as far behind the others as it was, in time of its slots', function () {
    for (const weight of [0.01, 1, 100]) {
      const slots = new Slots(new Equal({ weights: { a: 4, b: 4 } }))
      slots.push('a', 100)
      slots.push('b', 100)
      assert.equal(slots.start(2), 'ab')
      slots.now += 80
      slots.end('a')
      slots.scheduler.configure({ weights: { a: weight, b: weight } })
      slots.now += 20
      slots.end('b')
      // a has had 80 ms, b 100
      let order = ''
      for (let i = 0; i < 5; i++) {
        const type = slots.start()
        slots.now += 5
        slots.end(type)
        order += type
      }
      assert.equal(order, 'aaaab', `with a weight of ${weight}`)
    }
  })

  it('may be as great as numbers are', function () {
    const slots = new Slots(new Equal({ weights: { a: Number.MAX_VALUE, b: Number.MAX_VALUE / 4 } }))
    slots.push('a', 100)
    slots.push('b', 100)
    let order = ''
    for (let i = 0; i < 50; i++) {
      const type = slots.start()
      slots.end(type, 1, 1)
      order += type
    }
    assert.ok(Math.abs(order.replaceAll('b', '').length - 40) <= 1, order)
  })

  it('are asked for once, however the others are', function () {
    const asked = []
    const weights = type => {
      asked.push(type)
      return 10 ** Number(type)
    }
    const slots = new Slots(new Equal({ weights }))
    const types = ['-300', '-290', '-3', '0', '1', '5', '290', '300']
    for (const type of types) slots.push(type, 3)
    for (let i = 0; i < 16; i++) {
      const type = slots.start()
      slots.now += 1
      slots.end(type)
    }
    assert.deepEqual(asked, types)
  })

  it('that are all changed to others of another magnitude count by their ratio', function () {
    for (const scale of [1e-300, 1e-10, 1, 1e10, 1e300]) {
      const slots = new Slots(new Equal({ weights: { a: 1e200, b: 1e200, away: 1e200 } }))
      slots.push('away')
      slots.push('a', 10000)
      slots.push('b', 10000)
      assert.equal(slots.start(), 'away')
      for (const weights of [{ a: scale, b: 3 * scale, away: scale }, type => type === 'b' ? 3 * scale : scale]) {
        slots.scheduler.configure({ weights })
        const counts = { a: 0, b: 0 }
        for (let i = 0; i < 400; i++) {
          const type = slots.start()
          counts[type]++
          slots.now += 1
          slots.end(type)
        }
        assert.ok(Math.abs(counts.a - 100) <= 2, `${counts.a} of 400`)
      }
      slots.end('away')
      slots.push('away', 10000)
      let awayCount = 0
      for (let i = 0; i < 8000; i++) {
        const type = slots.start()
        slots.end(type, 1, 1)
        if (type === 'away' && i >= 7000) awayCount++
      }
      assert.ok(Math.abs(awayCount - 200) <= 2, `${awayCount} of 1000`)
      assert.ok(Number.isFinite(slots.lane('away').state.used))
    }
  })
})

describe("the virtual time of 'equal'", function () {
  /** Begins anew all the time. */
  class Restless extends Equal {
    next (now) {
      this.rebase()
      return super.next(now)
    }
  }

  it('begins anew without a change to any decision', function () {
    const seed = seedFromEnvironment()
    let startCount = 0
    for (let round = 0; round < rounds(10); round++) {
      const random = seeded((seed + round) >>> 0)
      const where = `SEED=${seed}, round ${round}`
      const types = Array.from('abcdefgh').slice(0, 2 + random.below(7))
      const options = { weights: Object.fromEntries(types.map(type => [type, 1 + random.below(9)])), typeCaps: { a: 1, b: 2 } }
      const both = [new Slots(new Equal(options)), new Slots(new Restless(options))]
      for (let i = 0; i < 3000; i++) {
        const type = random.pick(types)
        const { size, isPaused } = both[0].lane(type)
        const step = random.below(30)
        const count = 1 + random.below(3)
        const ms = random.below(random.pick([2, 200]))
        const typeCaps = { [type]: random.below(5) }
        if (step >= 12 && step < 22) {
          const [one, other] = both.map(({ scheduler, now }) => scheduler.next(now)?.state)
          if (one !== undefined && one.lane.type !== other.lane.type) {
            // what is rounded decides only among those that are even
            const rival = both[0].lane(other.lane.type).state
            assert.ok(Math.abs(both[0].scheduler.keyOf(one) - both[0].scheduler.keyOf(rival)) < 1e-6, where)
          }
          assert.equal(one === undefined, other === undefined, where)
          if (one !== undefined) startCount++
          for (const slots of both) if (one !== undefined) slots.begin(one.lane.type)
          continue
        }
        for (const slots of both) {
          if (step === 0) slots.scheduler.configure({ typeCaps })
          else if (step === 1) slots[isPaused ? 'resume' : 'pause'](type)
          else if (step === 2 && size > 0) slots.cancel(type)
          else if (step < 12) slots.push(type, count)
          else slots.end(type, 1, ms)
        }
      }
    }
    assert.ok(startCount > 2000, `${startCount}`)
  })

  it('is near 0 wherever a type comes or starts for which a microsecond counts', function () {
    const equal = new Equal({ weights: { light: 1e-9 }, typeCaps: { capped: 1 } })
    const slots = new Slots(equal)
    const check = () => assert.ok(equal.virtualTime < 2 ** 25, `${equal.virtualTime}`)
    slots.run('heavy', 10)
    for (let i = 0; i < 300; i++) {
      slots.run('light', 1e13)
      slots.push('heavy')
      check()
      slots.end(slots.start(), 1, 0.001)
    }
    slots.push('a', 50)
    slots.push('b', 50)
    for (let i = 0; i < 100; i++) {
      slots.end(slots.start(), 1, 1e6)
      check()
    }
    slots.run('light', 1e6)
    slots.push('capped', 3)
    slots.push('light')
    while (!slots.start().includes('light'));
    assert.ok(equal.virtualTime > 2 ** 40)
    slots.end('capped', 1, 5)
    check()
  })

  for (const how of ['runs its last job', 'waits at its cap']) {
    it(`begins anew to the microsecond for a type that ${how} while one that weighs little comes to the end of its own`, function () {
      const isCapped = how === 'waits at its cap'
      const slots = new Slots(new Equal({ weights: { light: 1e-9 }, typeCaps: { a: isCapped ? 1 : 9 } }))
      slots.run('b', 1)
      slots.push('light', 2)
      assert.equal(slots.start(), 'light')
      slots.end('light', 1, 1e9)
      slots.push('a', isCapped ? 100 : 1)
      assert.equal(slots.start(2), 'alight')
      slots.push('b', 200)
      for (let i = 0; i < 90; i++) slots.end(slots.start(), 1, 1)
      slots.end('a')
      slots.push('a', 100)
      let order = ''
      for (let i = 0; i < 60; i++) {
        const type = slots.start()
        slots.end(type, 1, 1)
        order += type
      }
      const count = order.replaceAll('b', '').length
      assert.ok(Math.abs(count - 30) <= 4, order)
    })
  }

  for (const [what, waitingCount, startCount, endCount] of [['runs', 9, 9, 8], ['waits', 2, 1, 1]]) {
    it(`is not that of a type which weighs next to nothing and still ${what}: who comes does not wait for what that has got`, function () {
      const slots = new Slots(new Equal({ concurrency: 1000, weights: { light: 1e-9 } }))
      slots.run('b', 10, 130)
      slots.push('light', waitingCount)
      assert.equal(slots.start(startCount), 'light'.repeat(startCount))
      slots.end('light', endCount, 80)
      slots.push('b', 100)
      slots.start(3)
      slots.push('new')
      const order = slots.start(10)
      assert.ok(order.indexOf('new') <= 3, order)
    })
  }

  it('begins anew for a type at its cap: what that is ahead of the others it stays', function () {
    const slots = new Slots(new Equal({ typeCaps: { a: 1 }, weights: type => type === 'heavy' ? 1e6 : 1 }))
    slots.push('a', 10)
    slots.push('b', 1000)
    assert.equal(slots.start(2), 'ab')
    slots.end('b', 1, 10)
    slots.push('heavy')
    assert.equal(slots.start(2).includes('heavy'), true)
    slots.end('heavy')
    slots.end('b', 10)
    slots.end('a', 1, 990)
    let count = 0
    for (let type = slots.start(); type === 'b'; type = slots.start()) {
      slots.end('b', 1, 10)
      count++
    }
    assert.ok(count > 90 && count < 110, `${count}`)
  })

  it('begins anew for a type that is idle: it is forgotten when the others have had as much', function () {
    const equal = new Equal({ weights: { a: 0.001 } })
    const slots = new Slots(equal)
    slots.push('b', 50000)
    slots.push('a')
    while (slots.start() === 'b') slots.end('b', 1, 1)
    slots.end('a', 1, 10)
    assert.equal(equal.forget(slots.lane('a')), false)
    for (let i = 0; i < 20000; i++) slots.end(slots.start(), 1, 1)
    equal.rebase()
    assert.equal(equal.forget(slots.lane('a')), true)
  })

  it('begins anew also for a type that is away: what it has had is not forgotten', function () {
    const equal = new Equal()
    const slots = new Slots(equal)
    slots.push('a')
    slots.push('b', 100)
    assert.equal(slots.start(2), 'ab')
    slots.now += 10
    slots.end('b')
    slots.now += 990
    slots.end('a')
    equal.rebase()
    slots.push('a', 100)
    let count = 0
    for (let type = slots.start(); type === 'b'; type = slots.start()) {
      count++
      slots.now += 10
      slots.end('b')
    }
    assert.ok(count > 95 && count < 105, `${count}`)
  })

  it('leaves a type that is away even with the others when there is another unit, of weights or of what has gone by', function () {
    for (const heavy of [1, 1e9]) {
      const slots = new Slots(new Equal({ weights: { heavy, light: 1e-9 } }))
      slots.push('away')
      assert.equal(slots.start(), 'away')
      for (let i = 0; i < 200; i++) slots.run('light', 1e9)
      slots.run('heavy', 1)
      slots.end('away')
      slots.push('away', 10)
      slots.push('b', 10)
      const order = []
      for (let i = 0; i < 6; i++) {
        order.push(slots.start())
        slots.end(order[i], 1, 1)
      }
      assert.deepEqual(order, ['away', 'b', 'away', 'b', 'away', 'b'])
    }
  })
})
