'use strict'

// Which types the page is told of, and what of each, without a server.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { stateOf } = require('../../lib/board/state')
const gates = require('../support/gates')
const { atBroker, ranked } = require('./at-broker')

const VIEW = { sort: 'share', isUp: false, filter: '', group: undefined }

function inMemory (options) {
  return fairlane(gates().runner, { scheduler: 'equal', ...options })
}

/** @returns {Promise<object>} the state, and in `ranking` what types were ranked by, and how many of them */
async function told (one, view) {
  let ranking
  const share = (question, ask) => {
    ranking = JSON.parse(question)
    return ask()
  }
  const state = await stateOf({ name: 'mails', readOnly: false, showPayloads: false, ...one }, { ...VIEW, ...view }, share)
  return { ...state, ranking }
}

const measured = (rows, more) => ({ snapshot: () => ranked(rows, more) })
const namesOf = ({ types }) => types.map(({ type }) => type).join(' ')

describe('what a page is told of a queue', function () {
  it('is of few types where those are shown that come first anyway, and else of many', async function () {
    const queue = inMemory()
    const topOf = async (view, one = { queue }) => (await told(one, view)).ranking.top
    for (const sort of ['share', 'waiting', 'oldestWait', 'failed', 'overdue']) {
      assert.equal(await topOf({ sort }), 200, sort)
      for (const view of [{ isUp: true }, { filter: 'a' }, { group: 'a' }, { group: '' }]) assert.equal(await topOf({ sort, ...view }), 1000)
    }
    for (const sort of ['type', 'dead', 'cap', 'until']) assert.equal(await topOf({ sort }), 1000)
    // groups are made of all that are ranked, and so is what all processes have
    assert.equal(await topOf({}, { queue: inMemory({ schedulerOptions: { groupOf: type => type } }) }), 1000)
    assert.equal(await topOf({}, { queue: atBroker() }), 1000)
  })

  it('is each number of a type', async function () {
    const row = {
      type: 'a', group: 'g', share: 0.5, waiting: 1, delayed: 2, running: 3, overdue: 4, dead: 5, oldestWaitMs: 6, done: 7, failed: 8, retried: 9
    }
    const queue = inMemory({ schedulerOptions: { weights: { a: 2 }, typeCaps: { a: 4 } } })
    queue.explain = () => ({ because: 'cap', untilMs: 10, holders: [], more: 1 })
    const { types } = await told({ queue, metrics: measured([row]) })
    assert.deepEqual(types, [{ ...row, isType: true, paused: false, cap: 4, weight: 2, rate: null, because: 'cap', untilMs: 10, holders: [] }])
  })

  it('is how many types there are, or how many are found', async function () {
    const rows = ['ab', 'b', 'c'].map(type => ({ type, group: type === 'b' ? 'g' : undefined }))
    const one = { queue: inMemory(), metrics: measured(rows, { typesCount: 5000 }) }
    const counts = async view => {
      const { foundCount, typesCount } = await told(one, view)
      return [foundCount, typesCount]
    }
    assert.deepEqual(await counts({}), [5000, 5000])
    assert.deepEqual(await counts({ filter: 'b' }), [2, 5000])
    assert.deepEqual(await counts({ group: 'g' }), [1, 5000])
    assert.deepEqual(await counts({ filter: 'c', group: 'g' }), [0, 5000])
  })

  it('is how many types there are, if there are more than it is told of', async function () {
    const queue = inMemory()
    queue.pause()
    for (let i = 0; i < 1001; i++) queue.pushType(`t${i}`, 1)
    const { types } = queue
    let limit
    queue.types = options => {
      limit = options.limit
      return types.call(queue, options)
    }
    const { typesCount, foundCount } = await told({ queue })
    assert.deepEqual([typesCount, foundCount, limit], [1001, 1001, 1000])
    // on disk jobs have types without a scheduler, too, though nobody counts these
    const untyped = inMemory({ scheduler: null })
    untyped.types = async () => ['a', 'b'].map(type => ({ type, waiting: 1, delayed: 0, running: 0, dead: 0 }))
    untyped.stats = () => ({ waiting: 2, running: 0, delayed: 0, overdue: 0, types: 0 })
    assert.equal((await told({ queue: untyped })).typesCount, 2)
  })

  it('is of a type that is not ranked what it is of others, if it has jobs here, and has a name', async function () {
    const queue = inMemory()
    queue.pause()
    queue.pushType('b', 1).pushType('', 1)
    const one = { queue, metrics: measured([]) }
    const { types: [{ because, oldestWaitMs, ...b }] } = await told(one, { filter: 'b' })
    assert.deepEqual([because, b.isType, b.waiting, b.delayed, b.running, b.overdue, b.dead], ['paused', true, 1, 0, 0, 0, 0])
    assert.deepEqual((await told(one)).types, [])
    const untyped = inMemory({ scheduler: null })
    assert.deepEqual((await told({ queue: untyped, metrics: measured([]) }, { filter: 'b' })).types, [])
    // at a broker those that have jobs are all known
    assert.deepEqual((await told({ queue: atBroker({ stats: () => ({ waiting: 1, running: 1 }) }) }, { filter: 'b' })).types, [])
  })

  it('is of what is no type its numbers only', async function () {
    const { types: [row] } = await told({ queue: inMemory(), metrics: measured([{ type: 'rest', isType: false, waiting: 2 }]) })
    const { isType, waiting, paused, cap, weight, rate, because } = row
    assert.deepEqual([isType, waiting, paused, cap, weight, rate, because], [false, 2, false, null, null, null, undefined])
  })

  it('is no reason to wait of a queue that cannot tell one', async function () {
    for (const scheduler of ['equal', null]) {
      const queue = inMemory({ scheduler })
      queue.pause()
      queue.pushType('a', 1)
      queue.explain = undefined
      const { because, types, waiting } = await told({ queue })
      assert.deepEqual([waiting, because, types.map(({ because }) => because)], [1, undefined, scheduler === null ? [] : [undefined]])
    }
    // nor is one asked of a broker but for a type
    const explain = type => {
      assert.equal(type, 'a')
      return Promise.resolve({ because: 'rate' })
    }
    const types = [{ type: 'a', waiting: 1, delayed: 0, running: 0, dead: 0 }]
    const { because, types: [{ because: reason }] } = await told({ queue: atBroker({ types, explain, scheduler: null }) })
    assert.deepEqual([because, reason], [undefined, 'rate'])
  })

  it('is nothing of a type that the broker no longer has, but what happened in this process', async function () {
    const row = { type: 'a', waiting: 1, delayed: 2, running: 3, dead: 4, done: 5 }
    const { overdue, types: [{ waiting, delayed, running, dead, done }] } = await told({ queue: atBroker(), metrics: measured([row]) })
    assert.deepEqual([overdue, waiting, delayed, running, dead, done], [0, 0, 0, 0, 0, 5])
    assert.equal((await told({ queue: atBroker() })).overdue, 0)
  })

  it('is in the order that is asked for, whatever else would come first', async function () {
    const rows = Array.from({ length: 60 }, (_, i) => ({ type: `t${i}`, share: i / 100, waiting: 60 - i, delayed: 0, running: 0, dead: 0 }))
    const metrics = measured(rows)
    const first = async (queue, sort) => (await told({ queue, metrics }, { sort })).types[0].type
    assert.equal(await first(inMemory(), 'waiting'), 't0')
    assert.equal(await first(inMemory({ schedulerOptions: { typeCaps: { t0: 3, ...Object.fromEntries(rows.slice(1).map(({ type }) => [type, 2])) } } }), 'cap'), 't0')
    const types = rows.map(({ type, waiting }) => ({ type, waiting, delayed: 0, running: 0, dead: 0 }))
    assert.equal(await first(atBroker({ types }), 'waiting'), 't0')
    // what is a call for each type is asked of fifty, those that have most of the slots
    const settings = Object.fromEntries(rows.map(({ type }, i) => [type, { cap: 100 - i }]))
    assert.equal(await first(atBroker({ types, settings }), 'cap'), 't10')
  })

  it('looks at the limits of those types only that are shown, or stand out', async function () {
    const rows = Array.from({ length: 300 }, (_, i) => ({ type: `t${i}`, share: i / 1000, waiting: 1 }))
    const asked = new Set()
    const queue = inMemory()
    queue.explain = type => {
      asked.add(type)
      return { because: 'slots' }
    }
    await told({ queue, metrics: measured(rows) }, { sort: 'done' })
    assert(asked.size <= 100, `${asked.size}`)
  })

  it('has what is not known last, and that by what waits, runs, and by name', async function () {
    const rows = [
      { type: 'd', oldestWaitMs: undefined }, { type: 'c', oldestWaitMs: undefined, running: 1 }, { type: 'a', oldestWaitMs: 5 },
      { type: 'b', oldestWaitMs: null }, { type: 'e', oldestWaitMs: undefined, waiting: 2 }, { type: 'f', oldestWaitMs: null, waiting: 1 }
    ]
    for (const some of [rows, rows.toReversed()]) {
      for (const isUp of [false, true]) {
        const state = await told({ queue: inMemory(), metrics: measured(some) }, { sort: 'oldestWait', isUp })
        assert.equal(namesOf(state), 'a e c f b d')
      }
    }
  })

  it('sorts by when a type may start where some have no reason to wait', async function () {
    const queue = inMemory()
    queue.explain = type => ({ because: 'rate', untilMs: type === 'b' ? 5 : 7 })
    const metrics = measured([{ type: 'a' }, { type: 'b', waiting: 1 }, { type: 'c', waiting: 1 }])
    assert.equal(namesOf(await told({ queue, metrics }, { sort: 'until' })), 'c b a')
    assert.equal(namesOf(await told({ queue, metrics }, { sort: 'until', isUp: true })), 'b c a')
  })

  it('has buttons for a type of a thousand characters, and for none that is longer', async function () {
    const { types } = await told({ queue: inMemory(), metrics: measured([1000, 1001].map(length => ({ type: 'x'.repeat(length) }))) }, { sort: 'type', isUp: true })
    assert.deepEqual(types.map(({ isType }) => isType), [true, false])
  })

  it('has overdue runners by type, and long names cut', async function () {
    const rows = [{ type: 'a', overdue: 1 }, { type: 'b' }, { type: 'x'.repeat(201), overdue: 2 }]
    const { overdueTypes } = await told({ queue: inMemory(), metrics: measured(rows) })
    assert.deepEqual(overdueTypes, [{ type: `${'x'.repeat(200)}…`, overdue: 2 }, { type: 'a', overdue: 1 }])
  })

  it('has no payloads unless they may be shown', async function () {
    const queue = atBroker({ get: async () => undefined })
    assert.deepEqual([(await told({ queue })).showsPayloads, (await told({ queue, showPayloads: true })).showsPayloads], [false, true])
  })

  it('has no share of a group where that of none of its types is known', async function () {
    const queue = inMemory({ schedulerOptions: { groupOf: type => type[0] } })
    queue.pause()
    for (const type of ['a1', 'a2', 'b1']) queue.pushType(type, 1)
    const sharesOf = async one => (await told({ queue, ...one })).groups.map(({ group, share, waiting }) => [group, share, waiting])
    assert.deepEqual(await sharesOf(), [['a', undefined, 2], ['b', undefined, 1]])
    const rows = [
      { type: 'a1', group: 'a', share: 0.25 }, { type: 'a2', group: 'a', share: undefined }, { type: 'a3', group: 'a', share: 0.125 },
      { type: 'b1', group: 'b', share: undefined, waiting: 9 }, { type: 'c1', group: 'c', share: 0.5 }
    ]
    for (const some of [rows, rows.toReversed()]) {
      assert.deepEqual(await sharesOf({ metrics: measured(some) }), [['c', 0.5, 0], ['a', 0.375, 0], ['b', undefined, 9]])
    }
  })

  it('has the single slot of a queue', async function () {
    assert.equal((await told({ queue: inMemory({ concurrency: 1 }) })).slots, 1)
  })

  it('has schedules that are paused last, wherever they stand', async function () {
    const paused = [{ name: 'off' }, { name: 'out' }]
    const others = [{ name: 'b', nextAt: 2 }, { name: 'a', nextAt: 1 }]
    const mixed = [paused[0], others[0], paused[1], others[1]]
    for (const all of [[...paused, ...others], [...others, ...paused], [...others.toReversed(), ...paused], mixed]) {
      const { schedules } = await told({ queue: atBroker({ listSchedules: async () => all }) })
      assert.deepEqual(schedules.map(({ name }) => name), ['a', 'b', 'off', 'out'])
    }
  })
})
