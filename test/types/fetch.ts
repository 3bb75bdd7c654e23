import { fairFetch } from 'fairlane/fetch'
import type { Call, CallOptions, FairFetch, FairFetchOptions } from 'fairlane/fetch'
import * as undici from 'undici'

const options: FairFetchOptions = { concurrency: 5, ratePerType: { limit: 50, intervalMs: 1000 }, maxAttempts: 4, until: 'body' }
const fair = fairFetch(globalThis.fetch, options)

// It stands wherever fetch does.
const native: typeof globalThis.fetch = fair
globalThis.fetch = fair

const said: CallOptions = { type: 'tenant', retry: true, until: 'headers', priority: 3, timeoutMs: 1000, maxWaitMs: 1000, maxAttempts: 2, unshift: true, delayMs: 1 }
const response: Promise<Response> = fair('http://a.example', { method: 'PUT', body: 'text', signal: AbortSignal.timeout(1000), fairlane: said })
fair(new URL('http://a.example'))
fair(new Request('http://a.example'), { fairlane: undefined })
response.then(({ status }) => status.toFixed())
native('http://a.example')

fair.queue.holdType('tenant', 1000).heldMs('tenant').toFixed()
for (const { payload } of fair.queue.jobs()) console.log(payload.url, payload.method, payload.headers.get('x'), payload.init.redirect)
fair.queue.on('done', ({ result }) => console.log(result.status))

fairFetch(fetch, { type: ({ headers, url }) => headers.get('x-tenant') ?? new URL(url).hostname })
const call = (given: Call<typeof fetch>): string | URL | Request => given.input

// That of undici has a dispatcher.
const byUndici: FairFetch<typeof undici.fetch> = fairFetch(undici.fetch)
const other: Promise<undici.Response> = byUndici('http://a.example', { dispatcher: new undici.Agent(), fairlane: { type: 5 } })
const same: typeof undici.fetch = byUndici

// A function that imitates fetch.
const imitation = fairFetch(async (path: string) => ({ status: 200, path }))
imitation('/path', { fairlane: { type: 'a' } }).then(({ path }) => path.toUpperCase())

// @ts-expect-error it is a function
fairFetch()
// @ts-expect-error a runner gives a promise
fairFetch(fetch, { settleBy: 'promise' })
// @ts-expect-error what a slot is held until
fairFetch(fetch, { until: 'end' })
// @ts-expect-error calls share no response
fair('http://a.example', { fairlane: { key: 'a' } })
// @ts-expect-error the signal stands beside it
fair('http://a.example', { fairlane: { signal: AbortSignal.abort() } })
// @ts-expect-error it is the path
imitation(5)

export { call, other, same }
