import { admission } from 'fairlane/http'
import Fastify from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'

const admit = admission({ tenant: request => request.headers['x-api-key'], concurrency: 4, maxWaitingPerType: 8 })
const app = Fastify({ forceCloseConnections: true })

app.addHook('onRequest', admit.fastify)

app.get('/hello/:name', async ({ params }) => {
  await sleep(20) // stands for what the service does
  return `hello ${params.name}`
})

await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' })
console.log(app.server.address().port)

process.once('SIGTERM', async () => {
  await admit.close({ timeoutMs: 20000 })
  await app.close()
})
