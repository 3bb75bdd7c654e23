'use strict'

const assert = require('node:assert')
const { distributed, DistributedQueue } = require('../../lib/distributed')
const { readOptions, readPushOptions } = require('../../lib/distributed/options')
const { loadPeers } = require('../../lib/distributed/broker/peers')
const { readSerialize, encodeResult } = require('../../lib/distributed/serialize')
const { KEYS, NO_KEYS } = require('../shared/keys')
const { expectThrow, expectReject } = require('./expectations')

const runner = async () => {}
// nothing listens there: what looks at the broker before it has looked at the options takes a while
const given = { name: 'q', connection: 'redis://127.0.0.1:1' }

const WRONG = {
  name: [undefined, '', 'a b', 'a:b', 'x'.repeat(101), 1, null],
  connection: [undefined, null, '', 1, [], ['nowhere'], [1], { keyPrefix: 'a' }, { defineCommand () {} }],
  partitions: [0, 1.5, 1025, '2', null],
  maxAttempts: [0, -1, 1.5, '3', null],
  backoffMs: [-1, NaN, Infinity, '1', null],
  serialize: [null, 'xml', {}, { encode () {} }],
  globalTypeCap: [0, -1, 1.5, '3', null],
  globalTypeCaps: [1, null, [], { a: 0 }, new Map([['a', '1']])],
  ratePerType: [
    1, null, [], () => {}, { limit: 1 }, { limit: 1, intervalMs: 999 },
    { limit: 0, intervalMs: 1000 }, { limit: 1, intervalMs: 1000, x: 1 },
    new Map([['a', 1]]), new Map([['a', []]]), new Map([['a', null]]), new Map([['a', { limit: 1, intervalMs: 10 }]])
  ],
  leaseMs: [0, 999, 1000.5, Infinity, '1000', null],
  prefetch: [-1, 1.5, Infinity, '1', null],
  resultTtlMs: [-1, 0.5, Infinity, '1', null],
  pushTimeoutMs: [0, -1, Infinity, '1', null],
  priorityMs: [0, -1, Infinity, '1', null, 2 ** 31 + 1],
  maxWaitMs: [0, -1, '1'],
  timeoutMs: [0, -1, '1'],
  maxWaitingPerType: [-1, 1.5, { a: -1 }],
  maxTypes: [0, 5], // needs a scheduler
  settleBy: ['both', 1],
  onTimeout: ['stop'],
  clock: [{}],
  signal: [{}],
  asyncContext: ['push', 'other'],
  schedulerOptions: [1, { weights: {} }] // these need a scheduler, too
}
const FOREIGN = [
  'maxWaiting', 'path', 'ack', 'capacity', 'capacityBytes', 'segmentBytes', 'repair', 'onProgress', 'maxInflightOps', 'rate', 'concurency'
]

describe('the options of distributed()', () => {
  for (const [option, values] of Object.entries(WRONG)) {
    it(`are rejected if ${option} is wrong, before anything is opened`, async () => {
      for (const value of values) {
        const err = await expectReject(distributed(runner, { ...given, [option]: value }), 'FAIRLANE_ERR_OPTION')
        assert(err instanceof TypeError || err instanceof RangeError)
      }
    })
  }

  it('are rejected if one is unknown, of another engine, or misspelt', async () => {
    for (const option of FOREIGN) {
      const { message } = await expectReject(distributed(runner, { ...given, [option]: 1 }), 'FAIRLANE_ERR_OPTION')
      assert(message.includes(option), message)
    }
    await expectReject(distributed(runner), 'FAIRLANE_ERR_OPTION')
    for (const options of [null, [], 10, 'q']) await expectReject(distributed(runner, options), 'FAIRLANE_ERR_OPTION')
  })

  it('are rejected with the codes that a queue in memory has', async () => {
    await expectReject(distributed(runner, { ...given, concurrency: 0 }), 'FAIRLANE_ERR_CONCURRENCY')
    await expectReject(distributed(runner, { ...given, scheduler: 'fare' }), 'FAIRLANE_ERR_SCHEDULER')
    await expectReject(distributed(runner, { ...given, scheduler: 'equal', schedulerOptions: { weigths: {} } }), 'FAIRLANE_ERR_OPTION')
  })

  it('come with a runner, or null where none runs', async () => {
    for (const wrong of [undefined, 'run', {}, 1]) await expectReject(distributed(wrong, given), 'FAIRLANE_ERR_RUNNER')
  })

  it('have the defaults that are documented', () => {
    const { jobs } = readOptions(given)
    assert.equal(jobs.maxAttempts, 5)
    assert.equal(jobs.leaseMs, 30000)
    assert.equal(jobs.resultTtlMs, 60000)
    assert.equal(jobs.pushTimeoutMs, 30000)
    assert.equal(jobs.partitions, 1)
    assert.equal(jobs.globalTypeCap, undefined)
    assert.equal(readOptions({ ...given, connection: ['redis://127.0.0.1:7000'] }).jobs.partitions, 16)
    assert.deepEqual([1, 2, 3, 10].map(attempt => jobs.backoffMs(attempt)), [1000, 2000, 4000, 60000])
  })

  it('are copies: what the caller changes later changes nothing', () => {
    const connection = { host: 'a' }
    const caps = new Map([['a', 1]])
    const { jobs } = readOptions({ ...given, connection, globalTypeCaps: caps })
    connection.host = 'b'
    caps.set('a', 2)
    assert.equal(jobs.connection.host, 'a')
    assert.equal(jobs.globalTypeCaps.get('a'), 1)
  })

  it('reject with FAIRLANE_ERR_BROKER when the broker cannot be reached in time', async () => {
    const err = await expectReject(distributed(runner, { ...given, pushTimeoutMs: 50 }), 'FAIRLANE_ERR_BROKER')
    assert(err.cause instanceof Error)
    await expectReject(distributed(null, { ...given, connection: () => ({}) }), 'FAIRLANE_ERR_OPTION')
  })
})

