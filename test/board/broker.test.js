'use strict'

// What is asked of a queue at a broker, and what of the answers is told. test/distributed/board.test.js has a real one.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { fakeClock } = require('../../lib/testing')
const { turn } = require('../support/turns')
const { atServers } = require('./asked')
const { atBroker, ranked } = require('./at-broker')

describe('a page for a queue at a broker', function () {
  const servers = atServers()

  it('tells what all processes have of it, and what happened in this one', async function () {
    const queue = atBroker({
      types: [{ type: 'b', waiting: 8, delayed: 0, running: 1, dead: 0 }, { type: 'a', waiting: 1, delayed: 2, running: 2, dead: 1 }],
      settings: { a: { cap: 4, rate: { limit: 10, intervalMs: 1000 }, paused: true } },
      reasons: { b: { because: 'rate', untilMs: 12000 } }
    })
    const seen = { done: 5, failed: 1, retried: 4, waiting: 7, running: 7 }
    const snapshot = ranked([{ type: 'a', share: 0.25, ...seen }, { type: 'idle', share: 0.75, ...seen }], { refused: { A: 2, B: 1 }, totals: { overdue: 1 } })
    const { state } = await servers.start(board(queue, { metrics: { snapshot: () => snapshot } }))
    const { queue: { types, totals, ...rest } } = await state()
    const numbers = ['slots', 'waiting', 'running', 'delayed', 'dead', 'overdue', 'typesCount', 'foundCount']
    assert.deepEqual(numbers.map(name => rest[name]), [5, 9, 3, 2, 1, 1, 3, 3])
    assert.deepEqual([rest.name, rest.paused, rest.groups, rest.schedules, rest.failures], ['mails', false, null, null, null])
    assert.deepEqual(rest.runs, ['a', 'b'].map(type => ({ id: `1:${type}`, type, attempt: 1, startedAt: 1, overdue: false })))
    assert.equal(totals.refused, 3)
    const shown = ({ type, share, waiting, running, cap, weight, rate, paused, done, isType, because, untilMs }) =>
      [type, share, waiting, running, cap, weight, rate, paused, done, isType, because, untilMs]
    assert.deepEqual(types.map(shown), [
      ['idle', 0.75, 0, 0, null, 4, null, false, 5, true, undefined, undefined],
      ['a', 0.25, 1, 2, 4, 1, { limit: 10, intervalMs: 1000 }, true, 5, true, 'idle', undefined],
      ['b', undefined, 8, 1, null, 1, null, false, undefined, true, 'rate', 12000]
    ])
    assert.deepEqual(rest.findings, [
      { kind: 'overdue', overdue: 1, running: 3, holders: [] }, { kind: 'rate', type: 'b', waiting: 8, running: 1, untilMs: 12000 }
    ])
  })

  it('walks through the types once, and asks for the limits of those that are shown only', async function () {
    const types = Array.from({ length: 500 }, (_, i) => ({ type: `t${i}`, waiting: 500 - i, delayed: 0, running: 0, dead: 0 }))
    for (const sort of ['share', 'waiting', 'cap']) {
      const queue = atBroker({ types })
      const { state } = await servers.start(board(queue))
      const { queue: { types: shown, foundCount, waiting } } = await state(`?sort=${sort}`)
      assert.deepEqual([shown.length, shown[0].type, foundCount, waiting], [50, 't0', 500, 500 * 501 / 2])
      const limits = queue.calls.filter(([name]) => name === 'counts').map(([, type]) => type)
      assert.deepEqual(limits.sort(), shown.map(({ type }) => type).sort())
      assert.deepEqual(queue.calls.filter(([name]) => name !== 'counts').map(([name]) => name), ['types'])
    }
  })

  it('needs no metrics, and no runner', async function () {
    const queue = atBroker({ types: [{ type: 'a', waiting: 1, delayed: 0, running: 0, dead: 0 }], scheduler: null })
    Object.defineProperty(queue, 'concurrency', { get () { throw new TypeError('this process runs no jobs') } })
    const { state } = await servers.start(board(queue))
    const { queue: { name, slots, totals, timeline, types: [{ type, share, weight }] } } = await state()
    assert.deepEqual([name, slots, totals, timeline, type, share, weight], ['default', null, null, null, 'a', undefined, null])
  })

  it('reads no dead letter, and so no payload, to tell its state', async function () {
    const queue = atBroker({ types: [{ type: 'a', waiting: 0, delayed: 0, running: 0, dead: 7 }] })
    const { state } = await servers.start(board(queue))
    assert.equal((await state()).queue.dead, 7)
    assert.deepEqual(queue.calls.filter(([name]) => name === 'deadLetters'), [])
  })

  it('tells dead letters, and the payload of one, by ids that are texts', async function () {
    const asked = []
    const queue = atBroker({
      deadLetters: async ({ after }) => {
        asked.push(after)
        return [{ id: '1:a', type: 'a', attempts: 5, error: new TypeError('no'), at: 7, get payload () { throw new Error('nobody has asked for it') } }]
      },
      get: async id => ({ payload: `of ${id}` })
    })
    const { get } = await servers.start(board(queue, { showPayloads: true }))
    const { letters } = (await get('/dead?after=0%3Aa')).json
    assert.deepEqual([letters, asked], [[{ id: '1:a', type: 'a', attempts: 5, at: 7, error: 'TypeError: no' }], ['0:a']])
    assert.deepEqual((await get('/payload?id=1%3Aa')).json, { payload: '"of 1:a"' })
  })

  it('tells runs of the ten types that run most, those first that were taken first', async function () {
    const types = Array.from({ length: 12 }, (_, i) => ({ type: 'x'.repeat(12 - i), waiting: 0, delayed: 0, running: i, dead: 0 }))
    const { state } = await servers.start(board(atBroker({ types })))
    assert.deepEqual((await state()).queue.runs.map(({ startedAt }) => startedAt), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('tells fifty runs at most', async function () {
    const types = Array.from({ length: 12 }, (_, i) => ({ type: `t${i}`, waiting: 0, delayed: 0, running: 9, dead: 0 }))
    const listRunning = async ({ type }) => Array.from({ length: 9 }, (_, i) => ({ id: `${i}:${type}`, type, attempt: 1, startedAt: i, overdue: false }))
    const { state } = await servers.start(board(atBroker({ types, listRunning })))
    const { runs } = (await state()).queue
    assert.deepEqual(runs.map(({ startedAt }) => startedAt), Array.from({ length: 50 }, (_, i) => Math.floor(i / 10)))
  })

  it('tells how long the oldest job waits as the broker says it, where metrics do not', async function () {
    const types = ['a', 'b'].map(type => ({ type, waiting: 1, delayed: 0, running: 0, dead: 0 }))
    const queue = atBroker({ types, reasons: { a: { because: 'slots', oldestWaitMs: 7 }, b: { because: 'slots', oldestWaitMs: 8 } } })
    const metrics = { snapshot: () => ranked([{ type: 'b', oldestWaitMs: 5 }]) }
    const { state } = await servers.start(board(queue, { metrics }))
    assert.deepEqual((await state('?sort=type&order=up')).queue.types.map(({ oldestWaitMs }) => oldestWaitMs), [7, 5])
  })

  it('has no number of slots where this process has none', async function () {
    const { state } = await servers.start(board(atBroker({ concurrency: 0 })))
    assert.equal((await state()).queue.slots, null)
  })

  it('says within two seconds that dead letters, or a payload, do not come, and tells its state all the same', async function () {
    const clock = fakeClock(1000)
    const asked = []
    const never = () => new Promise(() => { asked.push(1) })
    const queue = atBroker({ deadLetters: never, get: never })
    const { get, state } = await servers.start(handlerOf(readQueues([{ mails: { queue, showPayloads: true } }]), clock))
    for (const path of ['/dead', '/payload?id=1%3Aa']) {
      const answering = get(path)
      while (asked.length === 0) await turn()
      asked.pop()
      clock.advance(2000)
      const { status, json } = await answering
      assert.deepEqual([status, json.error.message], [504, 'The queue has not answered for 2 s.'])
      clock.advance(1000)
      assert.equal((await state()).queue.error, undefined)
    }
  })

  it('has no buttons for what cannot be done at the broker, or would be done in this process only', async function () {
    const { scheduler } = fairlane(() => {}, { scheduler: 'equal' })
    const queue = atBroker({ listSchedules: async () => [], setGlobalCap: undefined, hold: undefined, scheduler })
    const { state } = await servers.start(board(queue))
    const { actions } = (await state()).queue
    assert.deepEqual(actions.filter(name => /Schedule|Cap|^hold$/.test(name)), [])
  })

  it('acts in all processes, or not at all', async function () {
    const queue = atBroker()
    const { act } = await servers.start(board({ mails: { queue } }))
    const done = async (fields, result = true) => assert.deepEqual((await act(fields)).json, { result })
    await done({ action: 'pauseGlobal', type: 'a' })
    await done({ action: 'resumeGlobal', type: 'a', queue: 'mails' })
    await done({ action: 'pauseGlobal' })
    await done({ action: 'resumeGlobal' })
    await done({ action: 'hold', ms: 500 })
    await done({ action: 'holdType', type: 'a', ms: 0 })
    await done({ action: 'setCap', type: 'a', cap: 3 })
    await done({ action: 'setCap', type: 'a', cap: null })
    await done({ action: 'clearType', type: 'a' })
    await done({ action: 'retryDead', id: '1:a' })
    await done({ action: 'retryDead', id: '2:a' }, false)
    await done({ action: 'cancel', id: '1:a' })
    for (const action of ['pauseType', 'resumeType', 'pause', 'resume', 'setWeight']) assert.equal((await act({ action, type: 'a', weight: 1 })).status, 400)
    assert.deepEqual(queue.calls, [
      ['pauseGlobal', 'a'], ['resumeGlobal', 'a'], ['pauseGlobal', undefined], ['resumeGlobal', undefined], ['hold', 500], ['holdType', 'a', 0],
      ['setGlobalCap', 'a', 3], ['setGlobalCap', 'a', Infinity], ['clear', { type: 'a' }]
    ])
  })
})
