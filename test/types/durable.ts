import { FairlaneError } from 'fairlane'
import { durable, DurableQueue, Postponed, Throttled } from 'fairlane/durable'
import type { DeadLetter, DurableOptions, FoundJob, PushOptions, QueueCounts, Schedule, TypeCounts } from 'fairlane/durable'
import { PersistentQueue } from 'fairlane/log'
import type { PersistentQueueOptions, Reserved } from 'fairlane/log'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

async function use (): Promise<void> {
  const options: PersistentQueueOptions = { ack: 'os', capacity: 10, onProgress: ({ bytes, totalBytes }) => bytes / totalBytes }
  const queue = await PersistentQueue.open('folder', options)
  await queue.push(Buffer.from('one'))
  await queue.push([new Uint8Array(1), Buffer.from('two')])
  queue.pushSync(Buffer.from('three'))
  const popped: Buffer[] = [...await queue.pop(), ...queue.popSync(2), ...await queue.peek()]
  const reserved: Reserved[] = await queue.reserve(5)
  await queue.ack(reserved.map(({ id }) => id))
  queue.release(1)
  const bytes: number = queue.diskBytes() + queue.bytes + queue.length + queue.recovered.dropped.length + popped.length
  await queue.flush()
  await queue.close()
  await PersistentQueue.remove('folder')

  // @ts-expect-error a queue is opened
  new PersistentQueue()
  // @ts-expect-error no strings
  await queue.push('one')
  // @ts-expect-error no such mode
  await PersistentQueue.open('folder', { ack: 'never' })
  // @ts-expect-error read-only
  queue.length = bytes
}

async function open (): Promise<[string, number] | undefined> {
  try {
    await PersistentQueue.open('folder')
  } catch (err) {
    if (!(err instanceof FairlaneError) || err.code !== 'FAIRLANE_ERR_CORRUPT') throw err
    const { file = '', offset = 0 } = err
    // @ts-expect-error a number
    offset.slice()
    return [file, offset]
  }
}

