// What ends, limits and watches jobs: add, map, ready, close, clear, remove, jobs, stats, events, options.

import fairlane = require('fairlane')

declare const queue: fairlane.Queue<string, number>
declare const signal: AbortSignal

// add.
const added: Promise<number> = queue.add('a')
queue.add('a', { type: 7, unshift: true, signal, timeoutMs: 5, maxWaitMs: Infinity })
queue.add('a', { type: undefined, unshift: undefined, signal: undefined, timeoutMs: undefined, maxWaitMs: undefined })
// @ts-expect-error not a payload of this queue
queue.add(7)
// @ts-expect-error a payload is needed
queue.add()
// @ts-expect-error the result is a number
const text: Promise<string> = queue.add('a')
// @ts-expect-error no option of add
queue.add('a', { tpye: 'tenant' })
// @ts-expect-error no signal
queue.add('a', { signal: new AbortController() })
// @ts-expect-error no time
queue.add('a', { timeoutMs: '5' })
// @ts-expect-error options are an object
queue.add('a', () => {})

// map.
async function map () {
  async function * lines (): AsyncGenerator<string> {}
  for await (const result of queue.map(['a'])) {
    const n: number = result
  }
  for await (const result of queue.map(lines(), { type: 'tenant', ordered: false, maxPending: 3 })) {
    const n: number = result
    // @ts-expect-error the result is a number
    const s: string = result
  }
  for await (const result of queue.map(new Set(['a']), { settled: true })) {
    if (result.status === 'fulfilled') {
      const n: number = result.value
    } else {
      const reason: unknown = result.reason
    }
  }
  for await (const result of queue.map([Promise.resolve('a')], { settled: queue.paused })) {
    const either: number | PromiseSettledResult<number> = result
    // @ts-expect-error it may be a number
    const status: string = result.status
  }
  const results = queue.map(['a'])
  const next: IteratorResult<number, void> = await results.next()
  await results.return()
  await using disposed = queue.map(['a'])
  // @ts-expect-error not payloads of this queue
  queue.map([7])
  // @ts-expect-error not iterable
  queue.map(7)
  // @ts-expect-error a source is needed
  queue.map()
  // @ts-expect-error no option of map
  queue.map(['a'], { order: true })
}

// ready.
const ready: Promise<void> = queue.ready()
queue.ready('tenant')
queue.ready(undefined)

// close.
const abandoned: Promise<number> = queue.close()
queue.close({ drain: false })
queue.close({ drain: undefined, timeoutMs: undefined })
queue.close({ timeoutMs: 1000 })
const closed: boolean = queue.closed
// @ts-expect-error read-only
queue.closed = true
// @ts-expect-error no flag
queue.close({ drain: 'yes' })
// @ts-expect-error no option of close
queue.close({ timeout: 5 })
async function dispose () {
  await using own = fairlane(async (n: number) => n)
  own.push(1)
}

// clear, remove, jobs.
const cleared: number = queue.clear({ type: 'tenant' }) + queue.clear({}) + queue.clear({ type: undefined, reason: new Error() })
const removed: number = queue.remove(({ type, payload }) => type === 'tenant' && payload === 'a')
// @ts-expect-error payloads are strings
queue.remove(({ payload }) => payload > 5)
const waiting: Array<fairlane.WaitingJob<string>> = [...queue.jobs(), ...queue.jobs('tenant')]
// @ts-expect-error read-only
waiting[0]!.payload = 'b'

// stats.
const { accepted, waiting: waitingCount, running, done, failed, cancelled, rejected, misuse, overrun, types } = queue.stats()
const counts: number[] = [accepted, waitingCount, running, done, failed, cancelled, rejected, misuse, overrun, types]
// @ts-expect-error no such count
queue.stats().aborted

// Events.
queue.on('saturated', () => {}).once('unsaturated', () => {}).on('close', abandonedCount => { const n: number = abandonedCount })
queue.on('done', ({ id, type, payload, attempt, result }) => { const told: [undefined, string | undefined, number] = [id, type, attempt] })
queue.on('failed', ({ error, type }) => { const tenant: string | undefined = type })
queue.on('cancelled', ({ error: { code }, attempt }) => { const why: fairlane.ErrorCode = code })
queue.on('progress', ({ value, payload }) => {})
// @ts-expect-error it is not cancelled with a result
queue.on('cancelled', ({ result }) => {})
// @ts-expect-error it is told a number
queue.on('close', (name: string) => {})
// @ts-expect-error it is told nothing
queue.on('saturated', (count: number) => {})

// Refusals.
queue.push('a', (error: fairlane.FairlaneError) => {
  if (error.code === 'FAIRLANE_ERR_TYPE_FULL') {
    const seconds: number = Math.ceil((error.retryAfterMs ?? 0) / 1000)
    const limit: number | undefined = error.limit
    const tenant: string | undefined = error.type
    const waiting: number | undefined = error.waiting
  }
  // @ts-expect-error no such code
  const isFull: boolean = error.code === 'FAIRLANE_ERR_FULL'
})

// Options.
fairlane(String, {
  maxWaiting: 0,
  maxWaitMs: 1000,
  timeoutMs: Infinity,
  onTimeout: 'release',
  signal,
  asyncContext: 'push',
  clock: { now: () => 0, setTimeout: (fn, ms) => setTimeout(fn, ms), clearTimeout: timer => clearTimeout(timer) }
})
fairlane(String, { scheduler: 'equal', maxWaitingPerType: 5, maxTypes: 10 })
fairlane(String, { scheduler: 'equal', maxWaitingPerType: { tenant: 5 } })
fairlane(String, { scheduler: 'equal', maxWaitingPerType: new Map([['tenant', 5]]) })
// @ts-expect-error no number
fairlane(String, { maxWaiting: '5' })
// @ts-expect-error no numbers
fairlane(String, { maxWaitingPerType: { tenant: '5' } })
// @ts-expect-error neither hold nor release
fairlane(String, { onTimeout: 'free' })
// @ts-expect-error no flag
fairlane(String, { asyncContext: true })
// @ts-expect-error no clock
fairlane(String, { clock: Date })
// @ts-expect-error no signal
fairlane(String, { signal: 'abort' })

// Why a job waits.
const { because, untilMs, holders, ahead }: fairlane.Explanation = fairlane(String, { scheduler: 'equal' }).explain('tenant', { ahead: true })
if (because === 'slots') console.log(holders?.map(({ type, running }) => `${type}: ${running}`).join(), (untilMs ?? 0) + (ahead ?? 0))
// @ts-expect-error no such reason
const isLate: boolean = because === 'late'
// @ts-expect-error no such option
fairlane(String).explain(undefined, { before: true })
