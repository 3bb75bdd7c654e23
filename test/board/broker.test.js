'use strict'

// What is asked of a queue at a broker, and what of the answers is told. test/distributed/board.test.js has a real one.

const assert = require('node:assert/strict')
const { board } = require('../../lib/board')
const { atServers } = require('./asked')
const { atBroker } = require('./at-broker')

describe('a page for a queue at a broker', function () {
  const servers = atServers()

  it('tells what all processes have of it, and the times of this one', async function () {
    const queue = atBroker({
      types: [{ type: 'b', waiting: 8, delayed: 0, running: 1, dead: 0 }, { type: 'a', waiting: 1, delayed: 2, running: 2, dead: 1 }],
      settings: { a: { cap: 4, rate: { limit: 10, intervalMs: 1000 }, paused: true } },
      deadLetters: [{ id: '1:a', type: 'a', attempts: 5, error: new TypeError('no'), at: 0, payload: {} }]
    })
    const times = { sum: 30, p50: 2, p99: 9, buckets: [] }
    const measured = { waiting: 7, running: 7, done: 5, failed: 1, cancelled: 0, retried: 4, slotMs: 30, waitMs: times, runMs: times }
    const metrics = { snapshot: () => ({ name: 'mails', starving: [], refused: { FAIRLANE_ERR_QUEUE_FULL: 2 }, types: [{ type: 'a', isType: true, ...measured }, { type: 'idle', isType: true, ...measured, slotMs: 90 }] }) }
    const { state } = await servers.start(board(queue, { metrics }))
    const { queues: [{ types, ...rest }] } = await state()
    assert.deepEqual(rest, {
      name: 'mails',
      closed: false,
      slots: 5,
      paused: false,
      waiting: 9,
      delayed: 2,
      running: 3,
      dead: 1,
      fairness: null,
      starving: [],
      starvingCount: 0,
      refused: { FAIRLANE_ERR_QUEUE_FULL: 2 },
      actions: ['pauseGlobal', 'resumeGlobal', 'retryDead', 'deleteDead'],
      typeCount: 3,
      deadLetters: [{ id: '1:a', type: 'a', attempts: 5, error: 'TypeError: no' }],
      failures: null
    })
    const seen = ({ type, share, waiting, running, cap, weight, rate, paused, done, isType, waitMs }) =>
      [type, share, waiting, running, cap, weight, rate, paused, done, isType, waitMs.p99]
    assert.deepEqual(types.map(seen), [
      ['idle', 0.75, 0, 0, null, 4, null, false, 5, true, 9],
      ['a', 0.25, 1, 2, 4, 1, { limit: 10, intervalMs: 1000 }, true, 5, true, 9],
      ['b', 0, 8, 1, null, 1, null, false, 0, true, null]
    ])
    assert.deepEqual(queue.calls, [['deadLetters', { limit: 100 }]])
  })

  it('needs no metrics, and no runner', async function () {
    const queue = atBroker({ types: [{ type: 'a', waiting: 1, delayed: 0, running: 0, dead: 0 }], scheduler: null })
    Object.defineProperty(queue, 'concurrency', { get () { throw new TypeError('this process runs no jobs') } })
    const { state } = await servers.start(board(queue))
    const { queues: [{ name, slots, types: [{ type, share, weight }] }] } = await state()
    assert.deepEqual([name, slots, type, share, weight], ['default', null, 'a', 0, null])
  })

  it('acts in all processes, or not at all', async function () {
    const queue = atBroker()
    const { act } = await servers.start(board({ mails: { queue } }))
    assert.deepEqual((await act({ action: 'pauseGlobal', type: 'a' })).json, { result: true })
    assert.deepEqual((await act({ action: 'resumeGlobal', type: 'a', queue: 'mails' })).json, { result: true })
    assert.deepEqual((await act({ action: 'retryDead', id: '1:a' })).json, { result: true })
    assert.deepEqual((await act({ action: 'retryDead', id: '2:a' })).json, { result: false })
    for (const action of ['pauseType', 'resumeType', 'clearType', 'pause', 'resume']) assert.equal((await act({ action, type: 'a' })).status, 400)
    assert.deepEqual(queue.calls, [['pauseGlobal', 'a'], ['resumeGlobal', 'a']])
  })
})
