'use strict'

const assert = require('node:assert')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const format = require('../../lib/log/format')
const { SimulatedDisk, systemError } = require('./disk')
const { FOLDER, History, openOn, numbersIn, work, payload, numberOf } = require('./history')

const base = seedFromEnvironment()
const ROUNDS = rounds(30)

// how bytes go bad; each gets the file and a random source, and returns the bytes that are there then
const damages = {
  'a bit flips' (bytes, random) {
    const copy = Buffer.from(bytes)
    copy[random.below(copy.length)] ^= 1 << random.below(8)
    return copy
  },
  'the end is missing': (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  'a block is zero' (bytes, random) {
    const at = random.below(bytes.length)
    return Buffer.from(bytes).fill(0, at, Math.min(at + 512, bytes.length))
  },
  'a block is another': (bytes, random) => {
    const at = random.below(bytes.length)
    const copy = Buffer.from(bytes)
    copy.copy(copy, at, random.below(bytes.length))
    return copy
  },
  'a frame is another': (bytes, random, id) => {
    const frames = framesIn(bytes, id)
    const [{ at }, from] = [random.pick(frames), random.pick(frames)]
    const copy = Buffer.from(bytes)
    copy.copy(copy, at, from.at, from.end)
    return copy
  },
  'a frame is missing': (bytes, random, id) => {
    const { at, end } = random.pick(framesIn(bytes, id))
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
  },
  'there are several faults': (bytes, random) => {
    const copy = Buffer.from(bytes)
    for (let i = 0; i < 5; i++) copy[random.below(copy.length)] ^= 1 << random.below(8)
    return copy
  },
  'there is more at the end': (bytes, random) => Buffer.concat([bytes, Buffer.alloc(random.below(200) + 1, random.below(256))]),
  'it is text': () => Buffer.from('This is the file of somebody else, and longer than a header.')
}

describe('damage', function () {
  for (const [name, damage] of Object.entries(damages)) {
    it(`is never taken for a queue: ${name}`, async () => {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        const random = seeded(seed)
        const { disk, numbers } = await closedQueue(random)
        const file = random.pick(segmentsOf(disk))
        const { file: inode } = at(disk, file)
        const bytes = damage(inode.bytes, random, parseInt(file))
        if (bytes.equals(inode.bytes)) continue
        const whole = numbersInWhole(disk, file, bytes)
        inode.bytes = inode.durable = bytes
        await checkDamaged(disk, numbers, `SEED=${seed} ${file}`, whole)
      }
    })

    it(`is not taken for anything that no crash leads to, of a queue that was not closed: ${name}`, async () => {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        const random = seeded(seed)
        const disk = new SimulatedDisk()
        const queue = await openOn(disk, { ack: random.pick(['disk', 'os']) })
        const history = new History([], 'os')
        await work(queue, history, random, 80, 1)
        const killed = disk.afterKill()
        await queue.close()
        const file = random.pick(segmentsOf(killed).filter(name => at(killed, name).file.bytes.length > 32))
        const { file: inode } = at(killed, file)
        inode.bytes = inode.durable = damage(inode.bytes, random, parseInt(file))
        const opened = await openOn(killed).catch(err => {
          assert.equal(err.code, 'FAIRLANE_ERR_CORRUPT', `SEED=${seed} ${file}: ${err.stack}`)
        })
        if (opened === undefined) continue
        history.check(await numbersIn(opened), 0, history.calls.length, `SEED=${seed} ${file}`)
        await opened.close()
      }
    })
  }

  it('is never taken for a queue: a segment is missing', async () => {
    for (let seed = base; seed < base + ROUNDS; seed++) {
      const random = seeded(seed)
      const { disk, numbers } = await closedQueue(random)
      disk.remove(`${FOLDER}/${random.pick(segmentsOf(disk))}`)
      await checkDamaged(disk, numbers, `SEED=${seed}`)
    }
  })

  it('is never taken for a queue: a segment is there under another name', async () => {
    for (let seed = base; seed < base + ROUNDS / 4; seed++) {
      const random = seeded(seed)
      const { disk, numbers } = await closedQueue(random)
      const names = segmentsOf(disk)
      const { file } = at(disk, random.pick(names))
      const fd = disk.create(`${FOLDER}/${format.segmentName(parseInt(names.at(-1)) + 1)}`)
      disk.write(fd, file.bytes, 0, file.bytes.length, 0)
      disk.close(fd)
      await checkDamaged(disk, numbers, `SEED=${seed}`)
    }
  })

  it('below what was synced is found without the queue having been closed', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk)
    const places = []
    for (let i = 1; i <= 5; i++) {
      places.push(queue.diskBytes())
      await queue.push(payload(i, 50))
    }
    const killed = disk.afterKill()
    const { file } = at(killed, '0000000001.log')
    file.bytes[places[2] + 30] ^= 1
    await assert.rejects(openOn(killed), { code: 'FAIRLANE_ERR_CORRUPT', file: `${FOLDER}/0000000001.log`, offset: places[2] })
    const repaired = await openOn(killed, { repair: true })
    assert.deepEqual(await numbersIn(repaired), [1, 2, 4, 5])
    assert.deepEqual(repaired.recovered.dropped, [
      { file: '0000000001.log', offset: places[2], bytes: places[3] - places[2], what: 'no whole frame begins here' }
    ])
    await repaired.close()
    await queue.close()
  })

  it('is not what a crash leaves behind what was synced, and that is cut off', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk)
    for (let i = 1; i <= 3; i++) await queue.push(payload(i, 50))
    const killed = disk.afterKill()
    const { file } = at(killed, '0000000001.log')
    file.bytes = Buffer.concat([file.bytes, Buffer.from('half a frame')])
    const again = await openOn(killed)
    assert.deepEqual(again.recovered, { jobs: 3, cut: { file: '0000000001.log', offset: queue.diskBytes(), bytes: 12 }, dropped: [] })
    await Promise.all([again.close(), queue.close()])
  })

  for (const version of [1, 4]) {
    it(`is not what a folder of version ${version} has: that is refused with a code of its own, and left as it is`, async () => {
      for (const spoil of [
        () => {},
        disk => disk.remove(`${FOLDER}/${segmentsOf(disk)[1]}`),
        disk => disk.close(disk.create(`${FOLDER}/repair`)),
        disk => { at(disk, segmentsOf(disk)[0]).file.bytes[40] ^= 1 }
      ]) {
        const { disk } = await closedQueue(seeded(1))
        spoil(disk)
        const name = segmentsOf(disk).at(-1)
        const { file } = at(disk, name)
        file.bytes.writeUInt16LE(version, 8)
        file.bytes.writeUInt32LE(format.crc32(file.bytes.subarray(0, 28)), 28)
        const before = contentOf(disk)
        for (const repair of [false, true]) {
          await assert.rejects(openOn(disk, { repair }), {
            code: 'FAIRLANE_ERR_VERSION',
            file: `${FOLDER}/${name}`,
            message: new RegExp(`has format ${version}, and this version of fairlane reads 2 and 3`)
          })
          assert.deepEqual(contentOf(disk), before)
          assert.equal(disk.openCount, 0)
        }
      }
    })
  }

  it('of a kind that is not known is not repaired', async () => {
    const disk = new SimulatedDisk()
    await (await openOn(disk)).close()
    const { file } = at(disk, '0000000001.log')
    file.bytes.writeUInt16LE(7, 10)
    file.bytes.writeUInt32LE(format.crc32(file.bytes.subarray(0, 28)), 28)
    await assert.rejects(openOn(disk, { repair: true }), { code: 'FAIRLANE_ERR_CORRUPT', offset: 10, message: /it holds something else/ })
  })

  it('of records in a frame that is whole is damage too', async () => {
    for (const spoil of [bytes => { bytes[32 + 20] = 9 }, bytes => { bytes[32 + 8]++ }]) {
      const disk = new SimulatedDisk()
      const queue = await openOn(disk)
      await queue.push(payload(1, 10))
      await queue.close()
      const { file } = at(disk, '0000000001.log')
      spoil(file.bytes)
      const end = 32 + file.bytes.readUInt32LE(32)
      file.bytes.writeUInt32LE(format.crc32(file.bytes.subarray(32 + 8, end), format.seedOf(1, 32)), 32 + 4)
      await assert.rejects(openOn(disk), { code: 'FAIRLANE_ERR_CORRUPT' })
    }
  })

  it('that comes while the queue is open is found when a payload is read', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk)
    await queue.push([payload(1, 10), payload(2, 10)])
    const { file } = at(disk, '0000000001.log')
    const { bytes } = file
    file.bytes = Buffer.from(bytes).fill(0, 32)
    await assert.rejects(queue.pop(), { code: 'FAIRLANE_ERR_CORRUPT', file: `${FOLDER}/0000000001.log`, offset: 52 })
    file.bytes = Buffer.alloc(0)
    await assert.rejects(queue.reserve(2), { code: 'FAIRLANE_ERR_CORRUPT' })
    await queue.close()
  })

  it('of a large payload is found when it is read', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk)
    await queue.push(payload(1, 1 << 19))
    const { file } = at(disk, '0000000001.log')
    file.bytes = file.bytes.subarray(0, 1000)
    await assert.rejects(queue.pop(), { code: 'FAIRLANE_ERR_IO' })
    await queue.close()
    const otherDisk = new SimulatedDisk()
    const other = await openOn(otherDisk)
    await other.push(payload(1, 10))
    at(otherDisk, '0000000001.log').file.bytes = Buffer.alloc(0)
    await assert.rejects(other.pop(), { code: 'FAIRLANE_ERR_IO' })
    await other.close()
  })

  it('files of others in the folder do no harm', async () => {
    const { disk, numbers } = await closedQueue(seeded(2))
    disk.close(disk.create(`${FOLDER}/notes.txt`))
    disk.close(disk.create(`${FOLDER}/00001.log`))
    const queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), numbers)
    await queue.close()
  })

  it('of the file that says where the log ends is no loss', async () => {
    const { disk, numbers } = await closedQueue(seeded(3))
    at(disk, 'closed').file.bytes[0] ^= 1
    const queue = await openOn(disk)
    assert.deepEqual(await numbersIn(queue), numbers)
    await queue.close()
  })

  it('is said to be so if all segments are missing', async () => {
    const { disk } = await closedQueue(seeded(4))
    for (const name of segmentsOf(disk)) disk.remove(`${FOLDER}/${name}`)
    await assert.rejects(openOn(disk), { code: 'FAIRLANE_ERR_CORRUPT' })
    const queue = await openOn(disk, { repair: true })
    assert.deepEqual(await numbersIn(queue), [])
    await queue.close()
  })

  it('gives no number twice', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk)
    for (let i = 1; i <= 3; i++) await queue.push(payload(i, 50))
    await queue.close()
    const { file } = at(disk, '0000000001.log')
    file.bytes[file.bytes.length - 3] ^= 1
    const repaired = await openOn(disk, { repair: true })
    await repaired.push(payload(4, 50))
    const [first, second, next] = (await repaired.reserve(Infinity)).map(({ id }) => id)
    assert.deepEqual([first, second], [1, 2])
    assert(next > 3, `${next}`)
    await repaired.close()
  })

  it('stays said until a repair has come to its end, wherever that fails, or the process or the machine does', async () => {
    const damaged = async () => {
      const { disk } = await closedQueue(seeded(6))
      const { file } = at(disk, segmentsOf(disk).at(-1))
      const { at: end } = framesIn(file.bytes, parseInt(segmentsOf(disk).at(-1))).at(-1)
      file.bytes = file.durable = file.bytes.subarray(0, end) // only the file `closed` tells
      return disk
    }
    const images = []
    let stepsCount = 0
    const whole = await damaged()
    whole.beforeStep = () => {
      stepsCount++
      images.push({ disk: whole.afterKill() }, { disk: whole.afterPowerLoss(seeded(images.length)) })
    }
    const repaired = await openOn(whole, { repair: true })
    whole.beforeStep = () => {}
    // before the last step, a sync, what says that a repair is under way is gone
    for (const image of images.slice(-2)) image.mayOpen = true
    const numbers = await numbersIn(repaired)
    await repaired.close()
    for (let step = 0; step < stepsCount; step++) {
      const disk = await damaged()
      let left = step
      disk.fault = () => left-- === 0 ? systemError('EIO') : undefined
      const opened = await openOn(disk, { repair: true }).catch(err => { assert.equal(err.code, 'FAIRLANE_ERR_IO') })
      disk.fault = () => undefined
      if (opened === undefined) images.push({ disk })
      else await opened.close()
    }
    assert(images.length > 2 * stepsCount + 5)
    for (const [i, { disk, mayOpen }] of images.entries()) {
      const opened = await openOn(disk).catch(err => { assert.equal(err.code, 'FAIRLANE_ERR_CORRUPT', `${i}`) })
      if (!mayOpen) assert.equal(opened, undefined, `${i} of ${images.length}`)
      const queue = opened ?? await openOn(disk, { repair: true })
      assert.deepEqual(await numbersIn(queue), numbers, `${i}`)
      assert.equal(opened === undefined, queue.recovered.dropped.length > 0)
      await queue.close()
    }
  })

  it('is told from what a crash left of a large payload of integers, where a head of a frame might be at every byte', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk, { segmentBytes: 2 ** 23 })
    await queue.push(payload(1, 10))
    await queue.push(Buffer.from(new BigUint64Array(2 ** 19).map((_, i) => BigInt(i)).buffer))
    const killed = disk.afterKill()
    await queue.close()
    const { file } = at(killed, '0000000001.log')
    file.bytes = file.bytes.subarray(0, file.bytes.length - 100)
    const again = await openOn(killed, { segmentBytes: 2 ** 23 })
    assert.deepEqual(await numbersIn(again), [1])
    assert(again.recovered.cut.bytes > 2 ** 21)
    await again.close()
  })

  it('... and that without a crc of what follows each byte', () => {
    const zlib = require('node:zlib')
    const { crc32 } = zlib
    const path = require.resolve('../../lib/log/format')
    const cached = require.cache[path]
    const bytes = Buffer.from(new BigUint64Array(2 ** 17).map((_, i) => BigInt(i)).buffer)
    let crcBytes = 0
    zlib.crc32 = (part, seed) => {
      crcBytes += part.length
      assert(crcBytes < 8 * bytes.length, `${crcBytes} bytes of ${bytes.length}`)
      return crc32(part, seed)
    }
    try {
      delete require.cache[path]
      assert.equal(require(path).findFrame(bytes, 0, bytes.length, 1), bytes.length)
    } finally {
      require.cache[path] = cached
      zlib.crc32 = crc32
    }
  })

  it('that ends where a record would have to go on is no frame', () => {
    for (const kind of [1, 2, 3, 4, 5, 6]) {
      const bytes = Buffer.alloc(24)
      bytes.writeUInt32LE(bytes.length, 0)
      bytes.writeUInt32LE(1, 8)
      bytes[20] = kind
      assert.equal(format.findFrame(bytes, 0, bytes.length, 1), bytes.length)
    }
  })

  it('of a header is told by its file: it says another number than the name does', async () => {
    const { disk } = await closedQueue(seeded(5))
    const [first, second] = segmentsOf(disk)
    const { bytes } = at(disk, first).file
    Object.assign(at(disk, second).file, { bytes, durable: bytes })
    await assert.rejects(openOn(disk), {
      code: 'FAIRLANE_ERR_CORRUPT', file: `${FOLDER}/${second}`, offset: 0, message: new RegExp(`its header says that it is segment ${parseInt(first)} `)
    })
  })

  it('is told by where a segment ends, if its last frame is missing and there is one behind it', async () => {
    const { disk } = await closedQueue(seeded(5))
    const [first] = segmentsOf(disk)
    const { file } = at(disk, first)
    const end = file.bytes.length
    const cut = framesIn(file.bytes, parseInt(first)).at(-1).at
    const bytes = file.bytes.subarray(0, cut)
    Object.assign(file, { bytes, durable: bytes })
    await assert.rejects(openOn(disk), {
      code: 'FAIRLANE_ERR_CORRUPT', file: `${FOLDER}/${first}`, offset: cut, message: new RegExp(`the segment ended at ${end} `)
    })
  })

  it('that can not be read is an error of the file system', async () => {
    const { disk } = await closedQueue(seeded(5))
    disk.fault = kind => kind === 'read' ? systemError('EIO') : undefined
    await assert.rejects(openOn(disk), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'EIO')
    assert.equal(disk.openCount, 0)
  })
})

