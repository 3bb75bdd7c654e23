'use strict'

const assert = require('node:assert')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { PersistentQueue } = require('../../lib/log')
const { SimulatedDisk, systemError } = require('./disk')
const { FOLDER, openOn, unlocked, numbersIn, payload, numberOf } = require('./history')

const base = seedFromEnvironment()
const ROUNDS = rounds(30)

describe('when the file system fails', function () {
  let disk
  let queue

  beforeEach(async () => {
    disk = new SimulatedDisk()
    queue = await openOn(disk)
  })

  afterEach(async () => {
    disk.fault = () => undefined
    await queue.close().catch(({ code }) => assert.equal(code, 'FAIRLANE_ERR_IO'))
    assert.equal(disk.openCount, 0)
  })

  const failOnce = (kind, code) => {
    disk.fault = actual => {
      if (actual !== kind) return undefined
      disk.fault = () => undefined
      return code === 'short' ? code : systemError(code)
    }
  }
  const failsWith = cause => err => err.code === 'FAIRLANE_ERR_IO' && err.cause.code === cause

  it('a push that can not be written fails, and later ones are taken', async () => {
    await queue.push(payload(1, 50))
    failOnce('write', 'EIO')
    const pushes = await Promise.allSettled([queue.push(payload(2, 90)), queue.push(payload(3, 10))])
    for (const { reason } of pushes) assert(failsWith('EIO')(reason))
    assert.equal(queue.length, 1)
    assert.equal(queue.bytes, 50)
    failOnce('write', 'EIO')
    assert.throws(() => queue.pushSync(payload(4, 10)), failsWith('EIO'))
    await queue.push(payload(5, 10))
    assert.deepEqual(await numbersIn(queue), [1, 5])
    const after = await openOn(disk.afterKill())
    assert.deepEqual(await numbersIn(after), [1, 5])
    await after.close()
  })

  it('a full group that can not be written at once is written in its turn', async () => {
    const writes = []
    disk.fault = kind => {
      if (kind === 'write') writes.push(disk.steps)
      return kind === 'write' && writes.length === 1 ? systemError('EIO') : undefined
    }
    const pushes = [1500, 1500, 2000, 10].map((length, i) => queue.push(payload(i + 1, length)))
    assert.equal(writes.length, 1)
    await Promise.all(pushes)
    assert.deepEqual(await numbersIn(queue), [1, 2, 3, 4])
    const after = await openOn(disk.afterKill())
    assert.deepEqual(await numbersIn(after), [1, 2, 3, 4])
    await after.close()
  })

  it('what a write that failed has left in the file is not read', async () => {
    await queue.push(payload(1, 50))
    const faults = ['short', systemError('EIO'), systemError('EIO')]
    disk.fault = kind => kind === 'write' ? faults.shift() : undefined
    const pushes = Promise.allSettled([2, 3, 4].map(number => queue.push(payload(number, 1500))))
    assert.equal(faults.length, 1)
    assert.deepEqual(await numbersIn(queue), [1])
    for (const { reason } of await pushes) assert(failsWith('EIO')(reason))
    for (const number of [5, 6, 7]) await queue.push(payload(number, 200 * number))
    assert.deepEqual((await queue.pop(Infinity)).map(numberOf), [1, 5, 6, 7])
  })

  it('close() rejects if the disk has not all of it, each time', async () => {
    const own = new SimulatedDisk()
    const ofOs = await openOn(own, { ack: 'os' })
    await ofOs.push(payload(1, 50))
    own.fault = kind => kind === 'sync' ? systemError('EIO') : undefined
    for (let i = 0; i < 2; i++) await assert.rejects(ofOs.close(), failsWith('EIO'))
  })

  it('a push for which no new segment can be made fails, and later ones are taken', async () => {
    await queue.push(payload(1, 3000))
    for (const fail of [() => failOnce('create', 'EMFILE'), failSecondWrite, () => failFolder('open')]) {
      fail()
      await assert.rejects(queue.push(payload(2, 2000)), ({ code }) => code === 'FAIRLANE_ERR_IO')
      failOnce('create', 'EMFILE')
      assert.throws(() => queue.pushSync(payload(2, 2000)), failsWith('EMFILE'))
    }
    disk.fault = () => undefined
    await queue.push(payload(3, 2000))
    assert.deepEqual(await numbersIn(queue), [1, 3])

    function failSecondWrite () {
      disk.fault = (kind, path) => kind === 'write' && path.endsWith('2.log') ? systemError('EIO') : undefined
    }

    function failFolder (syscall) {
      disk.fault = kind => {
        if (kind !== 'syncFolder') return undefined
        disk.fault = () => undefined
        return Object.assign(systemError('EMFILE'), { syscall })
      }
    }
  })

  it('short writes are finished', async () => {
    disk.fault = kind => kind === 'write' ? 'short' : undefined
    await queue.push(payload(1, 1000))
    const killed = await openOn(disk.afterKill())
    assert.deepEqual(await numbersIn(killed), [1])
    await killed.close()
  })

  it('a disk that takes nothing is an error', async () => {
    disk.write = () => 0
    await assert.rejects(queue.push(payload(1, 10)), { code: 'FAIRLANE_ERR_IO' })
    delete disk.write
    await queue.push(payload(2, 10))
    assert.deepEqual(await numbersIn(queue), [2])
  })

  for (const method of ['push', 'pushSync']) {
    it(`a sync fails: the queue closes, and nothing is acknowledged any more (${method})`, async () => {
      await queue.push(payload(1, 10))
      const other = queue.push(payload(2, 10))
      failOnce('sync', 'EIO')
      await assert.rejects(async () => queue[method](payload(3, 10)), failsWith('EIO'))
      await assert.rejects(other, failsWith('EIO'))
      for (const call of [() => queue.push(payload(4, 10)), () => queue.pop(), () => queue.flush()]) {
        await assert.rejects(call, failsWith('EIO'))
      }
      const again = await openOn(disk)
      assert.equal((await numbersIn(again))[0], 1)
      await again.close()
    })

    it(`what was half written can not be taken back: nothing is written before it can be (${method})`, async () => {
      await queue.push(payload(1, 10))
      let writesCount = 0
      disk.fault = kind => {
        // the first is torn
        if (kind === 'write') return writesCount++ === 0 ? 'short' : systemError('EIO')
        return kind === 'truncate' ? systemError('EROFS') : undefined
      }
      await assert.rejects(async () => queue[method](payload(2, 900)), failsWith('EIO'))
      assert.equal(writesCount, 2)
      for (let i = 0; i < 2; i++) await assert.rejects(async () => queue[method](payload(3, 10)), failsWith('EROFS'))
      const full = Array.from({ length: 3 }, () => queue.push(payload(4, 2000)))
      await queue.flush().catch(isIo)
      for (const { reason } of await Promise.allSettled(full)) assert(failsWith('EROFS')(reason))
      assert.equal(writesCount, 2)
      // what is written is synced nonetheless
      await queue.flush()
      const killed = await openOn(disk.afterKill())
      assert.deepEqual(await numbersIn(killed), [1])
      await killed.close()
      disk.fault = () => undefined
      await queue[method](payload(5, 3000))
      await queue[method](payload(6, 3000))
      assert.deepEqual(await numbersIn(queue), [1, 5, 6])
      await queue.close()
      queue = await openOn(disk)
      assert.deepEqual(await numbersIn(queue), [1, 5, 6])
    })
  }

  it('a queue is closed in order though what was half written is still there', async () => {
    await queue.push(payload(1, 10))
    disk.fault = kind => ['write', 'truncate'].includes(kind) ? systemError('EIO') : undefined
    await assert.rejects(queue.push(payload(2, 10)), failsWith('EIO'))
    await queue.close()
    disk.fault = () => undefined
    queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), [1])
  })

  it('the name of a segment can not be synced: the queue closes', async () => {
    await queue.push(payload(1, 3000))
    failOnce('syncFolder', 'EIO')
    await assert.rejects(queue.push(payload(2, 3000)), failsWith('EIO'))
    await assert.rejects(queue.push(payload(3, 10)), failsWith('EIO'))
  })

  const failHalfMade = (failing, error) => {
    disk.fault = (kind, path) => (kind === 'write' && path.endsWith('2.log')) || kind === failing ? error : undefined
  }

  it('the removal of a half made segment can not be synced: the queue closes', async () => {
    await queue.push(payload(1, 3000))
    failHalfMade('syncFolder', systemError('EIO'))
    await assert.rejects(queue.push(payload(2, 3000)), failsWith('EIO'))
    disk.fault = () => undefined
    await assert.rejects(queue.push(payload(3, 10)), failsWith('EIO'))
  })

  it('a half made segment can not be removed, and then not for good: the queue closes', async () => {
    await queue.push(payload(1, 3000))
    failHalfMade('remove', systemError('EIO'))
    await assert.rejects(queue.push(payload(2, 3000)), failsWith('EIO'))
    failHalfMade('syncFolder', systemError('EIO'))
    await assert.rejects(queue.push(payload(3, 10)), failsWith('EIO'))
    disk.fault = () => undefined
    await assert.rejects(queue.push(payload(3, 10)), failsWith('EIO'))
  })

  it('a half made segment can be removed a moment later, and then not for good: the queue closes', async () => {
    await queue.push(payload(1, 3000))
    const kinds = { write: 1, remove: 1, syncFolder: 1 }
    disk.fault = kind => kinds[kind]-- > 0 ? systemError('EIO') : undefined
    await assert.rejects(queue.push(payload(2, 3000)), failsWith('EIO'))
    await assert.rejects(queue.push(payload(3, 10)), failsWith('EIO'))
  })

  for (const failing of ['remove', 'syncFolder']) {
    it(`a half made segment can not be removed now: nothing is written before it is (${failing})`, async () => {
      const error = Object.assign(systemError('EMFILE'), { syscall: 'open' })
      await queue.push(payload(1, 3000))
      for (const isReopened of [false, true]) {
        failHalfMade(failing, error)
        await assert.rejects(queue.push(payload(2, 3000)), failsWith('EMFILE'))
        const { steps } = disk
        await assert.rejects(queue.push(payload(3, 10)), failsWith('EMFILE'))
        assert(disk.steps > steps)
        if (isReopened) {
          await queue.close()
          disk.fault = () => undefined
          queue = await openOn(disk)
        }
        disk.fault = () => undefined
        const killed = await openOn(disk.afterKill())
        assert.deepEqual(await numbersIn(killed), [1])
        await killed.close()
      }
      await queue.push(payload(4, 10))
      await queue.push(payload(5, 3000))
      assert.deepEqual(await numbersIn(queue), [1, 4, 5])
      await queue.close()
      queue = await openOn(disk)
      assert.deepEqual(await numbersIn(queue), [1, 4, 5])
    })
  }

  it('an acknowledgement that can not be written leaves the payload reserved, and can be tried again', async () => {
    await queue.push([payload(1, 10), payload(2, 10), payload(3, 10)])
    const reserved = await queue.reserve(2)
    const ids = reserved.map(({ id }) => id)
    failOnce('write', 'EIO')
    await assert.rejects(queue.ack(ids), failsWith('EIO'))
    assert.equal(queue.length, 3)
    await queue.ack(ids[1])
    queue.release(ids[0])
    assert.deepEqual(await numbersIn(queue), [1, 3])
    await queue.close()
    queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), [1, 3])
  })

  it('what could not be popped is at the front again', async () => {
    await queue.push([payload(1, 10), payload(2, 10), payload(3, 10)])
    for (const call of [() => queue.pop(2), async () => queue.popSync(2)]) {
      failOnce('write', 'EIO')
      await assert.rejects(call, failsWith('EIO'))
      assert.deepEqual(await numbersIn(queue), [1, 2, 3])
    }
    assert.deepEqual((await queue.pop()).map(numberOf), [1])
    assert.deepEqual(queue.popSync(2).map(numberOf), [2, 3])
  })

  it('pushes that wait fail with the queue', async () => {
    await queue.close()
    queue = await openOn(disk, { maxInflightOps: 1 })
    failOnce('sync', 'EIO')
    const pushes = await Promise.allSettled([1, 2, 3].map(number => queue.push(payload(number, 10))))
    for (const { reason } of pushes) assert(failsWith('EIO')(reason))
  })

  it('a pop that can not read leaves all where it is', async () => {
    await queue.push([payload(1, 10), payload(2, 10)])
    for (const method of ['pop', 'peek', 'reserve']) {
      failOnce('open', 'EMFILE')
      await assert.rejects(queue[method](2), failsWith('EMFILE'))
    }
    failOnce('open', 'EMFILE')
    assert.throws(() => queue.popSync(2), failsWith('EMFILE'))
    assert.deepEqual((await queue.pop(2)).map(numberOf), [1, 2])
  })

  it('a segment that can not be removed now is removed later', async () => {
    for (let i = 1; i < 4; i++) await queue.push(payload(i, 3000))
    const isThere = () => disk.list(FOLDER).includes('0000000001.log')
    for (const kind of ['remove', 'syncFolder']) {
      const tries = []
      disk.fault = actual => {
        if (actual !== kind) return undefined
        tries.push(kind)
        return Object.assign(systemError('EPERM'), { syscall: 'open' })
      }
      if (kind === 'remove') await queue.pop(2)
      while (tries.length === 0) await queue.push(payload(9, 10))
      assert.equal(isThere(), kind === 'remove')
    }
    disk.fault = () => undefined
    const bytes = queue.diskBytes()
    while (queue.diskBytes() >= bytes) await queue.push(payload(9, 10))
    assert.equal((await queue.pop()).map(numberOf)[0], 3)
  })

  it('a segment whose removal can not be synced closes the queue', async () => {
    for (let i = 1; i < 4; i++) await queue.push(payload(i, 3000))
    disk.fault = kind => kind === 'syncFolder' ? systemError('EIO') : undefined
    await queue.pop(2)
    while ((await queue.push(payload(9, 10)).catch(err => err)) === undefined);
    await assert.rejects(queue.pop(), failsWith('EIO'))
  })

  it('files that may only have so many bytes end earlier, and need no reserve', async () => {
    await queue.close()
    disk = new SimulatedDisk()
    disk.fileLimit = 1000
    queue = await openOn(disk, { segmentBytes: 65536 })
    assert(!disk.list(FOLDER).includes('reserve'))
    const lost = []
    for (let number = 1; number <= 40; number++) {
      await queue.push(payload(number, 100)).catch(err => {
        assert(failsWith('EFBIG')(err))
        lost.push(number)
      })
    }
    assert.equal(lost.length, 1)
    await assert.rejects(queue.push(payload(41, 2000)), failsWith('EFBIG'))
    await queue.push(payload(42, 100))
    await queue.close()
    queue = await openOn(disk, { segmentBytes: 65536 })
    const numbers = await numbersIn(queue)
    assert.deepEqual([numbers.length, numbers.at(-1)], [40, 42])
  })

  it('compaction that cannot read what it is to move is put off', async () => {
    let number = 1
    const pinned = []
    const fill = async count => {
      for (let i = 0; i < count; i++) {
        await queue.push([payload(number++, 10), payload(number++, 1200)])
        pinned.push(...await queue.reserve())
        await queue.pop()
      }
    }
    await fill(3)
    let isFailing = true
    disk.fault = (kind, path) => isFailing && kind === 'read' && path.endsWith('1.log') ? systemError('EIO') : undefined
    await fill(20)
    isFailing = false
    const before = queue.diskBytes()
    const { now } = performance
    performance.now = () => now.call(performance) + 1000
    try {
      await fill(30)
    } finally {
      performance.now = now
    }
    assert(queue.diskBytes() < before + 30 * 600, `${queue.diskBytes()} of ${before}`)
    queue.release(pinned.map(({ id }) => id))
    assert.deepEqual(await numbersIn(queue), pinned.map(({ payload }) => numberOf(payload)))
  })

  it('a log that can not be opened gives back its lock', async () => {
    let isLocked = false
    const environment = {
      files: disk,
      lock: async () => {
        isLocked = true
        return { release: async () => { isLocked = false } }
      }
    }
    await queue.push(payload(1, 10))
    await queue.close()
    for (const kind of ['makeFolder', 'remove', 'syncFolder', 'sync', 'open', 'list']) {
      failOnce(kind, 'EIO')
      await assert.rejects(PersistentQueue.open(FOLDER, {}, environment), failsWith('EIO'))
      assert.equal(isLocked, false)
      assert.equal(disk.openCount, 0)
    }
    disk.fault = kind => kind === 'remove' ? systemError('EIO') : undefined
    await assert.rejects(PersistentQueue.remove(FOLDER, environment), failsWith('EIO'))
    assert.equal(isLocked, false)
    disk.fault = kind => kind === 'list' ? systemError('EIO') : undefined
    await assert.rejects(PersistentQueue.remove(FOLDER, environment), failsWith('EIO'))
  })

  it('a lock that can not be given back is told to whoever closes the queue, and to nobody else', async () => {
    const environment = { files: disk, lock: async () => ({ release: async () => { throw systemError('EROFS') } }) }
    await queue.close()
    const failing = await PersistentQueue.open(FOLDER, {}, environment)
    failOnce('sync', 'EIO')
    await assert.rejects(failing.push(payload(1, 10)), failsWith('EIO'))
    await new Promise(setImmediate)
    await assert.rejects(failing.close(), failsWith('EROFS'))
  })

  it('pushes are taken back with what compaction moved along with them', async () => {
    await queue.close()
    queue = await openOn(disk, { ack: 'os' })
    const pinned = []
    for (let i = 1; i < 60; i++) {
      await queue.push([payload(2 * i, 1000), payload(2 * i + 1, 1500)])
      pinned.push(...await queue.reserve())
      // each write that comes from moving jobs fails once
      disk.fault = kind => {
        if (kind !== 'write' || !new Error().stack.includes('turn')) return undefined
        disk.fault = () => undefined
        return i % 3 === 0 ? systemError('EIO') : undefined
      }
      await queue.push(payload(1000 + i, 10)).catch(isIo)
      disk.fault = () => undefined
      queue.popSync()
    }
    queue.release(pinned.map(({ id }) => id))
    const numbers = await numbersIn(queue)
    for (const { payload } of pinned) assert(numbers.includes(numberOf(payload)))
    await queue.close()
    queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), numbers)
  })

  it('a repair that fails leaves a log that can be repaired', async () => {
    await queue.push([payload(1, 10), payload(2, 10)])
    await queue.push(payload(3, 10))
    await queue.close()
    disk.folders.get(FOLDER).names.get('0000000001.log').bytes[60] ^= 1
    for (const failing of [1, 2, 3]) {
      let syncsCount = 0
      const failed = disk.afterKill()
      failed.fault = kind => kind === 'sync' && ++syncsCount === failing ? systemError('EIO') : undefined
      await assert.rejects(openOn(failed, { repair: true }), failsWith('EIO'))
      assert.equal(failed.openCount, 0)
      failed.fault = () => undefined
      await assert.rejects(openOn(failed), { code: 'FAIRLANE_ERR_CORRUPT' })
      const repaired = await openOn(failed, { repair: true })
      assert.deepEqual(await numbersIn(repaired), [3])
      await repaired.close()
    }
    queue = await openOn(disk, { repair: true })
    assert.deepEqual(await numbersIn(queue), [3])
  })

  it('closing goes on when pushes that wait find the disk full', async () => {
    await queue.close()
    queue = await openOn(disk, { maxInflightOps: 1 })
    const pushes = [1, 2, 3].map(number => queue.push(payload(number, 3000)))
    disk.fault = kind => kind === 'create' ? systemError('ENOSPC') : undefined
    await Promise.all([queue.close(), Promise.allSettled(pushes)])
    disk.fault = () => undefined
    queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), [1])
  })

  it('closing without saying so does no harm', async () => {
    await queue.push(payload(1, 10))
    failOnce('create', 'ENOSPC')
    await queue.close()
    queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), [1])
  })

  it('at any time and in any way, nothing that was acknowledged is lost', async () => {
    const { now } = performance
    // a disk that is full may have room at the next call
    let time = 0
    performance.now = () => { time += 60; return time }
    try {
      for (let seed = base; seed < base + ROUNDS; seed++) await survive(seed)
    } finally {
      performance.now = now
    }
  })
})

