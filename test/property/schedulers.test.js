'use strict'

const QuickqFair = require('quickq/lib/scheduler-fair')
const QuickqCapped = require('quickq/lib/scheduler-capped')
const { schedulerChecks } = require('../../lib/testing')
const { Capped, Equal, Fair, makeEqual } = require('../../schedulers')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')

const seed = seedFromEnvironment()

const schedulers = {
  fair: () => new Fair(),
  'fair that looks at two types': () => new Fair({ maxScanLength: 2 }),
  'fair that looks at one type': () => new Fair({ maxScanLength: 0 }),
  'fair with a share of nothing': () => new Fair({ maxTypeShare: 0 }),
  capped: () => new Capped(),
  'capped at once': () => new Capped({ maxTypeCap: 1, typeCaps: { a: 0, b: 2 } }),
  equal: () => new Equal(),
  'equal with weights': () => new Equal({ weights: { a: 9, b: 0.5, '': 3 } }),
  'equal by cost': () => makeEqual({ chargeBy: 'cost' }),
  'equal by cost and time': () => makeEqual({ chargeBy: 'cost*time' }),
  'equal with groups': () => makeEqual({ groupOf: type => type.at(-1), groupWeights: { a: 9 }, weights: { b: 0.5 } }),
  'equal with groups of one type': () => makeEqual({ groupOf: type => type, chargeBy: 'cost' }),
  "quickq's fair": () => new QuickqFair(),
  "quickq's capped": () => new QuickqCapped()
}
const holdingBack = {
  'hard fair': () => new Fair({ maxTypeShare: 0.3, hard: true }),
  'hard fair that looks at two types': () => new Fair({ maxTypeShare: 0.3, hard: true, maxScanLength: 2 }),
  'hard capped': () => new Capped({ maxTypeCap: 2, hard: true, typeCaps: { c: 1 } }),
  'equal with groups and caps': () => makeEqual({
    groupOf: type => type.charCodeAt(0) % 2 === 0 ? 'even' : 'odd', maxTypeCap: 2, typeCaps: { c: 1 }, groupCaps: { odd: 3 }, chargeBy: 'cost*time'
  }),
  'equal with caps': () => new Equal({ maxTypeCap: 2, maxTypeShare: 0.5, typeCaps: { c: 1 } })
}

for (const [name, makeScheduler] of Object.entries({ ...schedulers, ...holdingBack })) {
  describe(`the scheduler ${name} (SEED=${seed})`, function () {
    const checks = schedulerChecks(makeScheduler, { isWorkConserving: name in schedulers, seed, rounds: rounds(10) })
    for (const { title, run } of checks) it(title, run)
  })
}
