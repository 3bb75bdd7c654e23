'use strict'

// Who may observe a queue of which engine: histories, metrics and controls are no part of what fairlane/testing/contract knows.

const assert = require('node:assert')
const { adaptive } = require('../../lib/adaptive')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const contract = require('../../lib/testing/contract')
const { describeWithRedis, startRedis } = require('../support/redis')
const { atBroker, inMemory, onDisk } = require('./engines')

describeWithRedis('observers', () => {
  let server
  before(async () => { server = await startRedis() })
  after(() => server.stop())

  const makers = { memory: inMemory, disk: onDisk, broker: atBroker(() => server.connection) }

  for (const engine of contract.ENGINES) {
    const open = (...observers) => makers[engine](async payload => payload, { settleBy: 'promise', scheduler: 'equal', observers })

    it(`of the engine '${engine}' may be metrics`, async () => {
      const metrics = new Metrics()
      const { queue, close } = await open(metrics)
      await queue.add(1, { type: 't' })
      await queue.onIdle()
      assert.match(Buffer.from(metrics.toText()).toString(), /^fairlane_\w+.*type="t".* 1$/m)
      await close()
    })

    const may = contract.CAPABILITIES.history.engines.includes(engine)
    it(`of the engine '${engine}' may ${may ? '' : 'not '}be histories`, async () => {
      const opening = (async () => open(new History()))()
      if (may) await (await opening).close()
      else await assert.rejects(opening, { code: 'FAIRLANE_ERR_OPTION' })
    })

    it(`of the engine '${engine}' may ${may ? '' : 'not '}be controls`, async () => {
      const control = adaptive({ most: 4 })
      const opening = (async () => open(control))()
      if (!may) return assert.rejects(opening, { code: 'FAIRLANE_ERR_OPTION' })
      const { queue, close } = await opening
      assert.equal(queue.concurrency, 4)
      await queue.add(1, { type: 't' })
      assert.equal(control.stats().classes, 1)
      await close()
    })
  }
})
