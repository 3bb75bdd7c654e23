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
const { atBroker, ranked } = require('./at-broker')

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

function row ({ queue: { types } }, type) {
  return types.find(each => each.type === type)
}

function typesOf ({ queue: { types } }) {
  return types.map(({ type }) => type)
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
    assert.match(headers['content-security-policy'], /; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/)
    assert.deepEqual([headers['x-frame-options'], headers['cache-control'], headers['x-content-type-options']], ['DENY', 'no-store', 'nosniff'])
    assert.deepEqual([headers['referrer-policy'], headers['cross-origin-resource-policy']], ['same-origin', 'same-origin'])
    assert.doesNotMatch(text, /innerHTML|insertAdjacent|document\.write|\son\w+=|https?:/)
    const head = await ask({ method: 'HEAD' })
    assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', headers['content-length']])
  })

  it('tells for each type what its metrics have of the last minute, its limits, and why its next job does not start', async function () {
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
    const { types: measured } = metrics.snapshot({ top: 10, by: 'share' })
    const { names, queue: { types, totals, timeline, now, windowMs, ...rest } } = await state()
    assert.deepEqual(names, ['mails'])
    assert(Math.abs(now - Date.now()) < 60000)
    assert.equal(windowMs, metrics.snapshot({ by: 'share' }).windowMs)
    assert.deepEqual(timeline, JSON.parse(JSON.stringify(metrics.timeline())))
    const { done, failed, retried, refused, standstillMs, starvingCount } = totals
    assert.deepEqual([done, failed, retried, refused, standstillMs, starvingCount], [1, 1, 0, 0, 0, 0])
    assert.deepEqual(rest, {
      name: 'mails',
      closed: false,
      isGlobal: false,
      slots: 2,
      paused: false,
      waiting: 0,
      running: 2,
      delayed: 0,
      overdue: 0,
      dead: null,
      findings: [],
      actions: ['pause', 'resume', 'pauseType', 'resumeType', 'hold', 'holdType', 'clearType', 'setCap', 'setWeight'],
      showsPayloads: false,
      typesCount: 2,
      foundCount: 2,
      groups: null,
      runs: null,
      overdueTypes: [],
      schedules: null,
      failures: null
    })
    assert.equal(types.length, 2)
    for (const { type, share, waiting, running, done, failed, retried } of measured) {
      const { isType, paused, cap, weight, because, ...shown } = types.find(each => each.type === type)
      const numbers = ['share', 'waiting', 'running', 'done', 'failed', 'retried']
      assert.deepEqual(numbers.map(name => shown[name]), [share, waiting, running, done, failed, retried])
      assert.deepEqual([isType, paused, because], [true, false, undefined])
      assert.deepEqual([cap, weight], type === 'a' ? [2, 3] : [1, 1])
    }
  })

  it('has nothing where nothing is known: no limits, no share', async function () {
    const { queue, metrics } = observed({ queue: { concurrency: Infinity, scheduler: 'fair' } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pause()
    queue.pushType('a', 1)
    const told = await state()
    const { slots, paused, waiting, findings } = told.queue
    assert.deepEqual([slots, paused, waiting, findings], [null, true, 1, [{ kind: 'paused', waiting: 1 }]])
    const { share, cap, weight } = row(told, 'a')
    assert.deepEqual([share, cap, weight], [0, null, null])
    queue.resume()
    const { state: again } = await servers.start(board(queue, { metrics }))
    assert.equal((await again()).queue.slots, null)
  })

  it('needs no metrics: then it tells what the queue says of itself', async function () {
    const { queue, gate } = observed({ queue: { concurrency: 1 } })
    const { state } = await servers.start(board(queue))
    for (const type of ['a', 'b', 'b']) queue.pushType(type, 1)
    await gate.until(1)
    const told = await state()
    const { name, totals, timeline, windowMs, typesCount, running, waiting } = told.queue
    assert.deepEqual([name, totals, timeline, windowMs, typesCount, running, waiting], ['default', null, null, null, 2, 1, 2])
    assert.deepEqual(['a', 'b'].map(type => row(told, type)).map(({ share, waiting, running, done, isType }) => [share, waiting, running, done, isType]), [
      [undefined, 0, 1, 0, true], [undefined, 2, 0, 0, true]
    ])
  })

  it('asks a scheduler of the user for caps and weights if that can be asked, and lives with one that throws', async function () {
    const lanes = []
    const scheduler = {
      queued: lane => lanes.push(lane), next: () => lanes.shift(), started () {}, ended () {}, configure () {}, capOf: () => 7, weightOf () { throw new Error('no') }
    }
    const { queue, metrics } = observed({ queue: { scheduler } })
    const { state } = await servers.start(board(queue, { metrics }))
    queue.pause().pushType('a', 1)
    const told = await state()
    const { cap, weight, paused } = row(told, 'a')
    assert.deepEqual([cap, weight, paused], [7, null, false])
    // its types cannot be paused, and nobody knows what it can be set to
    assert.deepEqual(told.queue.actions, ['pause', 'resume', 'hold', 'clearType'])
  })

  it('shows fifty types, sorted by what is asked for, of those that are highest by it', async function () {
    const asked = []
    const types = Array.from({ length: 80 }, (_, i) => {
      return { type: `t${i}`, share: i / 1000, waiting: (i * 7) % 80, failed: (i * 11) % 80, oldestWaitMs: i === 5 ? undefined : (i * 13) % 80 }
    })
    const metrics = {
      snapshot (options) {
        asked.push(options)
        return ranked(types)
      }
    }
    const { queue } = observed()
    const { state, get } = await servers.start(board(queue, { metrics }))
    const expected = (key, sign) => [...types].sort((a, b) => sign * (key(a) - key(b))).slice(0, 50).map(({ type }) => type)
    assert.deepEqual(typesOf(await state()), expected(({ share }) => share, -1))
    assert.deepEqual(typesOf(await state('?order=up')), expected(({ share }) => share, 1))
    assert.deepEqual(typesOf(await state('?sort=waiting')), expected(({ waiting }) => waiting, -1))
    assert.deepEqual(typesOf(await state('?sort=failed&order=up')), expected(({ failed }) => failed, 1))
    const known = types.filter(({ oldestWaitMs }) => oldestWaitMs !== undefined)
    for (const [order, sign] of [['up', 1], ['down', -1]]) {
      const sorted = known.toSorted((a, b) => sign * (a.oldestWaitMs - b.oldestWaitMs)).slice(0, 50).map(({ type }) => type)
      assert.deepEqual(typesOf(await state(`?sort=oldestWait&order=${order}`)), sorted)
    }
    const names = types.map(({ type }) => type).sort()
    assert.deepEqual(typesOf(await state('?sort=type&order=up')), names.slice(0, 50))
    assert.deepEqual(typesOf(await state('?sort=cap')).length, 50)
    assert.deepEqual(asked.slice(1).map(({ top, by, windowMs }) => [by, top, windowMs]), [
      ['share', 200, 60000], ['share', 1000, 60000], ['waiting', 200, 60000], ['failed', 1000, 60000], ['oldestWait', 1000, 60000], ['oldestWait', 200, 60000]
    ])
    for (const sort of ['', 'none', '__proto__', 'constructor']) assert.equal((await get(`/state?sort=${sort}`)).status, 400)
  })

  it('sorts types by every column', async function () {
    const rows = [
      { type: 'a', group: 'y', share: 0.3, running: 1, waiting: 2, oldestWaitMs: 30, done: 3, failed: 1, retried: 2, overdue: 3, dead: 1, untilMs: 20 },
      { type: 'b', group: 'x', share: 0.1, running: 3, waiting: 1, oldestWaitMs: 10, done: 1, failed: 2, retried: 3, overdue: 1, dead: 2, untilMs: 10 },
      { type: 'c', group: 'z', share: 0.2, running: 2, waiting: 3, oldestWaitMs: 20, done: 2, failed: 3, retried: 1, overdue: 2, dead: 3 }
    ]
    const schedulerOptions = { typeCaps: { a: 2, b: 3, c: 1 }, weights: { a: 3, b: 1, c: 2 } }
    const { queue } = observed({ queue: { schedulerOptions } })
    queue.explain = type => ({ because: 'rate', untilMs: rows.find(row => row.type === type).untilMs })
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ranked(rows) } }))
    const down = {
      type: 'cba', group: 'cab', share: 'acb', running: 'bca', waiting: 'cab', oldestWait: 'acb', done: 'acb', failed: 'cba', retried: 'bac', overdue: 'acb', dead: 'cba', cap: 'bac', weight: 'acb', until: 'abc'
    }
    for (const [sort, order] of Object.entries(down)) assert.equal(typesOf(await state(`?sort=${sort}`)).join(''), order, sort)
    assert.equal(typesOf(await state('?sort=until&order=up')).join(''), 'bac') // what is not known comes last
  })

  it('finds types by a part of their names, those too that are not among the highest, by the whole name', async function () {
    const { queue, metrics } = observed()
    queue.pause()
    for (const type of ['Type 1', 'Type 2', 'Type 25', 'other']) queue.pushType(type, 1)
    const narrow = { snapshot: options => ranked(metrics.snapshot(options).types.filter(({ type }) => type !== 'other')) }
    const { state } = await servers.start(board(queue, { metrics: narrow }))
    const found = async filter => typesOf(await state(`?filter=${encodeURIComponent(filter)}`))
    assert.deepEqual(await found('TYPE 2'), ['Type 2', 'Type 25'])
    assert.deepEqual(await found('Type 25'), ['Type 25']) // once
    assert.deepEqual(await found('other'), ['other'])
    for (const filter of ['othe', '&<', 'Type 3', '__proto__']) assert.deepEqual(await found(filter), [])
    assert.deepEqual(await found(''), ['Type 1', 'Type 2', 'Type 25'])
  })

  it('finds a type by its name of which jobs only run, and none that has had some', async function () {
    const { queue, gate } = observed()
    queue.pushType('runs', 'runs').pushType('ended', 'ended')
    await gate.until(2)
    gate.started.find(({ payload }) => payload === 'ended').done()
    await quiet()
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ranked([]) } }))
    assert.deepEqual((await state('?filter=runs')).queue.types.map(({ type, running, waiting }) => [type, running, waiting]), [['runs', 1, 0]])
    assert.deepEqual(typesOf(await state('?filter=ended')), [])
    assert.deepEqual(typesOf(await state('?filter=runs&group=gold')), [])
  })

  it('ranks all types by what they are to be sorted by, or by what is nearest to that', async function () {
    const { queue } = observed()
    const ranks = {
      type: 'share', group: 'share', share: 'share', running: 'share', waiting: 'waiting', oldestWait: 'oldestWait', done: 'share', failed: 'failed', retried: 'share', overdue: 'overdue', dead: 'failed', cap: 'share', weight: 'share', until: 'oldestWait'
    }
    const asked = []
    const metrics = { snapshot (options) { asked.push(options?.by); return ranked([]) } }
    for (const sort of Object.keys(ranks)) {
      const { state } = await servers.start(board(queue, { name: 'mails', metrics }))
      await state(`?sort=${sort}`)
    }
    assert.deepEqual(asked, Object.values(ranks))
  })

  it('sorts what is equal by what waits and runs, and then by name', async function () {
    const { queue } = observed()
    const rows = [['d', 0, 0], ['b', 2, 0], ['c', 1, 2], ['a', 0, 0]].map(([type, waiting, running]) => ({ type, waiting, running }))
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ranked(rows) } }))
    for (const order of ['up', 'down']) assert.equal(typesOf(await state(`?order=${order}`)).join(''), 'cbad')
  })

  it('tells fifty groups, those first that have most, and twenty types with runners that are overdue', async function () {
    const { queue } = observed()
    const rows = [...Array.from({ length: 60 }, (_, i) => ({ type: `t${i}`, group: `g${i}`, share: i / 1000, overdue: i % 30 })), { type: 'even', group: 'even', share: 0.059, waiting: 1 }]
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ranked(rows, { starving: [{ type: 'a', sinceMs: 1 }, { type: 'b', sinceMs: 1 }] }) } }))
    const { groups, overdueTypes, totals } = (await state()).queue
    assert.deepEqual([groups.length, ...groups.slice(0, 3).map(({ group }) => group)], [50, 'even', 'g59', 'g58'])
    assert.deepEqual([overdueTypes.length, ...overdueTypes.slice(0, 3).map(({ overdue }) => overdue)], [20, 29, 29, 28])
    assert.equal(totals.starvingCount, 2)
  })

  it('adds up groups, and tells the types of one', async function () {
    const { queue } = observed()
    const types = [
      { type: 'a', group: 'gold', share: 0.25, waiting: 1, running: 2, overdue: 1 }, { type: 'b', group: 'gold', share: 0.25, waiting: 3 },
      { type: 'c', group: '', share: 0.5, waiting: 4 }, { type: 'd', share: 0 }
    ]
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => ranked(types) } }))
    assert.deepEqual((await state()).queue.groups, [
      { group: 'gold', share: 0.5, waiting: 4, running: 2, overdue: 1, typesCount: 2 }, { group: '', share: 0.5, waiting: 4, running: 0, overdue: 0, typesCount: 1 }
    ])
    assert.deepEqual(typesOf(await state('?group=gold')), ['a', 'b'])
    assert.deepEqual(typesOf(await state('?group=')), ['c'])
    assert.deepEqual(typesOf(await state('?group=none')), [])
    assert.deepEqual(typesOf(await state('?group=gold&filter=b')), ['b'])
    assert.deepEqual(typesOf(await state('?group=gold&filter=c')), [])
    assert.deepEqual(typesOf(await state('?sort=group&order=up')), ['c', 'a', 'b', 'd'])
  })

  it('has the groups of the scheduler, and sets weights and caps within them', async function () {
    const { queue, gate } = observed({ queue: { concurrency: 2, schedulerOptions: { groupOf: type => type[0], maxGroupCap: 1 } } })
    for (const type of ['a1', 'a2', 'b1']) queue.pushType(type, 1)
    await gate.until(2)
    const { state, act } = await servers.start(board(queue))
    const { groups, types } = (await state()).queue
    assert.deepEqual(groups.map(({ group, running, waiting, typesCount }) => [group, running, waiting, typesCount]), [['a', 1, 1, 2], ['b', 1, 0, 1]])
    assert.deepEqual(types.map(({ type, group, because }) => [type, group, because]).sort(), [['a1', 'a', undefined], ['a2', 'a', 'group-cap'], ['b1', 'b', undefined]])
    assert.equal((await act({ action: 'setWeight', type: 'a1', weight: 3 })).status, 200)
    assert.equal((await act({ action: 'setCap', type: 'a1', cap: 1 })).status, 200)
    assert.deepEqual([queue.scheduler.weightOf('a1'), queue.scheduler.capOf('a1')], [3, 1])
  })

  it('has no buttons for what is no type, and for names that are too long to be sent twice', async function () {
    const { queue } = observed()
    const long = 'x'.repeat(5000)
    queue.pause().pushType(long, 1).pushType('a', 1)
    const metrics = { snapshot: () => ranked([{ type: long }, { type: 'cut', isType: false }, { type: 'a' }].map(row => ({ ...row, waiting: 1 }))) }
    const { state } = await servers.start(board(queue, { metrics }))
    const { queue: { types } } = await state()
    assert.deepEqual(types.map(({ type, isType, cap, because }) => [type.length, isType, cap, because === undefined]), [
      [1, true, 10, false], [3, false, null, true], [1001, false, 10, false]
    ])
  })

  it('says of a queue without a scheduler that it has no types, and why its next job does not start', async function () {
    const { queue, metrics, gate } = observed({ queue: { scheduler: null, concurrency: 1 } })
    queue.pushType('a', 1).push(2)
    await gate.until(1)
    const { state } = await servers.start(board(queue, { metrics }))
    const told = await state('?filter=a')
    assert.deepEqual(told.queue.types.map(({ type, isType }) => [type, isType]), [['a', false]])
    assert.deepEqual(told.queue.actions, ['pause', 'resume', 'hold'])
    assert.equal(told.queue.because, 'slots')
    queue.hold(5000)
    const { state: again } = await servers.start(board(queue, { metrics }))
    const { because, untilMs, findings } = (await again()).queue
    assert.deepEqual([because, untilMs, findings], ['queue-hold', 5000, [{ kind: 'queue-hold', untilMs: 5000, waiting: 1 }]])
  })

  it('tells the newest failures, and what has run longest, if there is a history', async function () {
    const { queue, metrics, history, gate, clock } = observed({ queue: { concurrency: 2 } })
    const type = 't'.repeat(300)
    for (let i = 0; i < 33; i++) queue.pushType(type, i)
    for (let i = 1; i <= 30; i++) {
      await gate.until(i + 1)
      clock.advance(1)
      gate.fail(new RangeError(`no ${i}`))
    }
    await gate.until(32)
    const { state } = await servers.start(board(queue, { metrics, history }))
    const { failures, runs } = (await state()).queue
    assert.equal(failures.length, 20)
    const { endedAt } = history.get(30)
    assert.deepEqual(failures[0], { id: 30, type: `${'t'.repeat(200)}…`, attempts: 1, endedAt, error: 'RangeError: no 30' })
    assert.deepEqual(runs, [31, 32].map(id => ({ id, type: `${'t'.repeat(200)}…`, attempt: 1, startedAt: history.get(id).startedAt })))
    assert(runs[0].startedAt < runs[1].startedAt)
  })

  it('asks a history for those that run, though the queue says that none does', async function () {
    const { queue, metrics } = observed()
    const limits = []
    const history = { list: ({ limit }) => { limits.push(limit); return [] } }
    const { state } = await servers.start(board(queue, { metrics, history }))
    assert.deepEqual([(await state()).queue.runs, limits], [[], [1, 20]])
  })

  it('keeps no dead letters of a queue in memory', async function () {
    const { queue } = observed()
    const { get, state } = await servers.start(board(queue, { showPayloads: true }))
    assert.equal((await state()).queue.showsPayloads, false)
    assert.equal((await get('/dead')).status, 404)
    assert.equal((await get('/payload?id=1')).status, 403)
  })

  it('goes on after the queue has closed, and counts what was refused', async function () {
    const { queue, metrics } = observed()
    const { state } = await servers.start(board(queue, { metrics }))
    await queue.close()
    await assert.rejects(queue.add(1, { type: 'a' }), { code: 'FAIRLANE_ERR_CLOSED' })
    const { closed, totals, findings } = (await state()).queue
    assert.deepEqual([closed, totals.refused, findings], [true, 1, [{ kind: 'closed' }]])
  })

  it('asks only the queue that is shown: the first one, or that of the name', async function () {
    const asked = []
    const pages = Object.fromEntries(['mails', 'a&b'].map(name => {
      const metrics = { snapshot (options) { if (options !== undefined) asked.push(name); return ranked([]) } }
      return [name, { queue: fairlane(UNUSED.run), metrics, readOnly: name === 'a&b' }]
    }))
    const { state, get } = await servers.start(board(pages))
    const first = await state()
    assert.deepEqual([first.names, first.queue.name, first.queue.actions.length > 0, asked], [['mails', 'a&b'], 'mails', true, ['mails']])
    const second = await state('?queue=a%26b')
    assert.deepEqual([second.queue.name, second.queue.actions, second.token, asked], ['a&b', [], '', ['mails', 'a&b']])
    const { status, json } = await get('/state?queue=none')
    assert.deepEqual([status, json.error.message], [404, 'There is no queue with this name.'])
  })

  it('names the other queues whatever one throws, and however badly it can be told', async function () {
    const { queue, metrics } = observed()
    const broken = reason => ({ queue, metrics: { snapshot () { throw reason } } })
    const { state } = await servers.start(board({
      away: broken(Object.assign(new Error('away'), { code: 'FAIRLANE_ERR_BROKER' })),
      null: broken(null),
      revoked: broken(revoked()),
      circular: broken(Object.assign(new Error('no'), { code: globalThis })),
      bigint: { queue, metrics: { snapshot: () => ranked([], { standstillMs: 1n }) } },
      whole: { queue, metrics }
    }))
    const told = {}
    for (const name of ['away', 'null', 'revoked', 'circular', 'bigint', 'whole']) {
      const { names, queue } = await state(`?queue=${name}`)
      assert.equal(names.length, 6)
      told[name] = queue.error
    }
    assert.deepEqual(told.away, { code: 'FAIRLANE_ERR_BROKER', message: 'away' })
    assert.deepEqual(Object.entries(told).slice(1).map(([name, error]) => [name, error?.message.slice(0, 18)]), [
      ['null', 'null'], ['revoked', 'an error that cann'], ['circular', 'no'], ['bigint', 'Do not know how to'], ['whole', undefined]
    ])
  })

  it('asks a queue the same once a second at most, however many ask for it, and again when a button was pressed', async function () {
    const clock = fakeClock(1000)
    let asked = 0
    const { queue } = observed()
    const metrics = {
      snapshot (options) {
        if (options !== undefined) asked++
        return ranked([])
      }
    }
    const { state, act } = await servers.start(handlerOf(readQueues([queue, { metrics }]), clock))
    await Promise.all(Array.from({ length: 200 }, () => state()))
    assert.equal(asked, 1)
    await state('?filter=a')
    await state('?sort=type')
    assert.equal(asked, 2) // by what more types are ranked
    clock.advance(999)
    await state()
    await state('?filter=b')
    assert.equal(asked, 2)
    clock.advance(1)
    await Promise.all(Array.from({ length: 20 }, () => state()))
    assert.equal(asked, 3)
    await act({ action: 'pause' })
    assert.equal((await state()).queue.paused, true)
    assert.equal(asked, 4)
    for (let i = 0; i < 300; i++) await state(`?filter=${i}`)
    assert(asked < 8, `${asked}`)
  })

  it('says within two seconds that a queue does not answer', async function () {
    const { queue, metrics } = observed()
    const clock = fakeClock(1000)
    const asked = []
    const acted = []
    const hanging = atBroker({ types: () => new Promise((resolve, reject) => { asked.push({ resolve, reject }) }) })
    const { state, act } = await servers.start(handlerOf(readQueues([{ mails: { queue, metrics }, hanging: { queue: hanging } }]), clock))
    const told = async passed => {
      const answering = state('?queue=hanging')
      if (passed !== undefined) await pass(passed)
      const { names, queue: one } = await answering
      assert.deepEqual([names, one.name, (await state()).queue.error], [['mails', 'hanging'], 'hanging', undefined])
      return one
    }
    const pass = async ms => {
      while (asked.length === 0) await turn()
      clock.advance(ms)
    }
    assert.deepEqual(await told(2000), { name: 'hanging', error: { message: 'The queue has not answered for 2 s.' } })
    clock.advance(32000)
    assert.equal((await told()).error.message, 'The queue has not answered for 34 s.')
    assert.equal(asked.length, 1) // it is asked nothing else meanwhile
    asked.pop().resolve([])
    await quiet()
    clock.advance(1000)
    assert.equal((await told(2000)).error.message, 'The queue has not answered for 2 s.')
    asked.pop().reject(new Error('too late'))
    await quiet()
    clock.advance(1000)
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
    assert.deepEqual([status, json.error.message], [504, 'The queue has not answered for 5 s. It may still do what was asked.'])
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

  it('is at a few addresses, and answers there what it is made for', async function () {
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
    const wrong = [{ metrics: {} }, { metrics: queue }, { showPayloads: 1 }, { showPayloads: 'yes' }, { onAction: {} }, { onAction: 'log' }, { metrics, history: metrics }, { metrics, name: '' }, { metrics, name: 5 }, { metrics, readOnly: 1 }]
    for (const options of [...wrong, { metrics, readonly: true }]) assert.throws(() => board(queue, options), { code: 'FAIRLANE_ERR_OPTION' })
    for (const entry of [{ queue, metrics: {} }, { queue, metrics, readonly: true }]) assert.throws(() => board({ mails: entry }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => board({ mails: { queue, metrics } }, { readOnly: true }), { code: 'FAIRLANE_ERR_OPTION', message: /each has its own options: board\(\{ mails: / })
    assert.throws(() => board({ mails: queue }), { message: "board: 'mails' must be an object with its queue: { queue, metrics }" })
  })
})
