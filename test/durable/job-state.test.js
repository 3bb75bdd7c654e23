'use strict'

const assert = require('node:assert')
const { JobState, hasStarted, WAITING, STARTED, DUE, INTERRUPTED, REVIVED, DEAD } = require('../../lib/durable/run/job-state')

const { openJobStore } = require('../../lib/durable/life/job-store')
const { quiet } = require('../support/turns')
const { Bench, EPOCH } = require('./bench')
const { FOLDER, unlocked } = require('../log/history')

const SEQ = 0x0102030405
const TIME = 1e12 + 0.5
// What stands in logs: kind of record, number, kind of state, attempts, not before, length of the rest, the rest.
const HEAD = '04' + '050403020100'
const CASES = [
  ['waiting', JobState.waiting, WAITING, '00' + '00000000' + '000000000000f0bf' + '00000000'],
  ['started', JobState.started(3, 'ü'), STARTED, '00' + '03000000' + '0000000000000000' + '02000000' + 'c3bc'],
  ['due', JobState.due(2, TIME, 250.5, 'ü'), DUE, '02' + '02000000' + '001000a2941a6d42' + '0a000000' + '0000000000506f40' + 'c3bc'],
  ['due after a delay that is not known', JobState.due(1, TIME), DUE, '00' + '01000000' + '001000a2941a6d42' + '00000000'],
  ['interrupted', JobState.interrupted, INTERRUPTED, '00' + '00000000' + '000000000000f03f' + '00000000'],
  ['revived', JobState.revived, REVIVED, '00' + '00000000' + '0000000000000000' + '00000000'],
  ['dead', JobState.dead(5, 'ü'), DEAD, '01' + '05000000' + '0000000000000000' + '02000000' + 'c3bc']
]

describe('the state of a job', () => {
  for (const [name, state, phase, hex] of CASES) {
    it(`${name} has the same bytes in all versions`, () => {
      const buffer = Buffer.alloc(3 + state.bytes, 0xff)
      state.write(buffer, SEQ, 3)
      assert.equal(buffer.toString('hex', 3), HEAD + hex)
      assert.equal(state.phase, phase)
    })

    it(`${name} is read back from them`, () => {
      const record = Buffer.from(HEAD + hex, 'hex')
      const state = JobState.read(Buffer.concat([Buffer.alloc(3, 0xff), record, Buffer.alloc(3, 0xff)]), 3, record.length)
      assert.equal(state.phase, phase)
      assert.deepEqual(state, CASES.find(([other]) => other === name)[1])
    })
  }

  it('says whether the job has had its first start', () => {
    assert.deepEqual(CASES.filter(([, state]) => !hasStarted(state)).map(([name]) => name), ['waiting'])
    assert.equal(hasStarted(undefined), false)
  })
})

describe('what the state of a job means when the queue is opened', () => {
  // by their numbers, from 1 on
  const STATES = {
    2: JobState.waiting,
    3: JobState.started(1),
    4: JobState.started(3),
    5: JobState.due(3, EPOCH + 5000, 5000),
    6: JobState.interrupted,
    7: JobState.revived,
    8: JobState.dead(3, '{"name":"Error","message":"it failed"}'),
    9: JobState.due(1, EPOCH - 1, 1000)
  }
  const MAX_ATTEMPTS = 3
  let bench

  beforeEach(async () => {
    bench = new Bench()
    await bench.open()
    bench.queue.pause()
    for (let id = 1; id <= 9; id++) await bench.queue.push(id)
    await bench.queue.close({ timeoutMs: 0 })
    const store = await openJobStore(FOLDER, { ack: 'os', segmentBytes: 4096 }, { files: bench.disk, lock: unlocked })
    for (const [id, state] of Object.entries(STATES)) store.setState(Number(id), state)
    await store.close()
  })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  const started = () => bench.gate.started.map(({ payload, context }) => [payload, context.attempt])

  it('is its place, and the number of its next attempt', async () => {
    await bench.open({ concurrency: 100, maxAttempts: MAX_ATTEMPTS })
    await quiet()
    assert.deepEqual(started(), [[3, 2], [6, 1], [9, 2], [1, 1], [2, 1], [7, 1]])
    assert.deepEqual((await bench.queue.deadLetters()).map(({ id, attempts, error }) => [id, attempts, error.message]), [
      [4, 3, 'The process ended while attempt 3 of the job was running'],
      [8, 3, 'it failed']
    ])
    bench.clock.advance(4999)
    await quiet()
    assert.equal(started().length, 6)
    bench.clock.advance(1)
    await bench.gate.until(7)
    assert.deepEqual(started().at(-1), [5, 4])
  })

  it('is whether the limit of its waiting still counts: only before its first start', async () => {
    bench.epoch += 2000
    await bench.open({ concurrency: 100, maxAttempts: MAX_ATTEMPTS, maxWaitMs: 1000 })
    await quiet()
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2])
    assert.deepEqual(started().map(([id]) => id), [3, 6, 9, 7])
  })
})
