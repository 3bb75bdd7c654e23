'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const { Dispatch } = require('../../../lib/core/dispatch')
const { Fifo } = require('../../../lib/core/lists/fifo')
const gates = require('../../support/gates')
const { captureUncaught } = require('../../support/uncaught')
const { quiet } = require('../../support/turns')

describe('a list that fails', function () {
  it('stops neither the jobs that run nor later ones', async function () {
    const uncaught = captureUncaught()
    const ended = []
    const list = new Fifo()
    const dispatch = new Dispatch((payload, done) => setImmediate(done), list, { concurrency: 1, settleBy: 'either' }, { onDrain () {} })
    list.take = () => { throw new Error('no job') }
    list.push(undefined, 1, () => ended.push(1))
    dispatch.accept()
    await quiet()
    delete list.take
    list.push(undefined, 2, () => ended.push(2))
    dispatch.accept()
    await quiet()
    uncaught.release()
    assert.deepEqual(uncaught.seen.map(({ message }) => message), ['no job'])
    assert.deepEqual(ended, [1, 2])
  })
})

describe('the caller\'s code inside a scheduler', function () {
  const scheduler = (methods) => ({ waiting () {}, start () {}, done () {}, select: () => 0, ...methods })

  it('settles other jobs without taking their place', async function () {
    const gate = gates()
    const order = []
    const inDone = () => { if (gate.open.length === 1) gate.release() }
    const queue = fairlane(gate.runner, { concurrency: 2, scheduler: scheduler({ done: inDone }) })
    queue.pushType('a', 1, () => order.push(1)).pushType('a', 2, () => order.push(2))
    await gate.until(2)
    gate.release(1)
    await quiet()
    assert.deepEqual(order.sort(), [1, 2])
    assert.equal(queue.stats().done, 2)
  })

  it('finds counts that add up when a job starts', async function () {
    const seen = []
    const look = () => {
      const { accepted, waiting, running, done } = queue.stats()
      seen.push(accepted - waiting - running - done)
    }
    const select = () => { look(); return 0 }
    const queue = fairlane((payload, done) => done(), { scheduler: scheduler({ start: look, done: look, select }) })
    for (let i = 0; i < 3; i++) queue.pushType('a', i)
    await queue.onIdle()
    assert.deepEqual(seen, Array(9).fill(0))
  })

  it('has the queue ask again by a push when it has just said that none may start', async function () {
    let isFirst = true
    const select = () => {
      if (!isFirst) return 0
      isFirst = false
      queue.pushType('a', 2)
      return -1
    }
    const queue = fairlane((payload, done) => done(), { scheduler: scheduler({ select }) })
    queue.pushType('a', 1)
    await queue.onIdle()
    assert.equal(queue.stats().done, 2)
  })
})

describe('a context that the caller\'s code is inside of', function () {
  it('is not that of the callbacks of jobs that it clears, nor of a drain that follows', async function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const look = () => seen.push(als.getStore())
    const queue = fairlane(() => {}).pause()
    let isFirst = true
    queue.drain = () => {
      look()
      if (isFirst) als.run('drain', () => { isFirst = false; queue.push(3, look).clear() })
    }
    queue.push(1, () => als.run('callback', () => queue.clear())).push(2, look)
    queue.remove(({ payload }) => payload === 1)
    await quiet()
    assert.deepEqual(seen, Array(4).fill(undefined))
  })
})
