'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const gates = require('../support/gates')
const { revoked } = require('../support/proxies')
const { quiet, turn } = require('../support/turns')
const { atServers } = require('./asked')
const { atBroker } = require('./at-broker')

const UNUSED = { run: () => {} }

/** A queue with metrics. @returns {object} `queue`, `metrics`, `gate`, `clock` */
function observed (options) {
  const metrics = new Metrics({ name: 'mails', ...options?.metrics })
  const history = new History()
  const gate = gates()
  const clock = fakeClock(1000)
  const queue = fairlane(gate.runner, { scheduler: 'equal', clock, ...options?.queue, observers: [metrics, history] })
  return { queue, metrics, history, gate, clock }
}

function row ({ queues: [{ types }] }, type) {
  return types.find(each => each.type === type)
}

describe('a page for a queue', function () {
  const servers = atServers()

  it('is HTML that lets nothing run but its own script, and is kept by nobody', async function () {
    const { queue, metrics } = observed()
    const { get, ask } = await servers.start(board(queue, { metrics }))
    const { status, headers, text } = await get('/')
    assert.equal(status, 200)
    assert.match(headers['content-type'], /^text\/html/)
    assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'; /)
    assert.deepEqual([headers['x-frame-options'], headers['cache-control'], headers['x-content-type-options']], ['DENY', 'no-store', 'nosniff'])
    assert.doesNotMatch(text, /innerHTML|insertAdjacent|document\.write|\son\w+=|https?:/)
    const head = await ask({ method: 'HEAD' })
    assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', headers['content-length']])
  })

  it('tells for each type what its metrics have', async function () {
    const schedulerOptions = { weights: { a: 3 }, typeCaps: { b: 1 } }
    const { queue, metrics, gate, clock } = observed({ queue: { concurrency: 2, schedulerOptions } })
    const { state } = await servers.start(board(queue, { metrics }))
    for (const type of ['a', 'b', 'a', 'b']) queue.pushType(type, type)
    await gate.until(2)
    clock.advance(30)
    gate.release()
    await gate.until(3)
    gate.fail(new Error('no'))
    await gate.until(4)
    clock.advance(10)
    const told = await state()
    const { types: measured } = metrics.snapshot()
    assert.deepEqual(told.names, ['mails'])
    const [{ types, ...rest }] = told.queues
    assert.deepEqual(rest, {
      name: 'mails',
      closed: false,
      slots: 2,
      paused: false,
      waiting: 0,
      running: 2,
      delayed: 0,
      dead: null,
      fairness: null,
      starving: [],
      starvingCount: 0,
      refused: {},
      actions: ['pauseType', 'resumeType', 'clearType', 'pause', 'resume'],
      typeCount: 2,
      deadLetters: null,
      failures: null
    })
    const totalMs = measured.reduce((sum, { slotMs }) => sum + slotMs, 0)
    assert.equal(totalMs, 80)
    for (const { type, slotMs, waiting, running, done, failed, cancelled, retried, waitMs, runMs } of measured) {
      const { isType, share, paused, cap, weight, rate, starving, ...shown } = types.find(each => each.type === type)
      assert.deepEqual(shown, {
        type,
        slotMs,
        waiting,
        running,
        done,
        failed,
        cancelled,
        retried,
        waitMs: { p50: waitMs.p50, p99: waitMs.p99 },
        runMs: { p50: runMs.p50, p99: runMs.p99 }
      })
      assert.deepEqual([isType, share, paused, rate, starving], [true, slotMs / 80, false, null, false])
      assert.deepEqual([cap, weight], type === 'a' ? [2, 3] : [1, 1])
    }
  })

  it('has nothing where nothing is known: no times, no limits, no share', async function () {
    const { queue, metrics } = observed({ queue: { concurrency: Infinity, scheduler: 'fair' } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pause()
    queue.pushType('a', 1)
    const told = await state()
    const { slots, paused, waiting } = told.queues[0]
    assert.deepEqual([slots, paused, waiting], [null, true, 1])
    const { share, cap, weight, waitMs } = row(told, 'a')
    assert.deepEqual([share, cap, weight, waitMs], [0, null, null, { p50: null, p99: null }])
    queue.resume()
    assert.equal((await state()).queues[0].slots, null)
  })

  it('asks a scheduler of the user for caps and weights if that can be asked, and lives with one that throws', async function () {
    const lanes = []
    const scheduler = { queued: lane => lanes.push(lane), next: () => lanes.shift(), started () {}, ended () {}, capOf: () => 7, weightOf () { throw new Error('no') } }
    const { queue, metrics } = observed({ queue: { scheduler } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pause().pushType('a', 1)
    const told = await state()
    const { cap, weight, paused } = row(told, 'a')
    assert.deepEqual([cap, weight, paused], [7, null, false])
    // its types cannot be paused
    assert.deepEqual(told.queues[0].actions, ['clearType', 'pause', 'resume'])
  })

  it('shows the types with the largest shares, 200 at most, and finds the others by a part of their names', async function () {
    const { queue, metrics, gate, clock } = observed({ metrics: { maxTypes: 300 }, queue: { concurrency: 250 } })
    const { state } = await servers.start(board(queue, { metrics }))
    for (let i = 0; i < 250; i++) queue.pushType(`Type ${i}`, i)
    await gate.until(250)
    for (let i = 0; i < 250; i++) {
      clock.advance(1)
      gate.release()
    }
    queue.pause().pushType('Type 5', 0)
    queue.pushType('none a', 0).pushType('none b', 0).pushType('none b', 0)
    const { queues: [{ types, typeCount }] } = await state()
    assert.equal(typeCount, 252)
    assert.deepEqual(types.map(({ type }) => type), Array.from({ length: 200 }, (_, i) => `Type ${249 - i}`))
    const names = async filter => (await state(`?filter=${encodeURIComponent(filter)}`)).queues[0].types.map(({ type }) => type)
    assert.deepEqual(await names('TYPE 5'), ['Type 59', 'Type 58', 'Type 57', 'Type 56', 'Type 55', 'Type 54', 'Type 53', 'Type 52', 'Type 51', 'Type 50', 'Type 5'])
    assert.deepEqual(await names('none'), ['none b', 'none a'])
    assert.deepEqual(await names('&<'), [])
  })

  it('says which labels are types, so that these alone can be paused', async function () {
    const long = 'x'.repeat(200)
    const { queue, metrics } = observed({ metrics: { maxTypes: 2 } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pause()
    for (const type of [long, 'a', 'b', 'c', 'other']) queue.pushType(type, 1)
    const told = await state()
    const lengths = told.queues[0].types.map(({ type, isType }) => [type.length, isType])
    assert.deepEqual(lengths.sort(([a], [b]) => a - b), [[1, true], [5, false], [128, false]])
  })

  it('says which types starve, and how fairly the others are served', async function () {
    const clock = fakeClock()
    const metrics = new Metrics({ starveMs: 3000, windowMs: 1000, maxTypes: 2 })
    const lanes = new Map()
    // it starts jobs of two types only
    const scheduler = {
      queued: lane => lanes.set(lane.type, lane), next: () => ['a', 'b'].map(type => lanes.get(type)).find(({ size, running }) => size > 0 && running === 0), started () {}, ended () {}
    }
    const queue = fairlane((ms, done) => { clock.setTimeout(done, ms) }, { concurrency: 2, clock, scheduler, observers: metrics })
    const long = 'x'.repeat(300)
    for (const type of ['a', 'b']) for (let i = 0; i < 1000; i++) queue.pushType(type, 10)
    for (const type of ['c', long]) queue.pushType(type, 10)
    for (let i = 0; i < 500; i++) {
      await quiet()
      clock.advance(10)
    }
    const { state } = await servers.start(board(queue, { metrics }))
    const told = await state()
    const [{ fairness, starving, starvingCount }] = told.queues
    assert.deepEqual([fairness, starving, starvingCount], [metrics.snapshot().fairness, ['c', `${'x'.repeat(200)}…`], 2])
    assert(fairness > 0)
    assert.deepEqual(['a', 'other'].map(type => row(told, type).starving), [false, false])
  })

  it('names twenty of many types that starve, and marks their rows', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('type 0', 1)
    const starving = [{ type: undefined, sinceMs: 5 }, ...Array.from({ length: 30 }, (_, i) => ({ type: `type ${i}`, sinceMs: 5 }))]
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ({ ...metrics.snapshot(), starving }) } }))
    const told = await state()
    assert.deepEqual([told.queues[0].starvingCount, told.queues[0].starving], [31, ['', ...Array.from({ length: 19 }, (_, i) => `type ${i}`)]])
    assert.equal(row(told, 'type 0').starving, true)
  })

  it('says of a queue without a scheduler that it has no types', async function () {
    const { queue, metrics } = observed({ queue: { scheduler: null } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pushType('a', 1).push(2)
    const told = await state()
    assert.deepEqual(told.queues[0].types.map(({ type, isType }) => [type, isType]), [['', false], ['a', false]])
    assert.deepEqual(told.queues[0].actions, ['pause', 'resume'])
  })

  it('tells the newest failures if there is a history', async function () {
    const { queue, metrics, history, gate, clock } = observed()
    const { state } = await servers.start(board(queue, { metrics, history }))
    const type = 't'.repeat(300)
    for (let i = 0; i < 30; i++) queue.pushType(type, i)
    for (let i = 1; i <= 30; i++) {
      await gate.until(i)
      clock.advance(1)
      gate.fail(new RangeError(`no ${i}`))
    }
    const { failures } = (await state()).queues[0]
    assert.equal(failures.length, 20)
    const { endedAt } = history.get(30)
    assert.deepEqual(failures[0], { id: 30, type: `${'t'.repeat(200)}…`, attempts: 1, endedAt, error: 'RangeError: no 30' })
  })

  it('goes on after the queue has closed, and counts what was refused', async function () {
    const { queue, metrics } = observed()
    const { state } = await servers.start(board(queue, { metrics }))
    await queue.close()
    await assert.rejects(queue.add(1, { type: 'a' }), { code: 'FAIRLANE_ERR_CLOSED' })
    const { closed, refused } = (await state()).queues[0]
    assert.deepEqual([closed, refused], [true, { FAIRLANE_ERR_CLOSED: 1 }])
  })

  it('shows several queues, each by its name, alone if it is asked for', async function () {
    const [mails, images] = [observed(), observed()]
    const { state, get } = await servers.start(board({ mails, 'a&b': { queue: images.queue, metrics: images.metrics, readOnly: true } }))
    const both = await state()
    assert.deepEqual([both.names, both.queues.map(({ name, actions }) => [name, actions.length > 0])], [['mails', 'a&b'], [['mails', true], ['a&b', false]]])
    assert.deepEqual((await state('?queue=a%26b')).queues.map(({ name }) => name), ['a&b'])
    const { status, json } = await get('/state?queue=none')
    assert.deepEqual([status, json.error.message], [404, 'There is no queue of this name.'])

    function observed () {
      const metrics = new Metrics()
      return { queue: fairlane(UNUSED.run, { observers: metrics }), metrics }
    }
  })

  it('shows the other queues if one cannot be read', async function () {
    const { queue, metrics } = observed()
    const broken = { queue, metrics: { snapshot () { throw Object.assign(new Error('away'), { code: 'FAIRLANE_ERR_BROKER' }) } } }
    const { state } = await servers.start(board({ broken, whole: { queue, metrics } }))
    const { queues: [first, second] } = await state()
    assert.deepEqual(first, { name: 'broken', error: { code: 'FAIRLANE_ERR_BROKER', message: 'away' } })
    assert.equal(second.name, 'whole')
  })

  it('shows the other queues whatever one throws, and however badly it can be told', async function () {
    const { queue, metrics } = observed()
    const broken = reason => ({ queue, metrics: { snapshot () { throw reason } } })
    const { state } = await servers.start(board({
      null: broken(null),
      revoked: broken(revoked()),
      circular: broken(Object.assign(new Error('no'), { code: globalThis })),
      bigint: { queue, metrics: { snapshot: () => ({ ...metrics.snapshot(), fairness: 1n }) } },
      whole: { queue, metrics }
    }))
    const { queues } = await state()
    assert.deepEqual(queues.map(({ name, error }) => [name, error?.message.slice(0, 20)]), [
      ['null', 'null'], ['revoked', 'an error that cannot'], ['circular', 'no'], ['bigint', 'Do not know how to s'], ['whole', undefined]
    ])
  })

  it('answers within a time, though a queue does not, and says which', async function () {
    const { queue, metrics } = observed()
    const clock = fakeClock(1000)
    const asked = []
    const acted = []
    const hanging = atBroker({ types: () => new Promise((resolve, reject) => { asked.push({ resolve, reject }) }) })
    const { state, act } = await servers.start(handlerOf(readQueues([{ mails: { queue, metrics }, hanging: { queue: hanging } }]), clock))
    const told = async passed => {
      const answering = state()
      if (passed !== undefined) await pass(passed)
      const { names, queues: [first, second] } = await answering
      assert.deepEqual([names, first.name, first.error], [['mails', 'hanging'], 'mails', undefined])
      return second
    }
    const pass = async ms => {
      while (asked.length === 0) await turn()
      clock.advance(ms)
    }
    assert.deepEqual(await told(5000), { name: 'hanging', error: { message: 'The queue has not answered for 5 s.' } })
    clock.advance(32000)
    assert.equal((await told()).error.message, 'The queue has not answered for 37 s.')
    assert.equal(asked.length, 1) // it is asked nothing else meanwhile
    asked.pop().resolve([])
    await quiet()
    assert.equal((await told(5000)).error.message, 'The queue has not answered for 5 s.')
    asked.pop().reject(new Error('too late'))
    await quiet()
    const answering = told()
    while (asked.length === 0) await turn()
    asked.pop().resolve([])
    assert.deepEqual((await answering).types, [])
    assert.equal(clock.timerCount, 0)
    // nor does a button wait for ever
    hanging.pauseGlobal = () => new Promise(resolve => acted.push(resolve))
    const acting = act({ action: 'pauseGlobal', type: 'a', queue: 'hanging' })
    while (acted.length === 0) await turn()
    clock.advance(5000)
    const { status, json } = await acting
    assert.deepEqual([status, json.error.message], [504, 'The queue has not answered for 5 s. It may still do what it was asked for.'])
    acted.pop()()
  })

  it('ends a response that cannot be written', async function () {
    const { queue, metrics } = observed()
    const handler = board(queue, { metrics })
    const { get } = await servers.start((request, response) => {
      response.writeHead = () => { throw new Error('what somebody has put before it') }
      handler(request, response)
    })
    await assert.rejects(get('/'), { code: 'UND_ERR_SOCKET' })
  })

  it('answers a request without an address', async function () {
    const { queue, metrics } = observed()
    const handler = board(queue, { metrics })
    const { get } = await servers.start((request, response) => {
      request.url = undefined
      handler(request, response)
    })
    assert.equal((await get('/')).status, 500)
  })

  it('is at three addresses, and answers there what it is made for', async function () {
    const { queue, metrics } = observed()
    const { ask } = await servers.start(board(queue, { metrics }))
    for (const path of ['/none', '/state/', '//', '/%00', '/page?x']) assert.equal((await ask({ path })).status, 404, path)
    for (const [method, path, allow] of [['POST', '/', 'GET, HEAD'], ['DELETE', '/state', 'GET, HEAD'], ['GET', '/act', 'POST'], ['OPTIONS', '/act', 'POST']]) {
      const { status, headers } = await ask({ method, path })
      assert.deepEqual([status, headers.allow, headers['access-control-allow-origin']], [405, allow, undefined], `${method} ${path}`)
    }
  })

  it('is there at the very address at which it is mounted, with a slash at its end and without', async function () {
    const { queue, metrics } = observed()
    const handler = board(queue, { metrics })
    const { get } = await servers.start((request, response) => {
      request.url = request.url.slice('/board'.length)
      handler(request, response)
    })
    for (const path of ['/board', '/board/', '/board?x', '/board/?x']) assert.match((await get(path)).headers['content-type'], /html/, path)
    assert.equal((await get('/board/state')).json.names[0], 'mails')
  })

  it('leaves a response alone that was begun by whoever mounted it', async function () {
    const { queue, metrics } = observed()
    const handler = board(queue, { metrics })
    const { get } = await servers.start((request, response) => {
      handler(request, response)
      response.writeHead(503).end('too late')
    })
    const { status, text } = await get('/state')
    assert.deepEqual([status, text], [503, 'too late'])
    await quiet()
  })

  it('refuses what is no queue, and options that are wrong or unknown', function () {
    const { queue, metrics } = observed()
    for (const none of [undefined, null, 'queue', {}, { mails: queue }, { mails: undefined }, { mails: { metrics } }, revoked(), { mails: revoked() }, { mails: [queue] }, { mails: { queue: revoked() } }]) {
      assert.throws(() => board(none), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    let reads = 0
    board({ mails: { get queue () { reads++; return queue }, metrics } })
    assert.equal(reads, 1)
    const wrong = [undefined, {}, { metrics: {} }, { metrics: queue }, { metrics, history: metrics }, { metrics, name: '' }, { metrics, name: 5 }, { metrics, readOnly: 1 }]
    for (const options of [...wrong, { metrics, readonly: true }]) assert.throws(() => board(queue, options), { code: 'FAIRLANE_ERR_OPTION' })
    for (const entry of [{ queue }, { queue, metrics, readonly: true }]) assert.throws(() => board({ mails: entry }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => board({ mails: { queue, metrics } }, { readOnly: true }), { code: 'FAIRLANE_ERR_OPTION' })
  })
})
