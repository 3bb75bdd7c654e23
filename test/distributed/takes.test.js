'use strict'

const assert = require('node:assert')
const { Takes } = require('../../lib/distributed/broker/takes')
const { quiet } = require('../support/turns')

const place = { name: 'a', partition: { limits: 'limits', wake: 'wake', generation: 1 }, keysOf: names => names, key: what => what }

describe('what a runner says that its job costs', () => {
  it('is told once a turn, and if it is lost the charge stays', async () => {
    const told = []
    const fairlaneSpent = (...args) => {
      told.push(args.at(-3))
      return Promise.reject(new Error('away'))
    }
    const supply = { askAgain: () => assert.fail('nothing is free') }
    const takes = new Takes({ broker: { client: { fairlaneSpent } }, starts: {} }, { token: 'me', leaseMs: 1000 })
    const job = { name: '1', place, json: { attemptsStarted: 1 }, supply }
    for (const units of [3, 4]) takes.spent(job, units)
    await quiet()
    takes.spent(job, 5)
    await quiet()
    assert.deepEqual(told, [4, 5])
  })
})
