'use strict'

const assert = require('node:assert')
const fairlane = require('../..')
const { innerQueueOf } = require('../../lib/core/internals')
const gates = require('../support/gates')

describe('a job of a facade that is interrupted while it runs', () => {
  it('is told so, as its signal is, once, and keeps its slot until its runner ends', async () => {
    const gate = gates()
    const tickets = []
    const told = []
    const queue = fairlane((payload, done, context) => {
      tickets.push(facade.starting())
      gate.runner(payload, done, context)
    }, { concurrency: 1 })
    const facade = innerQueueOf(queue, (payload, err) => told.push([payload, err]))
    for (const payload of ['first', 'second']) facade.place(undefined, payload, false, Infinity)
    await gate.until(1)
    const { signal } = gate.started[0].context
    const error = new Error('lost')
    for (let times = 0; times < 2; times++) facade.interrupt(tickets[0], error)
    assert.deepEqual(told, [['first', error]])
    assert.equal(signal.reason, error)
    assert.deepEqual(gate.payloads, ['first'])
    gate.release(1)
    await gate.until(2)
    assert.deepEqual(gate.payloads, ['first', 'second'])
    gate.release(1)
    assert.deepEqual(told, [['first', error], ['second', null]])
  })
})