async function closedQueue (random) {
  const disk = new SimulatedDisk()
  const queue = await openOn(disk, { ack: 'os' })
  await work(queue, new History([], 'os'), random, 80, 1)
  await queue.push(payload(1e6, 20))
  await queue.close()
  const again = await openOn(disk)
  const numbers = await numbersIn(again)
  await again.close()
  return { disk, numbers }
}

/** A damaged queue does not open, unless nothing is lost; repaired, it has payloads that were pushed, and opens again. */
async function checkDamaged (disk, numbers, message, whole) {
  const opened = await openOn(disk.afterKill()).catch(() => undefined)
  if (opened !== undefined) {
    assert(opened.recovered.cut !== undefined, message)
    assert.deepEqual(await numbersIn(opened), numbers, message)
    return opened.close()
  }
  await assert.rejects(openOn(disk), err => {
    assert.equal(err.code, 'FAIRLANE_ERR_CORRUPT', `${message} ${err.stack}`)
    assert.match(err.file, /^\/queue\/(\d{10}\.log|closed)$/)
    assert(Number.isInteger(err.offset))
    return true
  }, message)
  assert.equal(disk.openCount, 0, message)
  const queue = await openOn(disk, { repair: true })
  const { dropped } = queue.recovered
  assert(dropped.length > 0, message)
  const repaired = await numbersIn(queue)
  if (whole !== undefined) assert.deepEqual(repaired, whole, message)
  await queue.push(payload(1e6 + 1, 20))
  await queue.close()
  const again = await openOn(disk)
  assert.deepEqual((await again.pop(Infinity)).map(numberOf), [...repaired, 1e6 + 1], message)
  assert.deepEqual(again.recovered.dropped, [], message)
  await again.close()
}

