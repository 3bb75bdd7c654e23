import fairlane = require('fairlane')
import { durable } from 'fairlane/durable'
import { distributed } from 'fairlane/distributed'
import { History } from 'fairlane/history'
import { adaptive } from 'fairlane/adaptive'
import type { AdaptiveControl, AdaptiveOptions, AdaptiveStats, LimitCause } from 'fairlane/adaptive'

export async function use (): Promise<void> {
  const options: AdaptiveOptions = {
    least: 2, most: 200, first: 8, classOf: type => type.slice(0, 1), isOverload: (err: { status: number }) => err.status === 503
  }
  const control: AdaptiveControl = adaptive(options)
  fairlane(async () => {}, { observers: control })
  fairlane(async () => {}, { observers: [adaptive({ most: 5 }), new History()] })
  await durable(async () => {}, { path: 'folder', observers: adaptive({ most: 5 }) })
  // @ts-expect-error a process sees a part of the load
  await distributed(async () => {}, { name: 'mails', connection: '/socket', observers: adaptive({ most: 5 }) })
  control.on('limit', ({ limit, before, because }) => {
    const cause: LimitCause = because
    console.log(limit - before, cause)
  })
  const { limit, slowdown, rejects, rounds, classes }: AdaptiveStats = control.stats()
  console.log(control.limit + limit + slowdown + rejects + rounds + classes)
  control.stop()

  // @ts-expect-error most must be given
  adaptive({ least: 2 })
  // @ts-expect-error no such option
  adaptive({ most: 2, max: 5 })
  // @ts-expect-error it is read only
  control.limit = 5
  // @ts-expect-error no such event
  control.on('limits', () => {})
}
