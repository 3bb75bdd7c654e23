'use strict'

// Jobs of certain times: by the options, and by calls.

const { equal, expect, reasonOf, throws } = require('./expect')

const HOUR = 3600000
const hourly = { everyMs: HOUR, type: 't', payload: 'tick' }

exports.schedules = function ({ test }) {
  test('of the options are listed, with their next times', 'schedules', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', schedules: { hourly } })
    const [{ name, nextAt, lastAt }, ...more] = await queue.listSchedules()
    equal([name, nextAt % HOUR, lastAt, more.length], ['hourly', 0, undefined, 0])
    expect(nextAt > Date.now() - 1000 && nextAt <= Date.now() + HOUR, `next at ${nextAt}`)
  })

  test('push their jobs', 'schedules', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedules: { often: { everyMs: 100, type: 't', payload: 'tick', overlap: true } } })
    await gate.until(2)
    for (const { payload, context } of gate.started) equal([payload, context.type, context.schedule.name, context.schedule.time % 100], ['tick', 't', 'often', 0])
    equal(gate.started[1].context.schedule.time > gate.started[0].context.schedule.time, true)
    const [{ lastAt }] = await queue.listSchedules()
    expect(lastAt >= gate.started[1].context.schedule.time, `last at ${lastAt}`)
    await queue.setSchedule('often', null)
    while (gate.open.length > 0) gate.release()
  })

  test('have jobs that cost what the schedule says', ['schedules', 'costs'], async stage => {
    const often = { everyMs: 100, type: 't', payload: 'tick', cost: 5, overlap: true }
    const rate = { limit: 12, intervalMs: 600000, of: 'cost' }
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedules: { often, daily: { ...often, everyMs: 24 * HOUR, type: 'd', cost: 7 } }, ratePerType: rate })
    await queue.runSchedule('daily')
    await gate.until(3)
    await stage.until(async () => (await queue.counts('t')).waiting > 0)
    equal(gate.started.length, 3)
    equal(['t', 'd'].map(type => queue.stats(type).spent), [10, 7])
    await queue.setSchedule('often', null)
    while (gate.open.length > 0) gate.release()
  })

  test('are run now by runSchedule, which gives the id of the job', 'schedules', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedules: { hourly } })
    const id = await queue.runSchedule('hourly')
    await gate.until(1)
    const [{ payload, context }] = gate.started
    equal([context.id, payload, context.type, context.schedule.name, Object.isFrozen(context.schedule)], [id, 'tick', 't', 'hourly', true])
    gate.release()
  })

  test('are added, changed and removed by setSchedule', 'schedules', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    equal(await queue.listSchedules(), [])
    await queue.setSchedule('hourly', hourly)
    equal((await queue.listSchedules()).map(({ name }) => name), ['hourly'])
    await queue.setSchedule('hourly', { ...hourly, payload: 'changed' })
    await queue.runSchedule('hourly')
    await gate.until(1)
    equal(gate.started[0].payload, 'changed')
    gate.release()
    await queue.setSchedule('hourly', null)
    equal(await queue.listSchedules(), [])
    await queue.setSchedule('hourly', null)
  })

  test('push nothing while they are paused, but by runSchedule', 'schedules', async stage => {
    const often = { everyMs: 50, type: 't', payload: 'tick', overlap: true }
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedules: { often, hourly } })
    await gate.until(1)
    await queue.pauseSchedule('often')
    const pausedAt = Date.now()
    const byName = async () => Object.fromEntries((await queue.listSchedules()).map(({ name, ...more }) => [name, more]))
    const { often: paused, hourly: other } = await byName()
    equal([paused.nextAt, paused.paused, other.paused, other.nextAt > pausedAt], [undefined, true, undefined, true])
    const id = await queue.runSchedule('often')
    await stage.until(async () => Date.now() > pausedAt + 150 && gate.started.some(({ context }) => context.id === id))
    const resumedAt = Date.now()
    await queue.resumeSchedule('often')
    equal((await byName()).often.paused, undefined)
    const timesOf = (from, to) => gate.started.filter(({ context }) => context.id !== id).map(({ context }) => context.schedule.time)
      .filter(time => time > from && time < to)
    await stage.until(async () => timesOf(resumedAt, Infinity).length > 0)
    equal(timesOf(pausedAt, resumedAt), [])
    await queue.setSchedule('often', null)
    while (gate.open.length > 0) gate.release()
    for (const method of ['pauseSchedule', 'resumeSchedule']) {
      equal((await reasonOf((async () => queue[method]('nobody'))()))?.code, 'FAIRLANE_ERR_ARGUMENT')
      throws(() => queue[method](''), 'ARGUMENT')
    }
  })

  test('stay when the queue is opened without them', ['schedules', 'survival'], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedules: { hourly } })
    const [{ nextAt }] = await queue.listSchedules()
    await queue.close()
    const next = await stage.reopen(queue, gate.runner, { settleBy: 'callback', scheduler: 'equal' })
    const [{ name, nextAt: still }, ...more] = await next.listSchedules()
    equal([name, still >= nextAt, more.length], ['hourly', true, 0])
  })

  test('of cron expressions have their times', 'schedules', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', schedules: new Map([['nightly', { cron: '30 2 * * *', timezone: 'UTC', type: 't' }]]) })
    const [{ nextAt }] = await queue.listSchedules()
    const at = new Date(nextAt)
    equal([at.getUTCHours(), at.getUTCMinutes()], [2, 30])
  })

  test('that say too little or too much are refused', 'schedules', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const schedule of [5, {}, { everyMs: 0, type: 't' }, { everyMs: 5 }, { everyMs: 5, cron: '* * * * *', type: 't' }, { everyMs: 5, type: 't', each: 1 }]) {
      throws(() => queue.setSchedule('x', schedule), 'ARGUMENT', JSON.stringify(schedule))
    }
    const error = await reasonOf((async () => queue.runSchedule('nobody'))())
    equal(error?.code, 'FAIRLANE_ERR_ARGUMENT')
    for (const schedules of [5, { x: 5 }, { x: { everyMs: -1, type: 't' } }]) {
      await stage.refuses({ scheduler: 'equal', schedules }, 'OPTION', JSON.stringify(schedules))
    }
  })
}
