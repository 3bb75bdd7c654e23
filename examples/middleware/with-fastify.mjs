import Fastify from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundTenants } from './bound-tenants.mjs'

const app = Fastify()
const bound = boundTenants(request => request.headers['x-api-key'] ?? 'nobody', { concurrency: 4, maxWaitingPerType: 8 })

app.addHook('onRequest', (request, reply, next) => bound(request.raw, reply.raw, next))

app.get('/hello/:name', async ({ params }) => {
  await sleep(20) // stands for what the service does
  return `hello ${params.name}`
})

await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' })
console.log(app.server.address().port)
