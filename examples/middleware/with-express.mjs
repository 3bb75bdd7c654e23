import express from 'express'
import { admission } from 'fairlane/http'
import { setTimeout as sleep } from 'node:timers/promises'

const admit = admission({ tenant: request => request.get('x-api-key'), concurrency: 4, maxWaitingPerType: 8 })
const app = express()

app.use(admit)

app.get('/hello/:name', async (request, response) => {
  await sleep(20) // stands for what the service does
  response.send(`hello ${request.params.name}`)
})

const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))

process.once('SIGTERM', async () => {
  server.close()
  await admit.close({ timeoutMs: 20000 })
  server.closeAllConnections()
})
