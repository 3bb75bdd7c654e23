import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createServer2 } from 'node:http2'
import { admission } from 'fairlane/http'
import type { Admission, AdmissionOptions, AdmissionStats } from 'fairlane/http'

const options: AdmissionOptions<IncomingMessage> = {
  tenant: request => request.headers['x-api-key']?.toString(),
  exempt: async ({ url }) => url === '/health',
  refuse: (request, response: ServerResponse, error) => response.end(`${error.code} ${error.retryAfterMs}`),
  serverTiming: false,
  until: 'headers',
  concurrency: 10,
  maxWaitingPerType: 5,
  timeoutMs: 1000
}
const admit: Admission<IncomingMessage> = admission(options)
createServer((request, response) => admit(request, response, () => response.end()))
createServer2((request, response) => admission()(request, response, () => response.end()))

// what frameworks have, as their types say it
declare const express: {
  use (handler: (request: IncomingMessage & { params: object }, response: ServerResponse & { json: (value: any) => any }, next: (err?: any) => void) => void): void
}
declare const connect: { use (handler: (request: IncomingMessage, response: ServerResponse, next: (err?: any) => void) => void): void }
interface Context { req: IncomingMessage, res: ServerResponse, body: unknown }
declare const koa: { use (middleware: (context: Context, next: () => Promise<any>) => any): void }
interface Reply { raw: ServerResponse, code (status: number): Reply }
declare const fastify: {
  addHook (name: 'onRequest', hook: (this: object, request: { raw: IncomingMessage, id: string }, reply: Reply, done: (err?: Error) => void) => void): void
}
declare const hono: { fetch: (request: Request, env?: unknown, context?: { waitUntil: () => void }) => Response | Promise<Response> }
express.use(admit)
connect.use(admit)
koa.use(admit.koa)
fastify.addHook('onRequest', admit.fastify)
const served: { fetch: (request: Request, env?: unknown) => Promise<Response> } = { fetch: admit.fetch(hono.fetch) }
admission({ tenant: (request: Request) => request.headers.get('x-api-key') })
admission({ tenant: request => request.anything })

export async function use (request: IncomingMessage): Promise<void> {
  const isFree: boolean = admit.release(request)
  const { refused, gone, exempt, accepted }: AdmissionStats = admit.stats()
  const count: number | undefined = refused.FAIRLANE_ERR_TYPE_FULL
  admit.queue.holdType('greedy', 1000)
  for (const { payload } of admit.queue.jobs()) payload.url?.length.toFixed()
  const left: number = await admit.close({ timeoutMs: 1000 })
  const response = await served.fetch(new Request('http://here'))
  console.log(isFree, gone, exempt, accepted, count, left, response.status)
}

// @ts-expect-error a request is handled once
admission({ maxAttempts: 3 })
// @ts-expect-error is no word for it
admission({ until: 'body' })
// @ts-expect-error is no text
admission({ tenant: () => 7 })
// @ts-expect-error has no handler
admit.fetch()
