'use strict'

// What tests of programs that use fairlane need: time that stands still until it is told to go, and checks that every
// scheduler must pass. For tests only; loads nothing of a test framework.

const { fakeClock } = require('./clock')
const { schedulerChecks } = require('./scheduler')

module.exports = { fakeClock, schedulerChecks }
