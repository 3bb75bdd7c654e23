'use strict'

// The programs of examples/distributed as processes of their own, and the page's tables against the code.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')
const { root } = require('../support/child')
const { describeWithRedis, startRedis } = require('../support/redis')

describeWithRedis('the examples for many machines', function () {
  let server

  before(async () => { server = await startRedis() })
  after(() => server.stop())

  function start (name) {
    const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'examples', 'distributed', name)]
    const child = spawn('env', args, { env: { ...process.env, REDIS_URL: server.path }, stdio: ['ignore', 'pipe', 'inherit'] })
    child.output = ''
    child.stdout.setEncoding('utf8').on('data', text => { child.output += text })
    return child
  }

  it('two workers run what the producer pushes, quiet tenants before the flood is over', async function () {
    const workers = [start('worker.mjs'), start('worker.mjs')]
    await Promise.all(workers.map(worker => once(worker.stdout, 'data')))
    const producer = start('producer.mjs')
    await once(producer, 'exit')
    const lines = producer.output.trim().split('\n')
    assert.deepEqual(lines.map(line => line.match(/^mail to (\w+)-\d+, after \d+ ms$/)?.[1]).at(-1), 'flood')
    assert.equal(lines.length, 3)
    for (const worker of workers) worker.kill('SIGTERM')
    assert.deepEqual(await Promise.all(workers.map(worker => once(worker, 'exit'))), [[0, null], [0, null]])
  })
})
