'use strict'

const { rmSync } = require('node:fs')
const { durable } = require('../../lib/durable')
const { behaveAsJobQueues } = require('../shared/job-queues')
const { temporaryFolder } = require('../support/folders')

describe('a durable queue, as one of jobs', () => {
  let path
  const queues = []

  async function open (runner, options) {
    const queue = await durable(runner, { path, ack: 'os', settleBy: 'promise', ...options })
    queues.push(queue)
    return queue
  }

  beforeEach(() => { path = temporaryFolder() })
  afterEach(async () => {
    await Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 })))
    rmSync(path, { recursive: true })
  })

  behaveAsJobQueues({ open, unknownIds: [77, 0, -1] })
})
