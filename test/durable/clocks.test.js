'use strict'

// What comes of everything that takes its time on disk when the clock of the machine is set: the table in docs/why/durability.md, by
// cells.

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { JobState } = require('../../lib/durable/run/job-state')
const { openJobStore } = require('../../lib/durable/life/job-store')
const { root } = require('../support/child')
const { passingOf } = require('../support/starts')
const { quiet, turn } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')
const { FOLDER, unlocked } = require('../log/history')

const HEADING = '## When the clock of the machine is set'
const YEARS = 12 * 366 * 24 * 3600 * 1000
const DAY = 24 * 3600 * 1000
const MINUTE = 60000
const MS = 1000 // how long delays and the like are here

// row → column → what the docs say, and what shows it
const CELLS = {
  'a delay, `delayMs`': {
    'set forward while it is open': ['unchanged', whileOpen(pushDelayed, YEARS)],
    'set back while it is open': ['unchanged', whileOpen(pushDelayed, -YEARS)],
    'set forward while it is closed': ['over that much sooner', soonerBy(pushDelayed)],
    'set back while it is closed': ['at most `delayMs` after the opening', boundedFrom(pushDelayed)]
  },
  'the time until the next attempt, `backoffMs`': {
    'set forward while it is open': ['unchanged', whileOpen(failOne, YEARS)],
    'set back while it is open': ['unchanged', whileOpen(failOne, -YEARS)],
    'set forward while it is closed': ['over that much sooner', soonerBy(failOne)],
    'set back while it is closed': ['at most its original length after the opening', boundedFrom(failOne)]
  },
  'the lifetime of a key, `keyUntil`': {
    'set forward while it is open': ['unchanged', whileOpen(takeKey, YEARS)],
    'set back while it is open': ['unchanged', whileOpen(takeKey, -YEARS)],
    'set forward while it is closed': ['over that much sooner', soonerBy(takeKey)],
    'set back while it is closed': ['at most its original length after the opening', boundedFrom(takeKey)]
  },
  'how long a job may wait, `maxWaitMs`': {
    'set forward while it is open': ['unchanged', both(whileOpen(waitFor, YEARS), recalledWhenSet(YEARS))],
    'set back while it is open': ['unchanged', both(whileOpen(waitFor, -YEARS), recalledWhenSet(-YEARS))],
    'set forward while it is closed': ['over that much sooner', both(soonerBy(waitFor), soonerBy(waitAsQueueSays))],
    'set back while it is closed': [
      'at most `maxWaitMs` after the opening', both(boundedFrom(waitFor), boundedFrom(waitAsQueueSays), boundedFrom(waitAfterDelay))
    ]
  },
  'rates and holds': {
    'set forward while it is open': ['unchanged', both(whileOpen(useUp, YEARS), whileOpen(hold, YEARS))],
    'set back while it is open': ['unchanged', both(whileOpen(useUp, -YEARS), whileOpen(hold, -YEARS))],
    'set forward while it is closed': ['reset, as by every opening', both(anew(useUp, YEARS), anew(hold, YEARS))],
    'set back while it is closed': ['reset, as by every opening', both(anew(useUp, -YEARS), anew(hold, -YEARS))]
  },
  'times of schedules': {
    'set forward while it is open': [
      'noticed within a minute; times that passed more than a minute ago are missed, and `catchUp` applies', forwardWhileOpen
    ],
    'set back while it is open': ['noticed within a minute; then the same as while it is closed', both(littleBackWhileOpen, farBackWhileOpen)],
    'set forward while it is closed': ['missed; `catchUp` applies', forwardWhileClosed],
    'set back while it is closed': [
      'wait until the clock has caught up. If it was set back by more than a minute plus the last interval, the schedule restarts',
      both(littleBackWhileClosed, farBackWhileClosed)]
  }
}

describe('the clock of the machine', () => {
  for (const [row, cells] of Object.entries(CELLS)) {
    for (const [column, [says, check]] of Object.entries(cells)) it(`${column}: ${row}: ${says}`, check)
  }

  it('is said to do what is tested here', () => {
    const columns = Object.keys(Object.values(CELLS)[0])
    const table = [['', ...columns], ...Object.entries(CELLS).map(([row, cells]) => [row, ...columns.map(column => cells[column][0])])]
    assert.deepEqual(tableBelow(HEADING), table)
  })

  it('is not looked at for what is not kept: nobody knows how long it is wrong', async () => {
    const bench = new Bench()
    await bench.open()
    await bench.queue.push('a', { delayMs: MS })
    bench.epoch -= YEARS
    const { dueAt } = await bench.queue.get(1)
    assert.equal(dueAt - YEARS, bench.epoch + MS)
    await bench.queue.close({ drain: true })
  })
})