async function useJobs (): Promise<void> {
  const options = {
    path: 'folder',
    ack: 'os',
    scheduler: 'equal',
    maxAttempts: 3,
    priorityMs: 1000,
    backoffMs: (attempt, error) => error === null ? Infinity : attempt * 100,
    rate: [{ limit: 10, intervalMs: 1000 }, { limit: 100, intervalMs: 60000 }],
    schedules: { nightly: { cron: '0 2 * * *', timezone: 'Europe/Berlin', type: 'a', payload: { url: '/' } }, often: { everyMs: 1000, catchUp: 'none', overlap: true } },
    ratePerType: (type: string) => type === 'vip' ? undefined : { limit: 1, intervalMs: 1000 },
    serialize: { encode: ({ url }: { url: string }) => Buffer.from(url), decode: (bytes: Buffer) => ({ url: String(bytes) }) }
  } satisfies DurableOptions<{ url: string }>
  const queue = await durable(async ({ url }: { url: string }, _done, { id, attempt, signal, type, progress, schedule }) => {
    const time: number | undefined = schedule?.time
    progress({ percent: 50, time })
    if (url === '') throw Throttled.after('5')
    if (url === '/') throw new Postponed(100, { cause: url })
    const seen: [number, number, boolean, string | undefined] = [id, attempt, signal.aborted, type]
    return url.length + seen.length
  }, options)
  const same: DurableQueue<{ url: string }, number> = queue
  const id: number = await same.pushType('tenant', { url: '' })
  const held: number = queue.holdType('tenant', 10).hold(5).setRates({ rate: null, ratePerType: new Map() }).heldMs('tenant') + queue.heldMs()
  const { throttled, heldTypes }: { throttled: number, heldTypes: number } = queue.stats()
  const next: Array<number | undefined> = (await queue.listSchedules()).map(({ name, nextAt, lastAt, paused }) => paused ? 0 : nextAt ?? lastAt ?? name.length)
  await queue.pauseSchedule('daily').then(() => queue.resumeSchedule('daily'))
  // @ts-expect-error either
  const wrong: Schedule = { cron: '* * * * *', everyMs: next.length }
  // @ts-expect-error a rate has an interval
  queue.setRates({ rate: { limit: held + throttled + heldTypes + Object.keys(wrong).length } })
  const said: PushOptions = { delayMs: 1000, maxAttempts: 3, priority: 2, timeoutMs: 500, maxWaitMs: Infinity }
  const ids: number[] = await Promise.all([queue.push({ url: '' }, said), queue.unshift({ url: '' }, said), queue.unshiftType(1, { url: '' }, { delayMs: undefined })])
  queue.pushType('t', { url: '' }, { key: 5, onDuplicate: 'postpone', keyUntil: 1000, maxDelayMs: 5000 }).catch(() => {})
  const added: number = await queue.add({ url: '' }, { type: 't', unshift: true, signal: new AbortController().signal, delayMs: 5, key: 'k' })
  const all: number[] = await queue.pushAll([{ payload: { url: '' }, type: 't', delayMs: 5 }, { payload: { url: '' }, key: 1, onDuplicate: 'replace' }])
  // @ts-expect-error nobody waits for the results of a batch
  queue.pushAll([{ payload: { url: '' }, signal: new AbortController().signal }]).catch(() => {})
  // @ts-expect-error what is pushed has no signal
  queue.push({ url: '' }, { signal: new AbortController().signal }).catch(() => {})
  // @ts-expect-error an array is no key
  queue.push({ url: '' }, { key: ['a'] }).catch(() => {})
  // @ts-expect-error no such time
  queue.push({ url: '' }, { key: 'a', keyUntil: 'done' }).catch(() => {})
  // @ts-expect-error what is said of a job has names
  queue.push({ url: '' }, 1000).catch(() => {})
  queue.on('done', ({ id, result }) => id + result + ids.length + added + all.length)
  queue.on('progress', ({ id, attempt, value }) => [id + attempt, value.percent])
  queue.on('failed', ({ error, attempt }) => [error, attempt])
  queue.on('retry', ({ delayMs }) => delayMs)
  queue.on('close', (count, error) => error?.code)
  const dead: Array<DeadLetter<{ url: string }>> = await queue.deadLetters({ type: 'tenant', limit: 5 })
  const codes = dead.map(({ error, payload, attempts }) => [error.code, payload.url, attempts])
  const found: FoundJob<{ url: string }> | undefined = await queue.get(id)
  const about: Array<string | number | undefined> = [found?.state, found?.attempts, found?.dueAt, found?.error?.code, found?.payload.url]
  // @ts-expect-error no such state: a job that is done is no more
  const isDone = found?.state === 'done'
  const isCancelled: boolean = await queue.cancel(id)
  const running: Array<[number | undefined, boolean]> = (await queue.listRunning({ type: 'a', limit: 5 })).map(({ id, overdue }) => [id, overdue])
  const isThere: boolean = await queue.retryDead(id) && await queue.deleteDead(id)
  const { delayed, dead: deadCount, joined } = queue.stats()
  queue.pause().resume().remove(({ id, payload }) => id === 5 || payload.url === '')
  const { types, waiting: waitingCount }: QueueCounts = await queue.counts()
  const { cap, rate, paused }: TypeCounts = await queue.counts('tenant')
  const { because, untilMs = 0 } = queue.explain('tenant')
  console.log(because, untilMs)
  const first: string | undefined = (await queue.types({ limit: 5 }))[0]?.type
  const page: Array<number | undefined> = (await queue.deadLetters({ after: id })).map(({ at }) => at)
  for await (const length of queue.map([{ url: '' }], { type: 't', maxPending: 2 })) page.push(length)
  const result: number = await queue.wait(id, { signal: new AbortController().signal })
  await queue.setSchedule('clean', { everyMs: 1000, type: 't', payload: { url: '' } })
  await queue.setSchedule('clean', null)
  // @ts-expect-error a schedule has times
  queue.setSchedule('clean', { type: 't' }).catch(() => {})
  const run: number = await queue.runSchedule('clean')
  queue.on('cancelled', ({ payload, attempt, error }) => [payload.url, attempt, error.code, types, waitingCount, cap, rate, paused, first, result, run])
  const cleared: number = queue.clear({ type: 't', dead: true }) + queue.stats('t').done
  // @ts-expect-error who pushes is told the id; add() gives the result
  queue.push({ url: '' }, () => cleared).catch(() => {})
  // @ts-expect-error at a broker only
  queue.pauseGlobal()
  await queue.close({ drain: true, timeoutMs: 1000 })
  await using closed = await durable(() => {}, { path: 'folder' })
  const count: number = closed.length
  await durable(() => {}, { path: 'folder', serialize: 'json' })
  // @ts-expect-error no such name
  await durable(() => {}, { path: 'folder', serialize: 'xml' }).catch(() => {})
  const promised = await durable((payload: string) => payload.length, { path: 'folder', settleBy: 'promise' })
  promised.on('done', ({ result }) => result.toFixed())

  const written = await durable(async (n: number, _done, { id }) => String(n + id), { path: 'folder' })
  const isWritten: Same<typeof written, DurableQueue<number, string>> = true
  const takesNothing = await durable(async () => 5, { path: 'folder', concurrency: 1 })
  const isTakingNothing: Same<typeof takesNothing, DurableQueue<any, number>> = true
  const byReturn = await durable(async (n: number, { id }) => String(n + id), { path: 'folder', settleBy: 'promise' })
  const isByReturn: Same<typeof byReturn, DurableQueue<number, string>> = true
  const named = await durable<string, number>(async (text, _done, { attempt }) => text.length + attempt, { path: 'folder' })
  const isNamed: Same<typeof named, DurableQueue<string, number>> = true
  use([isWritten, isTakingNothing, isByReturn, isNamed])

  // @ts-expect-error a queue is opened
  new DurableQueue()
  // @ts-expect-error the path is needed
  await durable(() => {}, {})
  // @ts-expect-error another payload
  await queue.push('one')
  // @ts-expect-error no callbacks
  await queue.push({ url: '' }, () => {})
  // @ts-expect-error no such option
  await durable(() => {}, { path: 'folder', attempts: 5 })
  use([codes, about, isDone, isCancelled, isThere, delayed, deadCount, count])
  function use (values: unknown[]): unknown { return values }
}

export { use, open, useJobs }
