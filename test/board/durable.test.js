'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { board } = require('../../lib/board')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { Bench } = require('../durable/bench')
const { atServers } = require('./asked')

describe('a page for a queue on disk', function () {
  const servers = atServers()
  let bench, queue, page

  beforeEach(async function () {
    bench = new Bench()
    const [metrics, history] = [new Metrics(), new History()]
    queue = await bench.open({ scheduler: 'equal', concurrency: 1, maxAttempts: 2, backoffMs: attempt => attempt * 100, observers: [metrics, history] })
    page = await servers.start(board(queue, { metrics, history }))
  })

  afterEach(() => queue.close({ timeoutMs: 0 }))

  /** Has so many jobs fail for good. */
  async function die (count, type, error) {
    const { gate, clock } = bench
    for (let i = 0; i < count; i++) {
      await queue.pushType(type, i)
      for (const event of ['retry', 'failed']) {
        clock.advance(100)
        await gate.until(gate.started.length + 1)
        const told = once(queue, event)
        gate.fail(error)
        await told
      }
    }
  }

  const deadOf = async (search = '') => (await page.get(`/dead${search}`)).json

  it('tells what is delayed, and how many dead letters there are', async function () {
    await die(3, 'a', Object.assign(new Error('no'), { code: 'E_NO' }))
    await queue.pushType('b', 1)
    await bench.gate.until(7)
    const retried = once(queue, 'retry')
    bench.gate.fail(new Error('later'))
    await retried
    const { queue: { waiting, delayed, dead, failures, actions, schedules } } = await page.state()
    assert.deepEqual([waiting, delayed, dead, schedules], [1, 1, 3, []])
    assert.deepEqual(failures.map(({ id }) => id), [3, 2, 1])
    assert.deepEqual(actions, [
      'pause', 'resume', 'pauseType', 'resumeType', 'hold', 'holdType', 'clearType', 'setCap', 'setWeight', 'cancel', 'retryDead', 'deleteDead',
      'retryDeadOf', 'deleteDeadOf', 'runSchedule', 'pauseSchedule', 'resumeSchedule'
    ])
  })

  it('tells dead letters by type and by the text of the error, and what they failed with', async function () {
    await die(2, 'a', Object.assign(new Error('no'), { code: 'E_NO' }))
    await die(1, 't'.repeat(300), new TypeError('nor this'))
    await die(3, 'b', Object.assign(new Error('no'), { code: 'E_NO' }))
    const at = bench.epoch + 200
    const { letters, causes, ...rest } = await deadOf()
    assert.deepEqual(letters.slice(0, 3), [
      { id: 1, type: 'a', attempts: 2, at, error: 'E_NO: no' },
      { id: 2, type: 'a', attempts: 2, at: at + 200, error: 'E_NO: no' },
      { id: 3, type: 't'.repeat(300), attempts: 2, at: at + 400, error: 'TypeError: nor this' }
    ])
    assert.deepEqual(rest, { matchCount: 6, seenCount: 6, isWhole: true, after: null })
    assert.deepEqual(causes, [
      { type: 'b', error: 'E_NO: no', count: 3 }, { type: 'a', error: 'E_NO: no', count: 2 }, { type: 't'.repeat(300), error: 'TypeError: nor this', count: 1 }
    ])
    const idsOf = async search => (await deadOf(search)).letters.map(({ id }) => id)
    assert.deepEqual(await idsOf('?error=E_no'), [1, 2, 4, 5, 6])
    assert.deepEqual(await idsOf('?error=E_no&type=a'), [1, 2])
    assert.deepEqual(await idsOf('?type=none'), [])
    assert.deepEqual(await idsOf('?after=4'), [5, 6])
    for (const after of ['x', '1.5', '{}']) assert.equal((await page.get(`/dead?after=${after}`)).status, 400)
    assert.equal((await page.get('/dead?queue=none')).status, 404)
  })

  it('tells of jobs without a type that they have none', async function () {
    await queue.close()
    const [metrics, history] = [new Metrics(), new History()]
    queue = await bench.open({ maxAttempts: 1, observers: [metrics, history] })
    page = await servers.start(board(queue, { metrics, history }))
    const id = await queue.push(1)
    await bench.gate.until(1)
    const failed = once(queue, 'failed')
    bench.gate.fail(new Error('no'))
    await failed
    const { queue: { failures } } = await page.state()
    assert.deepEqual([...(await deadOf()).letters, ...failures].map(job => [job.id, job.type]), [[id, ''], [id, '']])
  })

  it('tells many dead letters page by page, and counts causes once', async function () {
    await die(101, 'a', new Error('no'))
    const pages = []
    let after
    do {
      const told = await deadOf(after === undefined ? '' : `?after=${after}`)
      pages.push([told.letters.length, told.letters[0].id, told.causes[0].count, told.after])
      after = told.after
    } while (after !== null)
    assert.deepEqual(pages, [[50, 1, 101, 50], [50, 51, 51, 100], [1, 101, 1, null]])
  })

  it('looks at some of very many dead letters, and says so', async function () {
    const asked = []
    queue.deadLetters = async ({ limit, after = 0 }) => {
      asked.push(after)
      return Array.from({ length: limit }, (_, i) => ({ id: after + i + 1, type: 'a', attempts: 1, error: new Error(`no ${(after + i) % 30}`) }))
    }
    const { matchCount, seenCount, isWhole, after, causes, letters } = await deadOf()
    assert.deepEqual([matchCount, seenCount, isWhole, after, causes.length, letters[0].at], [2000, 2000, false, 50, 20, null])
    assert.deepEqual(asked, Array.from({ length: 10 }, (_, i) => i * 200))
    const none = await deadOf('?error=yes')
    assert.deepEqual([none.letters, none.after, none.isWhole], [[], 2000, false])
  })

  it('reads no payloads of dead letters, however large they are', async function () {
    const { disk, gate } = bench
    for (let i = 0; i < 2; i++) {
      const id = await queue.pushType('a', 'x'.repeat(200000), { maxAttempts: 1 })
      await gate.until(i + 1)
      const failed = once(queue, 'failed')
      gate.fail(new Error('no'))
      assert.equal((await failed)[0].id, id)
    }
    const { read } = disk
    let size = 0
    disk.read = (...args) => {
      const count = read.apply(disk, args)
      size += count
      return count
    }
    await page.state()
    assert.equal(size, 0)
    assert.equal((await deadOf()).letters.length, 2)
    assert(size < 5000, `${size} bytes`)
    assert.equal((await queue.deadLetters())[0].payload.length, 200000)
  })

  it('shows a payload where that is allowed, and tells of it', async function () {
    await die(1, 'a', new Error('no'))
    assert.equal((await page.get('/payload?id=1')).status, 403)
    const told = []
    const onAction = ({ request, ...about }) => { told.push(about) }
    const { get, state } = await servers.start(board(queue, { showPayloads: true, readOnly: true, onAction }))
    assert.equal((await state()).queue.showsPayloads, true)
    assert.deepEqual((await get('/payload?id=1')).json, { payload: '0' })
    assert.deepEqual(told, [{ action: 'showPayload', queue: 'default', id: 1 }])
    assert.equal((await get('/payload?id=7')).status, 404)
    for (const search of ['', '?id=', '?id=x']) assert.equal((await get(`/payload${search}`)).status, search === '?id=x' ? 400 : 404)
    const payloads = [[{ a: [1] }, '{\n  "a": [\n    1\n  ]\n}'], [undefined, 'undefined'], [5n, '5n'], ['x'.repeat(70000), `"${'x'.repeat(65535)}…`], [new Map([[1, 2]]), '{}']]
    for (const [payload, shown] of payloads) {
      const id = await queue.pushType('b', payload)
      assert.deepEqual((await get(`/payload?id=${id}`)).json, { payload: shown })
    }
  })

  it('shows no payload before onAction has agreed', async function () {
    await die(1, 'a', new Error('no'))
    const onAction = async () => { throw new Error('not you') }
    const { get } = await servers.start(board(queue, { showPayloads: true, onAction }))
    const { status, json } = await get('/payload?id=1')
    assert.deepEqual([status, json], [500, { error: { message: 'not you' } }])
  })

  it('asks for the same dead letters once a second at most, and again when a button was pressed', async function () {
    await die(2, 'a', new Error('no'))
    const { deadLetters } = queue
    let asked = 0
    queue.deadLetters = options => {
      asked++
      return deadLetters.call(queue, options)
    }
    await Promise.all([deadOf(), deadOf(), deadOf('?type=a')])
    assert.equal(asked, 2)
    assert.equal((await deadOf('?after=1')).letters[0].id, 2)
    assert.equal(asked, 3)
    await page.act({ action: 'deleteDead', id: 1 })
    assert.deepEqual((await deadOf()).letters.map(({ id }) => id), [2])
  })

  it('does to all that match what is asked for to those, too, that died in the very moment', async function () {
    await die(1, 'a', new Error('no'))
    const [{ at }] = await queue.deadLetters()
    assert.equal((await page.act({ action: 'deleteDeadOf', before: at - 1 })).json.result.done, 0)
    assert.equal((await page.act({ action: 'deleteDeadOf', before: at })).json.result.done, 1)
  })

  it('retries and deletes a dead letter, once', async function () {
    await die(2, 'a', new Error('no'))
    assert.deepEqual((await page.act({ action: 'retryDead', id: 1 })).json, { result: true })
    assert.deepEqual((await page.act({ action: 'retryDead', id: 1 })).json, { result: false })
    await bench.gate.until(5)
    assert.equal(bench.gate.started.at(-1).context.id, 1)
    assert.deepEqual((await page.act({ action: 'deleteDead', id: 2 })).json, { result: true })
    assert.deepEqual((await page.act({ action: 'deleteDead', id: 2 })).json, { result: false })
    assert.deepEqual(await queue.deadLetters(), [])
    for (const id of [undefined, null, {}, [1], true, '1']) assert.equal((await page.act({ action: 'deleteDead', id })).status, 400)
  })

  it('retries and deletes all that match, and says how far it has come', async function () {
    await die(3, 'a', new TypeError('no'))
    await die(2, 'b', new TypeError('no'))
    await die(1, 'b', new Error('other'))
    const swept = async fields => {
      const { result: { before, ...rest } } = (await page.act(fields)).json
      assert.equal(typeof before, 'number')
      return rest
    }
    queue.pause()
    assert.deepEqual(await swept({ action: 'retryDeadOf', type: 'a', error: 'typeerror', before: 2e12 }), { done: 3, left: 0, after: null })
    assert.deepEqual(await swept({ action: 'retryDeadOf', type: 'a' }), { done: 0, left: 0, after: null })
    assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [4, 5, 6])
    assert.deepEqual(await swept({ action: 'deleteDeadOf', error: 'other', before: 2e12 }), { done: 1, left: 0, after: null })
    assert.deepEqual(await swept({ action: 'deleteDeadOf', before: 1 }), { done: 0, left: 0, after: null }) // they died later
    queue.retryDead = async id => id === 4
    assert.deepEqual(await swept({ action: 'retryDeadOf', before: 2e12 }), { done: 1, left: 1, after: null })
    queue.retryDead = id => id === 4 ? Promise.resolve(true) : Promise.reject(new Error('out'))
    assert.deepEqual(await swept({ action: 'retryDeadOf', before: 2e12 }), { done: 1, left: 1, after: null })
    queue.retryDead = () => Promise.reject(new Error('out'))
    assert.deepEqual((await page.act({ action: 'retryDeadOf', before: 2e12 })).json.error, { message: 'out' })
    for (const fields of [{ type: 5 }, { error: {} }, { after: [] }, { before: 'x' }]) {
      assert.equal((await page.act({ action: 'deleteDeadOf', ...fields })).status, 400)
    }
  })

  it('does something to many in pieces of a second', async function () {
    let calls = 0
    const { now } = performance
    let ms = 0
    performance.now = () => ms
    queue.deadLetters = async ({ limit, after = 0 }) => {
      calls++
      ms += 400
      return Array.from({ length: after < 1000 ? limit : 0 }, (_, i) => ({ id: after + i + 1, error: new Error('no') }))
    }
    queue.deleteDead = async () => true
    try {
      const told = []
      for (let next = {}; next.after !== null;) {
        const { result: { done, left, ...rest } } = (await page.act({ action: 'deleteDeadOf', ...next })).json
        told.push([done, left, rest.after, calls])
        next = rest
      }
      assert.deepEqual(told, [[600, 0, 600, 3], [400, 0, null, 6]])
    } finally {
      performance.now = now
    }
  })

  it('cancels a job', async function () {
    for (let i = 0; i < 2; i++) await queue.pushType('a', i)
    await bench.gate.until(1)
    assert.deepEqual((await page.state()).queue.runs.map(({ id, type, attempt }) => [id, type, attempt]), [[1, 'a', 1]])
    assert.deepEqual((await page.act({ action: 'cancel', id: 1 })).json, { result: true })
    assert.equal(bench.gate.started[0].context.signal.aborted, true)
    assert.deepEqual((await page.act({ action: 'cancel', id: 7 })).json, { result: false })
  })

  it('tells what runs without a history, too, but not since when, until the queue closes', async function () {
    await queue.pushType('t'.repeat(300), 1)
    await bench.gate.until(1)
    const { state } = await servers.start(board(queue))
    assert.deepEqual((await state()).queue.runs, [{ id: 1, type: `${'t'.repeat(200)}…`, attempt: 1, overdue: false }])
    bench.gate.release()
    queue.listRunning = async () => [{ id: 2, type: undefined, attempt: 1, startedAt: undefined, overdue: false }]
    const { state: untyped } = await servers.start(board(queue))
    assert.deepEqual((await untyped()).queue.runs, [{ id: 2, type: '', attempt: 1, overdue: false }])
    await queue.close()
    const { state: again } = await servers.start(board(queue))
    assert.equal((await again()).queue.runs, null)
  })

  it('shows schedules, the next one first, and runs one now', async function () {
    await queue.setSchedule('daily', { everyMs: 86400000, type: 'a', payload: 1 })
    await queue.setSchedule('hourly', { everyMs: 3600000, type: 'b', payload: 2 })
    const { schedules } = (await page.state()).queue
    assert.deepEqual(schedules, (await queue.listSchedules()).reverse().map(({ name, nextAt }) => ({ name, nextAt })))
    assert.deepEqual(schedules.map(({ name }) => name), ['hourly', 'daily'])
    const { result } = (await page.act({ action: 'runSchedule', schedule: 'daily' })).json
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.id, result)
    assert.equal((await page.act({ action: 'runSchedule', schedule: 'none' })).status, 400)
    assert.equal((await page.act({ action: 'runSchedule' })).status, 400)
    for (const [action, paused] of [['pauseSchedule', true], ['resumeSchedule', undefined]]) {
      for (const schedule of ['hourly', 'daily']) {
        assert.deepEqual((await page.act({ action, schedule })).json, { result: true })
        assert.equal((await page.state()).queue.schedules.find(({ name }) => name === schedule).paused, paused)
      }
    }
  })

  it('shows a hundred schedules, those last that are paused', async function () {
    queue.listSchedules = async () => [{ name: 'off' }, ...Array.from({ length: 101 }, (_, i) => ({ name: `s${i}`, nextAt: 1000 - i }))]
    const { state } = await servers.start(board(queue))
    const { schedules } = (await state()).queue
    assert.deepEqual([schedules.length, schedules[0].name, schedules.at(-1).name], [100, 's100', 's1'])
    queue.listSchedules = async () => [{ name: 'off' }, { name: 'on', nextAt: 5 }]
    const { state: again } = await servers.start(board(queue))
    assert.deepEqual((await again()).queue.schedules.map(({ name }) => name), ['on', 'off'])
  })

  it('pauses a type, and clears what waits of it', async function () {
    for (let i = 0; i < 3; i++) await queue.pushType('a', i)
    await bench.gate.until(1)
    await page.act({ action: 'pauseType', type: 'a' })
    assert.equal((await page.state()).queue.types[0].paused, true)
    assert.deepEqual((await page.act({ action: 'clearType', type: 'a' })).json, { result: 2 })
    assert.equal((await queue.counts('a')).waiting, 0)
  })

  it('goes on when the queue has closed, and tells that it cannot act', async function () {
    await die(1, 'a', new Error('no'))
    await queue.setSchedule('daily', { everyMs: 86400000, type: 'a' })
    await queue.close()
    const { queue: { closed, dead, schedules } } = await page.state()
    assert.deepEqual([closed, dead, schedules], [true, 1, [{ name: 'daily' }]])
    const { status, json } = await page.act({ action: 'retryDead', id: 1 })
    assert.deepEqual([status, json.error.code], [500, 'FAIRLANE_ERR_CLOSED'])
    assert.equal((await page.get('/dead')).json.error.code, 'FAIRLANE_ERR_CLOSED')
  })
})
