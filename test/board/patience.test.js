'use strict'

const assert = require('node:assert/strict')
const { Patience } = require('../../lib/board/patience')
const { fakeClock } = require('../../lib/testing')
const { quiet } = require('../support/turns')

const never = () => new Promise(() => {})

describe('how long a request waits for a queue', function () {
  let clock, patience, told

  beforeEach(function () {
    clock = fakeClock(1000)
    patience = new Patience(clock)
    told = []
  })

  const hear = answer => answer.then(value => told.push(value), err => told.push(err.message))

  it('is two seconds where it only asks, and five where it does something', async function () {
    hear(patience.ask('state', never))
    hear(patience.act(never()))
    clock.advance(1999)
    await quiet()
    assert.deepEqual(told, [])
    clock.advance(1)
    await quiet()
    assert.deepEqual(told, ['The queue has not answered for 2 s.'])
    clock.advance(2999)
    await quiet()
    assert.equal(told.length, 1)
    clock.advance(1)
    await quiet()
    assert.equal(told[1], 'The queue has not answered for 5 s. It may still do what was asked.')
  })

  it('is nothing while the queue owes an answer to the like, and says in whole seconds for how long it has', async function () {
    hear(patience.ask('state', never))
    clock.advance(2000)
    for (const ms of [998499, 2]) {
      clock.advance(ms)
      await assert.rejects(patience.ask('state', () => assert.fail('it is asked again')), {
        status: 504, message: `The queue has not answered for ${ms === 2 ? 1001 : 1000} s.`
      })
    }
    hear(patience.ask('dead letters', async () => 'others'))
    await quiet()
    assert.equal(told.at(-1), 'others')
  })
})
