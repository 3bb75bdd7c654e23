'use strict'

const assert = require('node:assert')
const { once } = require('node:events')
const { Schedules } = require('../../lib/distributed/calls/schedules')
const { Scheduling } = require('../../lib/distributed/calls/scheduling')
const { Timer } = require('../../lib/distributed/calls/timer')
const { Forgetting } = require('../../lib/distributed/forgetting')
const { Calendars, timesOf } = require('../../lib/job/schedule-times')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

const DAY_MS = 24 * 3600 * 1000

describeWithRedis('schedules at a broker', function () {
  const at = atServer()

  /** Times of jobs that ran, with the schedules' names. */
  function noting () {
    const times = []
    return { times, runner: async (payload, { schedule }) => { times.push(`${schedule.name} ${schedule.time}`) } }
  }

  it('stay paused when another process opens the queue with the same option, until somebody sets them', async () => {
    const schedules = { daily: { everyMs: 24 * 3600000 } }
    const queue = await at.open(null, { schedules })
    await queue.pauseSchedule('daily')
    const other = await at.open(null, { schedules })
    assert.deepEqual(await other.listSchedules(), [{ name: 'daily', nextAt: undefined, lastAt: undefined, paused: true }])
    await other.setSchedule('daily', schedules.daily)
    const [{ nextAt, paused }] = await queue.listSchedules()
    assert.deepEqual([nextAt > Date.now(), paused], [true, undefined])
  })

  it('push a job for each time, one in all processes, while these come and go', async () => {
    const { times, runner } = noting()
    const schedules = { tick: { everyMs: 50, type: 'a', payload: 1, overlap: true } }
    const queues = []
    const came = count => until(() => times.length >= count)
    for (let n = 0; n < 4; n++) queues.push(await at.open(runner, { schedules, partitions: 2 }))
    await came(10)
    for (const queue of queues.splice(0, 3)) await queue.close()
    queues.push(await at.open(runner, { partitions: 2 })) // it has heard of them from the broker
    await came(15)
    await queues.shift().close()
    await came(times.length + 15) // those too of the time in which nobody looked
    assert.equal(new Set(times).size, times.length)
    const all = times.map(time => Number(time.slice(5))).sort((a, b) => a - b)
    assert.equal(all.at(-1) - all[0], 50 * (all.length - 1))
  })

  it('tell what their jobs are, and when they are due', async () => {
    const queue = await at.open(async (payload, { type, schedule }) => ({ payload, type, schedule }), { scheduler: 'fair' })
    const begin = Date.now()
    await queue.setSchedule('daily', { cron: '0 3 * * *', timezone: 'Europe/Berlin', type: 'a', payload: { n: 1 } })
    await queue.setSchedule('quick', { everyMs: 20, type: 'b' })
    const [{ result }] = await once(queue, 'done')
    assert.deepEqual([result.type, result.schedule.name, result.schedule.time % 20], ['b', 'quick', 0])
    const list = await queue.listSchedules()
    assert.deepEqual(list.map(({ name }) => name).sort(), ['daily', 'quick'])
    const daily = list.find(({ name }) => name === 'daily')
    assert.equal(daily.nextAt, timesOf({ cron: '0 3 * * *', timezone: 'Europe/Berlin' }, 'daily', new Calendars()).after(begin))
    assert.equal(daily.lastAt, undefined)
    const { lastAt, nextAt } = list.find(({ name }) => name === 'quick')
    assert.deepEqual([lastAt % 20, nextAt % 20, lastAt >= begin], [0, 0, true])
    await queue.setSchedule('quick', null)
    const id = await queue.runSchedule('daily')
    const ran = await new Promise(resolve => queue.on('done', job => { if (job.id === id) resolve(job) }))
    assert.deepEqual([ran.payload, ran.type, ran.result.schedule.name], [{ n: 1 }, 'a', 'daily'])
    assert(Math.abs(ran.result.schedule.time - Date.now()) < 60000)
    assert.deepEqual(await queue.listSchedules(), [daily])
    await expectReject(queue.runSchedule('quick'), 'FAIRLANE_ERR_ARGUMENT')
    await queue.setSchedule('quick', null)
  })

  it('are added and changed by the option, by name; only a call removes one', async () => {
    const names = async queue => (await queue.listSchedules()).map(({ name, nextAt }) => [name, nextAt % 1000]).sort()
    const every = everyMs => ({ everyMs, type: 'a' })
    const first = await at.open(null, { schedules: { a: every(DAY_MS), b: every(DAY_MS) } })
    assert.deepEqual(await names(first), [['a', 0], ['b', 0]])
    const second = await at.open(null, { schedules: new Map([['c', every(DAY_MS)]]) })
    assert.deepEqual(await names(second), [['a', 0], ['b', 0], ['c', 0]])
    await second.setSchedule('a', null)
    await second.setSchedule('b', every(DAY_MS + 1))
    await at.open(null, { schedules: { a: every(DAY_MS), b: every(DAY_MS) } }) // as the last opening gave them: the calls stay
    const [[name], ...others] = await names(first)
    assert.deepEqual([name, others.length], ['b', 1])
    assert.equal(JSON.parse(at.server.cli('hget', `{fairlane:${at.name}}:.schedules`, 'd:b').replace(/^\d+:/, '')).everyMs, DAY_MS + 1)
    await at.open(null, { schedules: { a: every(2 * DAY_MS) } })
    assert.deepEqual((await names(first)).map(([name]) => name), ['a', 'b', 'c'])
  })

  it('do not overlap, unless it is said so', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', concurrency: 10 })
    await queue.setSchedule('alone', { everyMs: 10, type: 'a' })
    await gate.until(1)
    const { lastAt } = (await queue.listSchedules())[0]
    await until(async () => (await queue.listSchedules())[0].nextAt > lastAt + 100)
    assert.equal((await queue.listSchedules())[0].lastAt, lastAt)
    assert.equal(gate.payloads.length, 1)
    gate.release()
    await gate.until(2)
    await queue.setSchedule('alone', null)
    gate.release()
  })

  it('are there again when the broker came back empty', async () => {
    const { times, runner } = noting()
    await at.open(runner, { schedules: { tick: { everyMs: 100, type: 'a' } } })
    await until(() => times.length > 1)
    at.server.cli('flushall')
    await until(() => at.server.cli('exists', `{fairlane:${at.name}}:.schedules`) === '1')
    const { length } = times
    await until(() => times.length > length + 1)
  })

  it('may have no time any more, no type, and a priority', async () => {
    const queue = await at.open(async (payload, { schedule }) => schedule.name, { priorityMs: 1000 })
    await queue.setSchedule('past', { cron: '0 0 0 1 1 * 2020' })
    await queue.setSchedule('first', { everyMs: 200, priority: 5 })
    assert.deepEqual((await queue.listSchedules()).find(({ name }) => name === 'past'), { name: 'past', nextAt: undefined, lastAt: undefined })
    await queue.setSchedule('daily', { everyMs: DAY_MS, priority: 3 })
    const id = await queue.runSchedule('daily')
    assert.equal(await queue.wait(id), 'daily')
    const [{ result, type }] = await once(queue, 'done')
    assert.deepEqual([result, type], ['first', ''])
    assert.equal(await queue.wait(await queue.runSchedule('past')), 'past')
  })

  it('push jobs that cost what they say, also when they were paused, and when others have written what is no cost', async () => {
    const queue = await at.open(null)
    const costOf = async id => at.server.cli('hget', `{fairlane:${at.name}}:${id}`, 'cost')
    await queue.setSchedule('daily', { everyMs: DAY_MS, type: 'a', cost: 0 })
    await queue.pauseSchedule('daily')
    assert.equal(await costOf(await queue.runSchedule('daily')), '0')
    await queue.setSchedule('free', { everyMs: DAY_MS, type: 'a' })
    assert.equal(await costOf(await queue.runSchedule('free')), '')
    const key = `{fairlane:${at.name}}:.schedules`
    const text = at.server.cli('hget', key, 'd:daily').replace('"cost":0', '"cost":"much"').replace('"paused":true', '"paused":false')
    at.server.cli('hset', key, 'd:daily', text)
    assert.equal(await costOf(await queue.runSchedule('daily')), '')
  })

  it('of others are looked after by processes that were there before them', async () => {
    const { times, runner } = noting()
    const worker = await at.open(runner)
    const other = await at.open(null, { schedules: { tick: { everyMs: 100, type: 'a' } } })
    await until(() => times.length > 1)
    await other.close()
    const { length } = times
    await worker.listSchedules() // makes nothing begin
    await new Promise(resolve => setTimeout(resolve, 150))
    assert(times.length <= length + 2)
  })

  it('are refused at once where they are wrong', async () => {
    const queue = await at.open(null, { scheduler: 'fair' })
    const wrong = [
      ['a', undefined], ['a', {}], ['a', { everyMs: 1, cron: '* * * * *', type: 'a' }], ['a', { everyMs: 0, type: 'a' }], ['', { everyMs: 1, type: 'a' }],
      [5, null], ['a', { everyMs: 5 }], ['a', { everyMs: 5, type: 'a', payload: () => {} }], ['a', { cron: 'never', type: 'a' }]
    ]
    for (const [name, schedule] of wrong) assert.throws(() => queue.setSchedule(name, schedule), { code: 'FAIRLANE_ERR_ARGUMENT' }, `${name}`)
    assert.throws(() => queue.setSchedule('a', { everyMs: 5, type: null }), { code: 'FAIRLANE_ERR_TYPE' })
    assert.throws(() => queue.runSchedule(), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await assert.rejects(at.open(null, { schedules: { a: { everyMs: 5, type: 'a', every: 5 } } }), { code: 'FAIRLANE_ERR_OPTION' })
    await assert.rejects(at.open(null, { schedules: 5 }), { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('that nobody can read keep the others from nothing, and are told', async () => {
    const rig = await openRigged(at)(null)
    await rig.queue.setSchedule('tick', { everyMs: 20, type: 'a' })
    const key = `{fairlane:${at.name}}:.schedules`
    at.server.cli('hset', key, 'd:odd', '5:{', 'd:number', 'x:5', 'd:never', '5:{"type":"a","data":"{}","cron":"never","timezone":"UTC"}', '', '7')
    const { times, runner } = noting()
    const told = once(rig.queue, 'error') // it looks
    await at.open(runner)
    assert.match((await told)[0].message, /refused the schedule 'never'/)
    const { length } = times
    await until(() => times.length > length)
  })

  it('go on when the broker has refused a look at them', async () => {
    const { queue, rig } = await openRigged(at)(async () => {}, { settleBy: 'promise' })
    const told = []
    queue.on('error', ({ message }) => told.push(message))
    rig.refuse('exists')
    await queue.setSchedule('tick', { everyMs: 20, type: 'a' })
    await once(queue, 'done')
    rig.refuse('fairlaneTime')
    await until(() => told.length === 1)
    assert.match(told[0], /refused a check of the schedules/)
    rig.refuse('fairlaneTimer', new Error('LOADING Redis is loading'))
    const { done } = queue.stats()
    await until(() => queue.stats().done > done + 1)
    assert.equal(told.length, 1)
  })
})

describe('a look whether there are schedules', () => {
  it('is left for later while the broker is away, or refuses', async () => {
    const broker = { name: 'x', isReady: false }
    const scheduling = new Scheduling({ broker }, { token: 'me', serialize: {} })
    await scheduling.open()
    assert.equal(scheduling.stop(), undefined)
    const calls = []
    const parts = {
      broker: { forgetPlaces: () => calls.push('places') },
      intake: { forget: () => calls.push('intake') },
      scheduling: { async look () { calls.push('look'); throw new Error('READONLY') } }
    }
    for (const worker of [{ forget: () => calls.push('worker') }, null]) {
      const forgetting = new Forgetting({ ...parts, worker })
      const { setInterval } = global
      let fire
      global.setInterval = fn => { fire = fn }
      forgetting.begin()
      global.setInterval = setInterval
      fire()
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.deepEqual(calls, ['worker', 'intake', 'places', 'look', 'intake', 'places'])
  })
})

describe('times of schedules', () => {
  const NOW = 1800000000000

  /** A timer of one schedule at a broker that is not there. */
  function timerOf ({ everyMs = 1000, state = '', since = NOW, ...rest }) {
    const pushed = []
    const skipped = []
    const records = new Map()
    const broker = {
      client: {
        async fairlaneTime (...args) {
          const [, , next, , , , , job] = args.slice(6)
          if (job === undefined) skipped.push(Number(next.split(',')[0]))
          else pushed.push(Number(next.split(',')[0]))
          return next
        }
      }
    }
    const timer = new Timer({}, { broker, records: { read: async (place, name) => records.get(name) } }, { token: 'me', key: '.timer' })
    const schedule = Object.create(scheduleClass().prototype)
    Object.assign(schedule, { name: 's', since, data: '{}', catchUp: 'last', overlap: false, ...rest })
    schedule.place = { partition: {}, key: what => what, keysOf: () => [], name: 'a' }
    schedule.times = timesOf({ everyMs }, 's', new Calendars())
    schedule.become(state)
    let ahead = 0
    timer.time = () => NOW + ahead
    timer.renewedAt = Infinity
    return { timer, schedule, pushed, skipped, records, pass: ms => { ahead += ms } }
  }

  function scheduleClass () {
    const made = new Schedules({ broker: { name: 'x', client: { defineCommand () {} }, place: () => ({}) } }, { token: 'me', serialize: {} })
    return made.scheduleOf('s', '5:{"type":"a","data":"{}"}').constructor
  }

  it('count from when their schedule is, if that can be read', () => {
    const made = new Schedules({ broker: { name: 'x', client: { defineCommand () {} }, place: () => ({}) } }, { token: 'me', serialize: {} })
    assert.deepEqual(['5', 'x'].map(since => made.scheduleOf('s', `${since}:{"type":"a","data":"{}"}`).since), [5, 0])
  })

  it('are pushed in order, each once', async () => {
    const { timer, schedule, pushed, pass } = timerOf({ overlap: true })
    await timer.dealWith(schedule)
    pass(3500)
    await timer.dealWith(schedule)
    await timer.dealWith(schedule)
    assert.deepEqual(pushed, [NOW + 1000, NOW + 2000, NOW + 3000])
  })

  it('that were missed for more than a minute have the last one, or none', async () => {
    for (const [catchUp, expected] of [['last', [NOW + 90000]], ['none', []]]) {
      const { timer, schedule, pushed, pass } = timerOf({ overlap: true, catchUp })
      pass(90000)
      await timer.dealWith(schedule)
      assert.deepEqual([pushed, schedule.doneUntil], [expected, NOW + 90000])
    }
  })

  it('come while the job before goes on: they are skipped', async () => {
    const { timer, schedule, pushed, skipped, records, pass } = timerOf({})
    pass(1000)
    await timer.dealWith(schedule)
    records.set(schedule.lastJob, { finishedOn: undefined })
    pass(2500)
    await timer.dealWith(schedule)
    assert.deepEqual([pushed, skipped], [[NOW + 1000], [NOW + 3000]])
    pass(100000)
    await timer.dealWith(schedule)
    assert.deepEqual([pushed.length, skipped.at(-1)], [1, NOW + 103000])
    records.set(schedule.lastJob, { finishedOn: '5' })
    pass(1000)
    await timer.dealWith(schedule)
    assert.equal(pushed.at(-1), NOW + 104000)
  })

  it('begin anew if the clock was far ahead, and wait if it was by little', async () => {
    const far = timerOf({ state: `${NOW + DAY_MS},,`, overlap: true })
    await far.timer.dealWith(far.schedule)
    far.pass(1000)
    await far.timer.dealWith(far.schedule)
    assert.deepEqual(far.pushed, [NOW + 1000])
    const first = timerOf({ state: `${NOW + DAY_MS},,`, overlap: true }) // there was no time before
    first.schedule.times = { upTo: () => -Infinity, after: () => Infinity }
    await first.timer.dealWith(first.schedule)
    assert.equal(first.schedule.doneUntil, NOW)
    const little = timerOf({ state: `${NOW + 30000},,`, overlap: true })
    little.pass(1000)
    await little.timer.dealWith(little.schedule)
    assert.deepEqual(little.pushed, [])
  })

  it('are others\' when this process was stopped for long', async () => {
    const { timer, schedule, pushed, pass } = timerOf({ overlap: true })
    pass(5000)
    timer.renewedAt = -Infinity
    await timer.dealWith(schedule)
    assert.deepEqual(pushed, [])
  })

  it('are left to others where the package is missing that reads cron expressions', async () => {
    const refused = []
    const left = []
    const broker = {
      isReady: true,
      troubles: { refused: (what, err) => refused.push(err.code) },
      client: { fairlaneTimer: async () => [1, NOW, '1'], fairlaneLeaveTimer: async key => { left.push(key) } }
    }
    const schedules = {
      key: '.schedules',
      all: async () => [{ name: 's' }],
      timed () { throw Object.assign(new Error('croner'), { code: 'FAIRLANE_ERR_PEER' }) }
    }
    const timer = new Timer(schedules, { broker, records: {} }, { token: 'me', key: '.timer' })
    await timer.turn()
    assert.deepEqual([refused, left, timer.isStopped], [['FAIRLANE_ERR_PEER'], ['.timer'], true])
    timer.isMine = true
    broker.client.fairlaneLeaveTimer = async () => { throw new Error('READONLY') }
    await timer.stop()
    broker.isReady = false
    await timer.stop()
    await new Timer(schedules, { broker, records: {} }, { token: 'me', key: '.timer' }).look()
  })
})
