// The program of the bundles, in pages and in workers: what it finds goes to the server that the page has come from.

import fairlane, { Queue } from 'fairlane'
import * as schedulers from 'fairlane/schedulers'
import testing from 'fairlane/testing'
import quickq from 'fairlane/compat/quickq'
import fastq from 'fairlane/compat/fastq'
import async from 'fairlane/compat/async'
import { runChecks } from './checks.cjs'

const { Fair, Capped, Equal } = schedulers

runChecks({ fairlane, Queue, schedulers: { Fair, Capped, Equal }, testing, quickq, fastq, async }, {
  'no name of Node is left behind' () {
    const left = ['global', 'process', 'setImmediate'].filter(name => name in globalThis)
    if (left.length > 0) throw new Error(left.join())
  }
}).then(result => {
  const page = Number(new URLSearchParams(globalThis.location.search).get('page'))
  return fetch('/result', { method: 'POST', body: JSON.stringify({ page, ...result }) })
})
