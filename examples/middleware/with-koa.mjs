import { admission } from 'fairlane/http'
import Koa from 'koa'
import { setTimeout as sleep } from 'node:timers/promises'

const admit = admission({ tenant: request => request.headers['x-api-key'], concurrency: 4, maxWaitingPerType: 8 })
const app = new Koa()

app.use(admit.koa)

app.use(async context => {
  await sleep(20) // stands for what the service does
  context.body = `hello ${context.path.split('/').at(-1)}`
})

const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))

process.once('SIGTERM', async () => {
  server.close()
  await admit.close({ timeoutMs: 20000 })
  server.closeAllConnections()
})
