'use strict'

const assert = require('node:assert')
const { PersistentQueue } = require('../../lib/log')
const { CLAIM } = require('../../lib/log/claims')
const { JobState } = require('../../lib/durable/run/job-state')
const { openJobStore } = require('../../lib/durable/life/job-store')
const { rounds } = require('../support/rounds')
const { seeded, seedFromEnvironment } = require('../support/random')
const { turn } = require('../support/turns')
const { SimulatedDisk, systemError } = require('./disk')
const { FOLDER, unlocked } = require('./history')

const base = seedFromEnvironment()
const ROUNDS = rounds(1)
const SEGMENT_BYTES = 65536 // with a reserve of 16384
const CONDENSED = `${FOLDER}/condensed`

/** Opens the store of a job queue, as any program would after that which had it. */
function open (files, options) {
  return openJobStore(FOLDER, { segmentBytes: SEGMENT_BYTES, ack: 'disk', ...options }, { files, lock: unlocked })
}

/** What a store knows of its jobs: seq → phase and attempts. Texts may have been cut off. */
function contentsOf ({ table, states, nextSeq }) {
  const contents = new Map()
  for (let seq = table.first(nextSeq); seq < nextSeq; seq = table.next(seq + 1, nextSeq)) contents.set(seq, nameOf(states.get(seq)))
  return contents
}

const nameOf = state => state === undefined ? 'new' : `${state.phase.name} ${state.attempts}`

/** A store on a disk that is full, with so many jobs of so many bytes each. */
async function filled (disk, count, bytes, options) {
  const store = await open(disk, options)
  for (let i = 0; i < count; i++) store.push([Buffer.alloc(bytes)])
  await store.log.flush()
  disk.capacity = disk.usedBytes
  return store
}

/** Has jobs run, and fail, at random, each change safe before the next one. Given the changes before they are written. */
async function work (store, count, random, begun) {
  for (let i = 0; i < count; i++) {
    const seqs = [...contentsOf(store).keys()]
    const seq = seqs[random.below(Math.min(30, seqs.length))]
    const { attempts = 0, phase } = store.states.get(seq) ?? {}
    const text = random.chance(0.5) ? 'text' : undefined
    let state
    if (store.log.roomFor(phase?.name === 'started' ? CLAIM.STATE : CLAIM.START) < 100) {
      if (phase?.name === 'started') {
        begun(seq, undefined)
        await store.ack(seq).promise
      }
      await turn()
      continue
    }
    if (phase?.name !== 'started') state = JobState.started(attempts + 1, text)
    else if (random.chance(0.3)) state = random.chance(0.3) ? JobState.dead(attempts, '{}') : JobState.due(attempts, 1e12, 1, text)
    begun(seq, state)
    await (state === undefined ? store.ack(seq) : store.setState(seq, state)).promise
  }
}

/**
 * What became of jobs is condensed again and again, and crashes come: before that, in the midst, and behind.
 * @returns {Promise<number>} how often
 */
async function survive (seed) {
  const { now } = performance
  // the same for each run with a seed, on whatever machine
  let time = 0
  performance.now = () => ++time
  try {
    return await condenseAndCrash(seed)
  } finally {
    performance.now = now
  }
}

async function condenseAndCrash (seed) {
  const random = seeded(seed)
  const disk = new SimulatedDisk()
  const images = []
  const before = new Map()
  let after = new Map()
  let condensedCount = 0
  const store = await filled(disk, 300, 100)
  for (const [seq, name] of contentsOf(store)) before.set(seq, name)
  after = new Map(before)
  disk.beforeStep = (kind, path) => {
    if (kind === 'rename') condensedCount++
    const isCondensing = path === CONDENSED || kind === 'syncFolder'
    if (!random.chance(isCondensing ? 0.5 : 0.01)) return
    const image = random.chance(0.3) ? disk.afterKill() : disk.afterPowerLoss(random)
    images.push({ image, legal: [before, after].map(contents => new Map(contents)), where: `${kind} ${path}` })
  }
  await work(store, 600, random, (seq, state) => {
    for (const [key, name] of after) before.set(key, name)
    for (const key of before.keys()) if (!after.has(key)) before.delete(key)
    if (state === undefined) after.delete(seq)
    else after.set(seq, nameOf(state))
  })
  disk.beforeStep = () => {}
  disk.capacity = Infinity
  assert.deepEqual(contentsOf(store), after)
  await store.close()
  assert.equal(disk.openCount, 0)
  images.push({ image: disk, legal: [after], where: 'the end' })
  for (const { image, legal, where } of images) {
    const again = await open(image).catch(err => { throw new Error(`SEED=${seed}, ${where}: does not open`, { cause: err }) })
    const found = JSON.stringify([...contentsOf(again)])
    assert(legal.some(
      contents => JSON.stringify([...contents].sort(([a], [b]) => a - b)) === found
    ), `SEED=${seed}, ${where}: it has something else`)
    assert(!image.list(FOLDER).includes('condensed'), `SEED=${seed}, ${where}: a file is left`)
    await again.close()
  }
  return condensedCount
}

