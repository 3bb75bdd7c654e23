'use strict'

const fairlane = require('fairlane')
const schedulers = require('fairlane/schedulers')
const testing = require('fairlane/testing')
const quickq = require('fairlane/compat/quickq')
const fastq = require('fairlane/compat/fastq')
const async = require('fairlane/compat/async')
const { durable } = require('fairlane/durable')
const { fairFetch } = require('fairlane/fetch')
const { admission } = require('fairlane/http')
const { runChecks } = require('./checks.cjs')
const fetchChecks = require('./fetch-checks.cjs')
const httpChecks = require('./http-checks.cjs')
const { served, ...onServers } = require('./server-checks.cjs')

const { Queue } = fairlane

served(origin => {
  const entries = { fairlane, Queue, schedulers, testing, quickq, fastq, async, durable, fairFetch, admission, origin }
  return runChecks(entries, { ...onServers, ...fetchChecks, ...httpChecks })
}).then(result => console.log(JSON.stringify(result)))
