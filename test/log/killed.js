'use strict'

// The child of kills.js: works on a queue until it is killed. It says what it is about to do before it does it, and what
// was acknowledged after that, in one line each, straight to the pipe: nothing of it gets lost with the process.
//
//   open    the queue is about to be opened      + id a b   payloads with numbers from a to b are pushed in one call
//   ready   it was                               - id n …   payloads are finished in one call
//                                                ok id      a call was acknowledged

const { writeSync } = require('node:fs')
const { seeded } = require('../support/random')
const { PersistentQueue } = require('../../lib/log')
const { Log } = require('../../lib/log/log')

const PINNED_MAX = 60

if (require.main === module) main(...process.argv.slice(2))

async function main (path, ack, first, seed, isEarly) {
  // a queue that acknowledges before it writes, which has to be found out
  if (isEarly === 'early') Log.prototype.due = function () { setTimeout(this.turn, 20) }
  const random = seeded(Number(seed))
  say('open')
  const queue = await PersistentQueue.open(path, { ack, segmentBytes: 1 << 14, maxInflightOps: 20 })
  say('ready')
  const pinned = []
  let number = Number(first)
  let callsCount = 0

  /** Says what a call is about to do, does it, and says that it was acknowledged. */
  const noted = (what, call) => {
    const id = ++callsCount
    say(`${what[0]} ${id} ${what.slice(1).join(' ')}`)
    const result = call()
    if (isEarly === 'early') say(`ok ${id}`)
    return Promise.resolve(result).then(() => say(`ok ${id}`))
  }

  const push = () => {
    const batch = Array.from({ length: random.pick([1, 1, 3, 10]) }, () => Buffer.alloc(10 + random.below(300), `${number++} `))
    const what = ['+', number - batch.length, number - 1]
    return random.chance(0.1) ? noted(what, () => queue.pushSync(batch)) : noted(what, () => queue.push(batch))
  }

  const pop = async () => {
    const numbers = (await queue.peek(1 + random.below(4))).map(numberOf)
    if (numbers.length === 0) return
    await noted(['-', ...numbers], async () => {
      const popped = random.chance(0.2) ? queue.popSync(numbers.length) : await queue.pop(numbers.length)
      if (String(popped.map(numberOf)) !== String(numbers)) {
        throw new Error(`${numbers} were at the front, ${popped.map(numberOf)} were popped`)
      }
    })
  }

  const reserve = async () => {
    const finished = []
    for (const job of await queue.reserve(1 + random.below(12))) {
      // some stay for long, so that compaction has something to move
      if (numberOf(job.payload) % 16 === 0) pinned.push(job.id)
      else finished.push(job)
    }
    if (pinned.length > PINNED_MAX) queue.release(pinned.splice(0, random.below(PINNED_MAX)))
    if (finished.length > 0) {
      return noted(['-', ...finished.map(({ payload }) => numberOf(payload))], () => queue.ack(finished.map(({ id }) => id)))
    }
  }

  let under = []
  for (;;) {
    // what falls behind is caught up with
    under.push(random.chance(queue.length > 200 ? 0.2 : 0.55) ? push() : reserve())
    if (random.chance(0.7)) continue
    await Promise.all(under)
    under = []
    // others may not change what is at the front meanwhile
    if (random.chance(0.3)) await pop()
  }
}

function numberOf (payload) {
  return parseInt(payload)
}

function say (line) {
  writeSync(1, `${line}\n`)
}
