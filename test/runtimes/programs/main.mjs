import fairlane, { Queue } from 'fairlane'
import { Fair, Capped, Equal } from 'fairlane/schedulers'
import testing from 'fairlane/testing'
import quickq from 'fairlane/compat/quickq'
import fastq from 'fairlane/compat/fastq'
import async from 'fairlane/compat/async'
import { durable } from 'fairlane/durable'
import { fairFetch } from 'fairlane/fetch'
import { admission } from 'fairlane/http'
import { runChecks } from './checks.cjs'
import fetchChecks from './fetch-checks.cjs'
import httpChecks from './http-checks.cjs'
import serverChecks from './server-checks.cjs'

const schedulers = { Fair, Capped, Equal }

const { served, ...onServers } = serverChecks

const result = await served(origin => {
  const entries = { fairlane, Queue, schedulers, testing, quickq, fastq, async, durable, fairFetch, admission, origin }
  return runChecks(entries, { ...onServers, ...fetchChecks, ...httpChecks })
})
console.log(JSON.stringify(result))
