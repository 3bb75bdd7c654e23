'use strict'

const assert = require('node:assert/strict')
const { schedulerChecks } = require('fairlane/testing')
const { Capped, Equal, Fair } = require('fairlane/schedulers')

// First come, first served, in either protocol.
class Window {
  waiting () {}
  start () {}
  done () {}
  select () { return 0 }
}
class Lanes {
  lanes = new Set()
  queued (lane) { this.lanes.add(lane) }
  next () {
    let oldest
    for (const lane of this.lanes) if (!(lane.headSeq > oldest?.headSeq)) oldest = lane
    return oldest
  }

  started (lane) { this.tidy(lane) }
  ended () {}
  removed (lane) { this.tidy(lane) }
  paused (lane) { this.lanes.delete(lane) }
  resumed (lane) { if (lane.size > 0) this.lanes.add(lane) }
  tidy (lane) { if (lane.size === 0) this.lanes.delete(lane) }
}

/** The titles of the checks that fail, with what they say. */
function failures (makeScheduler, options) {
  return schedulerChecks(makeScheduler, options).flatMap(({ title, run }) => {
    try {
      run()
      return []
    } catch (err) {
      return [`${title}: ${err.message}`]
    }
  })
}

describe('schedulerChecks', function () {
  it('pass schedulers of both protocols', function () {
    assert.deepEqual(failures(() => new Window()), [])
    assert.deepEqual(failures(() => new Lanes()), [])
    assert.deepEqual(failures(() => ({ ...methods(new Lanes()), paused: undefined })), [])
  })

  it('pass a scheduler that holds jobs back only if that is expected', function () {
    const make = () => new Capped({ hard: true, maxTypeCap: 1 })
    assert.deepEqual(failures(make, { isWorkConserving: false }), [])
    assert.match(failures(make)[0], /a slot is free while \d+ jobs wait: start one, or pass isWorkConserving: false/)
  })

  it('pass none that holds all back for ever, but for one that says so', function () {
    const make = mayStall => Object.assign(new Lanes(), { next () {}, mayStall })
    assert.match(failures(() => make(false), { isWorkConserving: false })[0], /\d+ jobs wait and none runs, but the scheduler starts none/)
    assert.deepEqual(failures(() => make(true), { isWorkConserving: false }), [])
  })

  it('say which round failed, and play it again', function () {
    let count = 0
    const make = () => count++ === 3 ? Object.assign(new Window(), { select: () => 99 }) : new Window()
    const [first] = failures(make, { seed: 40 })
    assert.match(first, /seed 43: the scheduler's select\(\)/)
  })

  const mistakes = {
    'a method that throws': () => Object.assign(new Window(), { done () { throw new Error('mine') } }),
    'an index that is none': () => Object.assign(new Window(), { select: types => types.size() }),
    'nothing to start though jobs wait': () => Object.assign(new Lanes(), { next () {} }),
    'a lane that is empty': () => Object.assign(new Lanes(), { tidy () {} }),
    'a lane that is paused': () => Object.assign(new Lanes(), { paused () {} }),
    'a lane that is not noticed after its pause': () => Object.assign(new Lanes(), { resumed () {} }),
    'lanes that are kept for ever': () => Object.assign(new Equal(), { forget: () => false }),
    'cancelled jobs that are not noticed': () => Object.assign(new Fair(), { removed () {} })
  }
  for (const [mistake, makeScheduler] of Object.entries(mistakes)) {
    it(`find ${mistake}`, function () {
      assert.notEqual(failures(makeScheduler).length, 0)
    })
  }

  it('find what a list does wrong, too', function () {
    const { Lanes: List } = require('../../lib/core/lists/lanes')
    const original = Object.getOwnPropertyDescriptors(List.prototype)
    const mistakes = {
      unshift: function (...job) { this.push(...job) },
      removeType: function () { return this.remove(() => false) },
      remove: function () { return this.removeType('none') },
      pauseType () {},
      accept: function (lane) {
        original.accept.value.call(this, lane)
        this.size += this.size === 7 ? 1 : 0
      },
      ended: function (...job) {
        original.ended.value.call(this, ...job)
        this.running += this.running === 3 ? 1 : 0
      }
    }
    for (const [method, mistake] of Object.entries(mistakes)) {
      List.prototype[method] = mistake
      try {
        assert.notEqual(failures(() => new Fair()).length, 0, method)
      } finally {
        delete List.prototype[method] // one that it inherits
        Object.defineProperties(List.prototype, original)
      }
    }
  })
})

function methods (scheduler) {
  return Object.fromEntries(['queued', 'next', 'started', 'ended', 'removed', 'paused', 'resumed', 'tidy'].map(name => [name, scheduler[name]]).concat([['lanes', new Set()]]))
}
