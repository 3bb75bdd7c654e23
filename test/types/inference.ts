// Payload and result follow from the runner.

import fairlane = require('fairlane')

interface Job { url: string }

// From a promise.
const byPromise = fairlane(async (job: Job) => job.url.length)
byPromise.push({ url: '/' }, (error, length) => {
  const n: number | undefined = length
  // @ts-expect-error it may be undefined, and it is no string
  const s: string = length
})
// @ts-expect-error not a Job
byPromise.push('/')
// @ts-expect-error not a Job
byPromise.unshift({ uri: '/' })
// @ts-expect-error not a Job
byPromise.pushType('tenant', 5)
// @ts-expect-error not a Job
byPromise.unshiftType('tenant', 5)

// From a promise, where done and context stand without annotations.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const withSignal = fairlane(async (job: Job, _done, { signal }) => {
  signal.throwIfAborted()
  return job.url.length
})
const withContext = fairlane(async (job: Job, _done, { type, attempt }) => ({ type, attempt }), { concurrency: 4, scheduler: 'equal' })
const withNew = new fairlane(async (n: number, _done, { signal }) => [n, signal.aborted], 3)
const withClass = new fairlane.Queue(async (n: number, _done, context) => context.type, { settleBy: 'either' })
const withoutDone = fairlane(async (n: number, { signal }) => String(n), { settleBy: 'promise' })
const withoutPayload = fairlane(async () => 5)
const withoutAnnotations = fairlane(async (job, _done, { attempt }) => attempt)
const withPromise = fairlane((n: number) => Promise.resolve(String(n)))
const withAnnotatedDone = fairlane(async (n: number, done: fairlane.Done<string>) => n)
const areInferred: [
  Same<typeof withSignal, fairlane.Queue<Job, number>>,
  Same<typeof withContext, fairlane.Queue<Job, { type: string | undefined, attempt: number }>>,
  Same<typeof withNew, fairlane.Queue<number, Array<number | boolean>>>,
  Same<typeof withClass, fairlane.Queue<number, string | undefined>>,
  Same<typeof withoutDone, fairlane.Queue<number, string>>,
  Same<typeof withoutPayload, fairlane.Queue<any, number>>,
  Same<typeof withoutAnnotations, fairlane.Queue<any, number>>,
  Same<typeof withPromise, fairlane.Queue<number, string>>,
  Same<typeof withAnnotatedDone, fairlane.Queue<number, number>>
] = [true, true, true, true, true, true, true, true, true]
// @ts-expect-error there is no such property
fairlane(async (job: Job, _done, { tenant }) => tenant)

// From an annotated done.
const byDone = fairlane((job: Job, done: fairlane.Done<string>) => { done(null, job.url) }, 2)
const typedByDone: fairlane.Queue<Job, string> = byDone
// @ts-expect-error the result is a string
const wronglyTyped: fairlane.Queue<Job, Map<string, string>> = byDone

// From type arguments.
const named = fairlane<Job, number>((job, done, { type, signal, attempt }) => {
  const tenant: string | undefined = type
  const aborted: boolean = signal.aborted
  const times: number = attempt
  done(null, job.url.length)
})
const typedByName: fairlane.Queue<Job, number> = named
fairlane<Job, number>((job, done) => {
  // @ts-expect-error the result is a number
  done(null, job.url)
})
fairlane<Job, number>((job, done, context) => {
  // @ts-expect-error frozen
  context.attempt = 2
})

// What a runner returns matters only if it is a promise.
const byArrow = fairlane((job: Job, done: fairlane.Done<void>) => setTimeout(done, 10))
const typedByArrow: fairlane.Queue<Job, void> = byArrow

// settleBy 'promise': no done, and plain values are results.
const byReturn = fairlane((n: number) => n > 1 ? Promise.resolve('many') : 'one', { settleBy: 'promise' })
const typedByReturn: fairlane.Queue<number, string> = byReturn
const byAsync = fairlane(async (n: number) => n, { settleBy: 'promise', concurrency: 3 })
const typedByAsync: fairlane.Queue<number, number> = byAsync
fairlane((n: number, done) => {
  // @ts-expect-error there is no done
  done(null)
  return n
}, { settleBy: 'promise' })

// A queue of undefined needs no payload of its own.
const ticks = fairlane(async (_: undefined) => {})
ticks.push(undefined)

// With new, and from the class.
const constructed: fairlane.Queue<Job, number> = new fairlane(async (job: Job) => 1)
const ofClass: fairlane.Queue<Job, number> = new fairlane.Queue(async (job: Job) => 1, { concurrency: '2' })

// the exported types of runners take what runners are
const calling: fairlane.Runner<string, number> = (text, done) => { done(null, text.length) }
const promising: fairlane.Runner<string, number> = async (text) => text.length
const awaited: fairlane.AsyncRunner<string, number> = async (text) => text.length
const fromNamed: fairlane.Queue<string, number>[] = [fairlane(calling), fairlane(promising), fairlane(awaited)]
