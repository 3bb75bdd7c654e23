'use strict'

// Schedules that are added, changed, run and removed while the queue is open, and that stay.

const assert = require('node:assert')
const { captureUncaught } = require('../support/uncaught')
const { passingOf } = require('../support/starts')
const { quiet } = require('../support/turns')
const { Notes } = require('../../lib/durable/schedule/notes')
const { Bench, EPOCH, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const JSON_SERIALIZER = { encode: payload => Buffer.from(JSON.stringify(payload ?? null)) }
const code = name => ({ code: `FAIRLANE_ERR_${name}` })

describe('schedules of a durable queue', () => {
  let bench, ran

  async function open (options) {
    const runner = (payload, done, { type, schedule }) => {
      ran.push([payload, type, schedule?.name, schedule === undefined ? undefined : schedule.time - EPOCH])
      done()
    }
    return bench.open({ runner, ...options })
  }

  const pass = ms => passingOf(bench.clock)(ms)
  const namesOf = async queue => (await queue.listSchedules()).map(({ name }) => name)

  async function reopen (options) {
    await bench.queue.close({ timeoutMs: 0 })
    return open(options)
  }

  beforeEach(() => {
    bench = new Bench()
    ran = []
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('are added, and are there when it is opened again, without the option or with another one', async () => {
    let queue = await open()
    await queue.setSchedule('a', { everyMs: 1000, type: 't', payload: { n: 1 }, catchUp: 'none', overlap: true })
    await pass(1000)
    assert.deepEqual(ran, [[{ n: 1 }, 't', 'a', 1000]])
    queue = await reopen()
    assert.deepEqual(await queue.listSchedules(), [{ name: 'a', nextAt: EPOCH + 2000, lastAt: EPOCH + 1000 }])
    bench.clock.advance(1500)
    queue = await reopen({ schedules: { b: { cron: '0 0 1 1 *', timezone: 'Europe/Berlin' } } })
    await pass(1000)
    assert.deepEqual(ran.slice(1).map(([, , name, time]) => [name, time]), [['a', 2000], ['a', 3000]])
    assert.deepEqual((await namesOf(queue)).sort(), ['a', 'b'])
    queue = await reopen()
    const berlin = (await queue.listSchedules()).find(({ name }) => name === 'b')
    assert.equal(new Date(berlin.nextAt).toISOString(), '2002-01-01T00:00:00.000Z'.replace('2002-01-01T00', '2001-12-31T23'))
  })

  it('push nothing while they are paused, also when it is opened again, until they are resumed, set, or given by the option as others', async () => {
    const schedules = { a: { everyMs: 1000, payload: 1, overlap: true }, b: { everyMs: 1000, payload: 2 } }
    let queue = await open({ schedules })
    const shown = async () => (await queue.listSchedules()).map(({ name, nextAt, lastAt, paused }) => {
      return [name, nextAt === undefined ? undefined : nextAt - EPOCH, lastAt === undefined ? undefined : lastAt - EPOCH, paused]
    })
    const passed = async ms => {
      ran.length = 0
      await pass(ms)
      return ran.map(([, , name, time]) => [name, time]).sort()
    }
    assert.deepEqual(await passed(1000), [['a', 1000], ['b', 1000]])
    await queue.pauseSchedule('a')
    const ofA = async () => (await shown()).find(([name]) => name === 'a')
    assert.deepEqual(await shown(), [['a', undefined, 1000, true], ['b', 2000, 1000, undefined]])
    assert.deepEqual(await passed(2000), [['b', 2000], ['b', 3000]])
    for (const options of [{ schedules }, {}]) {
      queue = await reopen(options)
      assert.deepEqual(await ofA(), ['a', undefined, 1000, true])
      assert.equal((await passed(1000)).some(([name]) => name === 'a'), false)
    }
    await queue.resumeSchedule('a')
    assert.deepEqual((await ofA()).filter((_, i) => i !== 2), ['a', 6000, undefined])
    // what has passed meanwhile is not missed
    queue = await reopen()
    assert.deepEqual(await passed(1000), [['a', 6000], ['b', 6000]])
    await queue.pauseSchedule('a')
    await queue.setSchedule('a', { ...schedules.a, payload: 3 })
    assert.deepEqual(await ofA(), ['a', 7000, 6000, undefined])
    await queue.pauseSchedule('a')
    queue = await reopen({ schedules: { a: { everyMs: 1000, payload: 4 } } })
    assert.deepEqual(await ofA(), ['a', 7000, 6000, undefined])
    await assert.rejects(queue.pauseSchedule('none'), code('ARGUMENT'))
    await queue.close()
    for (const method of ['pauseSchedule', 'resumeSchedule']) await assert.rejects(queue[method]('a'), code('CLOSED'))
  })

  it('stay paused, and go on, though the clock of the machine was set back', async () => {
    const schedules = { a: { everyMs: 1000 } }
    await open({ schedules })
    await pass(1000)
    await bench.queue.pauseSchedule('a')
    bench.epoch -= 600000
    const queue = await reopen({ schedules })
    assert.deepEqual(await queue.listSchedules(), [{ name: 'a', nextAt: undefined, lastAt: undefined, paused: true }])
    await queue.resumeSchedule('a')
    ran.length = 0
    await pass(1000)
    assert.equal(ran.length, 1)
  })

  it('that are resumed while their last job runs wait for its end, unless they overlap', async () => {
    const queue = await bench.open({ schedules: { a: { everyMs: 1000 } } })
    await pass(1000)
    await bench.gate.until(1)
    await queue.pauseSchedule('a')
    await queue.resumeSchedule('a')
    await pass(3000)
    assert.equal(bench.gate.started.length, 1)
    bench.gate.release()
    await quiet()
    await pass(1000)
    await bench.gate.until(2)
    assert.equal(bench.gate.started[1].context.schedule.time, EPOCH + 5000)
    bench.gate.release()
  })

  it('that are paused forget times whose jobs could not be pushed', async () => {
    const queue = await bench.open({ maxWaiting: 1, concurrency: 1, schedules: { a: { everyMs: 1000, overlap: true } } })
    queue.pause()
    await pass(3000)
    const { waiting } = queue
    await queue.pauseSchedule('a')
    queue.resume()
    for (let i = 0; i < waiting; i++) {
      await bench.gate.until(i + 1)
      bench.gate.release()
    }
    await pass(120000)
    assert.equal(bench.gate.started.length, waiting)
  })

  it('are added with what was said, and written again only if that changes', async () => {
    const schedules = { a: { everyMs: 1000, payload: 1 } }
    let queue = await open({ schedules })
    await queue.flush()
    const bytes = queue.diskBytes()
    queue = await reopen({ schedules })
    await queue.flush()
    assert(queue.diskBytes() - bytes < 60, 'a closing mark, and no note')
    queue = await reopen({ schedules: { a: { everyMs: 1000, payload: 2 } } })
    await queue.flush()
    queue = await reopen()
    await queue.runSchedule('a')
    await quiet()
    assert.deepEqual(ran.map(([payload]) => payload), [2])
  })

  it('are changed: times of what they were before are none of theirs', async () => {
    const queue = await open({ schedules: { a: { everyMs: 1000 } } })
    await pass(1500)
    await queue.setSchedule('a', { everyMs: 100, payload: 'new' })
    await pass(100)
    assert.deepEqual(ran.map(([payload, , , time]) => [payload, time]), [[undefined, 1000], ['new', 1600]])
    assert.equal((await queue.listSchedules()).length, 1)
  })

  it('are removed, and the jobs that they have pushed run', async () => {
    let queue = await bench.open({ schedules: { a: { everyMs: 1000 } } })
    await pass(1000)
    assert.equal(bench.gate.started.length, 1)
    await queue.setSchedule('a', null)
    await queue.setSchedule('nobody', null)
    await pass(2000)
    assert.deepEqual([bench.gate.started.length, await namesOf(queue)], [1, []])
    queue = await bench.reopenAfterKill()
    assert.deepEqual(await namesOf(queue), [])
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.started[0].context.schedule, { name: 'a', time: EPOCH + 1000 })
    bench.gate.release(1)
    await queue.onIdle()
    queue = await bench.reopen()
    assert.equal(queue.recovered.jobs, 0)
  })

  it('are removed while a job of theirs is being pushed', async () => {
    const queue = await open({ ack: 'disk' })
    const release = holdSyncs(bench.disk)
    const set = queue.setSchedule('a', { everyMs: 1000 })
    release()
    await set
    const hold = holdSyncs(bench.disk)
    await pass(1000)
    const removed = queue.setSchedule('a', null)
    await quiet()
    hold()
    await removed
    await quiet()
    assert.deepEqual([ran.length, await namesOf(queue)], [1, []])
    await pass(5000)
    assert.equal(ran.length, 1)
    assert.equal((await reopen()).recovered.jobs, 0)
  })

  it('are removed before it is safe what they are', async () => {
    await open()
    await bench.queue.close()
    const release = holdSyncs(bench.disk)
    const opening = open({ ack: 'disk', schedules: { a: { everyMs: 1000 } } })
    await quiet()
    release()
    const queue = await opening
    const hold = holdSyncs(bench.disk)
    const removed = queue.setSchedule('a', null)
    await quiet()
    hold()
    await removed
    await quiet()
    assert.deepEqual(await namesOf(queue), [])
    assert.deepEqual(await namesOf(await reopen()), [])
  })

  it('are set twice at once, or set and removed: the last one counts', async () => {
    const queue = await open({ ack: 'disk' })
    await Promise.all([1, 2].map(payload => queue.setSchedule('a', { everyMs: 1000, payload })))
    await pass(1000)
    assert.deepEqual(ran.map(([payload]) => payload), [2])
    const release = holdSyncs(bench.disk)
    const changed = queue.setSchedule('a', { everyMs: 1000, payload: 3 })
    const removed = queue.setSchedule('a', null)
    release()
    await Promise.all([changed, removed])
    assert.deepEqual(await namesOf(queue), ['a'])
    assert.deepEqual(await namesOf(await reopen()), ['a'])
  })

  it('are run now, beside their times', async () => {
    let queue = await bench.open({ schedules: { a: { everyMs: 1000, payload: 'p' } } })
    bench.clock.advance(300)
    const id = await queue.runSchedule('a')
    await bench.gate.until(1)
    const [{ payload, context }] = bench.gate.started
    assert.deepEqual([context.id, payload, context.schedule], [id, 'p', { name: 'a', time: EPOCH + 300 }])
    assert.deepEqual(await queue.listSchedules(), [{ name: 'a', nextAt: EPOCH + 1000, lastAt: undefined }])
    // it does not keep the next one from coming
    await pass(700)
    await bench.gate.until(2)
    queue = await bench.reopenAfterKill()
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.started.map(({ context: { schedule } }) => schedule.time - EPOCH), [300, 1000])
    assert.equal((await queue.listSchedules())[0].lastAt, EPOCH + 1000)
  })

  it('are refused if they are wrong, also when the queue has closed', async () => {
    const queue = await open({ scheduler: 'equal' })
    const right = { everyMs: 5, type: 't' }
    for (const wrong of [5, undefined, {}, { everyMs: 5 }, { ...right, cron: '* * * * *' }, { ...right, everyMs: 0 }, { ...right, priority: 1 }, { ...right, payload () {} }]) {
      assert.throws(() => queue.setSchedule('a', wrong), code('ARGUMENT'))
    }
    for (const cron of ['never', '0 0 30 2 *', '2031-05-01T00:00:00', ' '.repeat(10000) + '* * * * *']) {
      assert.throws(() => queue.setSchedule('a', { cron, type: 't' }), code('ARGUMENT'))
    }
    for (const name of [5, '', '\ud800', 'a'.repeat(1001)]) assert.throws(() => queue.setSchedule(name, right), code('ARGUMENT'))
    assert.throws(() => queue.setSchedule(5, null), code('ARGUMENT'))
    assert.throws(() => queue.runSchedule(5), code('ARGUMENT'))
    assert.throws(() => queue.setSchedule('a', { everyMs: 5, type: Symbol('t') }), code('TYPE'))
    await assert.rejects(queue.runSchedule('nobody'), code('ARGUMENT'))
    await queue.close()
    for (const call of [queue.setSchedule('a', right), queue.setSchedule('a', null), queue.runSchedule('a')]) await assert.rejects(call, code('CLOSED'))
  })

  it('are not set while that cannot be written', async () => {
    const queue = await open()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.setSchedule('a', { everyMs: 1000 }), code('IO'))
    bench.disk.fault = () => undefined
    assert.deepEqual(await namesOf(queue), [])
    const notes = new Notes({ store: { refusal: () => new Error('full') } }, { serialize: JSON_SERIALIZER, now: Date.now })
    await assert.rejects(notes.write([notes.meaningOf({ name: 'a', everyMs: 1000 })]).promise, /full/)
  })

  it('are set while the queue closes, and are there then', async () => {
    const queue = await open({ ack: 'disk' })
    await Promise.all([queue.setSchedule('a', { everyMs: 1000 }), queue.close()])
    assert.deepEqual(await namesOf(await open()), ['a'])
  })

  it('of the option are written later if they cannot be written at first', async () => {
    await open()
    await bench.queue.close()
    let isFull = true
    bench.disk.fault = kind => kind === 'write' && isFull ? systemError('EIO') : undefined
    const queue = await open({ schedules: { a: { everyMs: 1000 } } })
    await quiet()
    isFull = false
    await pass(30000)
    await queue.flush()
    assert.deepEqual(await namesOf(await reopen()), ['a'])
  })

  it('keep a folder from being opened with another serializer', async () => {
    await open({ schedules: { a: { everyMs: 1000 } }, serialize: 'json' })
    await bench.queue.close()
    await assert.rejects(open({ serialize: 'structured' }), code('SERIALIZER'))
    assert.deepEqual(await namesOf(await open({ serialize: 'json' })), ['a'])
  })

  it('keep a folder from being opened where their payloads cannot be decoded', async () => {
    const serialize = { encode: text => Buffer.from(text), decode: String }
    const failure = new Error('of another version')
    await open({ schedules: { a: { everyMs: 1000, payload: 'text' } }, serialize })
    await bench.queue.close()
    const decode = () => { throw failure }
    await assert.rejects(open({ serialize: { ...serialize, decode } }), ({ code, message, cause }) =>
      code === 'FAIRLANE_ERR_SERIALIZER' && message.includes('the schedule a ') && cause === failure)
    assert.deepEqual(await namesOf(await open({ serialize })), ['a'])
  })

  it('whose payload cannot be encoded any more by then are there, and that is an uncaught exception', async () => {
    const uncaught = captureUncaught()
    const payload = { fn: 1 }
    const opening = open({ schedules: { a: { everyMs: 1000, payload } } })
    payload.fn = () => {}
    const queue = await opening
    await quiet()
    assert.deepEqual([uncaught.seen.length, await namesOf(queue)], [1, ['a']])
    await queue.setSchedule('a', { everyMs: 1000, payload: {} })
    await queue.close()
    payload.fn = 1
    const again = open({ schedules: { a: { everyMs: 1000, payload } } })
    payload.fn = () => {}
    await again
    uncaught.release()
    assert.deepEqual([uncaught.seen.length, await namesOf(await again)], [2, ['a']])
  })
})
