// The CommonJS side: require, types from the namespace.

import fairlane = require('fairlane')
import { Queue, FairlaneError } from 'fairlane'

const queue: fairlane.Queue<string, number> = fairlane((text: string, done: fairlane.Done<number>) => done(null, text.length))
const options: fairlane.QueueOptions = { concurrency: '4', settleBy: 'callback' }
const made: fairlane.Queue = new fairlane.Queue((job: string) => job, options)
const isQueue: boolean = made instanceof fairlane.Queue
const error: Error = new fairlane.FairlaneError('FAIRLANE_ERR_CLEARED', 'cleared', { cause: queue })

// Named imports, as TypeScript compiles them to CommonJS, are the same.
const named: Queue<string, number> = queue
const constructed: fairlane.Queue<string, number> = new Queue(async (text: string) => text.length)
const failed: boolean = error instanceof FairlaneError

// @ts-expect-error not one of the codes
const wrong: fairlane.ErrorCode = 'FAIRLANE_ERR_NONE'
