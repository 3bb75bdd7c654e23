import { distributed, DistributedQueue } from 'fairlane/distributed'
import type { DistributedDeadLetter, DistributedJob, DistributedOptions, TypeCounts } from 'fairlane/distributed'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

const place = { name: 'mails', connection: 'redis://localhost' } satisfies DistributedOptions

async function use (): Promise<void> {
  const queue = await distributed(async ({ url }: { url: string }, _done, { id, attempt, signal, type }) => {
    const seen: [string, number, boolean, string] = [id, attempt, signal.aborted, type]
    return url.length + seen.length
  }, { ...place, scheduler: 'equal', globalTypeCaps: { a: 3 }, ratePerType: new Map([['a', { limit: 5, intervalMs: 1000 }]]), serialize: 'structured' })
  const same: DistributedQueue<{ url: string }, number> = queue
  const isSame: Same<typeof queue, DistributedQueue<{ url: string }, number>> = true
  const id: string = await same.pushType('tenant', { url: '' }, { key: 5, keyUntil: 'settled', delayMs: isSame ? 5 : 6 })
  const result: number = await queue.add({ url: '' }, { type: 'tenant', signal: AbortSignal.timeout(5) })
  queue.on('done', ({ id, result }) => id.length + result)
  queue.on('lost', ({ error }) => error.code === 'FAIRLANE_ERR_LEASE')
  queue.on('close', abandonedCount => abandonedCount + result)
  const job: DistributedJob<{ url: string }> | undefined = await queue.get(id)
  const [dead]: Array<DistributedDeadLetter<{ url: string }>> = await queue.deadLetters({ type: 'tenant', limit: 5 })
  const { cap, rate, paused }: TypeCounts = await queue.counts('tenant')
  const { because, untilMs = 0 } = await queue.explain('tenant')
  console.log(because, untilMs)
  await queue.setRates({ rate: { limit: 5, intervalMs: 1000 }, ratePerType: paused ? rate : null })
  await queue.setRates({ rate: null, ratePerType: new Map([['tenant', [{ limit: 5, intervalMs: 1000 }]]]) })
  await queue.setGlobalConcurrency(7)
  await queue.hold(5)
  const heldMs: number = Math.max(await queue.heldMs(), await queue.heldMs('tenant'))
  await queue.pauseGlobal()
  queue.on('limits', ({ before, after }) => [before.globalConcurrency, after.rate, heldMs])
  await queue.setGlobalCap('tenant', cap)
  await queue.holdType('tenant', 5)
  const counts: number[] = (await queue.types()).map(({ waiting }) => waiting)
  const running: Array<string | undefined> = (await queue.listRunning()).map(({ id }) => id)
  await queue.cancel(`${job?.payload.url}${dead?.at}${counts.length}`)

  const producer: DistributedQueue<string, number> = await distributed(null, { ...place, connection: ['redis://a', 'redis://b'], partitions: 4 })
  await producer.push('text')
  await producer.announce('tenant')
  // @ts-expect-error a string is wanted
  await producer.push(5)
  await producer.push('text', { priority: 1 })
  // @ts-expect-error null is no key
  await producer.push('text', { key: null, keyUntil: 'settled' })
  await producer.push('text', { key: 'a', keyUntil: 5, onDuplicate: 'postpone', maxDelayMs: 100 })
  // @ts-expect-error keyUntil can be nothing else
  await producer.push('text', { key: 'a', keyUntil: 'ended' })
  // @ts-expect-error there is no such limit here
  await distributed(null, { ...place, maxWaiting: 5 })
  // @ts-expect-error where is it?
  await distributed(null, { name: 'mails' })
  // @ts-expect-error a queue at a broker has no view of all that waits
  const waiting: number[] = [...producer.jobs()]
  // @ts-expect-error onIdle() is for that
  producer.drain = () => {}
  const isPaused: boolean = producer.isTypePaused(`a${waiting}`)
  producer.pauseType(String(isPaused))
  // @ts-expect-error made by distributed()
  new DistributedQueue()
}

use()
