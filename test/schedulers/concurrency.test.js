'use strict'

// What another number of slots costs, by what is looked at, and that shares of them hold from then on.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { Capped, Equal } = require('../../schedulers')
const gates = require('../support/gates')
const { Slots } = require('../support/slots')
const { quiet } = require('../support/turns')

const COUNT = 1000

const kinds = {
  equal: options => new Equal(options),
  capped: options => new Capped({ ...options, hard: true })
}

for (const [name, make] of Object.entries(kinds)) {
  describe(`another number of slots under '${name}'`, function () {
    /** Types that wait, and a count of how often one of their lanes is looked at. */
    function waiting (options) {
      const slots = new Slots(make({ concurrency: 10, ...options }))
      const looks = { count: 0 }
      for (let i = 0; i < COUNT; i++) {
        const lane = slots.lane(`type ${i}`)
        let size = 0
        Object.defineProperty(lane, 'size', { set (value) { size = value }, get () { looks.count++; return size } })
        lane.headSeq = i
        slots.push(`type ${i}`, 3)
      }
      return { slots, looks }
    }

    /** How often lanes are looked at for it. */
    function looksFor (looks, act) {
      looks.count = 0
      act()
      return looks.count
    }

    it('costs no look at a type that waits where it limits none', function () {
      for (const options of [{ maxTypeShare: 1 }, { maxTypeShare: 1, maxTypeCap: 3 }, { maxTypeShare: 0 }]) {
        const { slots, looks } = waiting(options)
        const changes = () => { for (const concurrency of [20, 5, 400, 10]) slots.scheduler.configure({ concurrency }) }
        assert.equal(looksFor(looks, changes), 0)
      }
    })

    it('costs no look where the share is the same number of slots', function () {
      const { slots, looks } = waiting({ maxTypeShare: 0.1 })
      slots.start(5)
      assert.equal(looksFor(looks, () => slots.scheduler.configure({ concurrency: 9 })), 0)
    })

    it('costs looks at the types that are at their share, and at those that are picked', function () {
      const { slots, looks } = waiting({ maxTypeShare: 0.1 })
      assert.equal(slots.start(5), 'type 0type 1type 2type 3type 4')
      assert.ok(looksFor(looks, () => slots.scheduler.configure({ concurrency: 20 })) <= 50)
      assert.ok(looksFor(looks, () => slots.start(10)) < COUNT / 2)
      for (const concurrency of [30, 10, 40]) {
        assert.ok(looksFor(looks, () => slots.scheduler.configure({ concurrency })) <= 150, `${looks.count}`)
      }
    })

    it('has types start more jobs if their share is more', function () {
      const slots = new Slots(make({ concurrency: 4, maxTypeShare: 0.5 }))
      slots.push('a', 10)
      assert.equal(slots.start(10), 'aa')
      slots.scheduler.configure({ concurrency: 8 })
      assert.equal(slots.start(10), 'aa')
    })

    it('has types that run more than their new share start none until they run fewer', function () {
      const slots = new Slots(make({ concurrency: 8, maxTypeShare: 0.5 }))
      slots.push('a', 10)
      assert.equal(slots.start(3), 'aaa')
      slots.push('b', 10)
      slots.scheduler.configure({ concurrency: 4 })
      assert.equal(slots.start(10), 'bb')
      slots.end('a')
      assert.equal(slots.start(10), '')
      slots.end('a')
      assert.equal(slots.start(10), 'a')
      slots.scheduler.configure({ concurrency: 2 })
      slots.scheduler.configure({ concurrency: 6 })
      assert.equal([...slots.start(10)].sort().join(''), 'ab')
    })
  })
}

describe('another concurrency of a queue whose types share lanes', function () {
  it('asks for the name of none of them; other options of the scheduler ask for each', async function () {
    class Named extends Equal {
      isNamed (type) {
        this.askedCount++
        return super.isNamed(type)
      }
    }
    const gate = gates()
    const scheduler = Object.assign(new Named(), { askedCount: 0 })
    const queue = fairlane(gate.runner, { scheduler, concurrency: 1, maxTypes: 2 })
    for (let i = 0; i < COUNT; i++) queue.pushType(`type ${i}`, i)
    await quiet()
    scheduler.askedCount = 0
    for (const concurrency of [2, 1, 7]) queue.concurrency = concurrency
    queue.pause().resume()
    assert.equal(scheduler.askedCount, 0)
    scheduler.configure({ concurrency: 3, typeCaps: { 'type 900': 0 } })
    assert.ok(scheduler.askedCount > COUNT - 20)
    assert.equal(queue.stats('type 900').waiting, 1)
  })
})
