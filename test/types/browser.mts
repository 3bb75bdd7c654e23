// As a bundler's user: no types of Node.

import fairlane, { Queue, FairlaneError } from 'fairlane'
import type { WaitingJob } from 'fairlane'

const queue: Queue<string, number> = fairlane(async (text: string) => text.length)
queue.push('page', (error, length) => {
  if (error instanceof FairlaneError) console.log(error.code, error.cause)
  else console.log(length?.toFixed())
})
const waiting: WaitingJob<string>[] = [...queue.jobs()]
