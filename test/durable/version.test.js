'use strict'

// Folders of format version 2, as the version before 3 wrote them: test/durable/version-2. `closed` was closed in order, `killed` was not,
// and has half a frame at its end; `bytes` is a queue of bytes.

const assert = require('node:assert')
const fs = require('node:fs')
const { join } = require('node:path')
const { PersistentQueue } = require('../../lib/log')
const format = require('../../lib/log/format')
const { quiet } = require('../support/turns')
const { Bench } = require('./bench')
const { SimulatedDisk, systemError } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')

const TIME = 1.8e12 // when they were written

/** A disk with one of the folders on it. */
function diskWith (name) {
  const disk = new SimulatedDisk()
  disk.makeFolder(FOLDER)
  const folder = join(__dirname, 'version-2', name)
  for (const file of fs.readdirSync(folder)) put(disk, file, fs.readFileSync(join(folder, file)))
  disk.syncFolder(FOLDER)
  return disk
}

function put (disk, name, bytes) {
  const fd = disk.create(join(FOLDER, name))
  disk.write(fd, bytes, 0, bytes.length, 0)
  disk.syncNow(fd)
  disk.close(fd)
}

const segmentsOf = disk => disk.list(FOLDER).filter(name => format.SEGMENT_NAME.test(name)).sort()
const bytesOf = (disk, name) => disk.folders.get(FOLDER).names.get(name).bytes
const versionOf = (disk, name) => bytesOf(disk, name).readUInt16LE(8)