describe('a clock of the machine that was ahead', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  it('leaves alone when a job was pushed that was put off meanwhile', async () => {
    const said = { key: 'k', keyUntil: MS, delayMs: 100, onDuplicate: 'postpone' }
    const { clock } = bench
    await bench.open()
    await bench.queue.push('a', said)
    clock.advance(50)
    bench.epoch += YEARS
    await bench.queue.push('b', said)
    bench.epoch -= YEARS
    for (let i = 0; i < 2; i++) {
      await bench.reopen()
      clock.advance(50)
    }
    await bench.gate.until(1)
    bench.gate.release()
    const look = lookAt(bench, async () => await bench.queue.push('c', said) !== 1)
    await look(MS - 151, false)
    await look(1, true)
  })

  it('has nothing written anew that waits for no time', async () => {
    const payload = 'x'.repeat(1000)
    const options = { segmentBytes: 65536 }
    await bench.open(options)
    bench.queue.pause()
    bench.epoch += YEARS
    await bench.queue.push('a', { maxWaitMs: MS })
    for (const said of [
      undefined, { key: 'k' }, { maxAttempts: 3 }, { key: 'l', keyUntil: 'settled' }
    ]) await bench.queue.push(payload, said)
    bench.epoch -= YEARS
    const before = bench.queue.diskBytes()
    await bench.reopen(options)
    bench.queue.pause()
    await bench.queue.flush()
    assert(bench.queue.diskBytes() < before + payload.length, `${bench.queue.diskBytes() - before} bytes`)
  })
})

/** The cells of the first table below a heading of the page. */
function tableBelow (heading) {
  const [, below] = readFileSync(join(root, 'docs/why/durability.md'), 'utf8').split(`${heading}\n`)
  const [table] = below.match(/(^\|.*\n)+/m)
  return table.trim().split('\n').filter(line => !/^\|[-|]+\|$/.test(line)).map(
    line => line.split('|').slice(1, -1).map(cell => cell.trim())
  )
}

/** Checks one after the other. */
function both (...checks) {
  return async () => { for (const check of checks) await check() }
}

// Each of these opens a queue in which something begins that takes MS ms, gives what opens that again, and looks whether it is over.

async function pushDelayed (bench) {
  await bench.open()
  await bench.queue.push('a', { delayMs: MS })
  return { options: {}, isOver: () => bench.gate.started.length > 0 }
}

async function failOne (bench) {
  const options = { backoffMs: MS }
  await bench.open(options)
  await bench.queue.push('a')
  await bench.gate.until(1)
  bench.gate.fail(new Error('no'))
  await turn()
  bench.gate.started.length = 0
  return { options, isOver: () => bench.gate.started.length > 0 }
}

async function takeKey (bench) {
  await bench.open()
  await bench.queue.push('a', { key: 'k', keyUntil: MS })
  await bench.gate.until(1)
  bench.gate.release()
  await bench.queue.onIdle()
  return { options: {}, isOver: async () => await bench.queue.push('b', { key: 'k' }) !== 1 }
}

async function waitFor (bench) {
  await bench.open()
  bench.queue.pause()
  await bench.queue.push('a', { maxWaitMs: MS })
  return { options: {}, isOver: () => bench.idsOf('cancelled').length > 0 }
}

async function waitAsQueueSays (bench) {
  const options = { maxWaitMs: MS }
  await bench.open(options)
  bench.queue.pause()
  await bench.queue.push('a')
  return { options, isOver: () => bench.idsOf('cancelled').length > 0 }
}

/** ... of a job that was delayed, and whose slot was taken back before its first start. */
async function waitAfterDelay (bench) {
  await bench.open()
  bench.queue.pause()
  await bench.queue.push('a', { delayMs: 1, maxWaitMs: MS })
  await bench.queue.close({ timeoutMs: 0 })
  bench.clock.advance(1)
  const store = await openJobStore(FOLDER, { ack: 'os', segmentBytes: 4096 }, { files: bench.disk, lock: unlocked })
  store.setState(1, JobState.waiting)
  await store.close()
  await bench.open()
  bench.queue.pause()
  return { options: {}, isOver: () => bench.idsOf('cancelled').length > 0 }
}

