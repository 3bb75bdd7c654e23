'use strict'

const assert = require('node:assert')
const { Buffers } = require('../../lib/log/buffers')

describe('the buffers of groups', () => {
  it('are used again if they are long enough', () => {
    const buffers = new Buffers()
    const [small, large] = [buffers.take(10), buffers.take(100000)]
    assert.deepEqual([small.length, large.length], [2 ** 14, 2 ** 17])
    buffers.giveBack(large)
    buffers.giveBack(small)
    assert.equal(buffers.take(20000), large)
    assert.equal(buffers.take(2 ** 14), small)
    assert.notEqual(buffers.take(10), small)
  })

  it('are not kept for ever, nor any number of them', () => {
    const buffers = new Buffers()
    const huge = buffers.take(2 ** 24 + 1)
    assert.equal(huge.length, 2 ** 24 + 1)
    buffers.giveBack(huge)
    assert.notEqual(buffers.take(2 ** 24), huge)
    const many = Array.from({ length: 12 }, () => buffers.take(2 ** 20))
    for (const buffer of many) buffers.giveBack(buffer)
    const again = Array.from({ length: 12 }, () => buffers.take(2 ** 20))
    assert.deepEqual(many.map(buffer => again.includes(buffer)), many.map((_, i) => i >= 4))
  })
})
