'use strict'

const { behaveAsJobQueues } = require('../shared/job-queues')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')

describeWithRedis('a distributed queue, as one of jobs', () => {
  const { open } = atServer()
  behaveAsJobQueues({ open, unknownIds: ['t:nobody', 'nonsense', ''] })
})
