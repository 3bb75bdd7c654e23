'use strict'

const assert = require('node:assert')
const { Slots } = require('../../lib/distributed/worker/slots')

describe('what a token costs', () => {
  it('is what the job costs that was taken ahead, else what the last one did; known is the first alone', () => {
    let told
    const stage = { list: { needsCost: true }, shareCosts (costs) { told = costs } }
    const slots = new Slots({ core: { scheduler: {}, concurrency: 1 }, stage, starts: {} }, { isPaused: () => false })
    slots.shareCosts()
    const tokenOf = (...costs) => ({ supply: { prefetched: costs.map(cost => ({ cost })), lastCost: 7 } })
    const costs = token => [told.expectedOf(token), told.knownOf(token)]
    assert.deepEqual([tokenOf(), tokenOf(3, 4), tokenOf(undefined)].map(costs), [[7, 0], [3, 3], [1, 1]])
    assert.equal(slots.unsaidCost, 1)
  })
})
