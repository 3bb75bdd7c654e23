'use strict'

const assert = require('node:assert/strict')
const { Bench } = require('./bench')

describe('a queue on disk whose types have groups', function () {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  it('shares among these, and tells of them', async function () {
    const schedulerOptions = { groupOf: type => type[0], groupCaps: { a: 1 } }
    const queue = await bench.open({ scheduler: 'equal', concurrency: 4, schedulerOptions })
    for (const type of ['a1', 'a2', 'b1', 'b2']) await queue.pushType(type, type)
    await bench.gate.until(3)
    assert.deepEqual(bench.gate.payloads.sort(), ['a1', 'b1', 'b2'])
    assert.deepEqual([queue.stats().groups, queue.stats('a2').group, queue.stats('c1').group], [2, 'a', 'c'])
  })

  it('has none without groupOf', async function () {
    const queue = await bench.open({ scheduler: 'equal' })
    assert.deepEqual([queue.stats().groups, 'group' in queue.stats('a')], [0, false])
  })
})
