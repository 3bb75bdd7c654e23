'use strict'

const assert = require('node:assert')
const { Batch } = require('../../lib/durable/push/batch')
const { payloadOf, typeOf } = require('../../lib/log/format')
const { JobState } = require('../../lib/durable/run/job-state')
const { JobOptions, headOf, readHead, refusalOf } = require('../../lib/durable/push/job-options')
const { stampOf } = require('../../lib/durable/push/serialize')
const { openJobStore } = require('../../lib/durable/life/job-store')
const { SimulatedDisk } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')

const TIME = 1e12 + 0.5
const STAMP = '001000a2941a6d42'
// What stands in logs: the time of the push, the length of the fields, the fields.
const CASES = [
  ['nothing', {}, '0000'],
  ['a delay', { delayMs: 250.5, dueAt: TIME }, '1300' + '011000' + STAMP + '0000000000506f40'],
  ['attempts', { maxAttempts: Infinity }, '0b00' + '020800' + '000000000000f07f'],
  ['a time limit', { timeoutMs: 1 }, '0b00' + '030800' + '000000000000f03f'],
  ['a limit of the wait', { maxWaitMs: 2 }, '0b00' + '040800' + '0000000000000040'],
  ['a priority', { priority: 15 }, '0400' + '050100' + '0f'],
  ['a key until the start', { key: 'ü', keyUntil: 'started' }, '0d00' + '060a00' + '000000000000f0bf' + 'c3bc'],
  ['a key until the end', { key: '', keyUntil: 'settled' }, '0b00' + '060800' + '00000000000000c0'],
  ['a key for a time', { key: 'a', keyUntil: 250.5 }, '0c00' + '060900' + '0000000000506f40' + '61'],
  ['a schedule', { schedule: { name: 'a', time: TIME } }, '0c00' + '070900' + STAMP + '61'],
  ['several things', { maxAttempts: 1, priority: 1 }, '0f00' + '020800' + '000000000000f03f' + '050100' + '01']
]

describe('what is said of a job', () => {
  for (const [name, given, hex] of CASES) {
    it(`has the same bytes in all versions: ${name}`, () => {
      const options = new JobOptions(given)
      const head = headOf(stampOf(TIME), options)
      assert.equal(head.toString('hex'), STAMP + hex)
      assert.deepEqual(readHead(Buffer.concat([head, Buffer.from('payload')])), options)
    })
  }

  it('may have a key of some length only', () => {
    const options = key => new JobOptions({ key, keyUntil: 'started', maxAttempts: 1, schedule: { name: 'x'.repeat(2 ** 14), time: TIME } })
    const longest = options('ü'.repeat(2 ** 14))
    assert.equal(refusalOf(longest), undefined)
    assert.deepEqual(readHead(headOf(stampOf(TIME), longest)), longest)
    assert.equal(refusalOf(options('x'.repeat(2 ** 15 + 1))).code, 'FAIRLANE_ERR_TOO_LARGE')
    assert.equal(refusalOf(new JobOptions({})), undefined)
  })
})

describe('jobs that are written in one frame', () => {
  it('are new ones, with types or without, and others in the places of old ones, with their states', async () => {
    const disk = new SimulatedDisk()
    const environment = { files: disk, lock: unlocked }
    const options = { ack: 'os', segmentBytes: 4096 }
    let store = await openJobStore(FOLDER, options, environment)
    await store.push([Buffer.from('old')], 'tenant ü', true).promise
    await store.push([Buffer.from('older')]).promise
    await store.setState(1, JobState.waiting).promise
    const batch = new Batch(store)
    batch.add('a', false, Buffer.from('head '), true, Buffer.from('new'))
    batch.replace(1, Buffer.from('another '), Buffer.from('head'))
    batch.replace(2, Buffer.alloc(0), Buffer.from('other'))
    batch.add(undefined, true, Buffer.alloc(0), false, Buffer.from('last'))
    store.push([Buffer.from('before')])
    await batch.write().promise
    const last = new Batch(store)
    last.add('b', false, Buffer.alloc(0), false, Buffer.from('alone'))
    await last.write().promise
    const seen = () => [1, 2, 3, 4, 5, 6].map(seq => {
      const record = store.record(seq)
      return [record[0], typeOf(record), String(payloadOf(record)), store.states.get(seq)?.phase.name]
    })
    const expected = [
      [2, 'tenant ü', 'another head', 'waiting'], [1, undefined, 'other', undefined], [1, undefined, 'before', undefined],
      [6, 'a', 'head new', undefined], [2, undefined, 'last', undefined], [1, 'b', 'alone', undefined]
    ]
    assert.deepEqual(seen(), expected)
    await store.close()
    store = await openJobStore(FOLDER, options, environment)
    assert.deepEqual([seen(), store.nextSeq], [expected, 7])
    await store.close()
  })
})
