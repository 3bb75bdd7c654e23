'use strict'

// What the keeper does where others have written what it cannot work with.

const assert = require('node:assert')
const { KEYS_OF_TYPE } = require('../../lib/distributed/broker/scripts')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { until } = require('./until')

describeWithRedis('the keeper', function () {
  const at = atServer()
  const key = what => `{fairlane:${at.name}}:${what}`
  const warnings = []
  const heard = ({ code, message }) => { if (code === 'FAIRLANE_WARN_BROKER') warnings.push(message) }

  beforeEach(() => {
    warnings.length = 0
    process.on('warning', heard)
  })
  afterEach(() => { process.off('warning', heard) })

  /** A job that a process had taken which is gone. */
  async function leaveJob (producer, type) {
    await producer.pushType(type, type)
    at.server.cli('lmove', key(`${type}:wait`), key(`${type}:active`), 'right', 'left')
    at.server.cli('srem', key('.ready'), type)
  }

  it('recovers the jobs of all types but those that have a key of the wrong kind, of which it tells', async () => {
    const producer = await at.open(null)
    for (const what of KEYS_OF_TYPE) {
      at.server.cli(what === 'id' || what === 'limiter' ? 'rpush' : 'set', key(`bad-${what}:${what}`), '1')
      at.server.cli('sadd', key('.types'), `bad-${what}`)
    }
    await leaveJob(producer, 'good')
    const worker = await at.open(async n => n, { leaseMs: 1000 })
    const errors = []
    worker.on('error', error => errors.push(error))
    await until(() => worker.stats().done === 1)
    const types = new Set(errors.map(({ type }) => type))
    for (const what of ['active', 'wait', 'delayed', 'failed']) assert(types.has(`bad-${what}`), what)
    assert(!types.has('good'))
    for (const { code, cause, message, type } of errors) {
      assert.equal(code, 'FAIRLANE_ERR_BROKER')
      assert.match(cause.message, /WRONGTYPE /)
      assert(message.includes(type))
    }
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], /refused the check of the type 'bad-.*WRONGTYPE/)
  })

  it('of a short lease leaves a process alone that has a long one, and its jobs', async () => {
    let end
    const slow = await at.open(() => new Promise(resolve => { end = resolve }), { leaseMs: 60000, concurrency: 1 })
    await slow.push(1)
    await until(() => end !== undefined)
    const starts = []
    const quick = await at.open(async n => { starts.push(n) }, { leaseMs: 1000 })
    const walkedAt = async () => (await quick.health()).lastKeeperWalkAt ?? 0
    const begun = Date.now()
    await until(async () => await walkedAt() > begun + 3500)
    assert.equal(at.server.cli('zcard', key('.workers')).trim(), '2')
    assert.deepEqual(starts, [])
    end()
    await until(() => slow.stats().done === 1)
  })

  it('recovers jobs of a type even if a key is of the wrong kind that it does not need for that', async () => {
    const producer = await at.open(null)
    await leaveJob(producer, 'a')
    at.server.cli('set', key('a:failed'), '1')
    const worker = await at.open(async n => n, { leaseMs: 1000 })
    await until(() => worker.stats().done === 1)
  })

  it('tells what keeps it from all types', async () => {
    at.server.cli('set', key('.types'), '1')
    const worker = await at.open(async n => n, { leaseMs: 1000 })
    const errors = []
    worker.on('error', error => errors.push(error))
    await until(() => errors.length === 2)
    for (const { message, type } of errors) {
      assert.match(message, /refused the check of all types: .*WRONGTYPE/)
      assert.equal(type, undefined)
    }
    assert.equal(warnings.length, 1)
  })
})

describeWithRedis('a type that has a list of the wrong kind', function () {
  const at = atServer()

  it('has its pushes refused, and not those of others that are told of with it', async () => {
    const producer = await at.open(null)
    at.server.cli('set', `{fairlane:${at.name}}:bad:wait`, '1')
    const pushes = ['a', 'bad', 'b', 'bad'].map(type => producer.pushType(type, 1, type === 'bad' ? { delayMs: 60000 } : undefined))
    const refused = [1, 3].map(n => expectReject(pushes[n], 'FAIRLANE_ERR_BROKER'))
    await Promise.all([pushes[0], pushes[2]])
    for (const { cause } of await Promise.all(refused)) assert.match(cause.message, /WRONGTYPE /)
    const worker = await at.open(async n => n)
    await until(() => worker.stats().done === 2)
  })
})
