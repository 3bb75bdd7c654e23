'use strict'

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { until } = require('./until')

describeWithRedis('map() at a broker', function () {
  const at = atServer()

  it('runs a job for each value, wherever, and gives the results in order', async () => {
    await at.open(async (n, { type }) => `${type} ${n}`, { concurrency: 5 })
    const producer = await at.open(null)
    const results = []
    for await (const result of producer.map([1, 2, 3, 4, 5], { type: 'a', maxPending: 2 })) results.push(result)
    assert.deepEqual(results, ['a 1', 'a 2', 'a 3', 'a 4', 'a 5'])
    const untyped = []
    for await (const result of producer.map([1])) untyped.push(result)
    assert.deepEqual(untyped, [' 1'])
  })

  it('waits for room where a type is limited', async () => {
    const worker = await at.open(async n => n, { concurrency: 1 })
    worker.pause()
    const producer = await at.open(null, { maxWaitingPerType: 2 })
    const results = []
    const mapping = (async () => {
      for await (const result of producer.map([1, 2, 3, 4, 5], { type: 'a', maxPending: 5 })) results.push(result)
    })()
    await until(async () => (await producer.counts()).waiting === 2)
    worker.resume()
    await mapping
    assert.deepEqual(results, [1, 2, 3, 4, 5])
    assert.equal(producer.stats().rejected, 0)
  })

  it('takes away what waits when its consumer stops, and ends with the queue', async () => {
    const producer = await at.open(null, { maxWaitingPerType: 1 })
    const results = producer.map([1, 2, 3], { type: 'a' })
    const first = results.next()
    await until(async () => (await producer.counts()).waiting === 1)
    await results.return()
    assert.deepEqual(await first, { done: true, value: undefined })
    await until(async () => (await producer.counts()).waiting === 0)
    const closed = assert.rejects(producer.map([1, 2], { type: 'b' }).next(), { code: 'FAIRLANE_ERR_CLOSED' })
    await until(async () => (await producer.counts()).waiting === 1)
    await producer.close()
    await closed
  })
})
