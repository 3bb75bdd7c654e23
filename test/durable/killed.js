'use strict'

// The child of kill.test.js: works on a queue until it is killed, and says what was acknowledged. One line per call.
//   + n   payloads up to n are safe       - n   payload n is finished

const { writeSync } = require('node:fs')
const { PersistentQueue } = require('../../lib/durable')

const [path, ack, first] = process.argv.slice(2)

main()

async function main () {
  const queue = await PersistentQueue.open(path, { ack, segmentBytes: 1 << 14 })
  const pinned = []
  let number = Number(first)
  for (;;) {
    const batch = Array.from({ length: 1 + number % 5 }, () => Buffer.alloc(100, `${number++} `))
    const last = number - 1
    const pushing = queue.push(batch).then(() => writeSync(1, `+ ${last}\n`))
    for (const { id, payload } of await queue.reserve(3)) {
      const taken = parseInt(payload)
      // some stay for long, so that compaction has something to move
      if (taken % 16 === 0) pinned.push(id)
      else queue.ack(id).then(() => writeSync(1, `- ${taken}\n`))
    }
    await pushing
    if (pinned.length > 50) queue.release(pinned.splice(0))
  }
}
