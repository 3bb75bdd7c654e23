'use strict'

// What tests of programs that use fairlane need: time that stands still until it is told to go, jobs that end when
// they are told to, checks of a queue, and checks that every scheduler must pass. For tests only; loads nothing of a test framework.

const { fakeClock } = require('./clock')
const { gateRunner } = require('./gates')
const { checkInvariants } = require('./invariants')
const { Model } = require('./model')
const { schedulerChecks } = require('./scheduler')

module.exports = { checkInvariants, fakeClock, gateRunner, Model, schedulerChecks }
