import fairlane = require('fairlane')
import { durable } from 'fairlane/durable'
import { distributed } from 'fairlane/distributed'
import { History } from 'fairlane/history'
import { Metrics, channels } from 'fairlane/metrics'
import { traced, traceAlarms } from 'fairlane/metrics/tracing'
import type { RunMessage } from 'fairlane/metrics/tracing'
import { metrics as api, trace } from '@opentelemetry/api'
import type { JobMessage, MetricsOptions, MetricsSnapshot, TypeMetrics } from 'fairlane/metrics'
import { Registry } from 'prom-client'

export async function use (): Promise<void> {
  const options: MetricsOptions = { name: 'mails', maxTypes: 10, otherType: 'rest', bucketsMs: [1, 10], clock: 'exact', labelOf: type => type.slice(0, 1), windowMs: 5, starveMs: 5 }
  const byGroup: MetricsOptions = { labelOf: 'group' }
  const metrics = new Metrics(options)
  fairlane(async () => {}, { observers: [metrics, new History()] })
  await durable(async () => {}, { path: 'folder', observers: new Metrics() })
  await distributed(async () => {}, { name: 'mails', connection: '/socket', observers: [new Metrics()] })
  // @ts-expect-error the broker has the records
  await distributed(async () => {}, { name: 'mails', connection: '/socket', observers: new History() })
  const snapshot: MetricsSnapshot = metrics.snapshot()
  const [first]: TypeMetrics[] = snapshot.types
  const p99: number | undefined = first?.waitMs.p99
  const count: number | undefined = snapshot.refused.FAIRLANE_ERR_CLOSED
  metrics.register(new Registry())
  const bytes: Uint8Array = metrics.toText()
  console.log(p99, count, bytes)

  metrics.on('starving', ({ type, waiting, sinceMs }) => console.log(type?.length, waiting + sinceMs)).once('fed', ({ type }) => console.log(type))
  const fairness: number | undefined = snapshot.fairness
  const since: number[] = snapshot.starving.map(({ sinceMs }) => sinceMs)
  console.log(fairness, since)

  const runner = async (n: number): Promise<number> => n
  const wrapped: typeof runner = traced(runner, { tracer: trace.getTracer('x'), link: false, name: 'mails' })
  fairlane(wrapped, { observers: [channels({ starveMs: 5 })], asyncContext: 'push' })
  const told = ({ attempt, state }: JobMessage, { type }: RunMessage): string => `${attempt} ${state} ${type}`
  console.log(told)

  // @ts-expect-error no number
  traced(5)
  // @ts-expect-error no such option
  channels({ maxTypes: 5 })
  // @ts-expect-error no such event
  metrics.on('hungry', () => {})
  metrics.meter(api.getMeter('mails'))
  // @ts-expect-error no meter
  metrics.meter({})
  // @ts-expect-error no registry
  metrics.register({})
  // @ts-expect-error no such option
  new Metrics({ maxType: 5 })
}

// The types that come first.
const metrics = new Metrics()
const stop: () => void = traceAlarms(metrics, { tracer: trace.getTracer('mails'), name: 'mails' })
// @ts-expect-error no tracer
traceAlarms(metrics, { name: 'mails' })
stop()
const { types: [top], totals, windowMs } = metrics.snapshot({ top: 5, by: 'oldestWait', windowMs: 60000 })
console.log(top?.share ?? 0, top?.excess.slotMs, totals.waitMs.p95 ?? 0, windowMs.toFixed(), metrics.timeline().map(({ at, slotsHeld }) => at + slotsHeld))
metrics.on('standstill', ({ waiting, sinceMs }) => console.log(waiting + sinceMs))
// @ts-expect-error no such order
metrics.snapshot({ by: 'name' })
