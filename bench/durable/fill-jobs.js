'use strict'

// node fill-jobs.js <contender> <folder> <count> <size>: leaves a job queue with jobs that wait.

const { jobQueues } = require('./job-queues')
const { createPayloads } = require('./job-load')

const BURST = 1000

async function main (contender, folder, count, size) {
  const queue = await jobQueues[contender].open(folder, { runner () {}, concurrency: 1, whenDone () {}, whenFailed () {} })
  const payloads = createPayloads({ size, count: BURST })
  for (let left = count; left > 0; left -= BURST) await queue.pushAll(payloads.slice(0, left))
  await queue.leave()
}

const [contender, folder, count, size] = process.argv.slice(2)
main(contender, folder, Number(count), Number(size))
