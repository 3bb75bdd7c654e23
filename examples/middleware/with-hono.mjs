import { serve } from '@hono/node-server'
import { admission } from 'fairlane/http'
import { Hono } from 'hono'
import { setTimeout as sleep } from 'node:timers/promises'

const admit = admission({ tenant: request => request.headers.get('x-api-key'), concurrency: 4, maxWaitingPerType: 8 })
const app = new Hono()

app.get('/hello/:name', async context => {
  await sleep(20) // stands for what the service does
  return context.text(`hello ${context.req.param('name')}`)
})

// in Bun and Deno, and where workers are run: export default { fetch: admit.fetch(app.fetch) }
const server = serve({ fetch: admit.fetch(app.fetch), port: Number(process.env.PORT ?? 0), hostname: '127.0.0.1' }, ({ port }) => console.log(port))

process.once('SIGTERM', async () => {
  server.close()
  await admit.close({ timeoutMs: 20000 })
  server.closeAllConnections()
})
