'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { readdirSync } = fs
const { join } = require('node:path')
const { holderOf, lock } = require('../../lib/log/lock')
const { lookAt, namesOf } = require('../../lib/log/looking')
const { PersistentQueue } = require('../../lib/log')
const { Snapshot } = require('../../lib/log/snapshot')
const { segmentName } = require('../../lib/log/format')
const { temporaryFolder } = require('../support/folders')

const OPTIONS = { segmentBytes: 1024, ack: 'os' }

describe('a look at a log without its lock', function () {
  let base, folder, queue

  beforeEach(() => {
    base = temporaryFolder()
    folder = join(base, 'queue')
  })
  afterEach(async () => {
    await queue?.close()
    queue = undefined
    fs.rmSync(base, { recursive: true })
  })

  const open = async options => (queue = await PersistentQueue.open(folder, { ...OPTIONS, ...options }))
  const pushAll = async count => { for (let i = 0; i < count; i++) await queue.push([Buffer.alloc(100, i)]) }
  const closeQueue = async () => {
    await queue.close()
    queue = undefined
  }

  async function look () {
    const found = await lookAt(folder, { makeObserver: () => undefined })
    found.snapshot.end()
    return found
  }

  it('finds what is alive while it is open, and who has it open', async () => {
    await open()
    await pushAll(30)
    await queue.pop(4)
    const { kind, reading, damage, holder } = await look()
    assert.deepEqual([kind, reading.live.jobsCount, damage, holder.pid], ['bytes', 26, [], process.pid])
  })

  it('changes nothing, be it open, closed or left by a crash', async () => {
    await open()
    await pushAll(30)
    const before = contents()
    await look()
    assert.deepEqual(contents(), before)
    await closeQueue()
    fs.rmSync(join(folder, 'closed'))
    fs.appendFileSync(join(folder, lastSegment()), 'half a frame')
    const left = contents()
    const { reading, damage, holder } = await look()
    assert.deepEqual([reading.cut.bytes, damage, holder], [12, [], undefined])
    assert.deepEqual(contents(), left)
  })

  it('says what is damaged, and goes on behind it', async () => {
    await open()
    await pushAll(30)
    await closeQueue()
    const name = readdirSync(folder).filter(isSegment).sort()[1]
    const bytes = fs.readFileSync(join(folder, name))
    bytes[60] ^= 1
    fs.writeFileSync(join(folder, name), bytes)
    const { reading, damage } = await look()
    assert.deepEqual(damage.map(({ file }) => file), [name])
    assert.equal(reading.live.jobsCount, 29)
  })

  it('knows a hole between segments, and files that are empty', async () => {
    await open()
    await pushAll(30)
    await closeQueue()
    const [, second, third] = readdirSync(folder).filter(isSegment).sort()
    fs.rmSync(join(folder, second))
    fs.writeFileSync(join(folder, third), '')
    const { damage, kind } = await look()
    assert.equal(kind, 'bytes')
    assert.deepEqual([...new Set(damage.map(({ what }) => what))], ['a segment is missing', 'the header is incomplete', 'the segment ended at 963'])
  })

  it('takes what was not whole once, and is at a second look, for what was being written', async () => {
    await open()
    await pushAll(30)
    const { readSync } = fs
    let count = 0
    fs.readSync = (fd, buffer, offset, length, position) => {
      const read = readSync(fd, buffer, offset, length, position)
      if (length > 100 && count++ === 0) buffer[offset + 60] ^= 1
      return read
    }
    try {
      assert.deepEqual((await look()).damage, [])
    } finally {
      fs.readSync = readSync
    }
    assert(count > 1)
  })

  it('takes for damage only what is not whole in the same place twice', async () => {
    await open()
    await pushAll(30)
    const segmentsCount = readdirSync(folder).filter(isSegment).length
    let count = 0
    const read = fs.readSync
    await withFs('readSync', (fd, buffer, offset, length, position) => {
      const done = read(fd, buffer, offset, length, position)
      // the first segment at the first look, the second one at the second
      if (length > 100 && [0, segmentsCount + 1].includes(count++)) buffer[offset + 60] ^= 1
      return done
    }, async () => assert.deepEqual((await look()).damage, []))
    assert(count >= 2 * segmentsCount)
  })

  it('is told how far it has come', async () => {
    await open()
    await pushAll(30)
    const told = []
    const onProgress = ({ bytes, totalBytes }) => told.push(bytes / totalBytes)
    const { snapshot } = await lookAt(folder, { makeObserver: () => undefined, onProgress })
    snapshot.end()
    assert(told.length > 3)
    assert.equal(told.at(-1), 1)
  })

  it('is refused where there is no folder, no queue, or no access', async () => {
    await assert.rejects(look(), { code: 'FAIRLANE_ERR_ARGUMENT', message: /There is no folder/ })
    assert.throws(() => namesOf(folder), { code: 'FAIRLANE_ERR_ARGUMENT', message: /There is no folder/ })
    fs.mkdirSync(folder)
    fs.writeFileSync(join(folder, 'notes.txt'), 'of somebody else')
    await assert.rejects(look(), { code: 'FAIRLANE_ERR_ARGUMENT', message: /There is no queue/ })
    assert.throws(() => namesOf(folder), { code: 'FAIRLANE_ERR_ARGUMENT', message: /There is no queue/ })
    await withFs('openSync', () => { throw Object.assign(new Error('denied'), { code: 'EACCES' }) }, async () => {
      fs.writeFileSync(join(folder, segmentName(1)), '')
      await assert.rejects(look(), { code: 'FAIRLANE_ERR_IO' })
    })
  })

  it('is refused where the format is another version, and closes what it has opened', async () => {
    await open()
    await closeQueue()
    const name = lastSegment()
    const bytes = fs.readFileSync(join(folder, name))
    bytes.writeUInt16LE(99, 8)
    bytes.writeUInt32LE(require('node:zlib').crc32(bytes.subarray(0, 28)), 28)
    fs.writeFileSync(join(folder, name), bytes)
    const before = descriptors()
    await assert.rejects(look(), { code: 'FAIRLANE_ERR_VERSION' })
    assert.equal(descriptors(), before)
  })

  it('does without segments where only their numbers are left, and without what the payloads are where no header is', async () => {
    fs.mkdirSync(folder)
    fs.writeFileSync(join(folder, 'numbers-77'), '')
    assert.deepEqual([(await look()).kind, (await look()).damage], ['jobs', []])
    for (const name of [segmentName(1), 'closed']) fs.writeFileSync(join(folder, name), '')
    const { kind, reading, damage } = await look()
    assert.deepEqual([kind, reading.live.jobsCount, damage], ['jobs', 0, []])
  })

  describe('begins anew if, between its steps,', function () {
    const changes = {
      'another segment was begun': () => fs.writeFileSync(join(folder, segmentName(parseInt(lastSegment()) + 1)), ''),
      'the queue was closed': () => fs.writeFileSync(join(folder, 'closed'), ''),
      'the oldest segment went': () => fs.rmSync(join(folder, firstSegment())),
      'a segment was not listed that came meanwhile': () => {}
    }

    for (const [title, change] of Object.entries(changes)) {
      it(title, async () => {
        await open()
        await pushAll(30)
        const before = descriptors()
        let count = 0
        const listed = path => {
          const names = readdirSync(path)
          if (count++ > 0) return names
          change()
          return title.startsWith('a segment was not') ? names.filter(name => name !== segmentName(2)) : names
        }
        await withFs('readdirSync', listed, async () => {
          const snapshot = await Snapshot.take(folder)
          assert.deepEqual(snapshot.list(), readdirSync(folder))
          snapshot.end()
        })
        assert.equal(count, 2)
        assert.equal(descriptors(), before)
      })
    }

    it('the folder changes at each look, until it gives up', async () => {
      await open()
      await withFs('existsSync', () => true, () => assert.rejects(Snapshot.take(folder), /changed while it was read, 1000 times/))
    })
  })

  it('reads what has been removed since it began', async () => {
    await open()
    await pushAll(30)
    const snapshot = await Snapshot.take(folder)
    await queue.pop(30)
    await queue.flush()
    await closeQueue()
    const [name] = snapshot.list().filter(isSegment)
    fs.rmSync(join(folder, name), { force: true })
    const fd = snapshot.open(join(folder, name))
    const bytes = Buffer.alloc(8)
    snapshot.read(fd, bytes, 0, 8, 0)
    assert.equal(String(bytes), 'FAIRLANE')
    snapshot.end()
  })

  it('sees nobody where a socket is left over, and leaves that there', async () => {
    await open()
    await closeQueue()
    const { release } = await lock(folder)
    const [name] = readdirSync(folder).filter(name => name.startsWith('lock-'))
    fs.linkSync(join(folder, name), join(base, 'kept'))
    await release()
    fs.renameSync(join(base, 'kept'), join(folder, name))
    assert.equal(await holderOf(folder), undefined)
    assert(fs.existsSync(join(folder, name)))
  })

  it('asks by the name of a pipe on Windows', async () => {
    fs.mkdirSync(folder)
    assert.equal(await holderOf(folder, 'win32'), undefined)
  })

  const isSegment = name => name.endsWith('.log')
  const lastSegment = () => readdirSync(folder).filter(isSegment).sort().at(-1)
  const firstSegment = () => readdirSync(folder).filter(isSegment).sort()[0]
  const descriptors = () => fs.existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0

  function contents () {
    const names = readdirSync(folder)
    return names.map(name => [name, fs.statSync(join(folder, name)).mtimeMs, name.startsWith('lock-') ? '' : fs.readFileSync(join(folder, name), 'latin1')])
  }

  async function withFs (name, replacement, use) {
    const original = fs[name]
    fs[name] = replacement
    try {
      await use()
    } finally {
      fs[name] = original
    }
  }
})
