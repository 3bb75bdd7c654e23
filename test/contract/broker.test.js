'use strict'

const contract = require('../../lib/testing/contract')
const { describeWithRedis, startRedis } = require('../support/redis')
const { atBroker } = require('./engines')

describeWithRedis('a queue at a broker keeps the contract of all engines:', () => {
  let server
  before(async () => { server = await startRedis() })
  after(() => server.stop())

  const make = atBroker(() => server.connection)
  contract({ describe, it, make, capabilities: contract.capabilitiesOf('broker'), entry: require('../../lib/distributed') })
})
