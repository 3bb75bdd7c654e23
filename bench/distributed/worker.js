'use strict'

// A process that runs jobs until its parent ends. It is asked, by a message, for its CPU time in µs, or for how long jobs waited in ms
// since it was asked last.

const { setTimeout: sleep } = require('node:timers/promises')
const { queues } = require('./queues')

const { contender, place, ms } = JSON.parse(process.argv[2])
const waits = []

const answers = {
  cpu () {
    const { user, system } = process.cpuUsage()
    return user + system
  },

  waits: () => waits.splice(0)
}

process.on('message', question => process.send({ answer: answers[question]() }))
process.on('disconnect', () => process.exit())
queues[contender].work(place, run).then(() => process.send({ answer: 'ready' }))

async function run (type, { n, at }) {
  if (at !== undefined) waits.push([type, performance.timeOrigin + performance.now() - at])
  if (ms > 0) await sleep(ms)
  return n
}