describe('a DistributedQueue', () => {
  it('is made by distributed() only', () => {
    expectThrow(() => new DistributedQueue(), 'FAIRLANE_ERR_ARGUMENT')
  })
})

describe('the options of pushes', () => {
  it('are refused if they are unknown, or of another engine', () => {
    for (const options of [null, [], 1, { delay: 1 }, { costs: 1 }]) {
      expectThrow(() => readPushOptions(options, 'push'), 'FAIRLANE_ERR_ARGUMENT')
    }
  })

  it('take a key with what goes with it', () => {
    const wrong = [
      { priority: 16 }, { priority: 0.5 }, { key: 'a', keyUntil: 'ended' }, { key: 'a', keyUntil: -1 }, { keyUntil: 'settled' }, { onDuplicate: 'join' }, { maxDelayMs: 5 },
      { key: 'a', onDuplicate: 'drop' }, ...NO_KEYS.map(key => ({ key }))
    ]
    for (const options of wrong) assert.throws(() => readPushOptions(options, 'push'), { code: 'FAIRLANE_ERR_ARGUMENT' })
    for (const [key, text] of KEYS) {
      const { plan } = readPushOptions({ key }, 'push')
      assert.deepEqual([plan.key, plan.keyUntil, plan.onDuplicate, plan.maxDelayMs], [`k.${text}`, 'started', 'join', Infinity])
    }
    const { plan } = readPushOptions({ key: 'a', keyUntil: 50, onDuplicate: 'postpone', delayMs: 5, maxDelayMs: 10, priority: 3 }, 'push')
    const { keyUntil, onDuplicate, delayMs, maxDelayMs, priority } = plan
    assert.deepEqual([keyUntil, onDuplicate, delayMs, maxDelayMs, priority], [50, 'postpone', 5, 10, 3])
  })

  it('take a delay that is a time', () => {
    for (const delayMs of [-1, NaN, Infinity, '5', null]) {
      assert.throws(() => readPushOptions({ delayMs }, 'push'), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    const { delayMs, plan } = readPushOptions({ delayMs: 0.5 }, 'push')
    assert.deepEqual([delayMs, plan], [1, undefined])
  })
})

describe('payloads', () => {
  it('are JSON, which says what it cannot hold', () => {
    const { encode, decode } = readSerialize()
    for (const payload of [null, 0, '', 'ü', [1, { a: null }], { payload: 1 }]) {
      assert.deepEqual(decode(JSON.parse(encode(payload))), payload)
    }
    assert.equal(decode(JSON.parse(encode(undefined))), undefined)
    assert.deepEqual(JSON.parse(encode(1, 'me')), { payload: 1, inbox: 'me' })
    const circular = {}
    circular.self = circular
    for (const payload of [1n, circular, () => {}, Symbol('s')]) {
      expectThrow(() => encode(payload), 'FAIRLANE_ERR_ARGUMENT')
    }
  })

  it('are what v8 can clone, with structured', () => {
    const { encode, decode } = readSerialize('structured')
    for (const payload of [undefined, 1n, new Map([[1, new Date(5)]]), new Set([new Uint8Array([1, 2])])]) {
      assert.deepEqual(decode(JSON.parse(encode(payload))), payload)
    }
    assert.throws(() => encode(() => {}), err => err.code === 'FAIRLANE_ERR_ARGUMENT' && err.cause instanceof Error)
  })

  it('are bytes of the caller', () => {
    const { encode, decode } = readSerialize({ encode: text => Buffer.from(text), decode: bytes => bytes.toString() })
    assert.equal(decode(JSON.parse(encode('ü'))), 'ü')
    expectThrow(() => readSerialize({ encode: () => 'text', decode () {} }).encode(1), 'FAIRLANE_ERR_ARGUMENT')
  })

  it('have results that are JSON', () => {
    assert.equal(encodeResult(undefined), 'null')
    assert.equal(encodeResult({ a: 1 }), '{"a":1}')
  })
})

describe('the peers', () => {
  it('are asked for with the line that installs them', () => {
    for (const load of [() => { throw new Error("Cannot find module 'bullmq'") }, () => ({ bullmq: {}, ioredis: {} })]) {
      assert.throws(
        () => loadPeers(load),
        err => err.code === 'FAIRLANE_ERR_PEER' && err.message.includes('npm install bullmq@6 ioredis') && err.cause instanceof Error
      )
    }
  })
})
