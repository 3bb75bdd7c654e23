// MAIL_API=http://127.0.0.1:8025/send node mailer.mjs folder < mails.jsonl
//
// Takes mails from its input, a JSON object of { tenant, to, text } in each line, and posts them to a mail service. A mail is on the disk before
// the next one is taken. If the service or this program fails, mails are tried again, also after the next start: kill it and see.

import { createInterface } from 'node:readline'
import { durable } from 'fairlane/durable'

const queue = await durable(send, {
  path: process.argv[2],
  settleBy: 'promise',
  scheduler: 'equal',
  concurrency: 4,
  maxAttempts: 8,
  backoffMs: Number(process.env.BACKOFF_MS ?? 1000),
  timeoutMs: 10000
})

/**
 * The runner. A crash may come after the service has taken the mail and before that is written down. The mail is sent again then, with the same
 * id, so that the service can tell.
 */
async function send (mail, { id, signal }) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': String(id) }
  const response = await fetch(process.env.MAIL_API, { method: 'POST', headers, body: JSON.stringify(mail), signal })
  if (!response.ok) throw new Error(`the mail service answered ${response.status}`)
}

queue.on('done', ({ id }) => console.log(`mail ${id} is sent`))
queue.on('retry', ({ id, error, delayMs }) => console.log(`mail ${id} is tried again in ${delayMs} ms: ${error.message}`))
queue.on('failed', ({ id, error }) => console.log(`mail ${id} is a dead letter: ${error.message}`))

process.once('SIGTERM', () => queue.close({ timeoutMs: 10000 })) // what is not sent stays on the disk

for await (const line of createInterface({ input: process.stdin })) {
  if (queue.closed) break
  const { tenant, ...mail } = JSON.parse(line)
  await queue.pushType(tenant, mail)
}
await queue.onIdle()
await queue.close()
