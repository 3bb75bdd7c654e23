// The import side: a default export and the named ones.

import fairlane, { Queue, FairlaneError } from 'fairlane'
import type { Done, ErrorCode, JobContext, QueueStats, WarningCode } from 'fairlane'

const queue: Queue<number, string> = fairlane(async (n: number) => String(n), { concurrency: Infinity })
const same: Queue<number, string> = new Queue(async (n: number, done: Done<string>, context: JobContext) => context.type ?? '', 3)

queue.push(1, (error: unknown) => {
  if (error instanceof FairlaneError) {
    const code: ErrorCode = error.code
    const text: string = error.message
  }
})

const stats: QueueStats = queue.stats()
const warning: WarningCode = 'FAIRLANE_WARN_SETTLED_TWICE'

// @ts-expect-error there is no such export
import { push } from 'fairlane'
