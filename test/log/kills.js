'use strict'

// Kills a process that works on a queue, again and again, and checks each time what is left. For long, by hand:
//
//   npm run test:kill -- --minutes 5 --ack disk          or --kills 300, --seed 1
//
// The next child opens what was left as it is; what is checked is a copy. A child is killed when it has said so many lines,
// however fast it is: there are calls in each life, and some under way in most.

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { join } = require('node:path')
const { parseArgs } = require('node:util')
const { temporaryFolder } = require('../support/folders')
const { seeded, seedFromEnvironment } = require('../support/random')
const { PersistentQueue } = require('../../lib/log')

module.exports = { kills, check }

if (require.main === module) main()

/**
 * @param {{ ack: 'os' | 'disk', killsCount: number, untilMs?: number, seed: number, mutant?: 'early' }} options so many kills, or until a
 *   time; mutant: with a queue that is wrong
 * @returns {Promise<object>} what there was: kills, payloads pushed, finished, under way when killed, segments made and removed
 */
async function kills ({ ack, killsCount, untilMs = Infinity, seed, mutant = '' }) {
  const random = seeded(seed)
  const folder = temporaryFolder()
  const path = join(folder, 'queue')
  const totals = { kills: 0, pushed: 0, finished: 0, unknown: 0, whileOpening: 0, segments: 0, oldest: 0 }
  let present = []
  let next = 1
  // a kill may come when nothing is under way, or before anything is finished: then there are more of them
  const isEnough = () => totals.kills >= killsCount && ((totals.finished > 0 && totals.unknown > 0) || totals.kills >= 10 * killsCount)
  while (!isEnough() && Date.now() < untilMs) {
    const lines = await killed([path, ack, String(next), String(random.below(2 ** 32)), mutant], random)
    const calls = readCalls(lines)
    const found = await numbersIn(path, join(folder, 'copy'))
    present = check(present, calls, found, `SEED=${seed} ack ${ack}, kill ${totals.kills}, files in ${folder}`)
    for (const { last } of calls) if (last >= next) next = last + 1
    count(totals, calls, lines, path)
  }
  fs.rmSync(folder, { recursive: true })
  return totals
}

/**
 * What must be there: all that was there or pushed with acknowledgement, but for what was finished. Of a call that was under
 * way all is done or nothing. Anything else is a loss, or has come back.
 * @returns {number[]} what is there
 */
function check (before, calls, found, message) {
  assert(found.every((number, i) => i === 0 || number > found[i - 1]), `${message}: not in order, or twice`)
  const there = new Set(found)
  const expected = new Set(before)
  const taken = new Set(calls.flatMap(({ numbers, isPush }) => isPush ? [] : numbers))
  for (const { numbers, isPush, isDone } of calls) {
    // that a push under way has come about is seen by what is there of it, or was taken of it
    const hasCome = isPush ? numbers.some(number => there.has(number) || taken.has(number)) : !there.has(numbers[0])
    if (!isDone && !hasCome) continue
    for (const number of numbers) expected[isPush ? 'add' : 'delete'](number)
  }
  const lost = [...expected].filter(number => !there.has(number))
  const back = found.filter(number => !expected.has(number))
  assert.deepEqual({ lost, back }, { lost: [], back: [] }, message)
  return found
}

/** Runs the child, and kills it while it opens the queue, or at any time after that. @returns {Promise<string[]>} what it said */
async function killed (args, random) {
  const child = spawn(process.execPath, [join(__dirname, 'killed.js'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const atOpening = random.chance(0.15)
  // `open` is the first line, `ready` the second
  let linesLeft = atOpening ? 1 : 2 + random.below(random.pick([20, 200, 2000]))
  const delayMs = atOpening ? random.below(15) : 0
  let text = ''
  child.stdout.on('data', data => {
    text += data
    if (linesLeft <= 0) return
    linesLeft -= data.toString().split('\n').length - 1
    if (linesLeft <= 0) setTimeout(() => child.kill('SIGKILL'), delayMs)
  })
  const [code, signal] = await once(child, 'close')
  assert.deepEqual({ code, signal }, { code: null, signal: 'SIGKILL' }, 'the child ended by itself')
  return text.slice(0, text.lastIndexOf('\n')).split('\n')
}

/** @returns {object[]} the calls that were made, in order: { numbers, isPush, isDone, last } */
function readCalls (lines) {
  const calls = new Map()
  for (const line of lines) {
    const [sign, id, ...rest] = line.split(' ')
    if (sign === 'ok') calls.get(id).isDone = true
    if (sign !== '+' && sign !== '-') continue
    const isPush = sign === '+'
    const numbers = isPush ? range(...rest.map(Number)) : rest.map(Number)
    calls.set(id, { numbers, isPush, isDone: false, last: isPush ? numbers.at(-1) : 0 })
  }
  return [...calls.values()]
}

async function numbersIn (path, copy) {
  fs.mkdirSync(copy)
  // none, if it was killed before it had made the folder
  const entries = fs.existsSync(path) ? fs.readdirSync(path, { withFileTypes: true }) : []
  for (const entry of entries) if (entry.isFile()) fs.copyFileSync(join(path, entry.name), join(copy, entry.name))
  const queue = await PersistentQueue.open(copy, { ack: 'os' })
  const numbers = (await queue.peek(Infinity)).map(payload => parseInt(payload))
  await queue.close()
  fs.rmSync(copy, { recursive: true })
  return numbers
}

function count (totals, calls, lines, path) {
  totals.kills++
  if (!lines.includes('ready')) totals.whileOpening++
  for (const { numbers, isPush, isDone } of calls) totals[isDone ? (isPush ? 'pushed' : 'finished') : 'unknown'] += numbers.length
  const ids = (fs.existsSync(path) ? fs.readdirSync(path) : []).map(name => parseInt(name)).filter(id => id > 0)
  totals.segments = Math.max(totals.segments, ...ids)
  if (ids.length > 0) totals.oldest = Math.max(totals.oldest, Math.min(...ids))
}

function range (from, to) {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}

async function main () {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' }, kills: { type: 'string' }, ack: { type: 'string', default: 'disk' }, seed: { type: 'string' }
    }
  })
  const seed = values.seed === undefined ? seedFromEnvironment() : Number(values.seed)
  const untilMs = values.minutes === undefined ? Infinity : Date.now() + 60000 * Number(values.minutes)
  const killsCount = values.kills === undefined ? (values.minutes === undefined ? 300 : Infinity) : Number(values.kills)
  console.log(`SEED=${seed}`)
  console.log(await kills({ ack: values.ack, killsCount, untilMs, seed }))
}
