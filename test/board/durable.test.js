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

  it('tells what is delayed, and its dead letters', async function () {
    await die(2, 'a', Object.assign(new Error('no'), { code: 'E_NO' }))
    await die(1, 't'.repeat(300), new TypeError('nor this'))
    await queue.pushType('b', 1)
    await bench.gate.until(7)
    const retried = once(queue, 'retry')
    bench.gate.fail(new Error('later'))
    await retried
    const { queues: [{ waiting, delayed, dead, deadLetters, failures, actions }] } = await page.state()
    assert.deepEqual([waiting, delayed, dead], [1, 1, 3])
    assert.deepEqual(deadLetters, [
      { id: 1, type: 'a', attempts: 2, error: 'E_NO: no' },
      { id: 2, type: 'a', attempts: 2, error: 'E_NO: no' },
      { id: 3, type: `${'t'.repeat(200)}…`, attempts: 2, error: 'TypeError: nor this' }
    ])
    assert.deepEqual(failures.map(({ id }) => id), [3, 2, 1])
    assert.deepEqual(actions, ['pauseType', 'resumeType', 'clearType', 'pause', 'resume', 'retryDead', 'deleteDead'])
  })

  it('tells of jobs without a type that they have none', async function () {
    await queue.close()
    const [metrics, history] = [new Metrics(), new History()]
    queue = await bench.open({ maxAttempts: 1, observers: [metrics, history] })
    const { state } = await servers.start(board(queue, { metrics, history }))
    const id = await queue.push(1)
    await bench.gate.until(1)
    const failed = once(queue, 'failed')
    bench.gate.fail(new Error('no'))
    await failed
    const { queues: [{ deadLetters, failures }] } = await state()
    assert.deepEqual([...deadLetters, ...failures].map(job => [job.id, job.type]), [[id, ''], [id, '']])
  })

  it('tells the oldest hundred dead letters of many', async function () {
    await die(101, 'a', new Error('no'))
    const { queues: [{ dead, deadLetters }] } = await page.state()
    assert.deepEqual([dead, deadLetters.length, deadLetters[0].id], [101, 100, 1])
  })

  it('reads no payloads of dead letters, however large they are, and their types, however long these are', async function () {
    const { disk, gate } = bench
    const long = 't'.repeat(5000)
    for (const [i, type] of ['a', long].entries()) {
      const id = await queue.pushType(type, 'x'.repeat(200000), { maxAttempts: 1 })
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
    const { queues: [{ deadLetters }] } = await page.state()
    assert.deepEqual(deadLetters.map(({ type }) => type), ['a', `${long.slice(0, 200)}…`])
    assert(size > 5000 && size < 20000, `${size} bytes`)
    assert.equal((await queue.deadLetters())[1].type, long)
    assert.equal((await queue.deadLetters({ type: long }))[0].payload.length, 200000)
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

  it('pauses a type, and clears what waits of it', async function () {
    for (let i = 0; i < 3; i++) await queue.pushType('a', i)
    await bench.gate.until(1)
    await page.act({ action: 'pauseType', type: 'a' })
    assert.equal((await page.state()).queues[0].types[0].paused, true)
    assert.deepEqual((await page.act({ action: 'clearType', type: 'a' })).json, { result: 2 })
    assert.equal((await queue.counts('a')).waiting, 0)
  })

  it('goes on when the queue has closed, without its dead letters, and tells that it cannot act', async function () {
    await die(1, 'a', new Error('no'))
    await queue.close()
    const { queues: [{ closed, deadLetters }] } = await page.state()
    assert.deepEqual([closed, deadLetters], [true, []])
    const { status, json } = await page.act({ action: 'retryDead', id: 1 })
    assert.deepEqual([status, json.error.code], [500, 'FAIRLANE_ERR_CLOSED'])
  })
})
