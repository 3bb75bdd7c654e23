import fairlane = require('fairlane')
import { backoff, batches, Postponed, Queue, Throttled } from 'fairlane'
import { History } from 'fairlane/history'
import type { EitherOptions, QueueStats, Rate, Rates, RatesPerType } from 'fairlane'

export async function use (): Promise<void> {
  const rate: Rate = { limit: 10, intervalMs: 1000 }
  const rates: Rates = [rate, { limit: 1000, intervalMs: 3600000 }]
  const perType: RatesPerType = type => type === 'free' ? rate : undefined
  const options: EitherOptions = { observers: new History(), scheduler: 'equal', rate: rates, ratePerType: perType, concurrency: 3 }
  const queue = fairlane(async (n: number) => n.toFixed(), options)
  const result: string = await queue.add(1, { type: 'a' })
  queue.holdType('a', 10).hold(5).setRates({ rate: null, ratePerType: new Map([['a', rate]]) }).push(1)
  const ms: number = queue.heldMs() + queue.heldMs('a')
  const stats: QueueStats = queue.stats()
  const held: number = stats.heldTypes
  const waiting: number = queue.stats('a').waiting + queue.stats('a').delayed
  const made: Queue<string, number> = new Queue<string, number>((text, done) => done(null, text.length), 3)
  const chosen = fairlane((n: number) => n, { settleBy: 'promise' })
  const chosenResult: number = await chosen.add(1)
  console.log(result, ms, held, waiting, made.length, chosenResult)

  queue.on('retry', ({ type, attempt, error, delayMs }) => console.log(type, attempt.toFixed(), error, delayMs.toFixed())).on('drain', () => {})
  fairlane(async () => { throw Throttled.after('10', { cause: 1 }) }, { maxAttempts: 3, backoffMs: (attempt, error) => attempt * 10 })
  fairlane(async () => {}, { backoffMs: backoff({ firstMs: 5, jitter: 0 }) })
  const times: number = Throttled.after(null).retryAfterMs + new Throttled(5).retryAfterMs + new Postponed(5).delayMs
  const counts: number = stats.retried + stats.throttled
  console.log(times, counts, await queue.add(1, { type: 'a', maxAttempts: Infinity }))
  const later: string = await queue.add(1, { type: 'a', delayMs: 500, timeoutMs: 5 })
  console.log(later)

  const shared: string = await queue.add(1, { type: 'a', key: 7, onDuplicate: 'postpone', keyUntil: 1000, delayMs: 500, maxDelayMs: 5000 })
  console.log(shared, await queue.add(1, { key: 'k', keyUntil: 'settled', onDuplicate: 'replace' }), queue.stats().joined.toFixed())

  const gathered = batches(fairlane(async (rows: number[]) => rows.map(String), { scheduler: 'equal' }), { maxSize: 10, delayMs: 5, key: row => row % 2 })
  const text: string = await gathered.add(1, { type: 'a' })
  const mixed = batches<number, string>(fairlane(async (rows: number[]) => rows.map(row => row > 0 ? String(row) : new Error('no'))), { maxSize: 10 })
  const other: string = await mixed.add(1)
  console.log(text, other)
  // @ts-expect-error no size
  batches(queue, {})
  // @ts-expect-error no array
  batches(fairlane(async (n: number) => n), { maxSize: 3 })

  const counting = fairlane(async (prompt: string, done, { spent }) => { spent(prompt.length) }, { rate: { limit: 1000, intervalMs: 60000, of: 'cost' } })
  await counting.add('a', { cost: 5 })
  const slot = await counting.acquire({ cost: 2 })
  slot.spent(1)
  for await (const nothing of counting.map(['a'], { cost: prompt => prompt.length })) console.log(nothing)
  const spent: number = counting.stats().spent + queue.stats('a').spent
  console.log(spent)
  // @ts-expect-error no number
  await counting.add('a', { cost: '5' })
  // @ts-expect-error no such word
  counting.setRates({ rate: { limit: 1, intervalMs: 1, of: 'tokens' } })

  await fairlane(async () => {}, { priorityMs: 1000 }).add(1, { priority: 15 })

  // @ts-expect-error no number
  await queue.add(1, { priority: 'high' })
  // @ts-expect-error an object is no key
  await queue.add(1, { key: { document: 7 } })
  // @ts-expect-error neither is true
  batches(fairlane(async (rows: number[]) => rows), { maxSize: 3, key: row => row > 5 })
  // @ts-expect-error no such word
  await queue.add(1, { key: 'k', keyUntil: 'done' })
  // @ts-expect-error no such word
  await queue.add(1, { key: 'k', onDuplicate: 'drop' })
  // @ts-expect-error no such option
  await queue.add(1, { delay: 1 })
  // @ts-expect-error no interval
  fairlane(() => {}, { rate: { limit: 1 } })
  // @ts-expect-error no text
  queue.hold('1')
  // @ts-expect-error no such option
  fairlane(() => {}, { rates: rate })
  // @ts-expect-error of the whole queue only
  console.log(queue.stats('a').heldTypes)
  // @ts-expect-error no such payload
  queue.push('1')
}