async function useUp (bench) {
  const options = { rate: { limit: 1, intervalMs: MS } }
  await bench.open(options)
  for (const payload of ['a', 'b']) await bench.queue.push(payload)
  await bench.gate.until(1)
  return { options, isOver: () => bench.gate.payloads.includes('b') }
}

async function hold (bench) {
  await bench.open()
  bench.queue.hold(MS)
  await bench.queue.push('a')
  return { options: {}, isOver: () => bench.gate.started.length > 0 }
}

/** It is over MS ms after it began. */
function whileOpen (begin, byMs) {
  return async () => {
    const bench = new Bench()
    const { isOver } = await begin(bench)
    const look = lookAt(bench, isOver)
    await look(300, false)
    bench.epoch += byMs
    await look(MS - 301, false)
    await look(1, true)
    await bench.queue.close({ timeoutMs: 0 })
  }
}

/** The clock was set forward by 400 ms while nobody had the queue open. */
function soonerBy (begin) {
  return async () => {
    const bench = new Bench()
    const { options, isOver } = await begin(bench)
    const look = lookAt(bench, isOver)
    await look(300, false)
    bench.epoch += 400
    await reopen(bench, options, true)
    await look(MS - 701, false)
    await look(1, true)
    await bench.queue.close({ timeoutMs: 0 })
  }
}

/** The clock was years ahead. It is over MS ms after the first opening since, however often the queue is opened, and whatever ends it. */
function boundedFrom (begin) {
  return async () => {
    const bench = new Bench()
    bench.epoch += YEARS
    const { options, isOver } = await begin(bench)
    const look = lookAt(bench, isOver)
    await look(300, false)
    bench.epoch -= YEARS
    for (const isKilled of [true, false, true]) {
      await reopen(bench, options, isKilled)
      await look(300, false)
    }
    await reopen(bench, options, false)
    await look(MS - 901, false)
    await look(1, true)
    await bench.queue.close({ timeoutMs: 0 })
  }
}

/** Nothing is left of it when the queue is opened. */
function anew (begin, byMs) {
  return async () => {
    const bench = new Bench()
    const { options } = await begin(bench)
    const isStarted = () => bench.gate.started.length > 0
    bench.epoch += byMs
    await reopen(bench, options, false)
    await lookAt(bench, isStarted)(0, true)
    await bench.queue.close({ timeoutMs: 0 })
  }
}

/** The slot of a job is taken back when the clock has been set. */
function recalledWhenSet (byMs) {
  return async () => {
    const bench = new Bench()
    const queue = await bench.open({ ack: 'disk' })
    const look = lookAt(bench, () => bench.idsOf('cancelled').length > 0)
    const release = holdSyncs(bench.disk)
    const pushed = queue.push('a', { maxWaitMs: MS })
    await look(300, false)
    assert.equal(queue.running, 1)
    bench.epoch += byMs
    queue.pause()
    assert.equal(queue.running, 0)
    release()
    await pushed
    await look(MS - 301, false)
    await look(1, true)
    await queue.close({ timeoutMs: 0 })
  }
}

function lookAt (bench, isOver) {
  return async (ms, expected) => {
    bench.clock.advance(ms)
    await quiet()
    assert.equal(await isOver(), expected, `after ${ms} ms more`)
  }
}

/** The queue starts nothing that was there before but what the test is about. */
async function reopen (bench, options, isKilled) {
  const isPaused = bench.queue.paused
  if (isKilled) bench.disk = bench.disk.afterKill()
  await bench.queue.close({ timeoutMs: 0 })
  bench.gate.started.length = 0
  bench.gate.open.length = 0
  await bench.open(options)
  if (isPaused) bench.queue.pause()
}

// schedules

/** A queue whose jobs of schedules are done at once. */
function scheduled (schedule) {
  const bench = new Bench()
  const times = []
  const runner = (payload, done, { schedule: { time } }) => {
    times.push(time)
    done()
  }
  const open = () => bench.open({ runner, schedules: { a: schedule } })
  const close = () => bench.queue.close({ timeoutMs: 0 })
  return {
    bench,
    times,
    open,
    close,
    pass: ms => passingOf(bench.clock)(ms),
    now: () => bench.epoch + bench.clock.now(),
    async reopen () {
      await close()
      await open()
    }
  }
}

const upTo = (time, ms) => Math.floor(time / ms) * ms

