'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const { Queue } = require('bullmq')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer, giveBack } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('limits of single jobs at a broker', function () {
  const at = atServer()
  const open = openRigged(at)

  it('take the place of those of the process that runs them', async () => {
    const attempts = []
    const queue = await at.open(async (n, { attempt }) => {
      attempts.push([n, attempt])
      throw new Error('no')
    }, { maxAttempts: 2, backoffMs: 1, concurrency: 1 })
    for (const [n, maxAttempts] of [['once', 1], ['thrice', 3], ['as the queue says', undefined]]) {
      await expectReject(queue.add(n, { maxAttempts }), undefined)
    }
    assert.deepEqual(attempts, [
      ['once', 1], ['thrice', 1], ['thrice', 2], ['thrice', 3], ['as the queue says', 1], ['as the queue says', 2]
    ])
    assert.deepEqual((await queue.deadLetters()).map(({ attempts }) => attempts), [1, 3, 2])
  })

  it('may be none, where the queue has one', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', timeoutMs: 50, maxAttempts: 1, maxWaitMs: 20 })
    const free = queue.add('free', { timeoutMs: Infinity, maxWaitMs: Infinity })
    const limited = queue.add('limited')
    await expectReject(limited, 'FAIRLANE_ERR_TIMEOUT')
    queue.pause()
    const late = queue.add('late', { timeoutMs: Infinity, maxWaitMs: Infinity, type: 'other' })
    await queue.flush()
    await new Promise(resolve => setTimeout(resolve, 40))
    queue.resume()
    await gate.until(3)
    gate.started.find(({ payload }) => payload === 'late').done(null, 'was not too late')
    gate.started.find(({ payload }) => payload === 'free').done(null, 'had all the time')
    assert.deepEqual(await Promise.all([free, late]), ['had all the time', 'was not too late'])
  })

  it('end a job whose time is over, or that waited too long', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 1, maxAttempts: 1 })
    const cancelled = once(queue, 'cancelled')
    const slow = queue.add('slow', { timeoutMs: 60 })
    const timedOut = expectReject(slow, 'FAIRLANE_ERR_TIMEOUT')
    await gate.until(1)
    const waited = await queue.push('waited', { maxWaitMs: 1 })
    await timedOut
    gate.release()
    const [{ id, attempt, payload, error: { code } }] = await cancelled
    assert.deepEqual([id, attempt, payload, code], [waited, 0, 'waited', 'FAIRLANE_ERR_MAX_WAIT'])
    for (const options of [{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { timeoutMs: -1 }, { timeoutMs: '1' }, { maxWaitMs: NaN }]) {
      for (const call of [() => queue.push(1, options), () => queue.add(1, options)]) assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('are in the record of the job, in the words of BullMQ where it has one, and of other tools they count, too', async () => {
    const queue = await at.open(null)
    const id = await queue.pushType('a', 1, { maxAttempts: 3, timeoutMs: 5000, maxWaitMs: Infinity })
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}`, skipMetasUpdate: true })
    const job = await tool.getJob(id.slice(2))
    assert.deepEqual([job.opts.attempts, job.opts.timeoutMs, job.opts.maxWaitMs > 2 ** 52], [3, 5000, true])
    await queue.clear()
    const attempts = []
    const worker = await at.open(async (n, { attempt }) => {
      attempts.push(attempt)
      throw new Error('no')
    }, { backoffMs: 1 })
    const failed = once(worker, 'failed')
    await tool.add('by hand', { payload: 2 }, { attempts: 2 })
    await worker.announce('a')
    await failed
    assert.deepEqual(attempts, [1, 2])
    await tool.close()
  })

  it('that cannot be read are none', async () => {
    const queue = await at.open(null)
    const id = await queue.pushType('a', 1)
    const opts = { attempts: 'many', timeoutMs: -5, maxWaitMs: 'long', schedule: { name: 5 } }
    at.server.cli('hset', `{fairlane:${at.name}}:${id}`, 'opts', JSON.stringify(opts))
    const worker = await at.open(async (n, { attempt, schedule }) => [n, attempt, schedule])
    const [{ result }] = await once(worker, 'done')
    assert.deepEqual(result, [1, 1, undefined])
  })

  it('of one attempt: the end of a process that had not begun it is none', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 60000 })
    const other = await at.open(null)
    const id = await other.pushType('a', 1, { maxAttempts: 1 })
    await gate.until(1)
    assert.notEqual(at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'alone'), '')
    giveBack(at, id) // as if this process were gone
    at.server.cli('hincrby', `{fairlane:${at.name}}:${id}`, 'stc', '1')
    const lost = once(queue, 'lost')
    const failed = once(queue, 'failed')
    await other.pushType('a', 2)
    assert.equal((await failed)[0].error.code, 'FAIRLANE_ERR_CRASHED')
    await lost
    const unseen = await at.open(null, { name: `${at.name}-unseen` })
    const second = await unseen.pushType('a', 3, { maxAttempts: 1 })
    at.server.cli('hset', `{fairlane:${at.name}-unseen}:${second}`, 'stc', '1')
    const runs = await at.open(async n => n, { name: `${at.name}-unseen` })
    assert.equal((await once(runs, 'done'))[0].id, second)
    gate.release()
    gate.release()
  })

  it('of one attempt: it goes back if the broker cannot be told that it begins', async () => {
    const { queue, rig } = await open(async n => n)
    const done = once(queue, 'done')
    rig.refuse('hset')
    await queue.pushType('a', 1, { maxAttempts: 1 })
    assert.equal((await done)[0].result, 1)
  })
})

describeWithRedis('what is told of jobs at a broker', function () {
  const at = atServer()

  it('has their payloads, and the number of the attempt', async () => {
    const told = []
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', maxAttempts: 2, backoffMs: 1, concurrency: 1 })
    for (const event of ['done', 'retry', 'failed', 'cancelled']) {
      queue.on(event, ({ id, type, ...rest }) => told.push([event, rest]))
    }
    const failing = queue.add({ n: 1 }, { type: 'a' })
    await gate.until(1)
    const error = new Error('no')
    gate.fail(error)
    await gate.until(2)
    gate.fail(error)
    await expectReject(failing, undefined)
    const good = queue.add({ n: 2 }, { type: 'a' })
    await gate.until(3)
    gate.release()
    await good
    const id = await queue.pushType('a', { n: 3 })
    await gate.until(4)
    await queue.cancel(id)
    await until(() => told.length === 4)
    const { error: cancelError } = told[3][1]
    assert.deepEqual(told, [
      ['retry', { payload: { n: 1 }, attempt: 1, error, delayMs: 1 }],
      ['failed', { payload: { n: 1 }, attempt: 2, error }],
      ['done', { payload: { n: 2 }, attempt: 1, result: { n: 2 } }],
      ['cancelled', { payload: { n: 3 }, attempt: 1, error: cancelError }]
    ])
    gate.release()
  })

  it('is told of jobs that waited where they were cancelled, and their callers hear of it at once', async () => {
    const queue = await at.open(null)
    const cancelled = once(queue, 'cancelled')
    const other = await at.open(null)
    const controller = new AbortController()
    const [waiting, aborted] = [other.add({ n: 1 }, { type: 'a' }), other.add({ n: 2 }, { type: 'b', signal: controller.signal })]
    const [rejected, gone] = [expectReject(waiting, 'FAIRLANE_ERR_ABORTED'), expectReject(aborted, 'FAIRLANE_ERR_ABORTED')]
    await other.flush()
    const key = at.server.cli('lrange', `{fairlane:${at.name}}:a:wait`, '0', '0')
    await queue.cancel(`a:${key}`)
    const [{ id, type, payload, attempt, error: { code } }] = await cancelled
    assert.deepEqual([id, type, payload, attempt, code], [`a:${key}`, 'a', { n: 1 }, 0, 'FAIRLANE_ERR_ABORTED'])
    await rejected
    assert.equal(queue.stats().cancelled, 1)
    const byAbort = once(other, 'cancelled')
    controller.abort()
    await gone
    const [abort] = await byAbort
    assert.deepEqual([abort.payload, abort.error.code], [{ n: 2 }, 'FAIRLANE_ERR_ABORTED'])
  })

  it('has no payload that cannot be decoded', async () => {
    const queue = await at.open(null)
    const id = await queue.pushType('a', 1)
    at.server.cli('hset', `{fairlane:${at.name}}:${id}`, 'data', '{')
    const worker = await at.open(async () => {}, { maxAttempts: 1 })
    const [{ payload, attempt }] = await once(worker, 'failed')
    assert.deepEqual([payload, attempt], [undefined, 1])
  })

  it('says how far they are: each time to listeners, the last time to whoever asks', async () => {
    const told = []
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', maxAttempts: 2, backoffMs: 3600000 })
    queue.on('progress', progress => told.push(progress))
    const id = await queue.pushType('a', { n: 1 })
    await gate.until(1)
    assert.equal((await queue.get(id)).progress, undefined)
    const [{ context: { progress, schedule } }] = gate.started
    assert.equal(schedule, undefined)
    const circular = {}
    circular.self = circular
    for (const value of [0.1, { done: 5 }, undefined, circular, 'last']) progress(value)
    await until(async () => (await queue.get(id)).progress === 'last')
    assert.deepEqual(told.map(({ value }) => value), [0.1, { done: 5 }, undefined, circular, 'last'])
    assert.deepEqual(told[1], { id, type: 'a', payload: { n: 1 }, attempt: 1, value: { done: 5 } })
    const tool = new Queue('a', { connection: at.connection, prefix: `{fairlane:${at.name}}`, skipMetasUpdate: true })
    assert.equal((await tool.getJob(id.slice(2))).progress, 'last')
    await tool.close()
    const retried = once(queue, 'retry')
    gate.fail(new Error('no'))
    await retried
    progress('too late')
    assert.equal((await queue.get(id)).progress, 'last')
    assert.equal(told.length, 5)
  })

  it('says so though the broker refuses it', async () => {
    const { queue, rig } = await openRigged(at)(async (n, { progress }) => progress(n), { settleBy: 'promise' })
    const told = once(queue, 'progress')
    rig.refuse('fairlaneProgress')
    await queue.add(5, { type: 'a' })
    assert.equal((await told)[0].value, 5)
  })
})
