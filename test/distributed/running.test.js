'use strict'

const assert = require('node:assert')
const { Running } = require('../../lib/distributed/calls/running')

/** The records of jobs of one type, by their names: the list of those that run is read before them. */
function runningOf (records) {
  const place = { partition: {}, key: what => what }
  const broker = { soon: ask => ask(), askAll: async () => [Object.keys(records)] }
  const globals = {
    somePlaces: async function * () { yield [place] },
    count: async () => [Object.keys(records).length]
  }
  return new Running({
    broker,
    globals,
    records: { readAll: async jobs => jobs.map(({ name }) => records[name]), entryOf: (place, id) => ({ id, type: 'a', attempts: 0 }) }
  })
}

describe('what runs at a broker', () => {
  it('has no job that has ended since, and says of one that has not begun when it was pushed', async () => {
    const running = runningOf({ pushed: { timestamp: '7' }, ended: undefined, begun: { timestamp: '1', processedOn: '9' } })
    const found = await running.list({ type: undefined, limit: 10 })
    assert.deepEqual(found.map(({ id, startedAt }) => [id, startedAt]), [['pushed', 7], ['begun', 9]])
  })
})
