'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { join } = require('node:path')
const { Compactor } = require('../../lib/log/compaction')
const { Outage } = require('../../lib/durable/life/outage')
const { captureWarnings } = require('../support/uncaught')
const { turn } = require('../support/turns')
const { Bench } = require('./bench')

const FULL = ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'ENOSPC'
const LONGEST_MS = 10000
// A child takes 2 s.
const LONGEST_CHILD_MS = 40000
const NO_SERIALIZER = { encode: text => Buffer.from(text), decode: String }

describe('a job queue on a disk that is full', () => {
  const { now } = performance
  let bench
  let warnings

  beforeEach(() => {
    warnings = captureWarnings()
    bench = new Bench()
    performance.now = () => bench.clock.now()
  })

  afterEach(async () => {
    bench.disk.capacity = Infinity
    await bench.queue?.close({ timeoutMs: 0 })
    performance.now = now
    warnings.release()
    assert(warnings.seen.every(({ code }) => code === 'FAIRLANE_WARN_OUTAGE'))
  })

  const open = options => bench.open({ segmentBytes: 65536, serialize: NO_SERIALIZER, maxAttempts: 3, ...options })

  /** Pushes until that fails. @returns {Promise<number>} how many jobs were taken */
  async function fill (bytes) {
    for (let count = 0; ; count++) {
      try {
        await bench.queue.push(`${count}`.padEnd(bytes))
      } catch (err) {
        assert(FULL(err), err)
        return count
      }
    }
  }

  async function goOnUntil (isDone, mostTurns = 5000) {
    for (let i = 0; !isDone(); i++) {
      assert(i < mostTurns, 'it does not come to that')
      if (i % 10 === 0) bench.clock.advance(LONGEST_MS)
      await turn()
    }
  }

  const reserveBytes = () => bench.disk.folders.get('/queue').names.get('reserve')?.bytes.length

  for (const ack of ['os', 'disk']) {
    for (const [bytes, concurrency] of [[1000, 1], [1000, 10], [700, 3], [5000, 100]]) {
      it(`runs the jobs that have filled it, each once, and has room again (${ack}, ${bytes} B, ${concurrency} at once)`, async () => {
        const seen = []
        const queue = await open({ ack, concurrency, runner: async (_payload, _done, { id, attempt }) => { seen.push([id, attempt]) } })
        queue.pause()
        bench.disk.capacity = 600000
        const count = await fill(bytes)
        assert(count * bytes > 400000)
        queue.resume()
        await goOnUntil(() => queue.length === 0)
        assert.deepEqual(seen, Array.from({ length: count }, (_, i) => [i + 1, 1]))
        await goOnUntil(() => queue.diskBytes() < 2 * 65536 && reserveBytes() === 16384)
        await queue.push('there is room')
        await queue.onIdle()
      })
    }
  }

  it('starts no job from its reserve while a segment is emptied into that', () => {
    const store = {
      fullness () {},
      compactor: { usesReserve: false },
      log: { reserve: { isSpent: true }, roomFor: () => 10000 }
    }
    const outage = new Outage({ report: {}, stage: {}, store })
    assert.equal(outage.mayStart(), true)
    store.compactor.usesReserve = true
    assert.equal(outage.mayStart(), false)
  })

  it('refuses pushes, runs jobs from its reserve, and tells of it', async () => {
    const told = []
    const queue = await open({ concurrency: 1 })
    queue.on('outage', err => told.push(err.cause.code))
    queue.on('outageover', () => told.push('over'))
    for (const payload of ['a', 'b']) await queue.push(payload)
    await bench.gate.until(1)
    bench.disk.capacity = bench.disk.usedBytes
    bench.gate.release(1)
    await bench.gate.until(2)
    assert.deepEqual([told, reserveBytes()], [['ENOSPC'], undefined])
    await assert.rejects(queue.push('c'), FULL)
    bench.disk.capacity = Infinity
    bench.clock.advance(LONGEST_MS)
    assert.deepEqual([told, reserveBytes()], [['ENOSPC', 'over'], 16384])
    await queue.push('c')
  })

  it('has finished jobs give room back when the reserve is used up too', async () => {
    const queue = await open({ segmentBytes: 4096, concurrency: 1000, ack: 'os' })
    const count = 300
    await Promise.all(Array.from({ length: count }, (_, i) => queue.push(`${i}`.padEnd(300))))
    await bench.gate.until(count)
    bench.disk.capacity = bench.disk.usedBytes + 20
    const full = queue.diskBytes()
    // each by itself, and no two that follow each other, so that each takes a frame: 300 × 31 bytes of a reserve of 1024
    const { started } = bench.gate
    for (const remainder of [0, 1, 2]) {
      for (let i = remainder; i < count; i += 3) {
        started[i].done()
        await turn()
      }
    }
    assert.equal(queue.length, 0)
    await goOnUntil(() => queue.diskBytes() < full / 10)
    assert.equal((await bench.reopenAfterKill({ segmentBytes: 4096 })).recovered.jobs, 0)
  })

  it('writes no texts of errors from the reserve, but that other jobs are done', async () => {
    const queue = await open({ segmentBytes: 4096, concurrency: 10, maxAttempts: 1 })
    for (let i = 0; i < 9; i++) await queue.push(`${i}`)
    await bench.gate.until(9)
    bench.disk.capacity = bench.disk.usedBytes + 1
    const { started } = bench.gate
    for (let i = 0; i < 8; i++) {
      started[i].done(new Error('long '.repeat(200)))
      await turn()
    }
    started[8].done()
    await turn()
    assert.equal((await queue.deadLetters()).length, 8)
    const killed = new Bench()
    killed.disk = bench.disk.afterKill()
    assert.equal((await killed.open({ serialize: NO_SERIALIZER })).recovered.jobs, 8)
    await killed.queue.close({ timeoutMs: 0 })
    bench.disk.capacity = Infinity
    bench.clock.advance(LONGEST_MS)
    await queue.flush()
    await bench.reopenAfterKill({ maxAttempts: 1, serialize: NO_SERIALIZER })
    assert.equal((await bench.queue.deadLetters())[0].error.message.length, 1000)
  })

  it('that has no room for a reserve either starts nothing, and goes on when there is room', async () => {
    const queue = await open()
    queue.pause()
    for (const payload of ['a', 'b']) await queue.push(payload)
    await queue.close({ timeoutMs: 0 })
    bench.disk.remove('/queue/reserve')
    bench.disk.remove('/queue/closed')
    bench.disk.capacity = bench.disk.usedBytes + 10
    await open()
    await goOnUntil(() => warnings.seen.length === 1)
    for (let i = 0; i < 20; i++) {
      bench.clock.advance(LONGEST_MS)
      await turn()
    }
    assert.deepEqual([bench.queue.running, bench.gate.started.length, bench.queue.length], [0, 0, 2])
    bench.disk.capacity = Infinity
    bench.clock.advance(LONGEST_MS)
    await bench.gate.until(2)
    assert.deepEqual(bench.gate.started.map(({ payload, context }) => [payload, context.attempt]), [['a', 1], ['b', 1]])
  })

  it('when it is opened can be closed at once', async () => {
    const queue = await open()
    queue.pause()
    await queue.push('a')
    await queue.close({ timeoutMs: 0 })
    bench.disk.remove('/queue/reserve')
    bench.disk.capacity = bench.disk.usedBytes + 10
    const again = await open()
    await again.close({ timeoutMs: 0 })
    bench.disk.capacity = Infinity
    assert.equal((await open()).recovered.jobs, 1)
  })

  for (const [keptCount, isMoved] of [[1, true], [150, false]]) {
    const what = isMoved ? 'moves jobs that stay out of the way' : 'moves no job if not all of a segment can be moved'
    it(`${what}: ${keptCount} of those that were pushed first`, async () => {
      const runner = async payload => { if (payload.startsWith('keep')) throw new Error('later') }
      const queue = await open({ concurrency: 1, backoffMs: 1e12, runner })
      for (let i = 0; i < keptCount; i++) await queue.push('keep'.padEnd(900))
      await goOnUntil(() => queue.stats().delayed === keptCount)
      queue.pause()
      bench.disk.capacity = bench.disk.usedBytes + 700000
      const count = await fill(900)
      queue.resume()
      await goOnUntil(() => queue.running === 0 && (isMoved ? queue.waiting === keptCount : warnings.seen.length > 0))
      if (!isMoved) {
        const full = queue.diskBytes()
        for (let i = 0; i < 100; i++) await turn()
        assert.equal(queue.diskBytes(), full)
        bench.disk.capacity = Infinity
      }
      await goOnUntil(() => queue.stats().done === count)
      bench.disk.capacity = Infinity
      bench.clock.advance(LONGEST_MS)
      while (queue.diskBytes() > 2 * keptCount * 1000 + 3 * 65536) {
        bench.clock.advance(LONGEST_MS)
        await queue.push('go')
        await turn()
      }
      assert.equal(queue.stats().delayed, keptCount)
    })
  }

  it('empties a segment into its reserve in few writes on a slow machine, and measures no room meanwhile', async () => {
    const queue = await open({ concurrency: 100, runner: async () => {} })
    const { moveSome } = Compactor.prototype
    const moved = []
    Compactor.prototype.moveSome = function (found) {
      const { usesReserve, store: { log: { reserve } } } = this
      const result = moveSome.call(this, found)
      if (!usesReserve) return result
      if (result.count > 0) moved.push(result.count)
      const { usedBytes } = reserve
      bench.disk.capacity += 100000
      reserve.restore()
      bench.disk.capacity -= 100000
      assert.deepEqual([reserve.isSpent, reserve.usedBytes], [true, usedBytes])
      return result
    }
    let ms = 0
    performance.now = () => bench.clock.now() + (ms += 10) // each slice is over at once
    try {
      queue.pause()
      bench.disk.capacity = 200000
      const count = await fill(10)
      queue.resume()
      await goOnUntil(() => queue.length === 0, 20000)
      assert.equal(queue.stats().done, count)
      const movedCount = moved.reduce((sum, count) => sum + count, 0)
      assert(movedCount > 50 * moved.length, `${movedCount} in ${moved.length} writes`)
    } finally {
      Compactor.prototype.moveSome = moveSome
    }
  })

  // small segments; a disk that has no room for a whole segment; jobs that take less room than what becomes of them
  for (const [mb, bytes, segmentBytes, concurrency] of [[3, 800, 2 ** 18, 1], [9, 400, 2 ** 26, 10], [2, 10, 2 ** 18, 1]]) {
    const size = `${mb} MB, ${bytes} B, segments of ${segmentBytes}`
    it(`of the machine runs the jobs that have filled it, some of which fail (${size})`, function () {
      const small = `mount -t tmpfs -o size=${mb}m none /mnt && exec "$0" "$@"`
      const mounted = program => execFileSync('unshare', ['--mount', 'sh', '-c', small, ...program], { encoding: 'utf8', stdio: 'pipe', timeout: LONGEST_CHILD_MS })
      try {
        mounted(['true'])
      } catch (err) {
        console.error(`      no small disk can be mounted here: ${err.message.split('\n')[0]}`)
        this.skip()
      }
      const child = [join(__dirname, 'filled-jobs.js'), bytes, segmentBytes, concurrency].map(String)
      const said = mounted(['env', '-u', 'NODE_OPTIONS', process.execPath, '--no-warnings', ...child])
      assert.match(said, /^full after \d{4,} pushes: ENOSPC, all run, pushed$/m)
    })
  }
})
