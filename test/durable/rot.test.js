'use strict'

// Bytes that go bad on the disk while a queue is open, in segments that compaction empties: what is wrong may not come out right.

const assert = require('node:assert')
const { captureWarnings } = require('../support/uncaught')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { quiet, turn } = require('../support/turns')
const { History } = require('../../lib/history')
const format = require('../../lib/log/format')
const { Bench } = require('./bench')
const { SimulatedDisk } = require('../log/disk')
const { FOLDER, openOn, numberOf, payload } = require('../log/history')

const base = seedFromEnvironment()
const FIRST = format.segmentName(1)
const CORRUPT = { code: 'FAIRLANE_ERR_CORRUPT' }
// so that a payload tells whether it is as it was pushed
const serialize = { encode: number => payload(number, 300), decode: numberOf }

const segmentsOf = disk => disk.list(FOLDER).filter(name => format.SEGMENT_NAME.test(name)).sort()
const fileOf = (disk, name) => disk.folders.get(FOLDER).names.get(name)

/** Where the records of jobs are that were pushed, by their numbers. */
function recordsIn (disk, name) {
  const { bytes } = fileOf(disk, name)
  const records = new Map()
  for (let at = format.HEADER_BYTES; at < bytes.length; at += bytes.readUInt32LE(at)) {
    format.visitRecords(bytes, format.recordsOf(bytes, at), {
      push: (seq, kind, at, length) => records.set(seq, { at, length, kind }), ack () {}, state () {}, trim () {}
    }, Infinity)
  }
  return records
}

/** Changes bytes of a file, which nobody has written. */
function spoil (disk, name, change) {
  const file = fileOf(disk, name)
  const bytes = Buffer.from(file.bytes)
  const changed = change(bytes) ?? bytes
  Object.assign(file, { bytes: changed, durable: changed })
}

