'use strict'

const assert = require('node:assert')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atServer, servers } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('the health of a queue at a broker', function () {
  const at = atServer()
  const open = openRigged(at)

  it('is that of each partition, and says when its keeper last walked', async () => {
    const begin = Date.now()
    const queue = await at.open(null, { partitions: 2 })
    const { partitions, ...all } = await queue.health()
    assert.deepEqual(partitions, [0, 1].map(index => {
      return { prefix: `{fairlane:${at.name}:${index}}`, connected: true, lastKeeperWalkAt: undefined }
    }))
    const { lastAnswerAt } = all
    assert(lastAnswerAt >= begin && lastAnswerAt <= Date.now())
    assert.deepEqual(all, { connected: true, lastAnswerAt, lastKeeperWalkAt: undefined, lastError: undefined, lastErrorAt: undefined })
    await at.open(async () => {}, { partitions: 2, leaseMs: 1000 })
    await until(async () => (await queue.health()).lastKeeperWalkAt >= begin)
    const { lastKeeperWalkAt, partitions: walked } = await queue.health()
    assert.equal(lastKeeperWalkAt, Math.min(...walked.map(({ lastKeeperWalkAt }) => lastKeeperWalkAt)))
  })

  it('is bad while the broker does not answer, or refuses, and says what it failed with', async () => {
    const { queue, rig } = await open(null)
    const { lastAnswerAt } = await queue.health()
    rig.refuse('get', new Error('NOPERM refused by the test'))
    const refused = await queue.health()
    assert.deepEqual([refused.connected, refused.lastError.message, refused.lastAnswerAt], [false, 'NOPERM refused by the test', lastAnswerAt])
    assert(refused.lastErrorAt >= lastAnswerAt)
    const late = rig.delay('get')
    assert.equal((await queue.health()).connected, false)
    late.open()
    assert.equal((await queue.health()).connected, true)
    await queue.close()
    assert.equal((await queue.health()).connected, false)
  })

  it('says what the broker refused while nobody waited for it', async () => {
    const queue = await at.open(async () => {})
    at.server.cli('set', `{fairlane:${at.name}}:odd:wait`, '1')
    at.server.cli('sadd', `{fairlane:${at.name}}:.ready`, 'odd')
    at.server.cli('publish', `{fairlane:${at.name}}:.wake`, JSON.stringify([1, ['odd']]))
    await until(async () => (await queue.health()).lastError?.code === 'FAIRLANE_ERR_BROKER')
  })
})

describeWithRedis('a queue whose broker is away', function () {
  const { startServer, open } = servers()

  it('says so', async () => {
    const server = await startServer()
    const queue = await open(server, null)
    assert.equal((await queue.health()).connected, true)
    await server.kill()
    await until(async () => (await queue.health()).lastError !== undefined)
    assert.equal((await queue.health()).connected, false)
    await server.start()
    await until(async () => (await queue.health()).connected)
  })
})

describeWithRedis('closing a queue at a broker', function () {
  const at = atServer()

  it('does not run what waits, and says so to whoever asks for that', async () => {
    const queue = await at.open(async () => {})
    assert.throws(() => queue.close({ drain: true }), { name: 'TypeError', code: 'FAIRLANE_ERR_UNSUPPORTED', message: /in memory and on disk.*Use/ })
    assert.equal(queue.closed, false)
    assert.equal(await queue.close({ drain: false }), 0)
  })

  for (const how of ['a call', 'its signal']) {
    it(`by ${how} waits for what runs`, async () => {
      const gate = gates()
      const controller = new AbortController()
      const queue = await at.open(gate.runner, { settleBy: 'callback', signal: controller.signal })
      const result = queue.add(1)
      await gate.until(1)
      if (how === 'a call') queue.close({ drain: false })
      else controller.abort()
      assert.equal(queue.closed, true)
      const closing = queue.close()
      assert.equal(gate.started[0].context.signal.aborted, false)
      gate.release()
      assert.equal(await closing, 0)
      assert.equal(await result, 1)
    })
  }

  it('tells what runs after a time', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback' })
    await queue.push(1)
    await gate.until(1)
    const closing = queue.close({ timeoutMs: 20 })
    const { signal } = gate.started[0].context
    await until(() => signal.aborted)
    gate.release()
    await closing
  })
})

describeWithRedis('how payloads are kept', function () {
  const at = atServer()

  it('is remembered by the broker, which refuses another way', async () => {
    const custom = { encode: payload => Buffer.from(String(payload)), decode: bytes => `${bytes}` }
    const ways = { json: 'json', structured: 'structured', custom }
    for (const [name, serialize] of Object.entries(ways)) {
      const options = { name: `${at.name}-${name}` }
      await at.open(null, { ...options, serialize })
      await at.open(null, { ...options, serialize })
      for (const [other, wrong] of Object.entries(ways)) {
        if (other === name) continue
        const refused = { code: 'FAIRLANE_ERR_SERIALIZER', message: new RegExp(`serialize: '${name}'.*opened with '${other}'`) }
        await assert.rejects(at.open(null, { ...options, serialize: wrong }), refused)
      }
    }
  })

  it('takes what JSON does not know, if that is wanted', async () => {
    const worker = await at.open(async ({ at, tags }) => [at.getTime(), [...tags]], { serialize: 'structured' })
    assert.deepEqual(await worker.add({ at: new Date(5), tags: new Set(['a']) }), [5, ['a']])
  })
})
