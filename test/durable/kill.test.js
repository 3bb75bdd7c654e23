'use strict'

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { seeded, seedFromEnvironment } = require('../support/random')
const { PersistentQueue } = require('../../lib/durable')

// by hand, for long: KILLS=1000 npx mocha test/durable/kill.test.js
const KILLS = Number(process.env.KILLS ?? 6)

describe('a process that is killed', function () {
  this.timeout(30000 + KILLS * 2000)

  let folder

  beforeEach(() => { folder = fs.mkdtempSync(join(tmpdir(), 'fairlane-')) })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  for (const ack of ['os', 'disk']) {
    it(`again and again loses nothing that was acknowledged with '${ack}', and finishes nothing twice`, async () => {
      const seed = seedFromEnvironment()
      const random = seeded(seed)
      const path = join(folder, 'queue')
      const finished = new Set()
      let present = []
      let next = 1
      for (let i = 0; i < KILLS; i++) {
        const { safe, gone } = await killed(path, ack, next, 50 + random.below(2000))
        for (const number of gone) finished.add(number)
        const queue = await PersistentQueue.open(path)
        const before = present
        present = (await queue.peek(Infinity)).map(payload => parseInt(payload))
        await queue.close()
        check(present, [...before, ...range(next, safe)], finished, `SEED=${seed}, kill ${i}`)
        next = Math.max(next, safe + 1, ...present.slice(-1).map(number => number + 1))
      }
    })
  }
})

/** Numbers are in order, none that was finished is there, and of those that were safe only what was being finished is not. */
function check (present, safe, finished, message) {
  assert(present.every((number, i) => i === 0 || number > present[i - 1]), `${message}: not in order`)
  for (const number of present) assert(!finished.has(number), `${message}: ${number} is back`)
  const there = new Set(present)
  const lost = safe.filter(number => !there.has(number) && !finished.has(number))
  // acknowledged by the queue, and killed before it could say so
  assert(lost.length <= 10, `${message}: ${lost} are lost`)
  for (const number of lost) finished.add(number)
}

/** Runs the child until it has said so many lines, and kills it. */
async function killed (path, ack, first, linesCount) {
  const child = spawn(process.execPath, [join(__dirname, 'killed.js'), path, ack, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  let count = 0
  child.stdout.on('data', data => {
    text += data
    count += data.toString().split('\n').length - 1
    if (count >= linesCount) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const lines = text.slice(0, text.lastIndexOf('\n')).split('\n').map(line => [line[0], Number(line.slice(2))])
  const numbersOf = sign => lines.filter(([first]) => first === sign).map(([, number]) => number)
  return { safe: Math.max(first - 1, ...numbersOf('+')), gone: numbersOf('-') }
}

function range (from, to) {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}
