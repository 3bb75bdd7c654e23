'use strict'

// The contract at a Redis Cluster of three masters: npm run test:cluster, and a part of npm run test:long.

const contract = require('../../lib/testing/contract')
const { describeWithRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')
const { atBroker } = require('./engines')

describeWithRedis('a queue at a Redis Cluster keeps the contract of all engines:', () => {
  let cluster
  before(async () => { cluster = await startCluster(['--cluster-require-full-coverage', 'no']) })
  after(() => cluster.stop())

  const make = atBroker(() => cluster.urls)
  contract({ describe, it, make, capabilities: contract.capabilitiesOf('broker'), entry: require('../../lib/distributed') })
})
