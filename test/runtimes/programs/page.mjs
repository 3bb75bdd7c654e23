// The program of the bundles, in pages and in workers: what it finds goes to the server that the page has come from.

import fairlane, { Queue } from 'fairlane'
import * as schedulers from 'fairlane/schedulers'
import testing from 'fairlane/testing'
import quickq from 'fairlane/compat/quickq'
import fastq from 'fairlane/compat/fastq'
import async from 'fairlane/compat/async'
import { fairFetch } from 'fairlane/fetch'
import { admission } from 'fairlane/http'
import { runChecks } from './checks.cjs'
import fetchChecks from './fetch-checks.cjs'
import httpChecks from './http-checks.cjs'

const { Fair, Capped, Equal } = schedulers

const { origin } = globalThis.location

runChecks({ fairlane, Queue, schedulers: { Fair, Capped, Equal }, testing, quickq, fastq, async, fairFetch, admission, origin }, {
  ...fetchChecks,
  ...httpChecks,
  'no name of Node is left behind' () {
    const left = ['global', 'process', 'setImmediate'].filter(name => name in globalThis)
    if (left.length > 0) throw new Error(left.join())
  },

  async 'fetch: a path is of the origin of the page' () {
    const fetch = fairFetch(globalThis.fetch)
    fetch.queue.pause()
    const promise = fetch('/fetch/text/path')
    const [{ type, payload }] = fetch.queue.jobs()
    fetch.queue.resume()
    if (type !== origin || payload.url !== `${origin}/fetch/text/path`) throw new Error(`${type} ${payload.url}`)
    if (await (await promise).text() !== 'text') throw new Error('it has another answer')
  }
}).then(result => {
  const page = Number(new URLSearchParams(globalThis.location.search).get('page'))
  return fetch('/result', { method: 'POST', body: JSON.stringify({ page, ...result }) })
})
