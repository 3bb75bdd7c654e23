'use strict'

// The limits of a fleet for as long as it takes to see that they are used: npm run test:fleet, in npm run test:long

const { mostAtOnce, mostStarts, mostStartsPerType } = require('./fleet-checks')
const { describeFleet } = require('./fleet')

const RATE = { limit: 50, intervalMs: 1000 }
const PER_TYPE = { limit: 1, intervalMs: 10000 }
const TYPES = 1000
const TIMES = { settleMs: 5000, measureMs: 5000 }

describeFleet({
  title: 'a rate',
  options: { rate: RATE },
  typesCount: TYPES,
  jobsCount: 10000,
  perSecond: 45,
  leaseMs: 5000, // the walk of the keeper over all types, every half lease, is not for a start
  calls: 3,
  ...TIMES
}, mostStarts(RATE))
describeFleet({
  title: 'ratePerType',
  options: { ratePerType: Array.from({ length: TYPES }, (_, n) => [`type-${n}`, PER_TYPE]) },
  typesCount: TYPES,
  jobsCount: 10000,
  settleMs: 5000,
  measureMs: 10000,
  perSecond: 90,
  leaseMs: 5000,
  calls: 3
}, mostStartsPerType(PER_TYPE))
describeFleet(
  { title: 'globalConcurrency', options: { globalConcurrency: 7 }, typesCount: TYPES, runMs: 50, jobsCount: 10000, perSecond: 80, ...TIMES },
  mostAtOnce(7)
)