describe('what became of jobs while the disk is full', () => {
  it('is condensed, and is the same after the process or the machine fails at any moment', async () => {
    let count = 0
    for (let seed = base; seed < base + ROUNDS; seed++) count += await survive(seed)
    assert(count > 2 * ROUNDS, `it was condensed ${count} times`)
  })

  const mutants = {
    'the file is not synced': { syncNow (fd) { if (this.at(fd).path !== CONDENSED) SimulatedDisk.prototype.syncNow.call(this, fd) } },
    'its name is not synced': {
      syncFolder (path) {
        if (this.folders.get(path).changes.at(-1)?.name === 'condensed' && !this.list(path).includes('condensed')) return
        SimulatedDisk.prototype.syncFolder.call(this, path)
      }
    }
  }
  for (const [name, methods] of Object.entries(mutants)) {
    it(`... which is not so if ${name}`, async () => {
      const { syncNow, syncFolder } = SimulatedDisk.prototype
      const original = { syncNow, syncFolder }
      const wrong = Object.fromEntries(Object.entries(methods).map(([key, method]) => [key, function (...args) {
        SimulatedDisk.prototype[key] = original[key]
        try {
          return method.apply(this, args)
        } finally {
          SimulatedDisk.prototype[key] = wrong[key]
        }
      }]))
      Object.assign(SimulatedDisk.prototype, wrong)
      try {
        await assert.rejects(async () => {
          for (let seed = 1; seed < 30; seed++) await survive(seed)
        }, /SEED=/)
      } finally {
        Object.assign(SimulatedDisk.prototype, original)
      }
    })
  }

  describe('', () => {
    const { now } = performance
    let disk
    let store
    let time

    beforeEach(() => {
      disk = new SimulatedDisk()
      time = 0
      performance.now = () => time
    })

    afterEach(async () => {
      disk.fault = () => undefined
      disk.capacity = Infinity
      await store.close().catch(() => {})
      assert.equal(disk.openCount, 0)
      performance.now = now
    })

    const usedBytes = () => store.log.reserve.usedBytes

    /** Starts and ends jobs one after the other, until that has been condensed, or so many times. @returns {Promise<number>} how many */
    async function run (first, count) {
      for (let seq = first; seq < first + count; seq++) {
        const before = usedBytes()
        for (const change of [() => store.setState(seq, JobState.started(1, undefined)), () => store.ack(seq)]) {
          if (store.log.error !== undefined) throw store.log.error
          await change().promise
        }
        await turn()
        if (usedBytes() < before) return seq + 1 - first
      }
      return count
    }

    it('takes hardly any room then, though many more jobs have run than the reserve has room for', async () => {
      store = await filled(disk, 1000, 10)
      for (let seq = 1; seq < 900;) {
        seq += await run(seq, 100)
        assert(usedBytes() < SEGMENT_BYTES / 16, `${usedBytes()} bytes after ${seq} jobs`)
      }
      assert(disk.list(FOLDER).filter(name => name.endsWith('.log')).length > 1)
    })

    for (const [what, fault] of Object.entries({
      'no file can be made': (kind, path) => path === CONDENSED && systemError('EMFILE'),
      'the file cannot be written': (kind, path) => kind === 'write' && path === CONDENSED && systemError('ENOSPC'),
      'it cannot take the place of the other one': kind => kind === 'rename' && systemError('EPERM')
    })) {
      it(`stays as it is if ${what}, and is condensed later`, async () => {
        store = await filled(disk, 300, 100)
        await run(1, 30)
        disk.fault = (kind, path) => fault(kind, path) || undefined
        assert.equal(await run(31, 30), 30)
        assert(!disk.list(FOLDER).includes('condensed'))
        disk.fault = () => undefined
        const count = await run(61, 20)
        assert(count < 20)
        disk.capacity = Infinity
        await store.close()
        store = await open(disk)
        assert.equal(store.table.first(1000), 61 + count)
      })
    }

    it('is lost with the log if nobody knows which of the two files is there', async () => {
      store = await filled(disk, 300, 100)
      await run(1, 30)
      let isRenamed = false
      disk.fault = kind => {
        isRenamed ||= kind === 'rename'
        return isRenamed && kind === 'syncFolder' ? systemError('EIO') : undefined
      }
      await assert.rejects(run(31, 40), { code: 'FAIRLANE_ERR_IO' })
      assert.equal(store.log.error.cause.code, 'EIO')
    })

    it('is not condensed if it would take as much room again, with jobs that were moved behind the rest', async () => {
      store = await filled(disk, 300, 100)
      for (let seq = 1; seq < 300; seq += 2) {
        store.setState(seq, JobState.due(1, 1e12, 1000, 'text'))
        if (seq % 20 === 1) await store.log.flush().catch(() => {})
      }
      const { rename } = disk
      let count = 0
      disk.rename = (...args) => {
        count++
        rename.apply(disk, args)
      }
      for (let i = 0; i < 20; i++) await turn()
      assert.equal(count, 0)
      assert(usedBytes() > 0)
    })

    for (const [what, prepare] of Object.entries({
      'no segment can be made behind it': () => {
        disk.fault = (kind, path) => kind === 'create' && path.endsWith('.log') ? systemError('EMFILE') : undefined
      },
      'a write that failed has taken that back': () => {
        const { commitNow } = store.log
        store.log.commitNow = function (...args) {
          commitNow.apply(this, args)
          disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
          store.setState(1, JobState.started(1, undefined))
          commitNow.apply(this, args)
          disk.fault = () => undefined
          delete store.log.commitNow
        }
      }
    })) {
      it(`leaves the last segment where it is if ${what}`, async () => {
        store = await filled(disk, 3, 100)
        prepare()
        await assert.rejects(store.compactor.clear(1))
        assert.equal(store.table.size, 3)
        disk.fault = () => undefined
        disk.capacity = Infinity
        await store.close()
        store = await open(disk)
        assert.deepEqual([...contentsOf(store).keys()], [1, 2, 3])
        assert.equal(store.payload(1).length, 100)
      })
    }

    it('stands in a segment of its own, too, if another one is being emptied when the disk becomes full', async () => {
      store = await filled(disk, 100, 100)
      let end
      store.compactor.running = new Promise(resolve => { end = resolve })
      for (let seq = 1; seq < 100 && store.condenser.content === undefined; seq++) await run(seq, 1)
      assert.equal(store.condenser.content.segment, store.log.nextSegment)
      assert(store.log.reserve.usedBytes < store.log.reserve.bytes / 4, `${store.log.reserve.usedBytes} bytes`)
      store.compactor.running = undefined
      end()
    })

    it('has the room of the reserve: a segment that is being emptied then waits', async () => {
      store = await filled(disk, 100, 100)
      store.compactor.running = Promise.resolve()
      await run(1, 1)
      assert(store.log.reserve.isSpent)
      store.compactor.running = undefined
      assert.throws(() => store.compactor.moveSome([].values()), /full meanwhile/)
    })

    it('is not condensed if a job in it has gone bad', async () => {
      store = await filled(disk, 100, 100)
      const { rename } = disk
      let isRenamed = false
      disk.rename = (...paths) => {
        isRenamed = true
        rename.apply(disk, paths)
      }
      // what is freed somebody else takes, and the copies go bad
      const { remove } = disk
      disk.remove = path => {
        remove.call(disk, path)
        if (!path.endsWith('.log')) return
        disk.capacity = disk.usedBytes + 12500
        const [name] = disk.list(FOLDER).filter(name => name.endsWith('.log'))
        disk.folders.get(FOLDER).names.get(name).bytes[200] ^= 1
        store.compactor.fitsInto = () => false
      }
      for (let seq = 1; seq < 80; seq++) {
        time += 1000
        if (store.log.roomFor(CLAIM.START) < 200) break
        await run(seq, 1)
      }
      assert.equal(isRenamed, false)
    })

    it('has the jobs that lie between, where they are looked for', async () => {
      store = await filled(disk, 100, 100)
      // what is freed somebody else takes
      const { remove, rename } = disk
      disk.remove = path => {
        remove.call(disk, path)
        if (path.endsWith('.log')) disk.capacity = disk.usedBytes + 12500
      }
      let isRenamed = false
      disk.rename = (...paths) => {
        isRenamed = true
        rename.apply(disk, paths)
      }
      for (let seq = 1; seq < 100;) {
        time += 1000
        seq += await run(seq, 10)
        if (isRenamed) break
      }
      assert(isRenamed)
      const { size } = store.table
      for (const seq of contentsOf(store).keys()) assert.equal(store.payload(seq).length, 100)
      await store.close()
      store = await open(disk)
      assert.equal(store.table.size, size)
      for (const seq of contentsOf(store).keys()) assert.equal(store.payload(seq).length, 100)
    })
  })
})

describe('a queue of bytes on a disk that is full', () => {
  it('can be emptied though its acknowledgements take more room than the reserve has', async () => {
    const disk = new SimulatedDisk()
    const queue = await PersistentQueue.open(FOLDER, { segmentBytes: 65536, ack: 'os' }, { files: disk, lock: unlocked })
    for (let i = 0; i < 1500; i++) await queue.push(Buffer.from(`${i}`))
    disk.capacity = disk.usedBytes
    for (let i = 0; i < 1500; i++) {
      const [payload] = await queue.pop()
      assert.equal(String(payload), `${i}`)
    }
    for (let i = 0; i < 100; i++) await turn()
    assert(queue.diskBytes() < 65536 / 8, `${queue.diskBytes()} bytes`)
    await queue.push(Buffer.from('there is room'))
    await queue.close()
    assert.equal(disk.openCount, 0)
  })
})
