'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { board } = require('../../lib/board')
const { atServers } = require('../board/asked')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')

describeWithRedis('the page for tenants of a queue of many processes', function () {
  const at = atServer()
  const servers = atServers()

  it('shows, in a process that runs no jobs, what all have, with limits and pauses; and it pauses and resumes types', async function () {
    const gate = gates()
    const limits = { globalTypeCaps: { a: 1 }, ratePerType: new Map([['b', { limit: 50, intervalMs: 1000 }]]) }
    await at.open(gate.runner, { scheduler: 'equal', concurrency: 2, settleBy: 'callback', ...limits })
    const pusher = await at.open(null, limits)
    const { state, act } = await servers.start(board(pusher, { name: 'mails' }))
    for (const type of ['a', 'a', 'b', '<b>']) await pusher.pushType(type, 1, type === '<b>' ? { delayMs: 60000 } : undefined)
    await gate.until(2)
    const { queue: { name, running, waiting, delayed, types } } = await state('?sort=type&order=up')
    assert.deepEqual([name, running, waiting, delayed], ['mails', 2, 2, 1])
    const seen = ({ type, waiting, running, cap, rate, paused }) => [type, waiting, running, cap, rate, paused]
    assert.deepEqual(types.map(seen), [
      ['<b>', 1, 0, null, null, false],
      ['a', 1, 1, 1, null, false],
      ['b', 0, 1, null, { limit: 50, intervalMs: 1000 }, false]
    ])
    assert.deepEqual((await act({ action: 'pauseGlobal', type: 'a' })).json, { result: true })
    assert.equal((await pusher.counts('a')).paused, true)
    assert.deepEqual((await state('?sort=type&order=up')).queue.types.map(({ paused, because }) => [paused, because]), [
      [false, 'delayed'], [true, 'type-paused'], [false, undefined]
    ])
    await act({ action: 'resumeGlobal', type: 'a' })
    assert.equal((await pusher.counts('a')).paused, false)
    gate.release()
    gate.release()
    await gate.until(3)
    gate.release()
  })

  it('retries and deletes dead letters', async function () {
    const gate = gates()
    const queue = await at.open(gate.runner, { maxAttempts: 1, settleBy: 'callback' })
    const { state, act, get } = await servers.start(board(queue, { showPayloads: true }))
    const ids = [await queue.push(1), await queue.push(2)]
    for (let i = 1; i <= 2; i++) {
      await gate.until(i)
      const failed = once(queue, 'failed')
      gate.fail(new RangeError('no'))
      await failed
    }
    const { letters, causes } = (await get('/dead')).json
    assert.deepEqual(letters.map(({ id, attempts, error }) => [id, attempts, error]), ids.map(id => [id, 1, 'RangeError: no']))
    assert.deepEqual([causes, (await state()).queue.dead], [[{ type: '', error: 'RangeError: no', count: 2 }], 2])
    assert.deepEqual((await get(`/dead?after=${encodeURIComponent(ids[0])}`)).json.letters.map(({ id }) => id), [ids[1]])
    assert.deepEqual((await get(`/payload?id=${encodeURIComponent(ids[1])}`)).json, { payload: '2' })
    assert.deepEqual((await act({ action: 'retryDead', id: ids[0] })).json, { result: true })
    await gate.until(3)
    assert.equal(gate.started[2].context.id, ids[0])
    assert.deepEqual((await act({ action: 'deleteDead', id: ids[1] })).json, { result: true })
    assert.deepEqual((await act({ action: 'deleteDead', id: ids[1] })).json, { result: false })
    assert.equal((await state()).queue.dead, 0)
    gate.release()
  })

  it('tells what the broker refuses as a type', async function () {
    const queue = await at.open(null)
    const { act } = await servers.start(board(queue))
    const { status, json } = await act({ action: 'pauseGlobal', type: 'x'.repeat(10000) })
    assert.deepEqual([status, json.error.code], [400, 'FAIRLANE_ERR_TOO_LARGE'])
    assert.equal((await queue.types()).length, 0)
  })
})
