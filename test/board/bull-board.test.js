'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createBullBoard } = require('@bull-board/api')
const { ExpressAdapter } = require('@bull-board/express')
const express = require('express')
const Module = require('node:module')
const fairlane = require('../..')
const { bullBoardQueue } = require('../../lib/board/bull-board')
const { loadBaseAdapter } = require('../../lib/board/peer')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')
const { Bench } = require('../durable/bench')
const { node } = require('../support/child')
const gates = require('../support/gates')
const { atServers } = require('./asked')

describe('an adapter for bull-board', function () {
  const servers = atServers()

  /** bull-board with adapters. @returns {Promise<object>} call(method, path, body): its answer */
  async function start (...queues) {
    const serverAdapter = new ExpressAdapter()
    createBullBoard({ queues, serverAdapter, options: { validateResponses: true } })
    const { ask } = await servers.start(express().use(serverAdapter.getRouter()))
    return (method, path, body) => {
      const json = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return ask({ method, path: `/api/queues${path}`, ...json })
    }
  }

  async function shown (call, name, status) {
    const { status: code, json } = await call('GET', `?activeQueue=${encodeURIComponent(encodeURIComponent(name))}&status=${status}&page=1&jobsPerPage=10`)
    assert.equal(code, 200)
    return json.queues.find(queue => queue.jobs.length > 0) ?? json.queues[0]
  }

  const ids = ({ jobs }) => jobs.map(({ id }) => id)

  describe('of a queue in memory', function () {
    let queue, history, gate, clock

    beforeEach(function () {
      history = new History()
      gate = gates()
      clock = fakeClock(Date.UTC(2026, 0, 1))
      queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 2, observers: history, clock })
    })

    /** Jobs 1 to n, of the types a and b in turn; 1 has failed, 2 is done, 3 and 4 run. */
    async function fill (count) {
      for (let i = 1; i <= count; i++) queue.pushType(i % 2 ? 'a' : 'b', i)
      await gate.until(2)
      clock.advance(5)
      gate.fail(Object.assign(new Error('no'), { code: 'E_NO' }))
      gate.release()
      await gate.until(4)
    }

    it('tells the counts of the history, and its jobs with times and errors, the newest first', async function () {
      const call = await start(bullBoardQueue(queue, { name: 'mails', history }))
      await fill(20)
      const { counts, jobs, pagination, statuses, isPaused, globalConcurrency, allowRetries, hasWorkers } = await shown(call, 'mails', 'failed')
      const { running, waiting, done, failed, delayed } = history.counts()
      assert.deepEqual(counts, { active: running, waiting, completed: done, failed, delayed })
      assert.deepEqual([statuses, isPaused, globalConcurrency, allowRetries, hasWorkers], [['latest', 'active', 'waiting', 'completed', 'failed', 'delayed'], false, 2, false, null])
      assert.equal(pagination.pageCount, 1)
      const { acceptedAt, startedAt, endedAt } = history.get(1)
      const [{ id, name, timestamp, processedOn, finishedOn, failedReason, stacktrace, attempts, data }] = jobs
      assert.deepEqual([id, name, timestamp, processedOn, finishedOn, attempts, data], ['1', 'a', acceptedAt, startedAt, endedAt, 1, {}])
      assert.deepEqual([failedReason, stacktrace], ['E_NO: no', ['E_NO: no']])
      assert.deepEqual(ids(await shown(call, 'mails', 'waiting')), Array.from({ length: 10 }, (_, i) => `${20 - i}`))
      assert.deepEqual(ids((await call('GET', '?activeQueue=mails&status=waiting&page=2&jobsPerPage=10')).json.queues[0]), ['10', '9', '8', '7', '6', '5'])
      assert.deepEqual(ids((await call('GET', '?activeQueue=mails&status=latest&page=1&jobsPerPage=3')).json.queues[0]), ['20', '19', '18', '4', '3', '2', '1'])
    })

    it('tells of a job its state, and its versions as logs', async function () {
      const call = await start(bullBoardQueue(queue, { name: 'mails', history }))
      await fill(6)
      const { json: { job, status } } = await call('GET', '/mails/2')
      assert.deepEqual([job.id, status], ['2', 'completed'])
      assert.deepEqual((await call('GET', '/mails/1/logs')).json, [
        '2026-01-01T00:00:00.000Z waiting, attempt 0', '2026-01-01T00:00:00.000Z running, attempt 1', '2026-01-01T00:00:00.005Z failed, attempt 1: E_NO: no'
      ])
      queue.clear({ type: 'b' })
      assert.equal((await call('GET', '/mails/6')).json.status, 'unknown')
      for (const id of ['7', '0x1', 'one', '-1', '99999999999999999']) assert.equal((await call('GET', `/mails/${id}`)).status, 404, id)
      assert.deepEqual((await call('GET', '/mails/7/logs')).json, [])
      assert.equal((await call('GET', '/mails/1/flow')).json.isFlowNode, false)
    })

    it('pauses and empties the queue, and changes its concurrency', async function () {
      const call = await start(bullBoardQueue(queue, { name: 'mails', history }))
      await fill(6)
      assert.equal((await call('PUT', '/mails/pause')).status, 200)
      assert.equal(queue.paused, true)
      assert.deepEqual((({ isPaused, globalConcurrency }) => [isPaused, globalConcurrency])(await shown(call, 'mails', 'failed')), [true, null])
      assert.equal((await call('PUT', '/mails/empty')).status, 200)
      assert.deepEqual([queue.waiting, queue.running], [0, 2])
      await call('PUT', '/mails/resume')
      assert.equal(queue.paused, false)
      assert.equal((await call('PUT', '/mails/concurrency', { concurrency: 7 })).status, 200)
      assert.equal(queue.concurrency, 7)
      assert.equal((await call('PUT', '/mails/concurrency', { concurrency: 0 })).status, 500)
      assert.equal(queue.concurrency, 7)
      queue.concurrency = Infinity
      assert.equal((await shown(call, 'mails', 'failed')).globalConcurrency, null)
    })

    it('of one type is about this type alone', async function () {
      const adapter = bullBoardQueue(queue, { name: 'mails:b', history, type: 'b' })
      const call = await start(adapter)
      await fill(9)
      assert.deepEqual(await adapter.getJobCounts(), { active: 1, waiting: 2, completed: 1, failed: 0, delayed: 0 })
      assert.deepEqual(ids(await shown(call, 'mails:b', 'waiting')), ['8', '6'])
      assert.equal((await call('GET', '/mails:b/1')).status, 404)
      assert.deepEqual((await call('GET', '/mails:b/1/logs')).json, [])
      await call('PUT', '/mails:b/pause')
      assert.deepEqual([queue.paused, queue.isTypePaused('a'), queue.isTypePaused('b'), await adapter.isPaused()], [false, false, true, true])
      await call('PUT', '/mails:b/empty')
      assert.deepEqual(queue.stats('b').waiting, 0)
      assert.equal(queue.stats('a').waiting, 3)
      await call('PUT', '/mails:b/resume')
      assert.equal(queue.isTypePaused('b'), false)
      assert.equal((await call('PUT', '/mails:b/concurrency', { concurrency: 7 })).status, 500)
      assert.deepEqual([queue.concurrency, await adapter.getGlobalConcurrency()], [2, null])
    })

    it('forgets jobs that have ended, and takes no other job away', async function () {
      const call = await start(bullBoardQueue(queue, { name: 'mails', history }))
      await fill(9)
      assert.equal((await call('PUT', '/mails/1/clean')).status, 204)
      assert.equal(history.get(1), undefined)
      assert.equal((await call('PUT', '/mails/3/clean')).status, 409)
      assert.equal((await call('PUT', '/mails/9/clean')).status, 500)
      assert.equal((await call('PUT', '/mails/2/retry')).status, 500)
      assert.equal((await call('PUT', '/mails/clean/completed')).status, 200)
      assert.deepEqual([history.get(2), history.get(9).state], [undefined, 'waiting'])
      for (const status of ['active', 'delayed', 'none']) await call('PUT', `/mails/clean/${status}`)
      assert.deepEqual(history.counts(), { waiting: 5, running: 2, delayed: 0, done: 0, failed: 0, cancelled: 0 })
      assert.equal((await call('PUT', '/mails/clean/wait')).status, 200)
      assert.equal(queue.waiting, 0)
    })

    it('refuses what has no meaning here', async function () {
      const adapter = bullBoardQueue(queue, { name: 'mails', history })
      await fill(6)
      const job = await adapter.getJob('5')
      for (const call of [() => adapter.addJob(), () => adapter.obliterate(), () => adapter.promoteAll(), () => adapter.getMetrics(), () => job.promote(), () => adapter.clean('active', 0)]) {
        await assert.rejects(call, { code: 'FAIRLANE_ERR_ARGUMENT' })
      }
      assert.equal(await adapter.getRedisInfo(), null)
      assert.deepEqual([await adapter.getJobSchedulers(), await adapter.getJobSchedulersCount()], [[], 0])
      assert.deepEqual([await adapter.removeJobScheduler('1'), await adapter.updateJobScheduler('1'), await adapter.runJobSchedulerNow('1')], [false, 'not-found', 'not-found'])
      assert.equal((await adapter.getJobs(['waiting'])).length, 2)
    })

    it('changes nothing where it is read-only', async function () {
      const call = await start(bullBoardQueue(queue, { name: 'mails', history, readOnly: true }))
      await fill(6)
      for (const path of ['/mails/pause', '/mails/empty', '/mails/1/clean']) assert.equal((await call('PUT', path)).status, 405)
      assert.deepEqual([queue.paused, queue.waiting, history.get(1).state], [false, 2, 'failed'])
    })

    it('has a name that bull-board can have in an address, and shows the true one', function () {
      const adapter = bullBoardQueue(queue, { name: 'mails:50%\uD800', history })
      assert.deepEqual([adapter.getName(), adapter.getDisplayName(), adapter.delimiter], ['mails:50\uFF05\uFFFD', 'mails:50%\uD800', ':'])
    })

    it('is one of a queue with limits, too', async function () {
      const history = new History()
      const queue = fairlane(gate.runner, { observers: history, clock })
      queue.add(1, { delayMs: 1000 }).catch(() => {})
      const adapter = bullBoardQueue(queue, { name: 'flow', history })
      assert.equal((await adapter.getJobCounts()).delayed, 1)
      const job = await adapter.getJob('1')
      assert.deepEqual([await job.getState(), job.toJSON().name], ['delayed', 'flow'])
      await assert.rejects(job.remove(), { code: 'FAIRLANE_ERR_ARGUMENT' })
      queue.clear()
    })
  })

  describe('of a queue on disk', function () {
    let bench, queue, history, adapter

    beforeEach(async function () {
      bench = new Bench()
      history = new History()
      queue = await bench.open({ concurrency: 1, maxAttempts: 1, observers: history })
      adapter = bullBoardQueue(queue, { name: 'mails', history })
    })

    afterEach(() => queue.close({ timeoutMs: 0 }))

    async function die (payload) {
      const id = await queue.push(payload)
      await bench.gate.until(bench.gate.started.length + 1)
      const failed = once(queue, 'failed')
      bench.gate.fail(new TypeError('no'))
      await failed
      return id
    }

    it('retries dead letters, one or all', async function () {
      const call = await start(adapter)
      const many = [await die(1), await die(2), await die(3)]
      assert.equal((await call('PUT', `/mails/${many[1]}/retry`)).status, 204)
      await bench.gate.until(4)
      assert.deepEqual([bench.gate.started[3].context.id, (await adapter.getJobCounts()).failed], [many[1], 2])
      const { json } = await call('PUT', '/mails/retry/failed')
      assert.deepEqual([json, (await adapter.getJobCounts()).failed], [{ retried: 2, skipped: 0 }, 0])
      const gone = await adapter.getJob(many[1])
      await assert.rejects(gone.retry(), { code: 'FAIRLANE_ERR_ARGUMENT' })
    })

    it('takes away dead letters, what waits and what is delayed', async function () {
      const dead = [await die(1), await die(2)]
      const running = await queue.push(3)
      await bench.gate.until(3)
      const waiting = await queue.push(4)
      const delayed = [await queue.push(5, { delayMs: 1000 }), await queue.push(6, { delayMs: 1000 })]
      const remove = async id => (await adapter.getJob(String(id))).remove()
      await remove(dead[0])
      assert.deepEqual([(await queue.deadLetters()).map(({ id }) => id), history.get(dead[0])], [[dead[1]], undefined])
      await remove(waiting)
      await remove(delayed[0])
      assert.deepEqual([await queue.get(waiting), await queue.get(delayed[0]), history.counts().cancelled], [undefined, undefined, 2])
      await assert.rejects(remove(running), { code: 'FAIRLANE_ERR_ARGUMENT' })
      await adapter.clean('delayed', 0)
      await adapter.clean('failed', 0)
      assert.deepEqual(await adapter.getJobCounts(), { active: 1, waiting: 0, completed: 0, failed: 0, delayed: 0 })
      // what the history has forgotten meanwhile
      const job = await adapter.getJob(String(waiting))
      history.remove(waiting)
      await job.remove()
    })

    it('leaves alone what has not been there for so long', async function () {
      const id = await die(1)
      await adapter.clean('failed', Date.now() + 600000)
      assert.deepEqual((await queue.deadLetters()).map(each => each.id), [id])
    })

    it('shows payloads as long as the queue has the job, and what JSON does not have as a text', async function () {
      const circle = {}
      circle.self = circle
      const payloads = [{ a: 1 }, 'text', undefined, 5n, circle]
      for (const payload of payloads) await die(payload)
      await queue.push(6)
      await bench.gate.until(6)
      const told = once(queue, 'done')
      bench.gate.release()
      await told
      const call = await start(adapter)
      const dataOf = async id => (await call('GET', `/mails/${id}`)).json.job.data
      assert.deepEqual(await Promise.all([1, 2, 3, 4, 5, 6].map(dataOf)), [{ a: 1 }, 'text', 'undefined', '5n', '<ref *1> { self: [Circular *1] }', {}])
      await queue.close()
      assert.deepEqual(await dataOf(1), {})
    })
  })

  it('refuses what is no queue of this process, and options that are wrong or unknown', function () {
    const history = new History()
    const queue = fairlane(() => {}, { observers: history })
    for (const none of [undefined, null, {}, { push () {} }]) assert.throws(() => bullBoardQueue(none, { name: 'mails', history }), { code: 'FAIRLANE_ERR_ARGUMENT' })
    const right = { name: 'mails', history }
    for (const wrong of [{ name: undefined }, { name: '' }, { history: undefined }, { history: {} }, { type: 5 }, { readOnly: 1 }, { read: 1 }]) {
      assert.throws(() => bullBoardQueue(queue, { ...right, ...wrong }), { code: 'FAIRLANE_ERR_OPTION' })
    }
  })

  it('says how to install what it needs', async function () {
    const { code, stdout, stderr } = await node(['--eval', `
      const Module = require('node:module')
      const { _load: load } = Module
      Module._load = (name, ...rest) => {
        if (name.startsWith('@bull-board')) throw new Error('not there')
        return load(name, ...rest)
      }
      const { bullBoardQueue } = require('fairlane/board/bull-board')
      const { History } = require('fairlane/history')
      const history = new History()
      try {
        bullBoardQueue(require('fairlane')(() => {}, { observers: history }), { name: 'mails', history })
      } catch ({ code, message }) {
        console.log(code, message)
      }
    `])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^FAIRLANE_ERR_PEER .*: npm install @bull-board\/api@\^9$/m)
  })

  it('needs a version that has adapters', function () {
    const { _load: load } = Module
    for (const [answer, pattern] of [[() => ({}), /no BaseAdapter/], [() => { throw new Error('not there') }, /not there/]]) {
      Module._load = (name, ...rest) => name.startsWith('@bull-board') ? answer() : load(name, ...rest)
      try {
        assert.throws(loadBaseAdapter, { code: 'FAIRLANE_ERR_PEER', message: pattern })
      } finally {
        Module._load = load
      }
    }
  })
})
