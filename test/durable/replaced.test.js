'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const { join } = require('node:path')
const { durable } = require('../../lib/durable')
const { PersistentQueue } = require('../../lib/log')
const { files } = require('../../lib/log/files')
const { lock } = require('../../lib/log/lock')
const { node } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { captureWarnings } = require('../support/uncaught')
const { SimulatedDisk } = require('../log/disk')
const { FOLDER, openOn } = require('../log/history')

const IO = { code: 'FAIRLANE_ERR_IO' }
const SEGMENT_BYTES = 4096

describe('a queue whose folder is removed while it is open', () => {
  let folder
  let queue

  beforeEach(async () => {
    folder = join(temporaryFolder(), 'queue')
    queue = await PersistentQueue.open(folder, { ack: 'os', segmentBytes: SEGMENT_BYTES })
  })
  afterEach(() => queue.close().catch(() => {}))

  const remove = () => fs.rmSync(folder, { recursive: true })
  // one that somebody else has made since, who does not have it open: nothing in it changes by itself
  const replace = async how => {
    if (how === 'moved') fs.renameSync(folder, `${folder}-old`)
    else remove()
    const other = await PersistentQueue.open(folder, { ack: 'os', segmentBytes: SEGMENT_BYTES })
    for (let i = 0; i < 9; i++) await other.push(Buffer.alloc(1000, 'other'))
    return other
  }
  const contents = () => fs.readdirSync(folder).filter(name => !name.startsWith('lock-')).map(name => [
    name, fs.readFileSync(join(folder, name), 'hex')
  ])

  it('fails its first push after a pause', async () => {
    remove()
    await assert.rejects(queue.push(Buffer.from('a')), IO)
    assert.throws(() => queue.pushSync(Buffer.from('a')), IO)
    await assert.rejects(queue.close(), /removed or replaced/)
  })

  it('fails pushes soon, long before the segment ends', async () => {
    const other = await PersistentQueue.open(`${folder}2`, { ack: 'os' })
    await other.push(Buffer.from('a'))
    fs.rmSync(`${folder}2`, { recursive: true })
    let error
    while (error === undefined) {
      await other.push(Buffer.from('a')).catch(err => { error = err })
      await new Promise(setImmediate)
    }
    assert.equal(error.code, IO.code)
    await assert.rejects(other.close(), IO)
  })

  for (const how of ['removed and made again', 'moved']) {
    it(`touches nothing of the folder in its place: ${how}`, async () => {
      await queue.push(Buffer.from('a'))
      const other = await replace(how)
      const before = contents()
      // within the time in which nobody looks before a write
      await assert.rejects(queue.push(Buffer.alloc(SEGMENT_BYTES)), IO)
      await assert.rejects(queue.close(), /removed or replaced/)
      assert.deepEqual(contents(), before)
      assert.equal((await other.pop(Infinity)).length, 9)
      await other.close()
    })

    it(`does not say that the other one was closed: ${how}`, async () => {
      await queue.push(Buffer.from('a'))
      const other = await replace(how)
      await assert.rejects(queue.close(), /removed or replaced/)
      assert(!fs.readdirSync(folder).includes('closed'))
      await other.close()
      const again = await PersistentQueue.open(folder)
      assert.equal(again.length, 9)
      await again.close({ drain: true })
    })
  }

  it('removes no segment of the other one', async () => {
    for (let i = 0; i < 9; i++) await queue.push(Buffer.alloc(1000, 'a'))
    const other = await replace('removed and made again')
    const before = contents()
    await queue.pop(9).catch(() => {})
    await assert.rejects(queue.close(), IO)
    assert.deepEqual(contents(), before)
    await other.close()
  })

  it('removes no segment if it is removed just before', async () => {
    const disk = new SimulatedDisk()
    const own = await openOn(disk, { ack: 'os' })
    for (let i = 0; i < 9; i++) await own.push(Buffer.alloc(1000, 'a'))
    await own.flush()
    const gone = []
    disk.isAt = () => gone.length === 0
    // that of what is written before segments are removed
    disk.beforeStep = kind => { if (kind === 'sync') gone.push(kind) }
    const before = disk.list(FOLDER)
    await own.pop(9)
    while (gone.length === 0) await new Promise(setImmediate)
    await assert.rejects(own.close(), IO)
    assert.deepEqual(disk.list(FOLDER), before)
    assert.equal(disk.openCount, 0)
  })

  for (const isKnown of [false, true]) {
    const since = isKnown ? 'and was before' : 'just now'
    it(`neither takes a reserve of the other one nor makes one there, when the disk is full (${since})`, async () => {
      await staysApartWhenFull(isKnown)
    })
  }

  async function staysApartWhenFull (isKnown) {
    await queue.close({ drain: true })
    let isFull = isKnown
    const own = {
      ...files,
      write: (...args) => {
        if (isFull) throw Object.assign(new Error('ENOSPC: full'), { code: 'ENOSPC' })
        return files.write(...args)
      }
    }
    const { now } = performance
    let time = 1000
    performance.now = () => time
    try {
      fs.rmSync(join(folder, 'reserve'))
      queue = await PersistentQueue.open(folder, { ack: 'os', segmentBytes: SEGMENT_BYTES }, { files: own, lock })
      if (!isKnown) await queue.push(Buffer.from('a'))
      const other = await replace('removed and made again')
      fs.rmSync(join(folder, 'reserve'))
      const before = contents()
      isFull = !isKnown
      time += 200
      await assert.rejects(queue.push(Buffer.from('b')), IO)
      await assert.rejects(queue.close(), /removed or replaced/)
      assert.deepEqual(contents(), before)
      await other.close()
    } finally {
      performance.now = now
    }
  }

  it('sets no numbers aside in the other one', async () => {
    const disk = new SimulatedDisk()
    const first = await openOn(disk)
    await first.push(Buffer.from('a'))
    // after a crash the first push sets numbers aside
    const crashed = disk.afterKill()
    const again = await openOn(crashed)
    crashed.folders.set(FOLDER, { names: new Map(), durable: new Map(), changes: [] })
    await assert.rejects(again.push(Buffer.from('b')), IO)
    assert.deepEqual(crashed.list(FOLDER), [])
    await assert.rejects(again.close(), IO)
    await first.close()
  })

  it('closes a job queue, whose jobs nobody has any more', async () => {
    const warnings = captureWarnings()
    const path = `${folder}3`
    const jobs = await durable(async () => {}, { path, ack: 'os' })
    fs.rmSync(path, { recursive: true })
    await assert.rejects(jobs.push(1), IO)
    await assert.rejects(jobs.close(), IO)
    assert.equal(warnings.seen[0].code, IO.code)
    warnings.release()
  })

  it('is not taken for gone when nobody can tell', async () => {
    await queue.close({ drain: true })
    const own = { ...files, isAt: () => { throw new Error('EIO') } }
    queue = await PersistentQueue.open(folder, { ack: 'os' }, { files: own, lock })
    await queue.push(Buffer.from('a'))
    assert.equal(queue.length, 1)
  })
})

describe('a process whose files may only have so many bytes', () => {
  it('pushes and pops all that fits into files of that size, without a reserve', async function () {
    if (process.platform === 'win32') this.skip()
    const folder = temporaryFolder()
    const program = `
      const { PersistentQueue } = require('./lib/log')
      async function main () {
        const queue = await PersistentQueue.open(process.argv[1], { ack: 'os' })
        let count = 0
        const codes = new Set()
        for (let i = 0; i < 3000; i++) await queue.push(Buffer.alloc(1000)).then(() => count++, ({ cause }) => codes.add(cause.code))
        const popped = (await queue.pop(Infinity)).length
        await queue.close({ drain: true })
        console.log(count === popped && count > 2990, [...codes].join())
      }
      main()`
    // 1 MB, in blocks of 512 bytes
    const command = 'ulimit -f 2048; exec "$0" -e "$1" "$2"'
    const args = `['-c', '${command}', process.execPath, ${JSON.stringify(program)}, ${JSON.stringify(folder)}]`
    const limited = `require('node:child_process').execFileSync('sh', ${args}, { stdio: 'inherit' })`
    const { stdout, stderr } = await node(['-e', limited])
    assert.equal(stdout, 'true EFBIG\n', stderr)
  })
})
