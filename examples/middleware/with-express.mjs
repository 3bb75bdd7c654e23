import express from 'express'
import { setTimeout as sleep } from 'node:timers/promises'
import { boundTenants } from './bound-tenants.mjs'

const app = express()

app.use(boundTenants(request => request.headers['x-api-key'] ?? 'nobody', { concurrency: 4, maxWaitingPerType: 8 }))

app.get('/hello/:name', async (request, response) => {
  await sleep(20) // stands for what the service does
  response.send(`hello ${request.params.name}`)
})

const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))
