'use strict'

const assert = require('node:assert')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { quiet, turn } = require('../support/turns')
const { Bench } = require('./bench')
const { SimulatedDisk, systemError } = require('../log/disk')
const { FOLDER, openOn, payload, numberOf } = require('../log/history')
const { Told } = require('./told')

const base = seedFromEnvironment()
const ROUNDS = rounds(10)
const LIVES = 5
const AHEAD = 2 ** 20
const IO = { code: 'FAIRLANE_ERR_IO' }

describe('the number of a job that somebody was told', function () {
  for (const ack of ['os', 'disk']) {
    it(`is given to no other job, however often the power fails (ack '${ack}')`, async () => {
      let losses = 0
      for (let seed = base; seed < base + ROUNDS; seed++) losses += await tellJobs(seed, ack)
      assert(ack === 'disk' || losses > ROUNDS, `${losses} jobs were lost`)
    })

    it(`... nor to another payload of a queue of bytes (ack '${ack}')`, async () => {
      for (let seed = base; seed < base + ROUNDS; seed++) await tellPayloads(seed, ack)
    })
  }

  it('is skipped after the end of the process, and not after close()', async () => {
    const bench = new Bench()
    const { queue } = await opened(bench)
    assert.deepEqual([await queue.push('a'), await queue.push('b')], [1, 2])
    await bench.reopen({ concurrency: 1 })
    assert.equal(await bench.queue.push('c'), 3)
    await bench.reopenAfterKill({ concurrency: 1 })
    assert.equal(await bench.queue.push('d'), 1 + AHEAD)
    await bench.reopen({ concurrency: 1 })
    assert.equal(await bench.queue.push('e'), 2 + AHEAD)
    await bench.queue.close({ timeoutMs: 0 })
    assert.deepEqual(numbersFiles(bench.disk), [`numbers-${2 + 2 * AHEAD}`])
  })

  it('is skipped too if a process that pushed nothing has closed the queue meanwhile', async () => {
    const bench = new Bench()
    await opened(bench)
    const id = await bench.queue.push('a')
    bench.disk = bench.disk.afterPowerLoss({ pick: () => 0, chance: () => false })
    await opened(bench)
    await bench.reopen({ concurrency: 1 })
    assert.equal(bench.queue.recovered.jobs, 0)
    assert(await bench.queue.push('b') > id)
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('is not skipped by a process that pushed nothing', async () => {
    const bench = new Bench()
    await opened(bench)
    await bench.queue.push('a')
    for (let i = 0; i < 5; i++) await bench.reopenAfterKill({ concurrency: 1 })
    assert.equal(await bench.queue.push('b'), 1 + AHEAD)
    await bench.queue.close({ timeoutMs: 0 })
  })

  it('is set aside before it is told, in a queue of bytes with more of them in one call, too', async () => {
    const disk = new SimulatedDisk()
    let queue = await openOn(disk, { ack: 'os', segmentBytes: 2 ** 30 })
    await queue.push(new Array(2 * AHEAD).fill(Buffer.alloc(0)))
    queue = await openOn(disk.afterPowerLoss({ pick: () => 0, chance: () => false }), { ack: 'os' })
    assert.equal(queue.length, 0)
    await queue.push(Buffer.from('next'))
    const [{ id }] = await queue.reserve()
    assert(id > 2 * AHEAD, `${id}`)
    await queue.close({ drain: true })
  })

  for (const kind of ['create', 'syncFolder']) {
    it(`is set aside by a push that is refused if that fails (${kind}), and by a later one`, async () => {
      const bench = new Bench()
      await opened(bench)
      await bench.queue.push('a')
      await bench.reopenAfterKill({ concurrency: 1 })
      bench.disk.fault = (actual, path) => actual === kind && (kind !== 'create' || path.includes('numbers'))
        ? systemError('EIO')
        : undefined
      for (let i = 0; i < 3; i++) await assert.rejects(bench.queue.push('b'), IO)
      bench.disk.fault = () => undefined
      await bench.queue.push('b')
      await quiet()
      assert.equal(bench.queue.closed, false)
      assert.deepEqual([...bench.queue.jobs()].map(({ payload }) => payload), ['b'])
      assert.equal(numbersFiles(bench.disk).length, 1)
      await bench.queue.close({ timeoutMs: 0 })
    })
  }

  it('is set aside when the turn of a push of a queue of bytes comes late, which fails if that fails', async () => {
    const disk = new SimulatedDisk()
    const queue = await openOn(disk, { ack: 'os', segmentBytes: 2 ** 30, maxInflightOps: 1 })
    const many = new Array(0.6 * AHEAD | 0).fill(Buffer.alloc(0))
    const pushes = Array.from({ length: 4 }, () => queue.push(many))
    disk.fault = (kind, path) => path.includes('numbers') ? systemError('EIO') : undefined
    const results = await Promise.allSettled(pushes)
    assert.deepEqual(results.map(({ reason }) => reason?.code), [undefined, undefined, undefined, IO.code])
    disk.fault = () => undefined
    await queue.push(many)
    assert.equal(queue.length, 4 * many.length)
    await queue.close({ drain: true })
  })

  it('is set aside by the first push if that failed when the queue was opened', async () => {
    const disk = new SimulatedDisk()
    disk.fault = (kind, path) => path.includes('numbers') ? systemError('ENOSPC') : undefined
    const queue = await openOn(disk)
    await assert.rejects(queue.push(payload(1, 10)), IO)
    disk.fault = () => undefined
    await queue.push(payload(1, 10))
    assert.equal(numbersFiles(disk).length, 1)
    await queue.close({ drain: true })
  })

  it('is set aside though the file of those before can not be removed, which the next one does', async () => {
    const bench = new Bench()
    await opened(bench)
    await bench.queue.push('a')
    await bench.reopenAfterKill({ concurrency: 1 })
    bench.disk.fault = (kind, path) => kind === 'remove' && path.includes('numbers') ? systemError('EBUSY') : undefined
    await bench.queue.push('b')
    assert.equal(numbersFiles(bench.disk).length, 2)
    await bench.reopenAfterKill({ concurrency: 1 })
    await bench.queue.push('c')
    assert.equal(numbersFiles(bench.disk).length, 1)
    await bench.queue.close({ timeoutMs: 0 })
  })
})

async function opened (bench) {
  await bench.open({ concurrency: 1 })
  return bench
}

function numbersFiles (disk) {
  return disk.list(FOLDER).filter(name => name.startsWith('numbers'))
}

/** Lives of a job queue, most of which a power failure ends. @returns {Promise<number>} how many jobs it was told of were lost */
async function tellJobs (seed, ack) {
  const random = seeded(seed)
  const told = new Told(`SEED=${seed} ack ${ack}`)
  const bench = new Bench()
  let count = 0
  let losses = 0
  for (let life = 0; life < LIVES; life++) {
    let isAlive = true
    const runner = (name, done, { id }) => {
      if (isAlive) told.note(id, name)
      setImmediate(() => random.chance(0.3) ? done(new Error('no')) : done(null, name))
    }
    const queue = await bench.open({ runner, ack, concurrency: 2, maxAttempts: 2, backoffMs: 5 })
    const names = new Map()
    const note = id => { if (isAlive && names.has(id)) told.note(id, names.get(id)) }
    for (const event of ['done', 'failed', 'retry', 'cancelled']) queue.on(event, ({ id }) => note(id))
    const known = new Set()
    for (const { id, payload } of [...queue.jobs(), ...await queue.deadLetters()]) {
      known.add(id)
      told.note(id, payload)
    }
    for (let i = random.chance(0.2) ? 20 : 0; i < 20; i++) {
      const name = `job ${count++}`
      queue[random.pick(['push', 'unshift'])](name).then(id => {
        if (!isAlive) return
        names.set(id, name)
        told.note(id, name)
      }, () => {})
      if (random.chance(0.1)) queue.remove(() => random.chance(0.2))
      if (random.chance(0.1)) for (const { id } of await queue.deadLetters()) queue.retryDead(id)
      if (random.chance(0.3)) await turn()
      if (random.chance(0.05)) await queue.flush()
      if (random.chance(0.2)) bench.clock.advance(5)
    }
    await turn()
    isAlive = false
    const end = random.pick(['power', 'power', 'power', 'kill', 'close'])
    if (end === 'close') await queue.close({ timeoutMs: 0 })
    bench.disk = end === 'kill' ? bench.disk.afterKill() : bench.disk.afterPowerLoss(random)
    const copy = new Bench()
    copy.disk = bench.disk.afterKill()
    const there = await copy.open({ runner: () => {}, ack: 'disk' })
    there.pause()
    const ids = new Set([...there.jobs(), ...await there.deadLetters()].map(({ id }) => id))
    losses += [...names.keys()].filter(id => !ids.has(id)).length
    await there.close({ timeoutMs: 0 })
    told.check()
  }
  return losses
}

/** The same of a queue of bytes. */
async function tellPayloads (seed, ack) {
  const random = seeded(seed)
  const told = new Told(`SEED=${seed} ack ${ack}`)
  let disk = new SimulatedDisk()
  let number = 1
  for (let life = 0; life < LIVES; life++) {
    const queue = await openOn(disk, { ack, maxInflightOps: 3 })
    for (let i = random.chance(0.2) ? 20 : 0; i < 20; i++) {
      const pushed = queue.push(Array.from({ length: 1 + random.below(3) }, () => payload(number++, random.below(300))))
      if (random.chance(0.7)) await pushed
      const reserved = await queue.reserve(random.below(4) + 1)
      for (const { id, payload } of reserved) told.note(id, numberOf(payload))
      if (reserved.length > 0 && random.chance(0.6)) await queue.ack(reserved.map(({ id }) => id))
      if (random.chance(0.05)) await queue.flush()
    }
    told.check()
    const isClosed = random.chance(0.2)
    if (isClosed) await queue.close({ drain: true })
    disk = random.chance(0.2) ? disk.afterKill() : disk.afterPowerLoss(random)
  }
}
