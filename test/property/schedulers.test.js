'use strict'

const QuickqFair = require('quickq/lib/scheduler-fair')
const QuickqCapped = require('quickq/lib/scheduler-capped')
const { schedulerChecks } = require('../../lib/testing')
const { Capped, Equal, Fair } = require('../../schedulers')
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
  "quickq's fair": () => new QuickqFair(),
  "quickq's capped": () => new QuickqCapped()
}
const holdingBack = {
  'hard fair': () => new Fair({ maxTypeShare: 0.3, hard: true }),
  'hard fair that looks at two types': () => new Fair({ maxTypeShare: 0.3, hard: true, maxScanLength: 2 }),
  'hard capped': () => new Capped({ maxTypeCap: 2, hard: true, typeCaps: { c: 1 } }),
  'equal with caps': () => new Equal({ maxTypeCap: 2, maxTypeShare: 0.5, typeCaps: { c: 1 } })
}

for (const [name, makeScheduler] of Object.entries({ ...schedulers, ...holdingBack })) {
  describe(`the scheduler ${name} (SEED=${seed})`, function () {
    const checks = schedulerChecks(makeScheduler, { isWorkConserving: name in schedulers, seed, rounds: rounds(10) })
    for (const { title, run } of checks) it(title, run)
  })
}
