'use strict'

// Each command against a queue at a broker.

const assert = require('node:assert/strict')
const { distributed } = require('../../lib/distributed')
const { describeWithRedis, startRedis } = require('../support/redis')
const { freePort } = require('../support/ports')
const { cli, start } = require('./cli')

describeWithRedis('the command line, of a queue at a broker,', function () {
  let redis, target, url

  before(async () => {
    const port = await freePort()
    redis = await startRedis(['--port', String(port)])
    url = `redis://127.0.0.1:${port}`
    target = ['--connection', url, '--name', 'mails']
  })
  after(() => redis.stop())
  beforeEach(async () => {
    redis.cli('FLUSHALL')
    const schedules = { often: { everyMs: 3600000 } }
    const queue = await distributed(async () => { throw new Error('no') }, { connection: redis.connection, name: 'mails', maxAttempts: 1, schedules })
    for (const type of ['a', 'b']) await queue.pushType(type, { type })
    await queue.onIdle()
    await queue.pauseGlobal()
    await queue.pushType('a', 'waits')
    await queue.close()
  })

  const json = async (...args) => JSON.parse((await cli([...args, ...target, '--json'])).stdout)

  it('says what there is', async () => {
    const { code, stdout } = await cli(['status', ...target])
    assert.deepEqual([code, stdout], [0, 'queue    mails\nwaiting  1\nrunning  0\ndead     2\ntypes    2\n'])
    assert.deepEqual(await json('status'), { queue: 'mails', waiting: 1, delayed: 0, running: 0, dead: 2, types: 2 })
    assert.deepEqual((await json('types')).map(({ type, waiting, dead }) => [type, waiting, dead]), [['a', 1, 1], ['b', 0, 1]])
    assert.deepEqual((await json('schedules')).map(({ name, lastAt }) => [name, lastAt]), [['often', null]])
    const lines = (await cli(['export', ...target, '--payloads'])).stdout.trimEnd().split('\n').map(line => JSON.parse(line))
    assert.deepEqual(lines.map(({ state, payload }) => `${state} ${payload.type ?? payload}`).sort(), ['dead a', 'dead b', 'waiting waits'])
  })

  it('lists, shows, retries and deletes dead letters', async () => {
    const [first, second] = await json('dead', 'list')
    assert.deepEqual([first.type, first.error.message, first.payload], ['a', 'no', undefined])
    const [shown] = await json('dead', 'show', first.id, '--payloads')
    assert.deepEqual([shown.id, shown.state, shown.payload], [first.id, 'dead', { type: 'a' }])
    assert.equal((await cli(['dead', 'show', ...target, 'b:nobody'])).code, 1)
    assert.deepEqual(await json('dead', 'retry', first.id), { retried: 1, skipped: [] })
    assert.deepEqual((await json('dead', 'list')).map(({ id }) => id), [second.id])
    assert.deepEqual(await json('dead', 'delete', '--type', 'b'), { deleted: 1, skipped: [] })
    assert.deepEqual(await json('status'), { queue: 'mails', waiting: 2, delayed: 0, running: 0, dead: 0, types: 1 })
  })

  it('knows the broker by the environment, and no queue that is not there', async () => {
    const { stdout } = await cli(['types', '--name', 'mails'], { env: { FAIRLANE_CONNECTION: url } })
    assert.match(stdout, /^a /m)
    const { code, stderr } = await cli(['status', '--connection', url, '--name', 'other'])
    assert.equal(code, 2)
    assert.match(stderr, /There is no queue other at the broker/)
  })

  it('shows the page', async () => {
    const { world, code } = start(['board', ...target])
    let page
    while (!(page = world.stdout.text.trim())) await new Promise(setImmediate)
    const { queue: state } = await (await fetch(`${page}state`)).json()
    assert.deepEqual([state.name, state.waiting, state.dead], ['mails', 1, 2])
    world.emit('SIGTERM')
    assert.equal(await code, 0)
    assert.equal(world.stderr.text, '')
  })
})
