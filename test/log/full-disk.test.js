'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { join } = require('node:path')
const { PersistentQueue } = require('../../lib/log')
const { SimulatedDisk, systemError } = require('./disk')
const { FOLDER, openOn, unlocked, numbersIn, payload, numberOf } = require('./history')

const FULL = ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'ENOSPC'
const RESERVE = `${FOLDER}/reserve`

describe('a disk that is full', () => {
  const { now } = performance
  let time
  let disk
  let queue

  beforeEach(async () => {
    time = 1000
    performance.now = () => time
    disk = new SimulatedDisk()
    queue = await openOn(disk, { ack: 'os' })
  })

  afterEach(async () => {
    performance.now = now
    disk.fault = () => undefined
    await queue.close()
    assert.equal(disk.openCount, 0)
  })

  /** Pushes until that fails. @returns {Promise<number>} how many payloads were taken, with numbers from 1 on */
  async function fill (bytes) {
    for (let number = 1; ; number++) {
      try {
        await queue.push(payload(number, bytes))
      } catch (err) {
        assert(FULL(err), err)
        return number - 1
      }
    }
  }

  for (const ack of ['os', 'disk']) {
    for (const bytes of [16, 1000, 5000]) {
      it(`takes acknowledgements, which make room for pushes again (${ack}, ${bytes} B)`, async () => {
        await queue.close()
        await PersistentQueue.remove(FOLDER, { files: disk, lock: unlocked })
        queue = await openOn(disk, { ack })
        disk.capacity = 60000
        const count = await fill(bytes)
        assert(count * bytes > 15000, `${count} payloads`)
        assert.equal(queue.length, count)
        const taken = []
        let max = 1
        while (taken.length < count) {
          taken.push(...(await queue.pop(max)).map(numberOf))
          max = 10
          // segments are removed in turns of their own
          await new Promise(setImmediate)
        }
        assert.deepEqual(taken, Array.from({ length: count }, (_, i) => i + 1))
        while (queue.diskBytes() > 2 * 4096 + 6000) await new Promise(setImmediate)
        await queue.push(payload(1e6, 10))
        await queue.close()
        queue = await openOn(disk)
        assert.deepEqual(await numbersIn(queue), [1e6])
      })
    }
  }

  it('refuses pushes until there is room, with the code and the cause, and looks for it now and then', async () => {
    disk.capacity = disk.usedBytes + 100
    const count = await fill(50)
    disk.capacity = Infinity
    await assert.rejects(queue.push(payload(100, 10)), FULL)
    assert.throws(() => queue.pushSync(payload(100, 10)), FULL)
    time += 200
    await queue.push(payload(101, 10))
    assert.deepEqual(await numbersIn(queue), [...Array.from({ length: count }, (_, i) => i + 1), 101])
    assert(disk.list(FOLDER).includes('reserve'))
  })

  it('refuses pushes that wait for others', async () => {
    await queue.close()
    queue = await openOn(disk, { maxInflightOps: 1 })
    disk.capacity = disk.usedBytes + 50
    const pushes = await Promise.allSettled([1, 2, 3, 4].map(number => queue.push(payload(number, 100))))
    assert.deepEqual(pushes.map(({ status }) => status), ['fulfilled', 'rejected', 'rejected', 'rejected'])
    for (const { reason } of pushes.slice(1)) assert(FULL(reason))
    assert.equal(queue.length, 1)
  })

  it('makes acknowledgements fail when the reserve is used up too, and they can be tried again', async () => {
    await queue.push([payload(1, 10), payload(2, 10)])
    const ids = (await queue.reserve(2)).map(({ id }) => id)
    disk.fault = kind => kind === 'write' ? systemError('EDQUOT') : undefined
    await assert.rejects(queue.ack(ids), ({ cause }) => cause.code === 'EDQUOT')
    await assert.rejects(queue.ack(ids), ({ cause }) => cause.code === 'EDQUOT')
    disk.fault = () => undefined
    await queue.ack(ids)
    assert.equal(queue.length, 0)
  })

  it('at the making of a segment is met with the reserve as well', async () => {
    await queue.push(payload(1, 3000))
    let isFull = true
    disk.fault = (kind, path) => isFull && kind === 'create' && path.endsWith('.log') ? systemError('ENOSPC') : undefined
    const { remove } = disk
    disk.remove = path => {
      remove.call(disk, path)
      if (path === RESERVE) isFull = false
    }
    await queue.push(payload(2, 3000))
    await assert.rejects(queue.push(payload(3, 10)), FULL)
    assert.deepEqual((await queue.pop(2)).map(numberOf), [1, 2])
  })

  it('is the end of no queue if the reserve can not be removed', async () => {
    disk.fault = kind => kind === 'write' || kind === 'remove' ? systemError('ENOSPC') : undefined
    await assert.rejects(queue.push(payload(1, 10)), FULL)
    disk.fault = () => undefined
    await assert.rejects(queue.push(payload(1, 10)), FULL)
    time += 200
    await queue.push(payload(1, 10))
    assert.deepEqual(await numbersIn(queue), [1])
  })

  it('that is met while jobs are moved ends that, and nothing else, until there is room again', async () => {
    await queue.close()
    queue = await openOn(disk, { ack: 'os', segmentBytes: 65536 })
    for (let number = 1; number <= 1200; number++) await queue.push(payload(number, 1000))
    const ids = (await queue.reserve(1200)).map(({ id }) => id)
    disk.capacity = disk.usedBytes + 12000
    await queue.ack(ids.filter((_, i) => i % 4 !== 0))
    for (let i = 0; i < 100; i++) await new Promise(setImmediate)
    // a segment has more to be moved than there is room
    const full = queue.diskBytes()
    assert(full > 1200 * 1000)
    assert(disk.list(FOLDER).includes('reserve'))
    disk.capacity = Infinity
    await queue.ack(ids[0])
    assert(queue.diskBytes() > full)
    time += 200
    await queue.ack(ids[4])
    while (queue.diskBytes() > 2 * queue.bytes + 3 * 65536) await new Promise(setImmediate)
    queue.release(ids.filter((_, i) => i > 4 && i % 4 === 0))
    assert.deepEqual(await numbersIn(queue), Array.from({ length: 298 }, (_, i) => 4 * i + 9))
  })

  it('that its own pushes have filled is emptied though its oldest job stays', async () => {
    await queue.close()
    queue = await openOn(disk, { ack: 'os', segmentBytes: 65536 })
    disk.capacity = disk.usedBytes + 600000
    const count = await fill(3000)
    const [{ id }] = await queue.reserve()
    for (let i = 1; i < count; i++) await queue.pop()
    while (queue.diskBytes() > 3 * 65536) {
      time += 200
      await queue.push(payload(count + 1, 10)).then(() => queue.pop(), () => {})
      await new Promise(setImmediate)
    }
    queue.release(id)
    assert.deepEqual(await numbersIn(queue), [1])
  })

  it('leaves room for a repair, which needs no reserve', async () => {
    for (let number = 1; number <= 20; number++) await queue.push(payload(number, 100))
    await queue.close()
    disk.remove(RESERVE)
    disk.folders.get(FOLDER).names.get('0000000001.log').bytes[500] ^= 1
    disk.capacity = disk.usedBytes + 4096
    queue = await openOn(disk, { ack: 'os', segmentBytes: 65536, repair: true })
    assert.equal(queue.length, 19)
  })

  it('is left to acknowledgements: no job is moved while it is full, and when there is room they are', async () => {
    await queue.close()
    queue = await openOn(disk, { ack: 'os', segmentBytes: 65536, maxInflightOps: 1e4 })
    for (let number = 1; number <= 1200; number++) await queue.push(payload(number, 1000))
    const reserved = await queue.reserve(1200)
    disk.capacity = disk.usedBytes + 100
    const acked = reserved.filter((_, i) => i % 4 !== 0)
    // awaited each, by some callers at once: so that acknowledgements and moves share writes
    await Promise.all(Array.from({ length: 20 }, async () => {
      while (acked.length > 0) await queue.ack(acked.pop().id)
    }))
    assert.equal(queue.length, 300)
    const full = queue.diskBytes()
    disk.capacity = Infinity
    time += 200
    await queue.push(payload(1201, 10))
    while (queue.diskBytes() > 2 * queue.bytes + 3 * 65536) await new Promise(setImmediate)
    assert(queue.diskBytes() < full)
    queue.release(reserved.filter((_, i) => i % 4 === 0).map(({ id }) => id))
    assert.deepEqual(await numbersIn(queue), [...Array.from({ length: 300 }, (_, i) => 4 * i + 1), 1201])
  })

  it('when the queue is opened lets it be emptied', async () => {
    for (let number = 1; number < 20; number++) await queue.push(payload(number, 1000))
    await queue.close()
    disk.remove(RESERVE)
    disk.capacity = disk.usedBytes + 50
    queue = await openOn(disk)
    await assert.rejects(queue.push(payload(20, 10)), FULL)
    assert.equal((await queue.pop(19)).length, 19)
    while (queue.diskBytes() > 4096) await new Promise(setImmediate)
    await queue.push(payload(21, 10))
  })

  it('is prepared for by a reserve that is made whole when the queue is opened', async () => {
    const size = () => disk.folders.get(FOLDER).names.get('reserve').bytes.length
    assert.equal(size(), 1024)
    await queue.close()
    disk.folders.get(FOLDER).names.get('reserve').bytes = Buffer.alloc(10)
    queue = await openOn(disk)
    assert.equal(size(), 1024)
    await queue.close()
    const { steps } = disk
    queue = await openOn(disk)
    assert(disk.steps - steps < 5, 'it is not written again')
  })

  it('is not prepared for where no reserve can be made, and that is no error', async () => {
    await queue.close()
    disk.remove(RESERVE)
    disk.fault = (kind, path) => kind === 'create' && path === RESERVE ? systemError('EMFILE') : undefined
    queue = await openOn(disk)
    await queue.push(payload(1, 10))
    disk.fault = kind => kind === 'write' ? systemError('ENOSPC') : undefined
    await assert.rejects(queue.push(payload(2, 10)), FULL)
    disk.fault = () => undefined
    await queue.push(payload(3, 10))
    assert.deepEqual(await numbersIn(queue), [1, 3])
  })

  it('of the machine takes acknowledgements too', function () {
    const mounted = program => execFileSync('unshare', [
      '--mount', 'sh', '-c', 'mount -t tmpfs -o size=3m none /mnt && exec "$0" "$@"', ...program
    ], { encoding: 'utf8', stdio: 'pipe' })
    try {
      mounted(['true'])
    } catch {
      this.skip()
    }
    assert.match(mounted([
      'env', '-u', 'NODE_OPTIONS', process.execPath, join(__dirname, 'filled.js')
    ]), /^full after \d{5} pushes: ENOSPC, emptied, pushed$/m)
  })

  it('is left alone by a queue that is removed', async () => {
    await queue.close()
    await PersistentQueue.remove(FOLDER, { files: disk, lock: unlocked })
    assert.equal(disk.usedBytes, 0)
  })
})
