// The methods and properties of a queue.

import { once } from 'node:events'
import fairlane = require('fairlane')

declare const queue: fairlane.Queue<string, number>

// Chains.
const chained: fairlane.Queue<string, number> =
  queue.push('a').unshift('b').pushType('tenant', 'c').unshiftType(7, 'd', () => {}).pause().resume().resume(3).resume('3')

// @ts-expect-error null is no callback
queue.push('a', null)
// @ts-expect-error a payload is needed
queue.push()
// @ts-expect-error no such concurrency
queue.resume({})

// Properties.
const counts: number[] = [queue.length, queue.running, queue.waiting, queue.concurrency]
const paused: boolean = queue.paused
queue.concurrency = 5
queue.concurrency = '5'
queue.concurrency = Infinity
queue.drain = () => {}
queue.drain = null
queue.drain = undefined
// @ts-expect-error read-only
queue.length = 0
// @ts-expect-error read-only
queue.running = 0
// @ts-expect-error read-only
queue.waiting = 0
// @ts-expect-error read-only
queue.paused = true
// @ts-expect-error no concurrency
queue.concurrency = {}
// @ts-expect-error no function
queue.drain = 'later'

// Types.
const scheduled: fairlane.Queue<string, number> = queue.pauseType('tenant').resumeType(7)
const ofType: IterableIterator<fairlane.WaitingJob<string>> = queue.jobs('tenant')
const typeCount: number = queue.stats('tenant').types
queue.clear({ type: 'tenant', reason: 'left' })
queue.scheduler?.configure?.({ maxTypeShare: 0.5 })
// @ts-expect-error read-only
queue.scheduler = null

// Waiting for the end.
const flushed: Promise<void> = queue.fflush()
queue.fflush(() => {})
// @ts-expect-error no function
queue.fflush('later')
const idle: Promise<void> = queue.onIdle()

// Waiting jobs.
for (const { type, payload } of queue.jobs()) {
  const text: string = payload
  const tenant: string | undefined = type
}
const removed: number = queue.remove(job => job.payload.startsWith('a'))
// @ts-expect-error no function
queue.remove('a')
const cleared: number = queue.clear()
queue.clear({ reason: 'shutting down' })
queue.clear({ reason: undefined })
// @ts-expect-error no such name
queue.clear({ cause: 'shutting down' })

// Counts.
const stats: fairlane.QueueStats = queue.stats()
const total: number = stats.waiting + stats.running + stats.done + stats.failed + stats.cancelled - stats.accepted

// Events.
queue.on('drain', () => {}).once('drain', () => {}).off('drain', () => {}).removeListener('drain', () => {})
const drained: Promise<unknown[]> = once(queue as unknown as NodeJS.EventEmitter, 'drain')
// @ts-expect-error no such event
queue.on('empty', () => {})

// Options.
fairlane(String, { concurrency: undefined, settleBy: undefined })
fairlane(String, '10')
// @ts-expect-error not an option
fairlane(String, { concurency: 5 })
// @ts-expect-error not a way to settle
fairlane(String, { settleBy: 'return' })
// @ts-expect-error no function
fairlane('runner')
// @ts-expect-error a runner is needed
fairlane()
