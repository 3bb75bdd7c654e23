'use strict'

// The programs of examples/distributed as processes of their own, and what else is said of them. frameworks.js runs the dashboard.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { codeBlocks } = require('../docs/pages')
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
    await once(producer, 'close') // with all that it has printed
    const lines = producer.output.trim().split('\n')
    assert.deepEqual(lines.map(line => line.match(/^mail to (\w+)-\d+, after \d+ ms$/)?.[1]).at(-1), 'flood')
    assert.equal(lines.length, 3)
    for (const worker of workers) worker.kill('SIGTERM')
    assert.deepEqual(await Promise.all(workers.map(worker => once(worker, 'exit'))), [[0, null], [0, null]])
  })
})

describe('the papers of the examples for many machines', function () {
  const read = path => readFileSync(join(root, path), 'utf8')
  const installLineOf = program => /npm install (.+)/.exec(read(`examples/distributed/${program}`))[1]

  it('compose.yaml has a broker that keeps jobs, two workers, a producer and a dashboard, each with the packages that it says it needs', () => {
    const services = [...read('examples/distributed/compose.yaml').matchAll(/^ {2}(\w+):\n((?: {4}.*\n)+)/gm)].map(([, name, text]) => ({ name, text }))
    assert.deepEqual(services.map(({ name }) => name), ['redis', 'worker', 'producer', 'dashboard'])
    const [redis, worker] = services
    assert.match(redis.text, /--appendonly yes --maxmemory-policy noeviction/)
    assert.match(worker.text, /replicas: 2/)
    for (const { name, text } of services.slice(1)) {
      const [, packages, program] = /npm install --silent (.+) && exec node (.+)"/.exec(text)
      assert.equal(program, `${name}.mjs`)
      assert.equal(packages, installLineOf(program))
    }
  })

  it('docs/reference/broker.md shows the lines of the dashboard', () => {
    const shown = codeBlocks(read('docs/reference/broker.md')).find(({ code }) => code.includes('createBullBoard'))
    assert(read('examples/distributed/dashboard.mjs').includes(shown.code))
  })
})