describe('a folder of format version 2', () => {
  let bench

  beforeEach(() => {
    bench = new Bench()
    bench.epoch = TIME
  })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  const namesOf = () => [...bench.queue.jobs()].map(({ id, type, payload: { name, filling } }) => {
    assert.equal(filling, 'x'.repeat(200))
    return [id, type, name]
  })

  it('has its jobs, with their attempts, delays and errors, if it was closed', async () => {
    bench.disk = diskWith('closed')
    const queue = await bench.open({ concurrency: 1, maxAttempts: 2, segmentBytes: 1024 })
    const names = namesOf()
    assert.deepEqual(names, [
      [4, 'tenant-a', 'running'], [7, 'tenant-ü', 'unshifted'], [5, 'tenant-ü', 'waiting'], [6, 'tenant-ü', 'wäiting too'],
      [3, 'tenant-a', 'due']
    ])
    const [dead] = await queue.deadLetters()
    assert.deepEqual([dead.id, dead.payload.name, dead.attempts, dead.error.message, dead.error.code], [2, 'dead', 2, 'no dead', 'E_NO'])
    const due = await queue.get(3)
    assert.deepEqual([due.state, due.attempts, due.dueAt, due.error.message], ['delayed', 1, TIME + 60000, 'no due'])
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.started[0].payload.name, bench.gate.started[0].context.attempt], ['running', 1])
    bench.clock.advance(60000)
    await quiet()
    assert.equal((await queue.get(3)).state, 'waiting')
    assert.equal(await queue.push('new'), 8)
  })

  it('has its jobs if its process was killed, and nothing of what that left half written', async () => {
    bench.disk = diskWith('killed')
    const { recovered } = await bench.open({ concurrency: 1, maxAttempts: 2, segmentBytes: 1024 })
    assert.deepEqual([recovered.jobs, recovered.cut.bytes, recovered.dropped], [6, 12, []])
    assert.deepEqual(namesOf().map(([, , name]) => name), ['running', 'unshifted', 'waiting', 'wäiting too', 'due'])
    await bench.gate.until(1)
    assert.deepEqual([bench.gate.started[0].payload.name, bench.gate.started[0].context.attempt], ['running', 2])
    await bench.reopenAfterKill({ segmentBytes: 1024 })
    assert.deepEqual([bench.queue.recovered.jobs, bench.queue.recovered.cut], [6, undefined])
  })

  it('is written to in new segments only, which who knows that version only refuses', async () => {
    bench.disk = diskWith('closed')
    const before = segmentsOf(bench.disk)
    const bytes = before.map(name => Buffer.from(bytesOf(bench.disk, name)))
    const queue = await bench.open({ segmentBytes: 1 << 20 })
    queue.pause()
    await queue.push('a', { delayMs: 5 })
    assert.deepEqual(segmentsOf(bench.disk).slice(before.length).map(name => versionOf(bench.disk, name)), [3])
    assert.deepEqual(before.map(name => bytesOf(bench.disk, name)), bytes)
    await bench.reopen({ segmentBytes: 1 << 20 })
    assert.deepEqual([bench.queue.recovered.jobs, segmentsOf(bench.disk).length], [7, before.length + 1])
  })

  it('has no segment of that version any more once all is rewritten', async () => {
    bench.disk = diskWith('closed')
    const queue = await bench.open({ maxAttempts: 2, segmentBytes: 1024, runner: async () => {} })
    queue.pause()
    for (let i = 0; i < 200 && segmentsOf(bench.disk).some(name => versionOf(bench.disk, name) === 2); i++) {
      const id = await queue.push('x'.repeat(500))
      queue.remove(job => job.id === id)
      await queue.flush()
      await quiet()
    }
    assert(segmentsOf(bench.disk).every(name => versionOf(bench.disk, name) === 3))
    assert.deepEqual(namesOf().map(([, , name]) => name), ['running', 'unshifted', 'waiting', 'wäiting too', 'due'])
    await bench.reopenAfterKill({ maxAttempts: 2, segmentBytes: 1024 })
    assert.deepEqual([bench.queue.recovered.jobs, (await bench.queue.deadLetters()).length], [6, 1])
  })

  it('is there as it was whatever call to the disk fails while it is opened, and wherever the process dies then', async () => {
    for (let failing = 1, isOpened = false; !isOpened; failing++) {
      bench = new Bench()
      bench.epoch = TIME
      bench.disk = diskWith('killed')
      const options = { concurrency: 1, maxAttempts: 2, segmentBytes: 1024 }
      let count = 0
      let killed
      bench.disk.fault = kind => {
        if (kind === 'read' || kind === 'list' || ++count !== failing) return undefined
        killed = bench.disk.afterKill()
        return systemError('EIO')
      }
      isOpened = await bench.open(options).then(() => killed === undefined, () => false)
      bench.disk.fault = () => undefined
      if (isOpened) break
      await bench.queue?.close({ timeoutMs: 0 }).catch(() => {})
      bench.disk = killed
      await bench.open(options)
      assert.deepEqual([bench.queue.recovered.jobs, namesOf().length], [6, 5], `call ${failing}`)
      await bench.queue.close({ timeoutMs: 0 })
      bench.queue = undefined
    }
  })

  it('is the same for a segment whose header a crash has left half written', async () => {
    const disk = bench.disk = diskWith('killed')
    const last = segmentsOf(disk).at(-1)
    const bytes = bytesOf(disk, last)
    disk.truncate(disk.open(join(FOLDER, last)), bytes.length - 12)
    const header = format.encodeHeader(parseInt(last) + 1, 8, bytes.length - 12, 'jobs', 2)
    put(disk, format.segmentName(parseInt(last) + 1), header.subarray(0, 20))
    disk.syncFolder(FOLDER)
    const { recovered } = await bench.open()
    assert.deepEqual([recovered.jobs, recovered.cut.bytes], [6, 20])
  })

  it('of bytes has its payloads', async () => {
    const disk = diskWith('bytes')
    const open = () => PersistentQueue.open(FOLDER, { segmentBytes: 1024 }, { files: disk, lock: unlocked })
    let queue = await open()
    assert.deepEqual((await queue.peek(9)).map(String), ['two', 'three'])
    await queue.push(Buffer.from('four'))
    await queue.close({ drain: true })
    queue = await open()
    assert.deepEqual((await queue.pop(9)).map(String), ['two', 'three', 'four'])
    await queue.close({ drain: true })
    assert.equal(versionOf(disk, segmentsOf(disk).at(-1)), 3)
  })
})
