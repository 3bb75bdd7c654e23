import connect from 'connect'
import { admission } from 'fairlane/http'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const admit = admission({ tenant: request => request.headers['x-api-key'], concurrency: 4, maxWaitingPerType: 8 })
const app = connect()

app.use(admit)

app.use('/hello', async (request, response) => {
  await sleep(20) // stands for what the service does
  response.end(`hello ${request.url.slice(1)}`)
})

const server = createServer(app).listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))

process.once('SIGTERM', async () => {
  server.close()
  await admit.close({ timeoutMs: 20000 })
  server.closeAllConnections()
})
