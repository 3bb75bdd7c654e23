'use strict'

const { mostAtOnce, mostStarts } = require('./fleet-checks')
const { describeFleet } = require('./fleet')

const RATE = { limit: 50, intervalMs: 1000 }
const TIMES = { settleMs: 500, measureMs: 1500 }

describeFleet({ title: 'a rate', options: { rate: RATE }, typesCount: 20, jobsCount: 600, ...TIMES }, mostStarts(RATE))
describeFleet({ title: 'globalConcurrency', options: { globalConcurrency: 7 }, typesCount: 20, runMs: 20, jobsCount: 3000, ...TIMES }, mostAtOnce(7))
