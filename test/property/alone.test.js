'use strict'

// A type that is alone in its group has no level there (docs/decisions/0208). Who gets the slots is to be the same as with one.

const assert = require('node:assert/strict')
const { makeEqual } = require('../../schedulers')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { Slots } = require('../support/slots')

const ROUNDS = rounds(100)
const STEPS = 200
const MS = [1, 10, 100, 1000]
const base = seedFromEnvironment()

describe('a type that is alone in its group', function () {
  for (const chargeBy of ['time', 'cost', 'cost*time']) {
    it(`gets the slots that it would get by ${chargeBy} if there were another one, which is paused`, function () {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        const [alone, accompanied] = [false, true].map(hasOther => starts(seeded(seed), chargeBy, hasOther))
        assert.equal(alone, accompanied, `SEED=${seed}`)
      }
    })
  }
})

/** @returns {string} the groups whose types started jobs, one after the other */
function starts (random, chargeBy, hasOther) {
  const types = ['a/1', 'b/1', 'c/1', 'd/1'].slice(0, 2 + random.below(3))
  const scheduler = makeEqual({
    groupOf: type => type[0],
    chargeBy,
    typeCaps: random.chance(0.5) ? { [random.pick(types)]: random.below(3) } : undefined,
    groupCaps: random.chance(0.3) ? { b: random.below(4) } : undefined,
    groupWeights: random.chance(0.3) ? { a: 1 + random.below(4) } : undefined
  })
  const slots = new Slots(scheduler)
  for (const type of types) {
    if (hasOther) slots.pause(`${type[0]}/0`)
    slots.pause(type)
    slots.resume(type)
  }
  const concurrency = 1 + random.below(8)
  let running = 0
  let started = ''
  const steps = {
    push: type => slots.push(type, 1 + random.below(4)),
    cancel: type => { if (!slots.lane(type).isPaused && slots.lane(type).size > 0) slots.cancel(type) },
    pause: type => slots.lane(type).isPaused ? slots.resume(type) : slots.pause(type),
    cap: type => scheduler.configure({ typeCaps: random.chance(0.2) ? null : { [type]: random.below(3) } }),
    end: type => {
      if (slots.lane(type).running === 0) return
      slots.end(type, 1, random.pick(MS), 1 + random.below(3))
      running--
    }
  }
  const names = ['push', 'push', 'push', 'end', 'end', 'end', 'end', 'end', 'end', 'cancel', 'pause', 'cap']
  for (let i = 0; i < STEPS; i++) {
    steps[random.pick(names)](random.pick(types))
    for (let type; running < concurrency && (type = slots.start()) !== ''; running++) started += type[0]
  }
  return started
}
