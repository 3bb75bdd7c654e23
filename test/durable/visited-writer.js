'use strict'

// The child of visited-while-written.test.js: a queue that pushes, ends and compacts all the time, in small segments. One line per
// event, when the operating system has it:
//   + id   is there, and stays
//   - id   has ended

const { writeSync } = require('node:fs')
const { durable } = require('../../lib/durable')

const [path] = process.argv.slice(2)
const say = line => writeSync(1, `${line}\n`)

main()

async function main () {
  const queue = await durable(async () => {}, { path, ack: 'os', segmentBytes: 4096, concurrency: 4 })
  queue.on('done', ({ id }) => { queue.flush().then(() => say(`- ${id}`), () => {}) })
  for (let round = 0; ; round++) {
    // those that stay are moved by compaction again and again
    if (round % 4 === 0 && round < 1600) say(`+ ${await queue.pushType('stays', round, { delayMs: 3600000 })}`)
    await Promise.all(Array.from({ length: 5 }, (_, i) => queue.pushType(`churn ${i}`, 'x'.repeat(50 * i))))
  }
}