async function forwardWhileOpen () {
  for (const overlap of [true, false]) {
    for (const catchUp of ['last', 'none']) {
      const { bench, times, open, pass, now, close } = scheduled({ everyMs: MS, overlap, catchUp })
      await open()
      await pass(MS)
      bench.epoch += DAY
      await pass(MS)
      // the timer came at its time, and saw the clock then
      assert.equal(times.length, catchUp === 'last' ? 2 : 1)
      if (catchUp === 'last') assert.equal(times.at(-1), upTo(now(), MS))
      await pass(MS)
      assert.equal(times.at(-1), upTo(now(), MS))
      await close()
    }
  }
  // little of it was missed
  const { bench, times, open, pass, close } = scheduled({ everyMs: MS, overlap: true, catchUp: 'none' })
  await open()
  bench.epoch += MINUTE
  await pass(MS)
  assert.equal(times.length, MINUTE / MS + 1)
  await close()
  const rare = scheduled({ everyMs: DAY })
  await rare.open()
  rare.bench.epoch += DAY
  await rare.pass(MINUTE)
  assert.deepEqual(rare.times, [upTo(rare.now(), DAY)])
  await rare.close()
}

async function forwardWhileClosed () {
  for (const catchUp of ['last', 'none']) {
    const { bench, times, open, pass, now, close, reopen } = scheduled({ everyMs: MS, overlap: true, catchUp })
    await open()
    await pass(MS)
    bench.epoch += DAY
    await reopen()
    await pass(0)
    assert.deepEqual(times.slice(1), catchUp === 'last' ? [upTo(now(), MS)] : [])
    await close()
  }
}

/** No time comes twice, and none is left out. */
async function littleBack (schedule, byMs, how) {
  const { bench, times, open, pass, now, close, reopen } = scheduled({ everyMs: schedule })
  await open()
  const first = upTo(now(), schedule) + schedule
  await pass(schedule)
  bench.epoch -= byMs
  if (how === 'closed') await reopen()
  await pass(byMs + schedule)
  assert.deepEqual(times, Array.from({ length: times.length }, (_, i) => first + i * schedule))
  assert.equal(times.length, 2)
  await close()
}

async function littleBackWhileOpen () {
  await littleBack(MS, MINUTE - 2 * MS, 'open')
  await littleBack(DAY, DAY - MINUTE, 'open')
}

async function littleBackWhileClosed () {
  await littleBack(MS, MINUTE - 2 * MS, 'closed')
  await littleBack(DAY, DAY - MINUTE, 'closed')
}

/** It goes on as one that begins now, and from then on as ever. */
async function farBackWhileOpen () {
  for (const overlap of [true, false]) {
    const { bench, times, open, pass, now, close, reopen } = scheduled({ everyMs: MS, overlap })
    await open()
    bench.epoch += YEARS
    await pass(MS)
    bench.epoch -= YEARS
    await pass(MINUTE)
    times.length = 0
    await pass(3 * MS)
    const last = upTo(now(), MS)
    assert.deepEqual(times, [last - 2 * MS, last - MS, last])
    assert.equal((await bench.queue.listSchedules())[0].lastAt, last)
    await reopen()
    assert.equal((await bench.queue.listSchedules())[0].lastAt, last)
    await pass(MS)
    assert.equal(times.at(-1), last + MS)
    await close()
  }
}

async function farBackWhileClosed () {
  // by more than a minute and an interval; opened when it was ahead for the first time, or not
  for (const [everyMs, byMs, isFirst] of [[MS, YEARS, true], [MS, YEARS, false], [MS, 2 * MINUTE, false], [DAY, 2 * DAY, false]]) {
    for (const overlap of [true, false]) {
      const { bench, times, open, pass, now, close, reopen } = scheduled({ everyMs, overlap })
      if (!isFirst) {
        await open()
        await close()
      }
      bench.epoch += byMs
      await open()
      await pass(everyMs)
      bench.epoch -= byMs
      await reopen()
      times.length = 0
      assert.deepEqual(await bench.queue.listSchedules(), [{ name: 'a', nextAt: upTo(now(), everyMs) + everyMs, lastAt: undefined }])
      // that it begins now is known from now on
      bench.disk = bench.disk.afterKill()
      await close()
      bench.clock.advance(2 * everyMs)
      await open()
      await pass(0)
      assert.deepEqual(times, [upTo(now(), everyMs)])
      await pass(everyMs)
      assert.deepEqual(times, [upTo(now(), everyMs) - everyMs, upTo(now(), everyMs)])
      await close()
    }
  }
}
