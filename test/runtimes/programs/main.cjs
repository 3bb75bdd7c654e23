'use strict'

const fairlane = require('fairlane')
const schedulers = require('fairlane/schedulers')
const testing = require('fairlane/testing')
const quickq = require('fairlane/compat/quickq')
const fastq = require('fairlane/compat/fastq')
const async = require('fairlane/compat/async')
const { durable } = require('fairlane/durable')
const { runChecks } = require('./checks.cjs')
const onServers = require('./server-checks.cjs')

const { Queue } = fairlane

runChecks({ fairlane, Queue, schedulers, testing, quickq, fastq, async, durable }, onServers).then(result => console.log(JSON.stringify(result)))
