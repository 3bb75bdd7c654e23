import fairlane from 'fairlane'
import { durable } from 'fairlane/durable'
import { threads, move } from 'fairlane/threads'
import type { ThreadContext, ThreadFunction, ThreadsOptions, ThreadsRunner, ThreadsStats } from 'fairlane/threads'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

interface Image { bytes: Uint8Array }

const options: ThreadsOptions<Image> = {
  threads: 2,
  name: 'resize',
  perThread: 4,
  transfer: ({ bytes }) => [bytes.buffer as ArrayBuffer],
  resourceLimits: { maxOldGenerationSizeMb: 64 },
  workerData: { quality: 5 },
  env: { A: 'b' },
  argv: ['one', 2],
  execArgv: ['--no-warnings']
}
const runner: ThreadsRunner<Image, number> = threads<Image, number>('./resize.js', options)
const resize: ThreadFunction<Image, Uint8Array> = ({ bytes }, { type, attempt, spent }: ThreadContext) => {
  spent(bytes.length)
  return move(bytes.subarray(attempt, type?.length))
}

async function use (): Promise<void> {
  await runner.ready()
  const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal', timeoutMs: 1000 })
  const size: number = await queue.add({ bytes: new Uint8Array(1) }, { type: 'tenant' })
  const isQueue: Same<typeof queue, fairlane.Queue<Image, number>> = true
  const promised = fairlane(runner, { settleBy: 'promise' })
  const isPromised: Same<typeof promised, fairlane.Queue<Image, number>> = true
  const called = fairlane(runner, { settleBy: 'callback' })
  const isCalled: Same<typeof called, fairlane.Queue<Image, number>> = true
  const onDisk = await durable(runner, { path: 'folder', maxAttempts: 3 })
  onDisk.on('done', ({ result }) => result + size)
  const stats: ThreadsStats = runner.stats()
  const total: number = stats.started + stats.stopped + stats.crashed + stats.running + stats.threads
  const direct: number = await runner({ bytes: new Uint8Array(total) })
  const nothing: void = runner({ bytes: new Uint8Array(direct) }, (error, result) => error ?? result?.toFixed())
  const any: ThreadsRunner = threads(new URL('file:///resize.mjs'))
  const closed: void = await any.close()

  // @ts-expect-error of the other type
  await queue.add('bytes', { type: 'tenant' })
  // @ts-expect-error no such option
  threads('./resize.js', { thread: 2 })
  // @ts-expect-error a file has to be given
  threads()
  // @ts-expect-error read-only
  runner.concurrency = 5
  // @ts-expect-error a number is not moved
  move(5)
}

async function dispose (): Promise<void> {
  await using runner = threads('./resize.js')
  await runner.ready()
}
