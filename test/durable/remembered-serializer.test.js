'use strict'

// A folder knows by which serializer its jobs were written, and is not opened with another one.

const assert = require('node:assert')
const { PersistentQueue } = require('../../lib/log')
const { seeded, seedFromEnvironment } = require('../support/random')
const { Bench } = require('./bench')
const { SimulatedDisk, systemError } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')

const base = seedFromEnvironment()
const REFUSED = { code: 'FAIRLANE_ERR_SERIALIZER' }
const custom = () => ({ encode: payload => Buffer.from(JSON.stringify([payload])), decode: bytes => JSON.parse(bytes)[0] })

describe('the serializer of a folder with jobs', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const marks = (disk = bench.disk) => disk.list(FOLDER).filter(name => name.startsWith('serializer'))
  const contentOf = disk => [...disk.folders.get(FOLDER).names].map(([name, { bytes }]) => [name, String(bytes)])

  /** A folder in which a job waits, and is closed. */
  const withJob = async serialize => {
    const queue = await bench.open({ serialize })
    queue.pause()
    await queue.push('a')
    await queue.close({ timeoutMs: 0 })
    bench.queue = undefined
  }

  for (const [name, serialize, others] of [
    ['structured', undefined, ['json', custom()]],
    ['json', 'json', ['structured', undefined, custom()]],
    ['custom', custom(), ['structured', 'json']]
  ]) {
    it(`is remembered, and another one is refused without a change (${name})`, async () => {
      await withJob(serialize)
      assert.deepEqual(marks(), [`serializer-${name}`])
      const before = contentOf(bench.disk)
      for (const repair of [false, true]) {
        for (const other of others) {
          await assert.rejects(bench.open({ serialize: other, repair }), REFUSED)
          await assert.rejects(bench.open({ serialize: other, repair }), new RegExp(`${name}.*\\${FOLDER}`))
        }
      }
      assert.deepEqual(contentOf(bench.disk), before)
      assert.equal(bench.disk.openCount, 0)
      await bench.open({ serialize: name === 'custom' ? custom() : name })
      await bench.gate.until(1)
      assert.deepEqual(bench.gate.payloads, ['a'])
    })
  }

  it('may be another one if no job is there and no dead letter, and then is that', async () => {
    await bench.open({ serialize: 'json', maxAttempts: 1 })
    await bench.queue.push('a', { key: 'k', keyUntil: 60000 })
    await bench.gate.until(1)
    bench.gate.fail(new Error('no'))
    await bench.queue.onIdle()
    await bench.queue.close({ drain: true })
    await assert.rejects(bench.open(), REFUSED)
    await bench.open({ serialize: 'json' })
    await bench.queue.deleteDead(1)
    await bench.reopen()
    assert.deepEqual(marks(), ['serializer-structured'])
    bench.queue.pause()
    await bench.queue.push('b')
    await bench.queue.close({ timeoutMs: 0 })
    bench.queue = undefined
    await assert.rejects(bench.open({ serialize: 'json' }), REFUSED)
  })

  it('is noted in a folder of before when it is opened', async () => {
    await withJob('json')
    bench.disk.remove(`${FOLDER}/serializer-json`)
    await bench.open({ serialize: 'json' })
    bench.queue.pause()
    assert.deepEqual(marks(), ['serializer-json'])
    assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload), ['a'])
  })

  it('does not keep a folder from being opened whose disk is full', async () => {
    await withJob('json')
    bench.disk.remove(`${FOLDER}/serializer-json`)
    bench.disk.fault = (kind, path) => kind === 'create' && path.includes('serializer') ? systemError('ENOSPC') : undefined
    await bench.open({ serialize: 'json' })
    bench.queue.pause()
    assert.deepEqual(marks(), [])
    bench.disk.fault = () => undefined
    await bench.reopen({ serialize: 'json' })
    assert.deepEqual(marks(), ['serializer-json'])
  })

  it('is that of no queue of bytes, and goes with the folder', async () => {
    const environment = { files: new SimulatedDisk(), lock: unlocked }
    const queue = await PersistentQueue.open(FOLDER, { segmentBytes: 4096 }, environment)
    assert.deepEqual(marks(environment.files), [])
    await queue.close({ drain: true })
    await withJob('json')
    await PersistentQueue.remove(FOLDER, { files: bench.disk, lock: unlocked })
    assert.equal(bench.disk.folders.has(FOLDER), false)
  })

  it(`is known for each job that is there, wherever the process dies or the power fails (SEED=${base})`, async () => {
    const random = seeded(base)
    await bench.open({ serialize: 'json', ack: 'disk' })
    await bench.queue.close({ drain: true })
    const disks = []
    bench.disk.beforeStep = () => disks.push(bench.disk.afterKill(), bench.disk.afterPowerLoss(random), bench.disk.afterPowerLoss(random))
    await bench.open({ ack: 'disk' })
    bench.queue.pause()
    await bench.queue.push('a')
    await bench.queue.push('b')
    await bench.queue.close({ timeoutMs: 0 })
    bench.disk.beforeStep = () => {}
    let refusedCount = 0
    for (const disk of disks) {
      const other = Object.assign(new Bench(), { disk })
      const opened = await other.open({ serialize: 'json' }).catch(err => {
        assert.equal(err.code, 'FAIRLANE_ERR_SERIALIZER')
        refusedCount++
        return other.open()
      })
      opened.pause()
      assert(['', 'a', 'a,b'].includes([...opened.jobs()].map(({ payload }) => payload).join()))
      await opened.close({ timeoutMs: 0 })
    }
    assert(refusedCount > 0 && refusedCount < disks.length)
  })
})
