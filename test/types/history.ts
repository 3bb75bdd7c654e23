import fairlane = require('fairlane')
import { durable } from 'fairlane/durable'
import { History } from 'fairlane/history'
import type { HistoryOptions, JobCounts, JobRecord, JobVersion, TypeStats } from 'fairlane/history'

export async function use (): Promise<void> {
  const options: HistoryOptions = { keep: 1000, keepMs: 86400000, clock: 'exact' }
  const history = new History(options)
  const queue = fairlane(async (n: number) => n, { observers: history })
  fairlane(async () => {}, { observers: [new History(), new History({})] })
  await durable(async () => {}, { path: 'folder', observers: new History() })
  const paused: boolean = queue.isTypePaused('tenant')

  const job: JobRecord | undefined = history.get(1, { back: 2 })
  const state: 'waiting' | 'running' | 'delayed' | 'done' | 'failed' | 'cancelled' | undefined = job?.state
  const versions: JobVersion[] = history.versions(1)
  const counts: JobCounts = history.counts('tenant')
  for (const { error, endedAt = 0 } of history.list({ state: 'failed', type: 7, since: new Date(), until: Infinity, before: 9, limit: 5 })) {
    const text: string | undefined = error
    console.log(text, endedAt.toFixed())
  }
  const sum: number = history.sum('waitMs', { first: 1, last: 9 }) + history.at(Date.now()).sum('attempts')
  const stats: Map<string | undefined, TypeStats> = history.stats({ since: 5 })
  const gone: boolean = history.remove(1)
  await history.save('file')
  const opened: History = await History.open('file')
  const database = { exec (sql: string) {}, prepare: (sql: string) => ({ run (...values: unknown[]) {} }) }
  const last: number | undefined = opened.exportTo(database, { table: 'jobs' })
  const next: number = opened.exportTo(database, { after: last ?? 0 })
  console.log(paused, state, versions, counts, sum, stats, gone, next)

  // @ts-expect-error no observer
  fairlane(async () => {}, { observers: {} })
  // @ts-expect-error no such state
  history.list({ state: 'dead' })
  // @ts-expect-error no such column
  history.sum('slots')
  // @ts-expect-error no such clock
  new History({ clock: 'fast' })
  // @ts-expect-error ids are numbers
  history.get('1')
}
