// Functions as jobs, and slots.

import fairlane = require('fairlane')

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

const limit = fairlane(null, { concurrency: 10, scheduler: 'equal' })
const others = [new fairlane(null, 3), new fairlane.Queue(null)]
const asQueue: fairlane.Queue = limit

// The result is that of the function.
const length = limit.run(async ({ signal, type, attempt }) => {
  signal.throwIfAborted()
  return `${type} ${attempt}`.length
}, { type: 'a', maxAttempts: 3, key: 5 })
const atOnce = limit.run(() => 'text')
const nothing = limit.run(() => {})
const nested = limit.run(() => Promise.resolve([1, 2] as const), { priority: 3 })
const ofAny = fairlane(async (n: number) => n).run(context => context.type)
const areInferred: [
  Same<typeof length, Promise<number>>,
  Same<typeof atOnce, Promise<string>>,
  Same<typeof nothing, Promise<void>>,
  Same<typeof nested, Promise<readonly [1, 2]>>,
  Same<typeof ofAny, Promise<string | undefined>>
] = [true, true, true, true, true]
// @ts-expect-error no function
limit.run('text')
// @ts-expect-error there is no such option
limit.run(() => {}, { tenant: 'a' })

// A queue without a runner takes no payloads.
// @ts-expect-error
limit.add(5, { type: 'a' })
// @ts-expect-error
limit.push('a')
// @ts-expect-error
fairlane(undefined)

async function hold () {
  const slot = await limit.acquire({ type: 'a', signal: AbortSignal.timeout(5), maxWaitMs: 5, timeoutMs: 5, delayMs: 5, priority: 1, unshift: true })
  const { type, waitedMs, signal, release }: fairlane.Slot = slot
  const tenant: string | undefined = type
  const ms: number = waitedMs
  signal.throwIfAborted()
  release()
  release(new fairlane.Throttled(5))
  // @ts-expect-error read-only
  slot.type = 'b'
  using disposed = await limit.acquire()
  return [tenant, ms, disposed.waitedMs]
}
const options: fairlane.AcquireOptions = { type: 'a' }
// @ts-expect-error a slot is given once
limit.acquire({ maxAttempts: 2 })
// @ts-expect-error and to one caller
limit.acquire({ key: 'a' })
