'use strict'

// A child of full-disk.test.js: fills the small disk that is mounted for it, and empties it again.

const { PersistentQueue } = require('../../lib/log')

if (require.main === module) main()

async function main () {
  const queue = await PersistentQueue.open('/mnt/queue', { ack: 'os', segmentBytes: 1 << 18 })
  let count = 0
  let error
  while (error === undefined) await queue.push(Buffer.alloc(16, `${count} `)).then(() => count++, err => { error = err })
  while ((await queue.pop(10)).length > 0);
  if (queue.length > 0) throw new Error(`${queue.length} are left`)
  while (queue.diskBytes() > 1 << 19) await new Promise(setImmediate)
  await queue.push(Buffer.alloc(1000))
  await queue.close()
  console.log(`full after ${count} pushes: ${error.cause.code}, emptied, pushed`)
}
