'use strict'

// node fill.js <folder> <count> <size> <end>: fills a queue, then ends: 'close' closes it, 'kill' is kill -9.

const { PersistentQueue } = require('../../lib/log')
const { createPayload } = require('./load')

const BATCH = 1000

async function main (folder, count, size, end) {
  const queue = await PersistentQueue.open(folder, { ack: 'os' })
  const payload = createPayload(0, size)
  for (let left = count; left > 0; left -= BATCH) await queue.push(Array(Math.min(BATCH, left)).fill(payload))
  if (end === 'close') await queue.close()
  else process.kill(process.pid, 'SIGKILL')
}

const [folder, count, size, end] = process.argv.slice(2)
main(folder, Number(count), Number(size), end)
