'use strict'

// A child of full-disk-jobs.test.js: fills the small disk that is mounted for it with jobs, and runs them.

const { durable } = require('../../lib/durable')

if (require.main === module) main()

async function main () {
  const seen = new Set()
  const runner = async (_payload, _done, { id }) => {
    if (seen.has(id)) throw new Error(`job ${id} runs again`)
    seen.add(id)
  }
  const queue = await durable(runner, { path: '/mnt/queue', ack: 'os', segmentBytes: 1 << 18, settleBy: 'promise', maxAttempts: 1 })
  queue.pause()
  let count = 0
  let error
  while (error === undefined) await queue.push(Buffer.alloc(800, `${count} `)).then(() => count++, err => { error = err })
  queue.resume()
  await queue.onIdle()
  if (seen.size !== count || queue.stats().dead > 0) throw new Error(`${seen.size} of ${count} were run`)
  while (queue.diskBytes() > 1 << 19) await new Promise(setImmediate)
  for (let isPushed = false; !isPushed;) isPushed = await queue.push(Buffer.alloc(1000)).then(() => true, () => new Promise(setImmediate))
  await queue.close()
  console.log(`full after ${count} pushes: ${error.cause.code}, all run, pushed`)
}
