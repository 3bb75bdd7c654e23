'use strict'

const assert = require('node:assert')
const { openStore } = require('../../lib/log/opening')
const format = require('../../lib/log/format')
const { Frames } = require('../../lib/log/frames')
const { JobState } = require('../../lib/durable/run/job-state')
const { WINDOW_BYTES } = require('../../lib/log/reader')

const { seeded } = require('../support/random')
const { turns } = require('../support/turns')
const { SimulatedDisk, systemError } = require('./disk')
const { holdSyncs } = require('../durable/bench')
const { FOLDER, unlocked } = require('./history')

const owner = { safe () {}, settled () {}, failed () {} }
const FAILED = JobState.due(2, 1e12 + 0.5, 250.5, 'it did not work: ü')
const DEAD = JobState.dead(5)
const OPTIONS = { segmentBytes: 4096, ack: 'os', kind: 'jobs', readState: JobState.read }

describe('the store of jobs', () => {
  let disk
  let store

  const open = async options => {
    store = await openStore(FOLDER, { ...OPTIONS, ...options }, { files: disk, lock: unlocked }, owner)
  }
  const reopen = async options => {
    await store.close()
    await open(options)
  }

  beforeEach(async () => {
    disk = new SimulatedDisk()
    await open()
  })
  afterEach(() => store.close())

  const push = (text, type, isFront) => {
    store.push([Buffer.from(text)], type, isFront)
    return store.nextSeq - 1
  }

  const placeOf = seq => {
    assert(store.table.find(seq))
    const { segment, offset, length } = store.table
    return { segment, offset, length }
  }

  /** All that is known of the live jobs, and what is counted of them. */
  const contents = () => {
    const jobs = []
    const liveCounts = new Map()
    for (let seq = store.table.next(1, store.nextSeq); seq < store.nextSeq; seq = store.table.next(seq + 1, store.nextSeq)) {
      jobs.push([seq, String(store.payload(seq)), store.states.get(seq)])
      store.table.find(seq)
      liveCounts.set(store.table.segment, (liveCounts.get(store.table.segment) ?? 0) + 1)
    }
    for (const [id, { liveCount }] of store.log.segments) assert.equal(liveCount, liveCounts.get(id) ?? 0, `segment ${id}`)
    assert.equal(store.table.size, jobs.length)
    return { jobs, bytes: store.table.bytes, stateBytes: store.live.stateBytes, statesCount: store.states.size }
  }

  it('passes over states that it is not told how to read', async () => {
    const seq = push('one', 'a')
    store.setState(seq, FAILED)
    await reopen({ readState: undefined })
    assert.deepEqual(contents().jobs, [[seq, 'one', undefined]])
  })

  for (const [which, isOldest] of [['the oldest segment', true], ['a segment', false]]) {
    it(`keeps ${which} whose jobs are back, since their ends could not be written when it was to be removed`, async () => {
      await store.close()
      disk = new SimulatedDisk()
      await open({ kind: 'bytes', segmentBytes: 1024 })
      const { compactor } = store
      compactor.isStopped = true // but for what is called here
      for (let i = 0; i < 8; i++) {
        push(`${i} ${'x'.repeat(300)}`)
        await store.log.flush()
      }
      const oldest = placeOf(1).segment
      const ends = [...store.table.seqsIn(isOldest ? oldest : oldest + 1)]
      const jobsBefore = contents().jobs
      // at the last moment before it is looked at what is to be removed
      const { close } = Frames.prototype
      Frames.prototype.close = function () {
        Frames.prototype.close = close
        close.call(this)
        let writes = 0
        disk.fault = kind => kind === 'write' && ++writes === 1 ? systemError('EIO') : undefined
        store.ackAll(ends)
      }
      if (isOldest) compactor.moveAll = async () => 0
      await compactor.clear(oldest)
      for (const seq of ends) assert(store.log.segments.has(placeOf(seq).segment), `job ${seq} is in segment ${placeOf(seq).segment}`)
      assert.deepEqual(contents().jobs, jobsBefore)
    })
  }

  it('keeps types, and which jobs were put to the front', async () => {
    const seqs = [push('a'), push('b', 'tenant ü'), push('c', '', true)]
    const observed = []
    await reopen({ observer: { push: (seq, kind, record) => observed.push([seq, kind, format.typeOf(record)]) } })
    assert.deepEqual(observed, [
      [seqs[0], format.PUSH, undefined], [seqs[1], format.PUSH, 'tenant ü'], [seqs[2], format.pushKind(true, false), '']
    ])
    assert.deepEqual(seqs.map(seq => String(store.payload(seq))), ['a', 'b', 'c'])
  })

  it('is without the jobs that are finished when it is opened again', async () => {
    const seqs = [push('a'), push('b'), push('c'), push('d')]
    for (const seq of seqs.slice(0, 3)) store.ack(seq)
    await reopen()
    assert.deepEqual(contents().jobs, [[seqs[3], 'd', undefined]])
  })

  it('keeps the last state of a job, until it is finished', async () => {
    const seqs = [push('a'), push('b', 'x'), push('c')]
    store.setState(seqs[0], DEAD)
    store.setState(seqs[0], FAILED)
    store.setState(seqs[1], DEAD)
    store.setState(seqs[2], FAILED)
    store.ack(seqs[2])
    const { stateBytes } = store.live
    await reopen()
    assert.deepEqual([...store.states], [[seqs[0], FAILED], [seqs[1], DEAD]])
    assert.equal(store.live.stateBytes, stateBytes)
    store.ack(seqs[0])
    store.ack(seqs[1])
    await reopen()
    assert.equal(store.states.size, 0)
    assert.equal(store.live.stateBytes, 0)
  })

  it('moves states along with their jobs', async () => {
    const seqs = []
    for (let i = 0; i < 200; i++) {
      seqs.push(push(`job ${i}`, 'x'))
      store.setState(seqs[i], i % 2 === 0 ? FAILED : DEAD)
      store.ack(push('y'.repeat(500)))
      if (i % 10 === 0) await store.log.flush()
    }
    while (store.log.segments.has(1)) await store.log.flush()
    await reopen()
    assert.deepEqual([...store.states.keys()].sort((a, b) => a - b), seqs)
    assert.deepEqual(store.states.get(seqs[0]), FAILED)
    assert.deepEqual(store.states.get(seqs[1]), DEAD)
    assert.deepEqual(seqs.map(seq => String(store.payload(seq))), seqs.map((_, i) => `job ${i}`))
  })

  it('has jobs where they were if their new place can not be written', async () => {
    const seqs = [push('a'), push('b')]
    await store.log.flush()
    for (const seq of seqs) store.move(seq, store.record(seq))
    disk.fault = kind => kind === 'write' ? new Error('full') : undefined
    await assert.rejects(store.log.flush(), { code: 'FAIRLANE_ERR_IO' })
    disk.fault = () => undefined
    assert.deepEqual(seqs.map(seq => String(store.payload(seq))), ['a', 'b'])
    push('c'.repeat(4000))
    assert.equal(store.log.nextSegment, 2)
  })

  it('has what became of jobs, and no new ones, if several groups can not be written; and writes it later', async () => {
    const seqs = [push('a'), push('b'), push('c')]
    store.setState(seqs[1], FAILED)
    push('w'.repeat(3000))
    store.log.commitNow(false)
    const placed = seqs.map(placeOf)
    // the next segments wait until this one is synced
    const release = holdSyncs(disk)
    push('x'.repeat(3000))
    store.setState(seqs[0], FAILED)
    store.setState(seqs[1], DEAD)
    store.move(seqs[1], store.record(seqs[1]))
    push('y'.repeat(3000))
    store.move(seqs[0], store.record(seqs[0]))
    store.ack(seqs[0])
    push('z'.repeat(3000))
    store.ack(seqs[2])
    assert.equal(store.log.sealed.length, 2)
    disk.fault = kind => kind === 'write' ? new Error('full') : undefined
    release()
    await assert.rejects(store.log.flush(), { code: 'FAIRLANE_ERR_IO' })
    disk.fault = () => undefined
    assert.deepEqual(contents().jobs.map(([seq, , state]) => [seq, state]), [[seqs[1], DEAD], [4, undefined]])
    assert.deepEqual(placeOf(seqs[1]), placed[1])
    assert.deepEqual([...store.unwritten.gone, ...store.unwritten.changed], [seqs[2], seqs[0], seqs[1]])
    const written = contents()
    assert.deepEqual([store.unwritten.writeGone(), store.unwritten.writeChanged(), store.unwritten.size], [true, true, 0])
    await reopen()
    assert.deepEqual(contents(), written)
  })

  it('writes nothing later that a log which has failed can not take', async () => {
    const seq = push('a')
    await store.log.flush()
    store.ackLater(seq)
    store.log.fail(new Error('EIO'))
    assert.deepEqual([store.unwritten.writeGone(), store.unwritten.size], [false, 1])
  })

  it('forgets the state of a job that a repair could not keep', async () => {
    const seq = push('a')
    await store.log.flush()
    store.setState(seq, FAILED)
    await store.close()
    disk.folders.get(FOLDER).names.get('0000000001.log').bytes[60] ^= 1
    await open({ repair: true })
    assert.equal(store.table.size, 0)
    assert.equal(store.states.size, 0)
  })

  it('finds a job that was moved and is not written yet', async () => {
    const seq = push('a', 'x')
    await store.log.flush()
    store.move(seq, store.record(seq))
    assert.equal(String(store.payload(seq)), 'a')
  })

  it('that can not be opened says why, whatever becomes of its lock', async () => {
    const release = async () => { throw new Error('not this') }
    disk.fault = kind => kind === 'list' ? systemError('EIO') : undefined
    const opening = openStore('/other', OPTIONS, { files: disk, lock: async () => ({ release }) }, owner)
    await assert.rejects(opening, ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'EIO')
    disk.fault = () => undefined
  })

  it('has no job that finished while it was moved, whenever a crash comes', async () => {
    const seqs = Array.from({ length: 30 }, (_, i) => push(`${i} `.padEnd(100), 'x'))
    push('y'.repeat(3000))
    await store.log.flush()
    const finished = new Set()
    const synced = new Set() // of those; with ack 'os' a power failure may bring back the others
    const images = []
    disk.beforeStep = () => {
      images.push({ disk: disk.afterKill(), gone: [...finished] })
      images.push({ disk: disk.afterPowerLoss(seeded(images.length)), gone: [...synced] })
    }
    // it would begin by itself too, when all in a segment is finished
    store.compactor.isStopped = true
    const clearing = store.compactor.clear(1)
    for (let i = 0; i < seqs.length; i++) {
      // by turns: at once after the step that moves it, a turn later, when it is on the disk
      const { promise } = store.ack(seqs[i])
      await [undefined, promise, store.log.flush()][i % 3]
      await promise
      finished.add(seqs[i])
      if (i % 3 === 2) for (const seq of finished) synced.add(seq)
      await new Promise(setImmediate)
    }
    await clearing
    assert(images.length > 20)
    for (const { disk, gone } of images) {
      const again = await openStore(FOLDER, OPTIONS, { files: disk, lock: unlocked }, owner)
      for (const seq of gone) assert(!again.table.find(seq), `${seq} is back`)
      await again.close()
    }
  })

  it('lets a tenant who does not work keep the space of its own jobs only', async () => {
    const waiting = []
    const running = []
    let most = 0
    for (let i = 0; i < 2000; i++) {
      if (i % 20 === 0) waiting.push(push(`${i}`.padEnd(100), 'paused'))
      running.push(push('x'.repeat(200), 'working'))
      if (running.length > 3) store.ack(running.shift())
      await store.log.flush()
      await new Promise(setImmediate)
      most = Math.max(most, store.log.bytes - 2 * store.live.bytes)
    }
    assert(most < 4 * 4096, `${most} bytes more than twice the live jobs`)
    assert(store.log.segments.size > 4)
    await reopen()
    assert.deepEqual(waiting.map(seq => parseInt(store.payload(seq))), waiting.map((_, i) => 20 * i))
  })

  it('finds a job whose move can not be written where it was', async () => {
    const seqs = [push('a'), push('b'.repeat(4000))]
    await store.log.flush()
    store.move(seqs[0], store.record(seqs[0]))
    disk.fault = kind => kind === 'create' ? systemError('EIO') : undefined
    assert.equal(String(store.payload(seqs[0])), 'a')
    disk.fault = () => undefined
  })

  it('moves many bytes in several goes, as long as the log can be written', async () => {
    await reopen({ segmentBytes: 1 << 22 })
    const seqs = Array.from({ length: 50 }, () => push('x'.repeat(1e5)))
    const id = store.log.nextSegment
    await store.log.flush()
    await store.compactor.rewriteBefore(id)
    assert(!store.log.segments.has(1))
    assert.equal(store.payload(seqs[39]).length, 1e5)
    const clearing = store.compactor.clear(store.compactor.oldest)
    store.log.fail(new Error('gone'))
    await assert.rejects(clearing, { code: 'FAIRLANE_ERR_IO' })
    await assert.rejects(store.compactor.clear(store.compactor.oldest), store.log.error)
    store.log.fail(new Error('gone again'))
    assert.equal(store.log.error.cause.message, 'gone')
    await assert.rejects(store.log.flush(), { code: 'FAIRLANE_ERR_IO' })
  })

  it('begins no other segment while there is nothing in the last one', async () => {
    push('a')
    await store.log.flush()
    store.log.endSegment()
    const { nextSegment } = store.log
    store.log.endSegment()
    assert.equal(store.log.nextSegment, nextSegment)
    const seq = push('b')
    await store.log.flush()
    assert.equal(placeOf(seq).segment, nextSegment)
  })

  it('heeds no end of a sync once its log has failed', async () => {
    await reopen({ ack: 'disk' })
    const release = holdSyncs(disk)
    const seq = push('a')
    store.log.commitNow(false)
    store.log.fail(new Error('gone'))
    release()
    await turns(3)
    await assert.rejects(store.log.flush(), ({ cause }) => cause.message === 'gone')
    await store.close()
    assert.equal(disk.openCount, 0)
    await open()
    assert.equal(String(store.payload(seq)), 'a')
  })

  it('tells those whose jobs are not written yet that its log has failed', async () => {
    const { promise } = store.push([Buffer.from('a')])
    store.log.fail(new Error('gone'))
    await assert.rejects(promise, ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.message === 'gone')
  })

  it('knows the type of a job, however long it is', async () => {
    const types = ['x', 'y'.repeat(60000), 'z'.repeat(300)]
    // some of their records are longer than what is read at once
    const seqs = types.map(type => push('a'.repeat(WINDOW_BYTES - 1000), type))
    await store.log.flush()
    assert.deepEqual(seqs.map(seq => store.typeOf(seq)), types)
  })

  it('refuses a type that is too long', () => {
    assert.equal(store.refusal(1, 1, 'x'.repeat(65534)), undefined)
    assert.equal(store.refusal(1, 1, 'x'.repeat(65535)).code, 'FAIRLANE_ERR_TOO_LARGE')
  })
})