describe('a segment that rots while it is there, and is emptied', () => {
  let bench
  let warnings

  beforeEach(() => {
    bench = new Bench()
    warnings = captureWarnings()
  })
  afterEach(async () => {
    warnings.release()
    await bench.queue?.close({ timeoutMs: 0 }).catch(() => {})
  })

  /** Pushes and cancels jobs until compaction has removed a segment. */
  const empty = async (name = FIRST, { queue, disk } = bench) => {
    for (let i = 0; i < 500 && segmentsOf(disk).includes(name); i++) {
      const id = await queue.push(1e6)
      await queue.cancel(id)
      await queue.flush()
      await turn()
    }
    assert(!segmentsOf(disk).includes(name), 'it is still there')
  }

  const openFilled = async (options, pushes = [1, 2, 3]) => {
    const queue = await bench.open({ serialize, maxAttempts: 3, ...options })
    queue.pause()
    for (const number of pushes) await (typeof number === 'number' ? queue.push(number) : queue.pushType(...number))
    await queue.flush()
    return queue
  }

  const spoilPayload = seq => spoil(bench.disk, FIRST, bytes => {
    const { at, length } = recordsIn(bench.disk, FIRST).get(seq)
    bytes[at + length - 5] ^= 1
  })

  it('gives no wrong payload to a runner, and makes a dead letter of the job, in this process', async () => {
    const queue = await openFilled()
    spoilPayload(2)
    await empty()
    queue.resume()
    await bench.gate.until(2)
    await quiet()
    assert.deepEqual(bench.gate.payloads, [1, 3])
    assert.deepEqual(bench.idsOf('failed'), [2])
    const [[, { error }]] = bench.events.filter(([name]) => name === 'failed')
    assert.equal(error.code, 'FAIRLANE_ERR_CORRUPT')
    assert.match(error.file, /\.log$/)
    assert(Number.isInteger(error.offset))
    assert.equal((await queue.deadLetters()).length, 1)
  })

  it('is told at once, by a warning, and the queue goes on', async () => {
    const queue = await openFilled()
    spoilPayload(2)
    await empty()
    assert.deepEqual(warnings.seen.map(({ code }) => code), ['FAIRLANE_WARN_DAMAGE'])
    assert.match(warnings.seen[0].message, /1 job.*0000000001\.log/)
    assert.equal(queue.closed, false)
    await queue.push(4)
  })

  for (const options of [{}, { scheduler: 'equal', priorityMs: 10 }, { observers: true }, { maxWaitMs: 1000 }]) {
    it(`leaves damage that the next process knows: a dead letter, told by an event (${Object.keys(options)})`, async () => {
      const said = () => options.observers ? { observers: new History() } : options
      const pushes = options.scheduler === undefined ? [1, 2, 3] : [['a', 1], ['b', 2], ['a', 3]]
      const before = await bench.open({ serialize })
      before.pause()
      for (const number of pushes) await (typeof number === 'number' ? before.push(number) : before.pushType(...number))
      await before.flush()
      spoilPayload(2)
      await empty()
      const queue = await bench.reopenAfterKill({ serialize, ...said() })
      assert.deepEqual([queue.recovered.jobs, queue.recovered.dropped], [3, []])
      await bench.gate.until(2)
      await quiet()
      assert.deepEqual(bench.gate.payloads, [1, 3])
      assert.deepEqual(bench.idsOf('failed'), [2])
      const [dead] = await queue.deadLetters()
      assert.deepEqual([dead.id, dead.type, dead.error.code, dead.attempts], [2, pushes[1][0], 'FAIRLANE_ERR_CORRUPT', 0])
      assert.throws(() => dead.payload, CORRUPT)
      await assert.rejects(queue.retryDead(2), CORRUPT)
      assert.deepEqual((await queue.deadLetters({ type: pushes[1][0] ?? 'none' })).map(({ id }) => id), options.scheduler === undefined ? [] : [2])
      await bench.reopen({ serialize, ...said() })
      assert.deepEqual([bench.queue.stats().dead, bench.idsOf('failed')], [1, [2]])
      assert.equal(await bench.queue.deleteDead(2), true)
      await bench.reopen({ serialize, ...said() })
      assert.equal(bench.queue.stats().dead, 0)
    })
  }

  it('leaves damage that is moved on as damage, and that a repair takes out', async () => {
    await openFilled()
    spoilPayload(2)
    await empty()
    const [second] = segmentsOf(bench.disk)
    await empty(second)
    assert.equal(warnings.seen.length, 1)
    await bench.queue.close({ timeoutMs: 0 })
    const { queue } = bench
    await bench.open({ serialize, repair: true })
    bench.queue.pause()
    assert.deepEqual([
      bench.queue.recovered.jobs, bench.queue.recovered.dropped.map(({ what }) => what)
    ], [2, ['job 2 was damaged already when it was moved here']])
    await bench.reopen({ serialize, repair: true })
    assert.deepEqual([bench.queue.recovered.jobs, bench.queue.recovered.dropped], [2, []])
    assert.notEqual(queue, bench.queue)
  })

  it('says nothing of damage that is over', async () => {
    const queue = await openFilled()
    spoilPayload(2)
    await empty()
    await queue.cancel(2)
    await bench.reopen({ serialize, repair: true })
    assert.deepEqual(bench.queue.recovered.dropped, [])
  })

  for (const [what, change] of Object.entries({
    'the length of a frame': (bytes, frame) => { bytes[frame + 2] ^= 1 },
    'the length of a frame, which is 0 now': (bytes, frame) => { bytes.fill(0, frame, frame + 4) },
    'the head of a record': (bytes, frame) => { bytes.fill(0xff, frame + 20, frame + 33) },
    'the length of a type': (bytes, frame) => { bytes[frame + 20 + 7] = 250 },
    'the kind of a record, of which its frame knows': (bytes, frame) => {
      bytes[frame + 20] = 77
      const end = frame + bytes.readUInt32LE(frame)
      bytes.writeUInt32LE(format.crc32(bytes.subarray(frame + 8, end), format.seedOf(1, frame)), frame + 4)
    },
    'a whole block': (bytes, frame) => { bytes.fill(0, frame, frame + 333) },
    'the end, which is missing': (bytes, frame) => bytes.subarray(0, frame + 50)
  })) {
    it(`has the jobs that are whole as before, whatever is damaged: ${what}`, async () => {
      const queue = await openFilled()
      const isMissing = what.includes('missing')
      while (segmentsOf(bench.disk).length === 1) await queue.cancel(await queue.push(4))
      spoil(bench.disk, FIRST, bytes => change(bytes, recordsIn(bench.disk, FIRST).get(isMissing ? 3 : 2).at - format.FRAME_BYTES))
      await empty()
      const seen = isMissing ? [1, 2] : [1, 3]
      const bad = isMissing ? 3 : 2
      const disk = bench.disk.afterKill()
      queue.resume()
      await bench.gate.until(2)
      await quiet()
      assert.deepEqual([bench.gate.payloads, bench.idsOf('failed')], [seen, [bad]])
      const again = Object.assign(new Bench(), { disk })
      await again.open({ serialize, observers: new History() })
      await again.gate.until(2)
      await quiet()
      assert.deepEqual([again.gate.payloads, again.idsOf('failed')], [seen, [bad]])
      await again.queue.close({ timeoutMs: 0 })
    })
  }

  it('keeps jobs that are dead letters, and lets go of what is over', async () => {
    const queue = await openFilled({ maxAttempts: 1, concurrency: 1 })
    await queue.push(4, { key: 'k', keyUntil: 60000 })
    queue.resume()
    await bench.gate.until(1)
    bench.gate.fail(new Error('no'))
    await bench.gate.until(2)
    for (let i = 2; i <= 4; i++) {
      await bench.gate.until(i)
      bench.gate.release()
      await turn()
    }
    queue.pause()
    await queue.push(5)
    spoilPayload(1)
    spoilPayload(4)
    await empty()
    await bench.reopen({ serialize, maxAttempts: 1 })
    bench.queue.pause()
    const [dead] = await bench.queue.deadLetters()
    assert.deepEqual([dead.id, dead.error.message, bench.queue.waiting], [1, 'no', 1])
    assert.throws(() => dead.payload, CORRUPT)
    assert.notEqual(await bench.queue.push(6, { key: 'k' }), 4)
  })

  for (const what of ['whole', 'damaged']) {
    it(`is read in slices, between which the event loop turns: ${what}`, async () => {
      const queue = await openFilled({ segmentBytes: 2 ** 22, serialize: 'json' }, [])
      await queue.push('first')
      for (let i = 0; i < 3000; i++) {
        const pushed = queue.push('x'.repeat(1000))
        if (i % 50 === 0) await pushed
      }
      queue.remove(({ payload }) => payload !== 'first')
      await queue.push('last')
      await queue.push('y'.repeat(2 ** 20)) // in another segment
      await queue.flush()
      if (what === 'damaged') {
        spoil(bench.disk, FIRST, bytes => {
          const { at } = recordsIn(bench.disk, FIRST).get(3) // of 50 in a frame
          bytes.fill(0xff, at - format.FRAME_BYTES, at)
        })
      }
      const { now } = performance
      let time = now.call(performance)
      performance.now = () => ++time
      let turns = 0
      try {
        for (let i = 0; i < 8; i++) await queue.cancel(await queue.push('z'.repeat(2 ** 20)))
        const isThere = () => segmentsOf(bench.disk).includes(FIRST)
        for (; isThere() && turns < 10000; turns++) await turn()
        assert(!isThere())
      } finally {
        performance.now = now
      }
      assert(turns > 20, `${turns}`)
      assert.deepEqual([...queue.jobs()].filter((_, i) => i < 2).map(({ payload }) => payload), ['first', 'last'])
    })
  }

  it('of a queue of bytes gives no wrong payload either, before a repair and after it', async () => {
    const disk = new SimulatedDisk()
    let queue = await openOn(disk, { ack: 'os' })
    for (const number of [1, 2, 3]) await queue.push(payload(number, 300))
    const [first] = await queue.reserve()
    spoil(disk, FIRST, bytes => {
      const { at, length } = recordsIn(disk, FIRST).get(2)
      bytes[at + length - 5] ^= 1
    })
    const kept = await queue.reserve(2)
    for (let i = 0; i < 500 && segmentsOf(disk).includes(FIRST); i++) {
      await queue.push(payload(9, 300))
      await queue.pop()
      await queue.flush()
      await turn()
    }
    assert(!segmentsOf(disk).includes(FIRST))
    queue.release([first.id, ...kept.map(({ id }) => id)])
    assert.deepEqual((await queue.pop()).map(numberOf), [1])
    await assert.rejects(queue.pop(), CORRUPT)
    await queue.close({ drain: true })
    queue = await openOn(disk)
    await assert.rejects(queue.peek(2), CORRUPT)
    await queue.close({ drain: true })
    queue = await openOn(disk, { repair: true })
    assert.equal(queue.recovered.dropped.length, 1)
    assert.deepEqual((await queue.pop(9)).map(numberOf), [3])
    await queue.close({ drain: true })
  })

  it(`never gives a wrong payload to a runner, whatever goes bad and whenever (SEED=${base})`, async () => {
    for (let seed = base; seed < base + rounds(40); seed++) {
      await play(seeded(seed), seed)
    }
  })

  /** Pushes, bytes that go bad, compaction, a kill or close(): then each job runs as it was pushed, or is said to be damaged. */
  async function play (random, seed) {
    bench = new Bench()
    const options = {
      serialize: { encode: number => payload(number, 20 + number * 37 % 400), decode: bytes => Buffer.from(bytes) },
      ack: random.pick(['os', 'disk']),
      maxAttempts: 2,
      backoffMs: 0
    }
    const queue = await bench.open(options)
    queue.pause()
    const expected = new Map() // id → number
    for (let number = 1; number <= 60; number++) {
      const said = random.chance(0.3) ? { maxAttempts: 1 } : undefined
      expected.set(await (random.chance(0.5) ? queue.push(number, said) : queue.pushType('t', number, said)), number)
      if (random.chance(0.1)) await queue.pushAll([]) // a turn
    }
    await queue.flush()
    const ran = new Set()
    const isRotten = () => random.chance(0.05)
    for (let i = 0; i < 60; i++) {
      const id = await queue.push(100)
      await queue.cancel(id)
      if (random.chance(0.3)) await queue.flush()
      if (random.chance(0.3)) await turn()
      // never the last one, whose end is not that of a file yet
      const names = segmentsOf(bench.disk).slice(0, -1)
      if (names.length > 0 && isRotten()) {
        const name = random.pick(names)
        const records = [...recordsIn(bench.disk, name).values()]
        if (records.length === 0) continue
        const { at, length } = random.pick(records)
        spoil(bench.disk, name, bytes => { bytes[at + random.below(length)] ^= 1 << random.below(8) })
      }
    }
    await queue.flush()
    await quiet()
    if (random.chance(0.5)) await queue.close({ timeoutMs: 0 })
    else bench.disk = bench.disk.afterKill()
    const wrong = []
    const runner = async (bytes, done, { id }) => {
      const number = expected.get(id)
      if (!bytes.equals(payload(number, 20 + number * 37 % 400))) wrong.push(id)
      ran.add(id)
    }
    const again = await bench.open({ ...options, runner, repair: true })
    await again.onIdle()
    assert.deepEqual([wrong, again.stats().failed], [[], 0], `SEED=${seed}`)
    for (const id of expected.keys()) {
      if (!ran.has(id)) assert(again.recovered.dropped.length > 0, `SEED=${seed}: job ${id} is gone, and nobody was told`)
    }
    await again.close({ drain: true })
  }
})
