'use strict'

// A child of full-disk-jobs.test.js: fills the small disk that is mounted for it with jobs, and runs them. Every fifth fails once.
//
//   node filled-jobs.js <bytes of a job> <segmentBytes> <concurrency>

const { durable } = require('../../lib/durable')

if (require.main === module) main(...process.argv.slice(2).map(Number))

async function main (bytes, segmentBytes, concurrency) {
  const seen = new Map()
  const runner = async (_payload, { id, attempt }) => {
    if (attempt !== (seen.get(id) ?? 0) + 1) throw new Error(`attempt ${attempt} of job ${id} follows ${seen.get(id)}`)
    seen.set(id, attempt)
    if (id % 5 === 0 && attempt === 1) throw new Error('it fails once')
  }
  const queue = await durable(runner, {
    path: '/mnt/queue', ack: 'os', segmentBytes, concurrency, settleBy: 'promise', maxAttempts: 2, backoffMs: 1
  })
  queue.pause()
  let count = 0
  let error
  while (error === undefined) await queue.push(Buffer.alloc(bytes, `${count} `)).then(() => count++, err => { error = err })
  queue.resume()
  await queue.onIdle()
  const { done, retried, dead } = queue.stats()
  if (done !== count || retried !== Math.floor(count / 5) || dead > 0) {
    throw new Error(`${done} of ${count} are done, ${retried} were tried again`)
  }
  for (let isPushed = false; !isPushed;) isPushed = await queue.push(Buffer.alloc(1000)).then(() => true, () => new Promise(setImmediate))
  await queue.close({ timeoutMs: 0 })
  console.log(`full after ${count} pushes: ${error.cause.code}, all run, pushed`)
}
