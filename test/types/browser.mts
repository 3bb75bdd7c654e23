// As a bundler's user: no types of Node.

import fairlane, { Queue, FairlaneError } from 'fairlane'
import { fairFetch } from 'fairlane/fetch'
import type { WaitingJob } from 'fairlane'

const queue: Queue<string, number> = fairlane(async (text: string) => text.length)
queue.push('page', (error, length) => {
  if (error instanceof FairlaneError) console.log(error.code, error.cause)
  else console.log(length?.toFixed())
})
const waiting: WaitingJob<string>[] = [...queue.jobs()]

const fair: typeof globalThis.fetch = fairFetch(globalThis.fetch, { maxAttempts: 3 })
fair('/path')
fairFetch(fetch)('/path', { fairlane: { type: 'a' } }).then(response => response.ok)
