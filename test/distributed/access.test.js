'use strict'

// Who may reach the broker, and how: the rights that docs/reference/broker.md asks for, passwords, and TLS.

const assert = require('node:assert')
const { readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { Redis } = require('ioredis')
const { Throttled, Postponed, distributed } = require('../../lib/distributed')
const { openAtBroker } = require('../../lib/distributed/visit')
const { codeBlocks } = require('../docs/pages')
const { selfSigned } = require('../support/certificates')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { freePort } = require('../support/ports')
const { describeWithRedis, startRedis } = require('../support/redis')
const { startCluster } = require('../support/redis-cluster')
const { expectReject } = require('./expectations')
const { until } = require('./until')

const PAGE = readFileSync(join(root, 'docs/reference/broker.md'), 'utf8')
const NAME = 'mails'
const PASSWORD = 'a-long-secret'
const NEVER_MS = 10 ** 9 // longer than a test may take

/** The rules of the user in the page, for such a queue and a user of the same name, as arguments of ACL SETUSER. */
function rulesFor (name) {
  const lines = codeBlocks(PAGE).flatMap(({ code }) => code.split('\n')).filter(line => line.startsWith('user mails '))
  assert.equal(lines.length, 1)
  const rules = lines[0].split(' ').slice(1)
  assert(rules.includes(`>${PASSWORD}`))
  return rules.map(rule => rule.replaceAll(NAME, name))
}

/** Does all that queues do at a broker. */
async function useAll (open) {
  const attempts = new Map()
  const limits = { globalTypeCaps: { capped: 1 }, globalConcurrency: 40, rate: { limit: 1000, intervalMs: 1000 } }
  const common = { leaseMs: 1000, priorityMs: 1000, ...limits, ratePerType: new Map([['rated', { limit: 100, intervalMs: 1000 }]]) }
  const worker = await open(async n => {
    const attempt = (attempts.get(n) ?? 0) + 1
    attempts.set(n, attempt)
    if (n === 'fails') throw new Error('down')
    if (n === 'retried' && attempt === 1) throw new Error('once')
    if (n === 'throttled' && attempt === 1) throw new Throttled(10)
    if (n === 'postponed' && attempt === 1) throw new Postponed(10)
    return n
  }, { ...common, scheduler: 'equal', maxAttempts: 2, backoffMs: 1, resultTtlMs: 100 })
  const producer = await open(null, { ...common, maxWaitingPerType: 1000 })
  for (const n of ['plain', 'capped', 'rated', 'retried', 'throttled', 'postponed']) assert.equal(await producer.add(n, { type: n }), n)
  await Promise.all([1, 2, 3].map(n => producer.pushType('together', n)))
  await producer.unshiftType('a', 1, { delayMs: 5 })
  for (let n = 0; n < 2; n++) await producer.pushType('keyed', n, { key: 'k', keyUntil: 'settled' })
  await producer.pushAll([{ payload: 1, type: 'a', priority: 3 }, { payload: 2, type: 'b' }])
  assert.equal(await producer.wait(await producer.pushType('waited', 1, { delayMs: 50 })), 1)
  await producer.setSchedule('nightly', { everyMs: 3600000, payload: 1, type: 'timed' })
  assert.equal(await producer.wait(await producer.runSchedule('nightly')), 1)
  assert.equal((await producer.listSchedules()).length, 1)
  assert.equal((await producer.listRunning()).length, 0)
  await producer.setSchedule('nightly', null)
  assert.equal((await producer.health()).lastError, undefined)
  await assert.rejects(producer.add('fails', { type: 'gone' }), /down/)
  assert.equal(await producer.clear({ type: 'gone', dead: true }), 1)
  await assert.rejects(producer.add('fails', { type: 'dead' }), /down/)
  const [{ id }] = await producer.deadLetters()
  assert.equal(await producer.retryDead(id), true)
  await until(async () => (await producer.get(id))?.state === 'dead')
  assert.equal(await producer.deleteDead(id), true)
  await producer.pauseGlobal('paused')
  const paused = await producer.pushType('paused', 1)
  assert.equal((await producer.get(paused)).state, 'waiting')
  assert.equal(await producer.cancel(paused), true)
  await producer.pushType('paused', 2)
  assert.equal(await producer.clear({ type: 'paused' }), 1)
  await producer.resumeGlobal('paused')
  await producer.setGlobalCap('a', 2)
  await producer.setGlobalCap('a', Infinity)
  await producer.setRates({ rate: { limit: 100, intervalMs: 1000 }, ratePerType: { limit: 100, intervalMs: 1000 } })
  await producer.setGlobalConcurrency(50)
  await producer.hold(1)
  await producer.setRates({ rate: null, ratePerType: null })
  await producer.holdType('a', 1)
  const ids = await producer.pushAll([{ type: 'together', payload: 'x' }, { type: 'keyed', payload: 'y', key: 'k' }])
  assert.deepEqual(await Promise.all(ids.map(id => producer.wait(id))), ['x', 'y'])
  await producer.setSchedule('tick', { everyMs: 3600000, type: 'tick', payload: 'tick' })
  assert.equal(await producer.wait(await producer.runSchedule('tick')), 'tick')
  assert.equal((await producer.listSchedules()).length, 1)
  await producer.setSchedule('tick', null)
  assert.equal((await producer.health()).connected, true)
  assert.equal(await producer.clear({ dead: true }), 0)
  await producer.onIdle()
  assert.deepEqual(await producer.types(), [])
  assert.equal((await producer.counts()).dead, 0)
  // those that the keeper does: results whose time is over, keys of idle types
  await until(async () => (await producer.types()).length === 0)
  return { worker, producer }
}

describeWithRedis('the user that docs/reference/broker.md describes', function () {
  const queues = []
  let server

  before(async () => {
    server = await startRedis()
    for (const name of [NAME, 'letters']) server.cli('acl', 'setuser', ...rulesFor(name))
  })
  after(() => server.stop())
  afterEach(() => Promise.all(queues.splice(0).map(queue => queue.close({ timeoutMs: 0 }))))

  async function open (runner, { name, ...options }) {
    const connection = { path: server.path, username: name, password: PASSWORD }
    const queue = await distributed(runner, { name, connection, settleBy: 'promise', ...options })
    queues.push(queue)
    return queue
  }

  it('may do all that a queue does, of one partition or of several, once the names are replaced', async () => {
    const workers = await Promise.all([[NAME, 1], ['letters', 4]].map(async ([name, partitions]) => {
      const { worker } = await useAll((runner, options) => open(runner, { name, partitions, ...options }))
      return worker
    }))
    const left = () => server.cli('--scan', '--pattern', '*:plain:*').split('\n').filter(Boolean).length
    await until(() => left() === 0) // the keeper has walked over it
    for (const worker of workers) assert.equal(worker.stats().lost, 0)
    await Promise.all(queues.splice(0).map(queue => queue.close()))
    assert.equal(server.cli('acl', 'log'), '')
  })

  it('may do nothing else', async () => {
    const client = new Redis({ path: server.path, username: NAME, password: PASSWORD })
    const calls = [
      ['get', '{fairlane:others}:x'], ['set', '{fairlane:mails2}:x', '1'], ['subscribe', '{fairlane:others}:.wake'],
      ['publish', '{fairlane:others}:.wake', 'x'], ['keys', '*'], ['scan', '0'], ['randomkey'], ['flushall'], ['flushdb'],
      ['config', 'get', '*'], ['acl', 'list'],
      ['client', 'list'], ['shutdown'], ['script', 'flush'], ['monitor'], ['replicaof', 'no', 'one'],
      ['eval', "return redis.call('GET', 'other')", '0']
    ]
    try {
      for (const [name, ...args] of calls) await assert.rejects(client.call(name, ...args), /NOPERM|ACL failure|can't access/, name)
    } finally {
      client.disconnect()
    }
  })

  it('may export jobs, and those of types with many with what the page has it be given beside that', async () => {
    assert(PAGE.includes('of a type with many jobs also needs `+scan`'))
    const queue = await open(null, { name: NAME })
    await queue.pushType('few', 1)
    await queue.pushAll(Array.from({ length: 600 }, (_, payload) => ({ type: 'many', payload })))
    server.cli('acl', 'setuser', 'looks', ...rulesFor(NAME).slice(1), '+scan')
    for (const [username, count] of [[NAME, 1], ['looks', 601]]) {
      const connection = { path: server.path, username, password: PASSWORD }
      const visitor = await openAtBroker({ name: NAME, connection, pushTimeoutMs: 10000 })
      const found = []
      const all = async () => { for await (const { id } of visitor.jobs()) found.push(id) }
      try {
        if (count === 1) await assert.rejects(all(), /NOPERM.*scan/)
        else await all()
        assert.equal(new Set(found).size, count)
      } finally {
        await visitor.queue.close()
      }
    }
    await queue.clear()
    server.cli('acl', 'log', 'reset')
  })

  const connectionWith = password => ({ path: server.path, username: NAME, password })

  it('is refused at once with a wrong password, and without one', async () => {
    const { cause } = await expectReject(
      distributed(null, { name: NAME, connection: connectionWith('wrong'), pushTimeoutMs: NEVER_MS }), 'FAIRLANE_ERR_BROKER'
    )
    assert.match(cause.message, /^WRONGPASS /)
    const locked = await startRedis(['--requirepass', PASSWORD])
    try {
      const { cause, message } = await expectReject(
        distributed(null, { name: NAME, connection: locked.connection, pushTimeoutMs: NEVER_MS }), 'FAIRLANE_ERR_BROKER'
      )
      assert.match(cause.message, /^NOAUTH /)
      assert(message.includes(cause.message))
    } finally {
      await locked.stop()
    }
  })

  it('is refused at once if it may not do what a queue does, as a producer or a worker', async () => {
    server.cli('acl', 'setuser', 'nobody', 'on', `>${PASSWORD}`, '~*', '+info', '+ping')
    for (const runner of [null, async () => {}]) {
      const { cause } = await expectReject(
        distributed(
          runner, { name: NAME, connection: { path: server.path, username: 'nobody', password: PASSWORD }, pushTimeoutMs: NEVER_MS }
        ), 'FAIRLANE_ERR_BROKER'
      )
      assert.match(cause.message, /^NOPERM /)
    }
  })

  it('has pushes refused at once while its password is another, not the ends of jobs, and goes on when it is as it was', async () => {
    const gate = gates()
    const worker = await open(gate.runner, { name: NAME, settleBy: 'callback', pushTimeoutMs: NEVER_MS })
    const running = worker.add('running', { type: 'a' })
    await gate.until(1)
    server.cli('acl', 'setuser', NAME, 'resetpass', '>another')
    server.cli('client', 'kill', 'user', NAME)
    for (const pushed of [worker.push(1), worker.add(2), worker.counts()]) {
      assert.match((await expectReject(pushed, 'FAIRLANE_ERR_BROKER')).cause.message, /^WRONGPASS /)
    }
    const together = await Promise.all([1, 2, 3].map(n => expectReject(worker.pushType('b', n), 'FAIRLANE_ERR_BROKER')))
    for (const { cause } of together) assert.match(cause.message, /^WRONGPASS /)
    gate.release(1)
    server.cli('acl', 'setuser', NAME, 'resetpass', `>${PASSWORD}`)
    assert.equal(await running, 'running')
    await worker.push('again')
    await gate.until(2)
    gate.release(1)
    await worker.onIdle()
    assert.deepEqual(gate.payloads, ['running', 'again'])
  })
})

describeWithRedis('the user that docs/reference/broker.md describes, of a Redis Cluster,', function () {
  const MORE = ['+cluster|slots', '+cluster|info', '+client|setname', '+config|get']
  const queues = []
  let cluster

  before(async () => {
    cluster = await startCluster(['--cluster-require-full-coverage', 'no'])
    for (const rights of [MORE.slice(0, 3), MORE.slice(3)]) assert(PAGE.includes(`\`${rights.join(' ')}\``), `${rights}`)
    for (const port of cluster.ports) cluster.cli('-p', String(port), 'acl', 'setuser', ...rulesFor(NAME), ...MORE)
  })
  after(async () => {
    await Promise.all(queues.map(queue => queue.close()))
    await cluster.stop()
  })

  it('may do all that a queue does, with what the page has it be given beside that', async () => {
    const connection = cluster.ports.map(port => `redis://${NAME}:${PASSWORD}@127.0.0.1:${port}`)
    await useAll(async (runner, options) => {
      const queue = await distributed(runner, { name: NAME, connection, settleBy: 'promise', ...options })
      queues.push(queue)
      return queue
    })
    for (const port of cluster.ports) assert.equal(cluster.cli('-p', String(port), 'acl', 'log').trim(), '')
  })
})

describeWithRedis('TLS', function () {
  let folder, server, port, cert

  before(async function () {
    folder = temporaryFolder()
    const pair = selfSigned()
    cert = pair.cert
    for (const [name, text] of Object.entries(pair)) writeFileSync(join(folder, `${name}.pem`), text)
    port = await freePort()
    const settings = {
      'tls-port': port, 'tls-key-file': join(folder, 'key.pem'), 'tls-cert-file': join(folder, 'cert.pem'), 'tls-auth-clients': 'no'
    }
    try {
      server = await startRedis(Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]))
    } catch (err) {
      if (!/tls/i.test(err.message)) throw err
      console.error('SKIPPED: this server is built without TLS')
      this.skip()
    }
  })
  after(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  it('is an option of the connection, with the certificate that the server is to have', async () => {
    const connection = { host: 'localhost', port, tls: { ca: cert } }
    const worker = await distributed(async n => n, { name: NAME, connection, settleBy: 'promise' })
    const producer = await distributed(null, { name: NAME, connection })
    assert.equal(await producer.add(1), 1)
    await producer.close()
    await worker.close()
  })

  it('refuses a server whose certificate nobody has vouched for', async () => {
    const { cause } = await expectReject(
      distributed(null, { name: NAME, connection: `rediss://localhost:${port}`, pushTimeoutMs: NEVER_MS }), 'FAIRLANE_ERR_BROKER'
    )
    assert.equal(cause.code, 'DEPTH_ZERO_SELF_SIGNED_CERT')
  })
})
