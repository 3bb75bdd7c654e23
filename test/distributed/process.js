'use strict'

// A process of its own with a distributed queue, for tests that end processes in the middle of something.
//
//   node process.js '{"connection": { "path": "/tmp/…/redis.sock" }, "log": "/tmp/…/starts", "options": { … }, "isProducer": false}'
//
// Its runner writes the id of each job that it starts into the log, in one write, so that it is there whatever becomes of the process.
// Its payload says what the job does: { ms, fail, poison, echo, isTraced }; a traced one is in the file of the log's name and `.runs`,
// with its start and its end. Over the channel of fork() it takes { call, args } and tells { event, value }.

const { appendFileSync } = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')
const { distributed } = require('../../lib/distributed')

const { connection, log, options, isProducer = false } = JSON.parse(process.argv[2])

async function run ({ ms = 0, fail, poison = false, echo = process.pid, isTraced = false } = {}, { id, attempt, signal }) {
  appendFileSync(log, `${id} ${attempt} ${process.pid}\n`)
  if (isTraced) appendFileSync(`${log}.runs`, `start ${process.pid} ${id}\n`)
  process.send({ event: 'started', value: { id, attempt } })
  if (poison) process.kill(process.pid, 'SIGKILL')
  signal.addEventListener('abort', () => process.send({ event: 'aborted', value: { id, code: signal.reason.code } }))
  if (ms > 0) await sleep(ms)
  if (isTraced) appendFileSync(`${log}.runs`, `end ${process.pid} ${id}\n`)
  if (fail !== undefined) throw new Error(fail)
  return echo
}

async function main () {
  const queue = await distributed(isProducer ? null : run, { name: 'jobs', connection, settleBy: 'promise', ...options })
  for (const event of ['done', 'retry', 'failed', 'lost', 'cancelled']) {
    queue.on(event, ({ error, ...value }) => process.send({ event, value: { ...value, code: error?.code, message: error?.message } }))
  }
  process.on('message', async ({ call, args }) => {
    if (call === 'push') {
      // as fast as the broker takes them, until the process is ended
      for (let n = 0; ; n++) process.send({ event: 'pushed', value: await queue.pushType(`type-${n % 5}`, args[0]) })
    }
    process.send({ event: call, value: await queue[call](...args) })
    if (call === 'close') process.disconnect()
  })
  process.send({ event: 'open' })
}

main()
