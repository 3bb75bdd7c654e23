import fairlane, { Queue } from 'fairlane'
import { Fair, Capped, Equal } from 'fairlane/schedulers'
import testing from 'fairlane/testing'
import quickq from 'fairlane/compat/quickq'
import fastq from 'fairlane/compat/fastq'
import async from 'fairlane/compat/async'
import { durable } from 'fairlane/durable'
import { runChecks } from './checks.cjs'
import onServers from './server-checks.cjs'

const schedulers = { Fair, Capped, Equal }

console.log(JSON.stringify(await runChecks({ fairlane, Queue, schedulers, testing, quickq, fastq, async, durable }, onServers)))
