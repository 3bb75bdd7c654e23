// Scheduler options, schedulers of one's own, and what tests of them need.

import fairlane = require('fairlane')
import { Capped, Equal, Fair, makeEqual, type EqualGroups, type EqualOptions, type GroupStats } from 'fairlane/schedulers'
import { Equal as SameEqual } from 'fairlane/schedulers/equal'
import { fakeClock, schedulerChecks } from 'fairlane/testing'

const runner = (payload: string, done: fairlane.Done<number>, { type }: fairlane.JobContext) => done(null, payload.length)

fairlane(runner, { scheduler: 'fair', schedulerOptions: { maxTypeShare: 0.5, maxScanLength: 10, hard: true } })
fairlane(runner, { scheduler: 'capped', schedulerOptions: { maxTypeCap: 3, typeCaps: { a: 1 } } })
fairlane(runner, { scheduler: 'equal', schedulerOptions: { weights: new Map([['a', 2]]), typeCaps: new Map([['a', 1]]) }, maxTypes: 100 })
fairlane(runner, { scheduler: new Equal({ weights: type => type.length }), clock: fakeClock(1000) })
fairlane(runner, { scheduler: null })
const grouped: EqualOptions = { groupOf: type => type, groupWeights: { a: 1 }, groupCaps: new Map([['a', 1]]), maxGroupCap: 3, chargeBy: 'cost*time' }
const { groups } = fairlane(runner, { scheduler: 'equal', schedulerOptions: grouped }).stats()
const byGroups: EqualGroups = makeEqual({ groupOf: type => type }).configure({ groupCaps: null })
const { group, cappedTypes }: GroupStats = byGroups.groupStats('a')
const flat: Equal = makeEqual({ chargeBy: 'cost' })
console.log(groups, group, cappedTypes, byGroups.groupCapOf('a') + byGroups.groupWeightOf(undefined) + byGroups.groupCount, flat.needsCost, fairlane(runner).stats('a').group)
// @ts-expect-error no function
makeEqual({ groupOf: 'a' })
// @ts-expect-error no such thing to share
makeEqual({ chargeBy: 'jobs' })
// @ts-expect-error what only makeEqual takes
const noGroups = new Equal({ groupOf: type => type })
// @ts-expect-error no such name
fairlane(runner, { scheduler: 'equals' })
// @ts-expect-error not all methods
fairlane(runner, { scheduler: { select: () => 0 } })
// @ts-expect-error a misspelt name
fairlane(runner, { scheduler: 'equal', schedulerOptions: { weigths: {} } })
// @ts-expect-error the same beside one that is right
fairlane(runner, { scheduler: 'capped', schedulerOptions: { maxTypeCap: 1, typeCap: {} } })
// @ts-expect-error the same beside a rate
fairlane(runner, { rate: { limit: 1, intervalMs: 1 }, scheduler: 'equal', schedulerOptions: { weigths: {} } })
// @ts-expect-error the same of a class
const misspelt = new fairlane.Queue(runner, { scheduler: 'equal', schedulerOptions: { maxTypeShares: 1 } })
// @ts-expect-error no such clock
fairlane(runner, { clock: { now: () => 0 } })
// @ts-expect-error no such option
const wrong = new Fair({ weights: {} })
// @ts-expect-error no number
const wrongToo = new Capped({ typeCaps: { a: '1' } })

class Random implements fairlane.LaneScheduler {
  lanes = new Set<fairlane.Lane<undefined>>()
  queued (lane: fairlane.Lane) { this.lanes.add(lane) }
  next () { return [...this.lanes].find(lane => lane.size > 0 && !lane.isPaused) }
  started (lane: fairlane.Lane, now: number) { if (lane.size === 0) this.lanes.delete(lane) }
  ended () {}
}

const first: fairlane.WindowScheduler = {
  waiting (type: string) {},
  start (type: string) {},
  done (type: string) {},
  select: types => types.peekAt(1) === undefined ? 0 : types.size() - 1
}
const queue = fairlane(runner, { scheduler: first, schedulerOptions: { mine: true } as object })

for (const { title, run } of schedulerChecks(() => new Random(), { isWorkConserving: true, seed: 7, rounds: 2 })) {
  const text: string = title
  run()
}
const same: typeof Equal = SameEqual
const clock = fakeClock()
clock.clearTimeout(clock.setTimeout(() => {}, 5))
clock.advance(5)
const isLater: boolean = clock.next()
