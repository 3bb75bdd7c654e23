'use strict'

const assert = require('node:assert')
const { durable } = require('../../lib/durable')
const { Schedules } = require('../../lib/durable/schedule/schedules')
const { Calendars, timesOf } = require('../../lib/job/schedule-times')
const { seeded, seedFromEnvironment } = require('../support/random')
const { playRounds, rounds } = require('../support/rounds')
const { passingOf } = require('../support/starts')
const { captureUncaught } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, EPOCH, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const OPTION = { code: 'FAIRLANE_ERR_OPTION' }

describe('a durable queue with schedules', () => {
  let bench, ran

  /** A queue whose jobs are done at once, and their times, in ms since EPOCH. */
  async function open (schedules, options) {
    const runner = (payload, done, { schedule }) => {
      ran.push(schedule === undefined ? payload : schedule.time - EPOCH)
      done()
    }
    return bench.open({ runner, schedules, ...options })
  }

  const pass = ms => passingOf(bench.clock)(ms)
  const ends = () => { for (const { done } of bench.gate.open.splice(0)) done() }
  const timesOfGate = () => bench.gate.started.map(({ context: { schedule } }) => schedule.time - EPOCH)

  /** Time goes by while nobody has the queue open. */
  async function closeFor (ms) {
    await bench.queue.close({ timeoutMs: 0 })
    bench.clock.advance(ms)
  }

  beforeEach(() => {
    bench = new Bench()
    ran = []
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('pushes a job at each time, with its type and payload, and tells the runner whose it is', async () => {
    const queue = await bench.open({ scheduler: 'equal', schedules: { clean: { everyMs: 1000, type: 'house', payload: { rooms: 3 } } } })
    await pass(999)
    assert.equal(bench.gate.started.length, 0)
    await pass(1)
    const [{ payload, context }] = bench.gate.started
    assert.deepEqual([payload, context.type, context.schedule], [{ rooms: 3 }, 'house', { name: 'clean', time: EPOCH + 1000 }])
    ends()
    await pass(2000)
    ends()
    await pass(0)
    assert.deepEqual(timesOfGate(), [1000, 2000, 3000].filter(time => time !== 3000 || bench.gate.started.length > 2))
    assert.deepEqual((await queue.listSchedules()).map(({ name }) => name), ['clean'])
  })

  it('has intervals at multiples of theirs since 1970, whenever it is opened', async () => {
    await open({ often: { everyMs: 700, overlap: true } })
    await pass(2000)
    const first = 700 - EPOCH % 700
    assert.deepEqual(ran, [first, first + 700, first + 1400].filter(time => time <= 2000))
  })

  it('follows cron expressions, in UTC or in a time zone, also when clocks there change', async () => {
    bench.epoch = Date.UTC(2026, 2, 28, 12)
    const times = []
    await bench.open({
      runner: (payload, done, { schedule: { name, time } }) => { times.push([name, new Date(time).toISOString()]); done() },
      schedules: { utc: { cron: '0 2 * * *' }, berlin: { cron: '0 2 * * *', timezone: 'Europe/Berlin' } }
    })
    await pass(2 * 24 * 3600000)
    // there is no 2:00 in Berlin on the 29th
    assert.deepEqual(times, [
      ['berlin', '2026-03-29T01:00:00.000Z'], ['utc', '2026-03-29T02:00:00.000Z'],
      ['berlin', '2026-03-30T00:00:00.000Z'], ['utc', '2026-03-30T02:00:00.000Z']
    ])
  })

  it('lists its schedules, with their next and last times', async () => {
    const queue = await open(new Map([['a', { everyMs: 1000 }], ['never', { cron: '0 0 0 1 1 * 2000' }]]))
    assert.deepEqual(await queue.listSchedules(), [
      { name: 'a', nextAt: EPOCH + 1000, lastAt: undefined }, { name: 'never', nextAt: undefined, lastAt: undefined }
    ])
    await pass(1500)
    assert.deepEqual((await queue.listSchedules())[0], { name: 'a', nextAt: EPOCH + 2000, lastAt: EPOCH + 1000 })
    await queue.close({ drain: true })
    assert.deepEqual((await queue.listSchedules())[0], { name: 'a', nextAt: undefined, lastAt: EPOCH + 1000 })
    assert.deepEqual((await (await bench.open()).listSchedules()).map(({ name }) => name), ['a', 'never'])
  })

  it('is not left with anything to wait for by that, nor are its counts', async () => {
    const queue = await open({ a: { everyMs: 1000 } }, { capacity: 2 })
    await queue.onIdle()
    await queue.fflush()
    const { accepted, waiting, dead } = queue.stats()
    assert.deepEqual([accepted, waiting, dead, queue.length, queue.recovered.jobs, [...queue.jobs()]], [0, 0, 0, 0, 0, []])
    await pass(1000)
    await queue.fflush()
    assert.equal(queue.stats().done, 1)
    await queue.close({ drain: true })
    const again = await open({ a: { everyMs: 1000 } }, { capacity: 1 })
    assert.deepEqual([again.recovered.jobs, again.length, await again.get(1), await again.cancel(1)], [0, 0, undefined, false])
    await again.push('fits')
  })

  it('skips times while the job before is not over, unless they may overlap', async () => {
    for (const [overlap, expected] of [[undefined, [10, 40]], [false, [10, 40]], [true, [10, 20, 30, 40]]]) {
      bench = new Bench()
      const queue = await bench.open({ schedules: { a: { everyMs: 10, overlap } } })
      await pass(30)
      ends()
      await pass(10)
      assert.deepEqual(timesOfGate(), expected)
      ends()
      await queue.close({ timeoutMs: 0 })
    }
  })

  it('takes a job for over that is a dead letter, and not one that is tried again', async () => {
    const queue = await bench.open({ maxAttempts: 2, backoffMs: 15, schedules: { a: { everyMs: 10 } } })
    await pass(10)
    bench.gate.open.shift().done(new Error('first'))
    await pass(10)
    assert.equal(queue.stats().accepted, 1)
    await pass(5)
    bench.gate.open.shift().done(new Error('last'))
    await pass(5)
    assert.deepEqual([timesOfGate(), queue.stats().dead], [[10, 10, 30], 1])
    ends()
    await queue.retryDead((await queue.deadLetters())[0].id)
    await pass(5)
    ends()
    await quiet()
    assert.equal(queue.length, 0)
  })

  describe('skips a time for good while the job before is there, also if that', () => {
    const schedules = { a: { everyMs: 10 } }

    /** The job of 10 has ended at 35, and the queue is opened again at 38. */
    async function reopened () {
      await pass(1)
      await closeFor(2)
      await open(schedules)
      await pass(0)
      assert.deepEqual([ran, (await bench.queue.listSchedules())[0].nextAt], [[], EPOCH + 40])
      await pass(2)
      assert.deepEqual(ran, [40])
    }

    it('becomes a dead letter', async () => {
      await bench.open({ maxAttempts: 1, schedules })
      await pass(35)
      bench.gate.fail(new Error('no'))
      await reopened()
    })

    it('becomes a dead letter that is deleted', async () => {
      await bench.open({ maxAttempts: 1, schedules })
      await pass(35)
      bench.gate.fail(new Error('no'))
      await turn()
      assert.equal(await bench.queue.deleteDead(bench.gate.started[0].context.id), true)
      await reopened()
    })

    it('is cancelled', async () => {
      const queue = await bench.open({ schedules })
      await pass(35)
      assert.equal(await queue.cancel(bench.gate.started[0].context.id), true)
      ends()
      await reopened()
    })

    it('is cleared before it was written', async () => {
      const queue = await bench.open({ schedules, ack: 'disk', maxInflightOps: 1 })
      queue.pause()
      await quiet()
      const release = holdSyncs(bench.disk)
      queue.push('first')
      await pass(35)
      assert.equal(queue.clear(), 2)
      release()
      await reopened()
    })
  })

  it('pushes what passed since a dead letter became one, if that is deleted when the queue is opened again', async () => {
    await bench.open({ maxAttempts: 1, schedules: { a: { everyMs: 10 } } })
    await pass(15)
    bench.gate.fail(new Error('no'))
    await turn()
    const { id } = bench.gate.started[0].context
    await closeFor(10)
    const tool = await bench.open()
    assert.equal(await tool.deleteDead(id), true)
    await closeFor(0)
    await open({ a: { everyMs: 10 } })
    await pass(0)
    assert.deepEqual(ran, [20])
  })

  it('is kept going by jobs that are cancelled, cleared or removed, also before they are safe', async () => {
    const queue = await bench.open({ ack: 'disk', schedules: { a: { everyMs: 10 } } })
    const release = holdSyncs(bench.disk)
    bench.clock.advance(10)
    assert.equal(queue.clear(), 1)
    release()
    await pass(10)
    assert.equal(await queue.cancel(bench.gate.started[0].context.id), true)
    ends()
    await pass(0)
    bench.disk = bench.disk.afterPowerLoss(seeded(1))
    await queue.close({ timeoutMs: 0 })
    await open({ a: { everyMs: 10 } })
    await pass(10)
    assert.deepEqual(ran, [30])
  })

  it('is kept going by a job that is cleared before it was written', async () => {
    const queue = await open({ a: { everyMs: 10 } }, { ack: 'disk', maxInflightOps: 1 })
    await quiet()
    const release = holdSyncs(bench.disk)
    queue.pause()
    const pushed = queue.push('first')
    bench.clock.advance(10)
    assert.equal(queue.clear(), 2)
    release()
    await pushed
    await quiet()
    await closeFor(5)
    await open({ a: { everyMs: 10 } }, { ack: 'disk' })
    await pass(5)
    assert.deepEqual(ran, [20])
  })

  it('leaves all as it is when it has closed or its log has failed, whatever comes of what was under way', async () => {
    const notes = { has: () => true, isOver: () => true, timeOf () {}, meaningOf () {}, drop () {} }
    notes.write = () => ({ seqs: [], promise: Promise.reject(new Error('full')) })
    const status = { error: undefined, isOver: false }
    const asked = []
    const stage = { deadlines: { remove () {}, addAnyway () {} } }
    const intake = { push: (...args) => new Promise((resolve, reject) => asked.push({ args, resolve, reject })) }
    const parts = { admission: { ready: () => Promise.resolve() }, intake, notes, stage, status }
    const schedules = new Schedules(parts, { schedules: [{ name: 'a', times: timesOf({ everyMs: 10 }) }], now: () => 25 })
    const [schedule] = schedules.byName.values()
    schedule.doneUntil = 0
    schedule.overlap = true
    schedules.look(schedule)
    assert.deepEqual(asked.map(({ args: [,,, { schedule }] }) => schedule), [{ name: 'a', time: 10 }, { name: 'a', time: 20 }])
    status.error = new Error('the log')
    asked[0].resolve(1)
    await quiet()
    assert.equal(schedules.has(1), false)
    notes.has = () => false
    schedules.stop()
    asked[1].reject(Object.assign(new Error('full'), { code: 'FAIRLANE_ERR_QUEUE_FULL' }))
    await quiet()
    schedules.look(schedule)
    assert.deepEqual([asked.length, schedule.refused, await schedules.list()], [2, [], [{ name: 'a', nextAt: undefined, lastAt: 10 }]])
    schedules.pushed(schedule, 2, 20)
    schedules.mark(schedule, 20)
    assert.equal(schedules.has(2), false)
  })

  it('keeps the record of the latest time, in whichever order jobs become safe or are found', async () => {
    const dropped = []
    const notes = { has: () => true, isOver: () => true, drop: seq => dropped.push(seq) }
    const stage = { deadlines: { remove () {}, addAnyway () {} } }
    const status = { error: undefined, isOver: false }
    const schedules = new Schedules({ notes, stage, status }, { schedules: [{ name: 'a', times: timesOf({ everyMs: 10 }) }], now: () => 25 })
    const [schedule] = schedules.byName.values()
    schedules.pushed(schedule, 2, 20)
    schedules.pushed(schedule, 3, 10)
    schedules.found(4, { name: 'a', time: 10 }, undefined)
    assert.deepEqual([2, 3, 4].map(seq => schedules.has(seq)), [true, false, false])
    schedule.isRemoved = true
    schedules.mark(schedule, 30)
    schedules.keepNote(schedule, 5)
    status.error = new Error('the log')
    schedules.keepNote(schedule, 6)
    assert.deepEqual([schedules.has(5), schedules.has(6), dropped], [false, false, [0, 5]])
  })

  it('keeps two records of each schedule on disk, and none of those that were removed', async () => {
    let queue = await open({ a: { everyMs: 10 }, b: { everyMs: 20 } }, { segmentBytes: 1024 })
    await pass(5000)
    assert(queue.diskBytes() < 8192, `${queue.diskBytes()} bytes`)
    await closeFor(5)
    queue = await open({ b: { everyMs: 20 } })
    await queue.setSchedule('a', null)
    await closeFor(5)
    ran = []
    queue = await open({ a: { everyMs: 10 }, b: { everyMs: 20 } })
    assert.equal((await queue.listSchedules())[0].lastAt, undefined)
    await pass(0)
    assert.deepEqual(ran, [])
  })

  it('goes on with its schedules while it is given none', async () => {
    const schedules = { a: { everyMs: 1000 } }
    await open(schedules)
    await pass(1000)
    await closeFor(500)
    let queue = await open(undefined)
    await queue.push('other')
    await pass(600)
    assert.deepEqual(ran, [1000, 'other', 2000])
    await closeFor(0)
    queue = await open(schedules)
    assert.equal((await queue.listSchedules())[0].lastAt, EPOCH + 2000)
    await pass(0)
    assert.deepEqual(ran, [1000, 'other', 2000])
  })

  it('keeps one record of all times of a schedule that it is not given', async () => {
    const schedules = { a: { everyMs: 10, overlap: true } }
    const queue = await bench.open({ schedules, segmentBytes: 1024 })
    queue.pause()
    await pass(5000)
    await closeFor(0)
    const other = await open(undefined, { segmentBytes: 1024 })
    assert(other.diskBytes() > 16384, `${other.diskBytes()} bytes`)
    await pass(0)
    assert.deepEqual([ran.length, ran.at(-1), other.length], [500, 5000, 0])
    await other.flush()
    assert(other.diskBytes() < 8192, `${other.diskBytes()} bytes`)
    await closeFor(0)
    await open(schedules)
    assert.deepEqual(await bench.queue.listSchedules(), [{ name: 'a', nextAt: EPOCH + 5010, lastAt: EPOCH + 5000 }])
  })

  it('leaves jobs of schedules that are not given to run, with their time kept', async () => {
    const schedules = { a: { everyMs: 1000 } }
    let queue = await bench.open({ schedules })
    await pass(1000)
    await closeFor(0)
    queue = await open(undefined)
    await pass(100)
    assert.deepEqual([ran, queue.length], [[1000], 0])
    await closeFor(0)
    queue = await open(schedules)
    assert.deepEqual(await queue.listSchedules(), [{ name: 'a', nextAt: EPOCH + 2000, lastAt: EPOCH + 1000 }])
  })

  describe('whose times passed while nobody had it open', () => {
    it('pushes a job for the last one', async () => {
      await open({ a: { everyMs: 10 } })
      await pass(20)
      await closeFor(35)
      await open({ a: { everyMs: 10 } })
      await pass(6)
      assert.deepEqual(ran, [10, 20, 50, 60])
    })

    it('pushes a job for the last one of a cron expression', async () => {
      const schedules = { a: { cron: '0 0 * * *' }, over: { cron: '0 0 0 1 1 * 2000' } }
      await open(schedules)
      await closeFor(3 * 24 * 3600000)
      await open(schedules)
      await pass(0)
      assert.deepEqual(ran.map(time => new Date(EPOCH + time).toISOString()), ['2001-09-12T00:00:00.000Z'])
    })

    it("pushes none with catchUp: 'none'", async () => {
      await open({ a: { everyMs: 10, catchUp: 'none' } })
      await pass(20)
      await closeFor(35)
      await open({ a: { everyMs: 10, catchUp: 'none' } })
      await pass(6)
      assert.deepEqual(ran, [10, 20, 60])
    })

    it('knows since when there is a schedule, also if none of its times has come', async () => {
      await open({ a: { everyMs: 1000 } })
      await closeFor(1500)
      await open({ a: { everyMs: 1000 }, b: { everyMs: 1000 } })
      await pass(0)
      assert.deepEqual(ran, [1000])
    })

    it('skips them if the job before is not over, and those that were skipped before it was', async () => {
      let queue = await bench.open({ schedules: { a: { everyMs: 10 } } })
      await pass(10)
      await closeFor(25)
      queue = await bench.open({ schedules: { a: { everyMs: 10 } } })
      await pass(0)
      bench.gate.open.splice(0, 1) // of the life before
      ends()
      await pass(1)
      assert.deepEqual([queue.length, (await queue.listSchedules())[0]], [0, { name: 'a', nextAt: EPOCH + 40, lastAt: EPOCH + 10 }])
      await closeFor(2)
      await open({ a: { everyMs: 10 } })
      await pass(1)
      assert.deepEqual(ran, [])
      await pass(2)
      assert.deepEqual(ran, [40])
    })

    it('pushes none twice when the clock was set back, and waits until it is there again', async () => {
      await open({ a: { everyMs: 10 } })
      await pass(30)
      await closeFor(0)
      bench.epoch -= 25
      await open({ a: { everyMs: 10 } })
      await pass(34)
      assert.deepEqual(ran, [10, 20, 30])
      await pass(1)
      assert.deepEqual(ran, [10, 20, 30, 40])
    })
  })

  it('notices within a minute that the clock was set', async () => {
    await open({ a: { cron: '0 0 * * *' } })
    bench.epoch += 24 * 3600000
    await pass(60000)
    assert.equal(ran.length, 1)
  })

  it('pushes all times that overlap, up to a minute late', async () => {
    await open({ a: { everyMs: 1, overlap: true } }, { concurrency: 1000 })
    bench.epoch += 1000 // the machine has slept
    await pass(1)
    while (ran.length < 1001) await turn() // a slow machine starts one in each
    assert.deepEqual(ran, Array.from({ length: 1001 }, (_, i) => i + 1))
  })

  describe('whose clock was far ahead, and is set back', () => {
    const AHEAD = 12 * 366 * 24 * 3600000
    const MINUTE = 60000
    const schedules = { a: { everyMs: 1000 } }

    it('runs no two jobs at once, if the one before is not over', async () => {
      bench.epoch += AHEAD
      const queue = await bench.open({ schedules })
      await pass(1000)
      bench.epoch -= AHEAD
      await pass(2 * MINUTE)
      assert.deepEqual([bench.gate.started.length, queue.running, (await queue.listSchedules())[0].lastAt], [1, 1, undefined])
      ends()
      await pass(1000)
      assert.deepEqual([timesOfGate()[1], queue.running], [1000 + 2 * MINUTE + 1000, 1])
      ends()
      await pass(1000)
      ends()
      await pass(0)
      // there are more records: of what it is, of when it began, and of where it has begun anew
      assert.deepEqual(bench.gate.started.map(({ context: { id } }) => id), [3, 5, 6])
      // that it goes on from here stands on disk
      await closeFor(1500)
      await open(schedules)
      await pass(0)
      assert.deepEqual(ran, [2 * MINUTE + 4000])
    })

    it('runs no two jobs at once after a restart either', async () => {
      bench.epoch += AHEAD
      await bench.open({ schedules })
      await pass(1000)
      await closeFor(0)
      bench.gate.open.length = 0
      bench.epoch -= AHEAD
      const queue = await bench.open({ schedules })
      await pass(5000)
      assert.deepEqual([bench.gate.started.length, queue.running], [2, 1])
      ends()
      await pass(1000)
      assert.equal(timesOfGate()[2], 7000)
      ends()
      await pass(0)
    })

    it('waits for what becomes of jobs that are being pushed', async () => {
      bench.epoch += AHEAD
      const queue = await open({ a: { everyMs: 1000, overlap: true } }, { ack: 'disk' })
      await pass(0)
      const release = holdSyncs(bench.disk)
      await pass(1000)
      bench.epoch -= AHEAD
      await pass(2 * MINUTE)
      assert.equal((await queue.listSchedules())[0].nextAt, EPOCH + AHEAD + 2000)
      release()
      await pass(MINUTE)
      ran = []
      await pass(1000)
      assert.deepEqual(ran, [1000 + 3 * MINUTE + 1000])
    })

    it('pushes times that were refused before the clock was wrong, and none of those that it showed then', async () => {
      for (const [overlap, isRight] of [[true, true], [true, false], [false, true], [false, false]]) {
        bench = new Bench()
        ran = []
        const queue = await open({ a: { everyMs: 1000, overlap } }, { capacity: 1 })
        queue.pause()
        if (!isRight) bench.epoch += AHEAD
        await queue.push('in the way')
        await pass(1000)
        if (isRight) bench.epoch += AHEAD
        await pass(5000)
        bench.epoch -= AHEAD
        await pass(2 * MINUTE)
        queue.resume()
        await pass(MINUTE)
        const right = isRight ? [1000] : []
        assert.deepEqual(ran.splice(0, 1 + right.length), ['in the way', ...right])
        assert(ran.every((time, i) => i === 0 || time > ran[i - 1]), ran.join())
        assert.equal(ran.at(-1), 3 * MINUTE + 6000)
        await queue.close({ drain: true })
      }
    })

    it('goes on though it could not write that it begins anew', async () => {
      bench.epoch += AHEAD
      await open(schedules)
      await pass(1000)
      bench.epoch -= AHEAD
      bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
      await pass(MINUTE)
      bench.disk.fault = () => undefined
      await pass(MINUTE)
      await closeFor(0)
      await open(schedules)
      assert.equal((await bench.queue.listSchedules())[0].lastAt, EPOCH + 2 * MINUTE + 1000)
    })

    it('begins with the first of all times, if that has not come', async () => {
      bench.epoch += AHEAD
      await open({ a: { cron: '0 0 0 1 1 * 2030' } })
      await closeFor(0)
      bench.epoch -= AHEAD
      await open({ a: { cron: '0 0 0 1 1 * 2030' } })
      assert.equal((await bench.queue.listSchedules())[0].nextAt, Date.UTC(2030, 0, 1))
    })

    it('knows from its records that it has begun anew, whichever of them are there after a crash', async () => {
      bench.epoch += AHEAD
      await open(schedules)
      await pass(1000)
      await closeFor(0)
      bench.epoch -= AHEAD
      const before = bench.disk
      // what is written next is, but nothing that comes of it
      let writes = 0
      bench.disk = before.afterKill()
      bench.disk.fault = kind => kind === 'write' && ++writes > 1 ? systemError('EIO') : undefined
      const warned = new Promise(resolve => process.once('warning', resolve))
      await open(schedules)
      await pass(0)
      const disk = bench.disk.afterKill()
      await bench.queue.close({ timeoutMs: 0 }).catch(() => {})
      await Promise.race([warned, quiet()])
      bench.disk = disk
      bench.clock.advance(1500)
      ran = []
      await open({ a: { everyMs: 1000, catchUp: 'none' } })
      assert.equal((await bench.queue.listSchedules())[0].lastAt, undefined)
      await closeFor(0)
      await open(schedules)
      await pass(0)
      assert.deepEqual(ran, [2000])
    })
  })

  it('pushes one job for all times that passed more than a minute ago while jobs were refused', async () => {
    const queue = await open({ a: { everyMs: 1000, overlap: true } }, { capacity: 1 })
    queue.pause()
    await queue.push('in the way')
    await pass(600000)
    queue.resume()
    await pass(1000)
    assert.deepEqual(ran, ['in the way', 1000, 600000, 601000])
  })

  it('tries again if a job is refused, and skips none of those that overlap', async () => {
    for (const [overlap, expected] of [[false, [10, 30, 40]], [true, [10, 20, 30, 40]]]) {
      bench = new Bench()
      ran = []
      const queue = await open({ a: { everyMs: 10, overlap } }, { capacity: 1 })
      queue.pause()
      await queue.push('in the way')
      bench.epoch += 15 // the machine has slept
      await pass(10)
      const [{ nextAt, lastAt }] = await queue.listSchedules()
      assert.deepEqual([queue.waiting, nextAt, lastAt], [1, EPOCH + 10, undefined])
      queue.resume()
      await pass(40)
      assert.deepEqual(ran.slice(1, 1 + expected.length), expected)
      await queue.close({ drain: true })
    }
  })

  it('closes while a job of it is refused', async () => {
    const queue = await open({ a: { everyMs: 10 } }, { capacity: 1 })
    queue.pause()
    await queue.push('in the way')
    await pass(10)
    await closeFor(0)
    await open({ a: { everyMs: 10 } })
    await pass(1)
    assert.deepEqual(ran, ['in the way', 10])
  })

  it('tries again if a job could not be written', async () => {
    const queue = await open({ a: { everyMs: 1000 } })
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await pass(1000)
    assert.deepEqual([ran, (await queue.listSchedules())[0]], [[], { name: 'a', nextAt: EPOCH + 1000, lastAt: undefined }])
    bench.disk.fault = () => undefined
    await pass(1500)
    assert.deepEqual([ran, (await queue.listSchedules())[0]], [[1000], { name: 'a', nextAt: EPOCH + 3000, lastAt: EPOCH + 1000 }])
  })

  it('begins anew if it could not write when a schedule began', async () => {
    await bench.open()
    await bench.queue.close({ drain: true })
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await open({ a: { everyMs: 10 } })
    await quiet()
    bench.disk.fault = () => undefined
    await closeFor(25)
    await open({ a: { everyMs: 10 } })
    await pass(5)
    assert.deepEqual(ran, [30])
  })

  it('has what is wrong with a payload by then as an uncaught exception', async () => {
    const uncaught = captureUncaught()
    try {
      const payload = { value: 1 }
      const queue = await open({ a: { everyMs: 10, payload } })
      payload.value = () => {}
      await pass(10)
      await uncaught.until(1)
      assert.equal(uncaught.seen[0].code, 'FAIRLANE_ERR_ARGUMENT')
      payload.value = 2
      await pass(10)
      assert.deepEqual([ran, queue.length], [[20], 0])
    } finally {
      uncaught.release()
    }
  })

  it('stops when it closes, by a call or since its log fails', async () => {
    const queue = await open({ a: { everyMs: 10 } })
    await queue.close({ drain: true })
    await pass(50)
    assert.deepEqual([ran, bench.clock.timerCount], [[], 0])
    bench = new Bench()
    await open({ a: { everyMs: 10, overlap: true } }, { ack: 'disk' })
    bench.disk.fault = kind => kind === 'sync' ? systemError('EIO') : undefined
    const warned = new Promise(resolve => process.once('warning', resolve))
    await pass(30)
    assert.equal((await warned).code, 'FAIRLANE_ERR_IO')
    bench.disk.fault = () => undefined
    await assert.rejects(bench.queue.close(), { code: 'FAIRLANE_ERR_IO' })
    bench.queue = undefined
    assert.equal(bench.clock.timerCount, 0)
  })

  it('has its schedules checked', () => {
    const opening = (schedules, options) => () => durable(() => {}, { path: 'folder', schedules, ...options })
    const everyMs = 1
    for (const schedules of [
      null, 1, [], { a: null }, { a: undefined }, { '': { everyMs } }, { '\ud800': { everyMs } }, { ['x'.repeat(1001)]: { everyMs } }
    ]) {
      assert.throws(opening(schedules), OPTION)
    }
    for (const wrong of [
      {}, { everyMs: 1, cron: '* * * * *' }, { everyMs: 0 }, { everyMs: 1.5 }, { everyMs: '1' }, { everyMs: Infinity },
      { cron: '' }, { cron: ' ' }, { cron: 1 }, { cron: 'soon' },
      { cron: '2030-01-01T00:00:00' }, { cron: '0 0 30 2 *' }, { cron: '0 0 0 31 4,6 * *' }, { cron: '0 0 0 29 2 * 2023' },
      { cron: '60 0 * * *' },
      { cron: '0 24 * * *' },
      { cron: '60 0 0 * * *' }, { cron: '0 0 * 13 *' }, { cron: '0 0 * * 8' }, { cron: '0 0 * *' }, { cron: '0 0 0 * * * 2030 1' },
      { cron: '@often' }, { cron: '* * * * *', timezone: 'Nowhere/City' }, { cron: '* * * * *', timezone: 1 },
      { everyMs: 1, timezone: 'UTC' },
      { everyMs: 1, catchUp: 'all' }, { everyMs: 1, catchUp: 1 }, { everyMs: 1, overlap: 1 }, { everyMs: 1, every: 1 },
      { everyMs: 1, payload: () => {} }
    ]) assert.throws(opening({ a: wrong }), OPTION, JSON.stringify(wrong))
    assert.throws(opening({ a: { everyMs: 1 } }, { scheduler: 'equal' }), OPTION)
    assert.throws(opening({ a: { everyMs: 1, type: '\ud800' } }), { code: 'FAIRLANE_ERR_TYPE' })
    assert.throws(opening({ a: { everyMs: 1, type: 'ü'.repeat(35000) } }), OPTION)
    assert.throws(opening({ a: { cron: '0 0 30 2 *' } }), /never comes due/)
  })

  it('asks for croner with the line that installs it, where there is a cron expression only', () => {
    for (const load of [() => { throw new Error("Cannot find module 'croner'") }, () => ({}), () => ({ Cron: class {} })]) {
      const read = () => timesOf({ cron: '* * * * *', timezone: 'UTC' }, 'a', new Calendars(load))
      assert.throws(read, ({ code, message }) => code === 'FAIRLANE_ERR_PEER' && message.includes('npm install croner'))
      assert.equal(timesOf({ everyMs: 10 }, 'a', new Calendars(load)).after(10), 20)
    }
  })

  describe('of which there are thousands', () => {
    /** Counts what croner is asked for. */
    function counted () {
      const { Cron } = require('croner')
      const counts = { compiled: 0, asked: 0 }
      class Counted extends Cron {
        constructor (...args) {
          super(...args)
          counts.compiled++
        }

        nextRun (...args) {
          counts.asked++
          return super.nextRun(...args)
        }
      }
      return { counts, load: () => ({ Cron: Counted }) }
    }

    it('compiles each expression and each part of one once, and keeps few of them', () => {
      const { counts, load } = counted()
      const calendars = new Calendars(load)
      const cronOf = i => `${i % 60} ${i % 24} * * ${i % 7}`
      const times = Array.from({ length: 4000 }, (_, i) => timesOf({ cron: cronOf(i), timezone: 'UTC' }, `${i}`, calendars))
      assert.equal(new Set(times).size, 840)
      assert(counts.compiled <= 60 + 24 + 7 + 2, `${counts.compiled}`)
      for (let round = 0; round < 3; round++) {
        for (const some of times.slice(0, 840)) assert(some.after(EPOCH + round) > EPOCH)
      }
      assert(counts.compiled <= 60 + 24 + 7 + 2 + 840, `${counts.compiled}`)
      assert.equal(counts.asked, counts.compiled)
      assert(calendars.crons.size <= 32)
    })

    it('asks croner again when a time has come, or for one before', () => {
      const { counts, load } = counted()
      const times = timesOf({ cron: '0 0 * * *', timezone: 'UTC' }, 'a', new Calendars(load))
      const before = counts.asked
      const day = 24 * 3600000
      const next = times.after(EPOCH)
      assert.deepEqual([times.after(next - 1), times.after(next), times.after(next - 1), times.upTo(next)], [next, next + day, next, next])
      assert.equal(counts.asked - before, 3)
    })

    it('opens in slices, between which the event loop turns', async () => {
      const schedules = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i}`, { cron: `${i % 60} ${i % 24} * * ${i % 7}` }]))
      const { now } = performance
      let time = now.call(performance)
      let turns = 0
      let isOpen = false
      const watch = () => {
        turns++
        if (!isOpen) setImmediate(watch)
      }
      setImmediate(watch)
      performance.now = () => ++time
      try {
        const queue = await open(schedules)
        isOpen = true
        assert.equal((await queue.listSchedules()).length, 300)
      } finally {
        isOpen = true
        performance.now = now
      }
      assert(turns > 100, `${turns}`)
    })

    it('is not opened if the log fails meanwhile', async () => {
      const warned = new Promise(resolve => process.once('warning', resolve))
      // the first one is that of the end of the log
      let syncsCount = 0
      bench.disk.fault = kind => kind === 'sync' && ++syncsCount > 1 ? systemError('EIO') : undefined
      const schedules = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i}`, { everyMs: 1000 + i }]))
      const { now } = performance
      let time = now.call(performance)
      performance.now = () => ++time
      try {
        await assert.rejects(open(schedules, { ack: 'disk' }), { code: 'FAIRLANE_ERR_IO' })
      } finally {
        performance.now = now
      }
      assert.equal((await warned).code, 'FAIRLANE_ERR_IO')
      bench.queue = undefined
    })
  })

  describe('at random', () => {
    const seed = seedFromEnvironment()

    it(`pushes one job for each of its times, whatever closes and crashes (SEED=${seed})`, async () => {
      await playRounds(rounds(25), seed, seeded, play)
    })

    /** Several lives, each ended by close(), kill -9 or a power failure; then one in which all that is left runs. */
    async function play (random) {
      bench = new Bench()
      const { clock } = bench
      const schedule = { everyMs: 5 + random.below(20), catchUp: random.pick(['last', 'none']), overlap: random.chance(0.6) }
      const ack = random.pick(['os', 'disk'])
      const isExact = schedule.overlap && random.chance(0.7) // nothing is lost, cleared or held
      const options = {
        ack, maxAttempts: 2, backoffMs: 5, concurrency: 3, maxInflightOps: isExact ? undefined : random.pick([1, undefined])
      }
      const ids = new Map() // time → ids of its jobs
      const ends = new Map() // id → when the job was over
      const running = new Set()
      let most = 0
      const expected = []
      let end // of the life before
      for (let life = 0; life < 6; life++) {
        const isLast = life === 5
        let isAlive = true
        running.clear()
        const runner = (payload, done, { id, schedule: { time } }) => {
          if (!isAlive) return
          ids.set(time, new Set(ids.get(time)).add(id))
          running.add(id)
          most = Math.max(most, running.size)
          clock.setTimeout(() => {
            if (!isAlive) return
            running.delete(id)
            done(random.chance(0.2) ? new Error('no') : undefined)
          }, random.below(12))
        }
        const begin = EPOCH + clock.now()
        const queue = await bench.open({ runner, ...options, schedules: { s: schedule } })
        const caughtUp = Math.floor(begin / schedule.everyMs) * schedule.everyMs
        if (life > 0 && schedule.catchUp === 'last' && caughtUp > end) expected.push(caughtUp)
        if (isLast) await queue.setSchedule('s', null)
        for (const event of ['done', 'failed', 'cancelled']) {
          queue.on(event, ({ id, error }) => {
            if (isAlive && error?.code !== 'FAIRLANE_ERR_CRASHED') ends.set(id, EPOCH + clock.now()) // else it ended with the process
          })
        }
        for (let i = 0; i < 15; i++) {
          clock.advance(random.below(9))
          await turn()
          if (!isExact && random.chance(0.05)) queue.clear()
        }
        if (isLast) {
          await pass(1000)
          assert.equal(queue.length, 0)
          await queue.close({ drain: true })
          break
        }
        end = EPOCH + clock.now()
        for (let time = caughtUp + schedule.everyMs; time <= end; time += schedule.everyMs) expected.push(time)
        if (!schedule.overlap) assert(queue.length <= 1, `${queue.length} jobs`)
        assert((await queue.listSchedules())[0].nextAt > end, 'its next time has passed')
        await quiet()
        isAlive = false
        const disk = random.chance(0.4) ? undefined : isExact || ack === 'os' ? bench.disk.afterKill() : bench.disk.afterPowerLoss(random)
        await queue.close({ timeoutMs: 0 })
        if (disk !== undefined) bench.disk = disk
        clock.advance(random.below(60))
      }
      bench.queue = undefined
      for (const [time, own] of ids) assert.equal(own.size, 1, `${own.size} jobs for ${time - EPOCH}`)
      const times = [...ids.keys()].sort((a, b) => a - b)
      if (isExact) assert.equal(expected.filter(time => !ids.has(time)).map(time => time - EPOCH).join(), '')
      for (const time of times) assert(expected.includes(time), `a job for ${time - EPOCH}`)
      if (schedule.overlap) return
      assert(most <= 1, `${most} jobs at once`)
      for (let i = 1; i < times.length; i++) {
        const [id] = ids.get(times[i - 1])
        assert(!(times[i] < ends.get(id)), `${times[i] - EPOCH} was skipped, since the job before was there until ${ends.get(id) - EPOCH}`)
      }
    }

    it(`goes on within some minutes wherever the clock is set, and pushes few jobs for that (SEED=${seed})`, async () => {
      await playRounds(rounds(10), seed, seeded, playClock)
    })

    async function playClock (random) {
      const MINUTE = 60000
      bench = new Bench()
      ran = []
      const everyMs = random.pick([1000, MINUTE, 10 * MINUTE])
      const schedules = { a: { everyMs, overlap: random.chance(0.5), catchUp: random.pick(['last', 'none']) } }
      const settling = 2 * MINUTE + 3 * everyMs
      await open(schedules)
      for (let i = 0; i < 5; i++) {
        const isOpen = random.chance(0.5)
        if (!isOpen) await bench.queue.close({ timeoutMs: 0 })
        bench.epoch += random.pick([-1, 1]) * random.pick([1000, MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 1e11])
        if (!isOpen) await open(schedules)
        ran = []
        await pass(settling)
        const now = bench.epoch + bench.clock.now() - EPOCH
        assert.equal(ran.at(-1), Math.floor((now + EPOCH) / everyMs) * everyMs - EPOCH, `${ran} at ${now}`)
        assert(ran.length <= (settling + MINUTE) / everyMs + 2, `${ran.length} jobs`)
      }
      await bench.queue.close({ drain: true })
    }
  })
})