/** The numbers of the payloads that are alive by the frames which damage to a file leaves as they were, and where they were. */
function numbersInWhole (disk, damaged, bytes) {
  const alive = new Map()
  for (const name of segmentsOf(disk)) {
    const { file } = at(disk, name)
    for (const { at, end } of framesIn(file.bytes, parseInt(name))) {
      if (name === damaged && !file.bytes.subarray(at, end).equals(bytes.subarray(at, end))) continue
      format.visitRecords(file.bytes, format.recordsOf(file.bytes, at), {
        push: (seq, kind, at, length) => alive.set(seq, numberOf(format.payloadOf(file.bytes.subarray(at, at + length)))),
        ack: (seq, count) => { while (count-- > 0) alive.delete(seq + count) },
        state: () => {},
        trim: () => {}
      }, Infinity)
    }
  }
  return [...alive.keys()].sort((a, b) => a - b).map(seq => alive.get(seq))
}

function framesIn (bytes, id) {
  const frames = []
  for (let at = 32; at < bytes.length; at = frames.at(-1).end) {
    assert(format.isFrameAt(bytes, at, id))
    frames.push({ at, end: at + bytes.readUInt32LE(at) })
  }
  return frames
}

function contentOf (disk) {
  return disk.list(FOLDER).map(name => [name, Buffer.from(at(disk, name).file.bytes)])
}

function segmentsOf (disk) {
  return disk.list(FOLDER).filter(name => name.endsWith('.log')).sort()
}

function at (disk, name) {
  return { file: disk.folders.get(FOLDER).names.get(name) }
}