/** Works on a disk with faults; then the machine fails, and what was acknowledged must be there. */
async function survive (seed) {
  const random = seeded(seed)
  const disk = new SimulatedDisk()
  const rate = random.pick([0.003, 0.02, 0.1])
  const environment = { files: disk, lock: unlocked }
  const safe = new Set()
  const gone = new Set()
  const going = new Set()
  let number = 1
  const pending = []
  let queue = await openOn(disk, { segmentBytes: random.pick([4096, 1 << 15]) })
  disk.fault = kind => {
    if (!random.chance(rate)) return undefined
    return kind === 'write' && random.chance(0.3) ? 'short' : systemError(random.pick(['ENOSPC', 'EIO', 'EMFILE']))
  }
  const finish = async (queue, reserved, triesCount) => {
    const numbers = reserved.map(({ payload }) => numberOf(payload))
    for (const number of numbers) going.add(number)
    try {
      await queue.ack(reserved.map(({ id }) => id))
      for (const number of numbers) gone.add(number)
    } catch (err) {
      isRefused(err)
      // rejects if the queue has closed, and nobody knows what is in the file; else they are there as before
      await queue.ack([])
      for (const number of numbers) going.delete(number)
      if (triesCount > 0) return finish(queue, reserved, triesCount - 1)
    }
  }
  for (let i = 0; i < 150; i++) {
    if (random.chance(0.6)) {
      const numbers = Array.from({ length: random.below(4) + 1 }, () => number++)
      pending.push(queue.push(numbers.map(number => payload(number, random.below(400))))
        .then(() => { for (const number of numbers) safe.add(number) }, isIo))
    } else {
      const taking = queue
      pending.push(taking.reserve(random.below(3) + 1).then(reserved => finish(taking, reserved, 3)).catch(isRefused))
    }
    if (random.chance(0.3)) await Promise.all(pending)
    if (random.chance(0.05)) {
      const { fault } = disk
      // it has many files to open, and would hardly ever get through
      disk.fault = kind => random.chance(0.1) ? fault(kind) : undefined
      queue = await reopened(queue, environment)
      disk.fault = fault
    }
  }
  await Promise.all(pending)
  const numbers = new Set()
  const after = await openOn(disk.afterPowerLoss(random))
  for (const number of await numbersIn(after)) {
    assert(!numbers.has(number), `SEED=${seed}: ${number} is there twice`)
    numbers.add(number)
  }
  await after.close()
  for (const number of safe) assert(numbers.has(number) || going.has(number), `SEED=${seed}: ${number} is lost`)
  for (const number of gone) assert(!numbers.has(number), `SEED=${seed}: ${number} is back`)
  await queue.close().catch(isIo)
}

async function reopened (queue, environment) {
  await queue.close().catch(isIo)
  for (;;) {
    try {
      return await PersistentQueue.open(FOLDER, { segmentBytes: 4096 }, environment)
    } catch (err) {
      isIo(err)
    }
  }
}

/** The queue may have been closed between a reservation and its acknowledgement. */
function isRefused (err) {
  if (err.code !== 'FAIRLANE_ERR_CLOSED') isIo(err)
}

function isIo (err) {
  if (err.code !== 'FAIRLANE_ERR_IO') throw err
}
