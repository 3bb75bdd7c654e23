'use strict'

const assert = require('node:assert')
const { quiet, turn } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')
const { seeded, seedFromEnvironment } = require('../support/random')
const { Bench, EPOCH } = require('./bench')
const { systemError } = require('../log/disk')
const { FOLDER, unlocked } = require('../log/history')
const { JobState } = require('../../lib/durable/run/job-state')
const { durable } = require('../../lib/durable/durable-queue')
const { openJobStore } = require('../../lib/durable/life/job-store')

const DAY = 24 * 3600 * 1000
const base = seedFromEnvironment()

/** From here on each look at performance.now() takes a ms. @returns {() => void} which ends that */
function slowLooks () {
  const { now } = performance
  let time = now.call(performance)
  performance.now = () => ++time
  return () => { performance.now = now }
}

describe('a job that is to be tried later', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  const failOne = async options => {
    await bench.open(options)
    await bench.queue.push('a')
    await bench.gate.until(1)
    bench.gate.open.shift().done(Object.assign(new Error('later'), { afterMs: 3600 * 1000 }))
    await turn()
  }

  it('waits no longer than its backoff when the clock of the machine was set back while nobody had the queue open', async () => {
    await failOne({ backoffMs: 1000 })
    bench.epoch -= DAY
    await bench.reopenAfterKill({ backoffMs: 5 })
    bench.clock.advance(999)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    bench.clock.advance(1)
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.attempt, 2)
  })

  it('... nor when the queue is opened again and again meanwhile', async () => {
    await failOne({ backoffMs: 1000 })
    bench.epoch -= DAY
    for (let i = 0; i < 4; i++) {
      await bench.reopenAfterKill()
      bench.clock.advance(249)
      await quiet()
      assert.equal(bench.gate.started.length, 0)
    }
    await bench.reopen()
    bench.clock.advance(4)
    await bench.gate.until(1)
  })

  it('waits for what is left of a long backoff that only its error knew', async () => {
    const options = { backoffMs: (attempt, { afterMs = 1 }) => afterMs }
    await failOne(options)
    bench.clock.advance(1800 * 1000)
    await bench.reopen(options)
    bench.clock.advance(1800 * 1000 - 1)
    await quiet()
    assert.equal(bench.gate.started.length, 0)
    bench.clock.advance(1)
    await bench.gate.until(1)
  })

  it('is tried at once when the clock was set forward', async () => {
    await failOne({ backoffMs: 1000 })
    bench.epoch += DAY
    await bench.reopenAfterKill()
    await bench.gate.until(1)
  })

  it('waits until the time of its next attempt if its backoff is not known', async () => {
    await failOne({ backoffMs: 1000 })
    await bench.queue.close({ timeoutMs: 0 })
    const store = await openJobStore(FOLDER, { ack: 'os', segmentBytes: 4096 }, { files: bench.disk, lock: unlocked }, {
      safe () {}, settled () {}, failed () {}
    })
    const { attempts, dueAt, error } = store.states.get(1)
    store.setState(1, JobState.due(attempts, dueAt, undefined, error))
    await store.close()
    bench.epoch -= 500
    await bench.open()
    bench.clock.advance(1499)
    await quiet()
    assert.equal(bench.gate.started.length, 1)
    bench.clock.advance(1)
    await bench.gate.until(2)
  })

  it('waits no longer than its backoff after compaction has moved it, and a slot was taken back', async () => {
    await failOne({ backoffMs: 1000, segmentBytes: 1024, concurrency: 1 })
    bench.clock.advance(1000)
    await bench.gate.until(2)
    await bench.queue.close({ timeoutMs: 0 })
    bench.epoch -= DAY
    await bench.open({ segmentBytes: 1024 })
    bench.queue.pause()
    for (let i = 0; i < 60; i++) {
      await bench.queue.push('x'.repeat(200))
      bench.queue.remove(({ payload }) => payload !== 'a')
      await bench.queue.flush()
    }
    await quiet()
    assert(!bench.disk.list('/queue').includes('0000000001.log'))
    await bench.reopenAfterKill()
    bench.clock.advance(1000)
    await bench.gate.until(1)
    assert.deepEqual(bench.gate.payloads, ['a'])
  })
})

describe('the order of jobs when a queue is opened', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  /** Ends the job that runs with an error, and waits until that is written. */
  const failFirst = async () => {
    bench.gate.open.shift().done(new Error('later'))
    await turn()
  }

  const payloadsOf = queue => [...queue.jobs()].map(({ payload }) => payload)

  for (const method of ['push', 'unshift']) {
    it(`has failed jobs whose time has come before those that wait, as it is without a restart (${method})`, async () => {
      const options = { concurrency: 1, backoffMs: 10 }
      const queue = await bench.open(options)
      await queue[method]('failed')
      await bench.gate.until(1)
      queue.pause()
      await queue.push('waits')
      await queue.unshift('waits in front')
      await failFirst()
      bench.clock.advance(10)
      const order = payloadsOf(queue)
      assert.deepEqual(order, ['failed', 'waits in front', 'waits'])
      await bench.reopenAfterKill(options)
      bench.queue.pause()
      assert.deepEqual(payloadsOf(bench.queue), order)
    })
  }

  it('has the one first whose time came last', async () => {
    const options = { concurrency: 3, backoffMs: (attempt, { message }) => Number(message) }
    const queue = await bench.open(options)
    for (const payload of ['a', 'b', 'c']) await queue.push(payload)
    await bench.gate.until(3)
    queue.pause()
    await queue.push('waits')
    for (const ms of [20, 10, 30]) bench.gate.open.shift().done(new Error(String(ms)))
    await turn()
    for (let i = 0; i < 3; i++) bench.clock.advance(10)
    const order = payloadsOf(queue)
    assert.deepEqual(order, ['c', 'a', 'b', 'waits'])
    await bench.reopenAfterKill(options)
    bench.queue.pause()
    assert.deepEqual(payloadsOf(bench.queue), order)
  })

  it('has those first that had a slot, in the order in which they got it', async () => {
    const options = { concurrency: 4, backoffMs: 10 }
    const queue = await bench.open(options)
    queue.pause()
    for (const payload of ['b1', 'b2', 'failed']) await queue.push(payload)
    for (const payload of ['f2', 'f1']) await queue.unshift(payload)
    queue.resume(5)
    await bench.gate.until(5)
    assert.deepEqual(bench.gate.payloads, ['f1', 'f2', 'b1', 'b2', 'failed'])
    queue.pause()
    await queue.push('waits')
    await queue.unshift('waits in front')
    bench.gate.open.pop().done(new Error('later'))
    await turn()
    bench.clock.advance(10)
    await bench.reopenAfterKill(options)
    bench.queue.pause()
    const order = ['f1', 'f2', 'b1', 'b2', 'failed', 'waits in front', 'waits']
    assert.deepEqual(payloadsOf(bench.queue), order)
    bench.queue.resume(2)
    await bench.gate.until(2)
    await bench.reopen(options)
    bench.queue.pause()
    assert.deepEqual(payloadsOf(bench.queue), order)
  })

  it('has a dead letter that was retried where its id says', async () => {
    const options = { concurrency: 1, maxAttempts: 1 }
    const queue = await bench.open(options)
    await queue.push('dead')
    await bench.gate.until(1)
    queue.pause()
    await queue.push('waits')
    await failFirst()
    await queue.retryDead(1)
    assert.deepEqual(payloadsOf(queue), ['waits', 'dead'])
    await bench.reopenAfterKill(options)
    bench.queue.pause()
    assert.deepEqual(payloadsOf(bench.queue), ['dead', 'waits'])
  })
})

describe('what is to be told of jobs when a queue is opened', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  const crash = async options => {
    await bench.open({ maxAttempts: 1, ...options })
    await bench.queue.push('a')
    await bench.gate.until(1)
  }

  it('is told before retryDead() of a job that became a dead letter then has resolved, and before that runs', async () => {
    await crash()
    const order = []
    const queue = await bench.reopenAfterKill({ maxAttempts: 1, runner: (payload, done) => { order.push('runs'); done() } })
    queue.on('failed', ({ error }) => order.push(error.code))
    queue.on('done', () => order.push('done'))
    assert.equal(await queue.retryDead(1).finally(() => order.push('retried')), true)
    await queue.onIdle()
    assert.equal(order[0], 'FAIRLANE_ERR_CRASHED')
    assert.deepEqual([...order].sort(), ['FAIRLANE_ERR_CRASHED', 'done', 'retried', 'runs'])
  })

  it('is told before what a call in the same turn leads to', async () => {
    await crash()
    const queue = await bench.reopenAfterKill({ maxAttempts: 1 })
    queue.push('b')
    queue.clear()
    assert.deepEqual(bench.events.map(([event, { id }]) => [event, id]).map(([event]) => event), ['failed', 'cancelled'])
    await quiet()
    assert.equal(bench.events.length, 2)
  })

  it('is told of a job that waited too long while the queue was being opened', async () => {
    const options = { maxWaitMs: 1000 }
    const count = 3000
    await bench.open(options)
    bench.queue.pause()
    for (let i = 0; i < count; i++) bench.queue.push(i)
    await bench.queue.close({ timeoutMs: 0 })
    const restore = slowLooks()
    let isOpen = false
    const advance = () => {
      if (isOpen) return
      bench.clock.advance(100)
      setImmediate(advance)
    }
    try {
      setImmediate(advance)
      await bench.open(options)
    } finally {
      isOpen = true
      restore()
    }
    assert.equal(bench.events.length, 0)
    await quiet()
    const { length } = bench.idsOf('cancelled')
    assert(length > 0)
    assert.equal(bench.queue.length, count - length)
  })
})

describe('opening a queue', () => {
  const COUNT = 20000
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(() => bench.queue.close({ timeoutMs: 0 }))

  const fill = async (options, count = COUNT) => {
    const queue = await bench.open({ segmentBytes: 2 ** 26, maxInflightOps: Infinity, ...options })
    queue.pause()
    for (let i = 0; i < count; i++) queue.pushType(i % 3, i)
    await queue.flush()
  }

  /** Opens it while the event loop is watched. @returns {Promise<number>} how often that turned meanwhile */
  const turnsOf = async opening => {
    let turns = 0
    let isOver = false
    const watch = () => {
      if (isOver) return
      turns++
      setImmediate(watch)
    }
    setImmediate(watch)
    await opening()
    isOver = true
    return turns
  }

  for (const options of [{}, { scheduler: 'equal' }, { maxWaitMs: 1000 }]) {
    it(`lets the event loop turn, and starts nothing before it is done: ${JSON.stringify(options)}`, async () => {
      await fill(options)
      const restore = slowLooks()
      let turns
      let isOpen = false
      let startsCount = 0
      const runner = () => {
        assert(isOpen)
        startsCount++
      }
      try {
        turns = await turnsOf(async () => {
          await bench.reopenAfterKill({ runner, ...options })
          isOpen = true
        })
      } finally {
        restore()
      }
      assert(turns >= COUNT / 2000, `${turns}`)
      assert.equal(bench.queue.waiting, COUNT)
      await quiet()
      assert.equal(startsCount, 10)
    })
  }

  it('puts a job behind all others whose delay ends meanwhile, and lets the event loop turn', async () => {
    const options = { segmentBytes: 2 ** 26, maxInflightOps: Infinity, concurrency: 1 }
    const queue = await bench.open(options)
    queue.pause()
    for (let i = 0; i < COUNT / 2; i++) queue.push(i, { delayMs: i === 0 ? 5 : 1e6 })
    for (let i = COUNT / 2; i < COUNT; i++) queue.push(i)
    await queue.flush()
    const restore = slowLooks()
    let turns
    try {
      turns = await turnsOf(() => {
        let looks = 0
        // the machine's clock is looked at for each of them
        const get = () => {
          if (++looks === 100) setImmediate(() => bench.clock.advance(10))
          return EPOCH
        }
        Object.defineProperty(bench, 'epoch', { get })
        return bench.reopenAfterKill(options)
      })
    } finally {
      restore()
    }
    bench.queue.pause()
    bench.clock.advance(0)
    assert(turns >= COUNT / 2000, `${turns}`)
    assert.equal(bench.queue.stats().delayed, COUNT / 2 - 1)
    const [first, ...order] = [...bench.queue.jobs()].slice(0, COUNT / 2 + 1).map(({ payload }) => payload)
    assert.deepEqual([first, order.at(-2), order.at(-1)], [COUNT / 2, COUNT - 1, 0])
  })

  it('lets the event loop turn while it puts jobs to the front that had slots, or failed', async () => {
    let tellStarted
    const started = new Promise(resolve => { tellStarted = resolve })
    const runner = (payload, done) => {
      if (payload % 2 === 1) done(new Error('later'))
      if (payload === COUNT - 1) tellStarted()
    }
    const options = { concurrency: Infinity, backoffMs: 1, runner, segmentBytes: 2 ** 26, maxInflightOps: Infinity }
    await bench.open(options)
    for (let i = 0; i < COUNT; i++) bench.queue.push(i)
    await started
    await bench.queue.flush()
    bench.epoch += 1
    const restore = slowLooks()
    let turns
    try {
      turns = await turnsOf(() => bench.reopenAfterKill({ ...options, runner: () => {} }))
    } finally {
      restore()
    }
    assert(turns >= COUNT / 1000, `${turns}`)
    const ids = [...bench.queue.jobs()].map(({ id }) => id)
    assert.equal(ids.length, COUNT)
    assert(ids.slice(0, COUNT / 2).every((id, i) => id === 2 * i + 1))
    assert(ids.slice(COUNT / 2).every(id => id % 2 === 0))
  })

  it('lets the event loop turn while it looks for what follows a torn end', async () => {
    await fill({}, 10)
    await bench.queue.push(Buffer.alloc(2 ** 22))
    bench.disk = bench.disk.afterKill()
    const file = bench.disk.folders.get('/queue').names.get('0000000001.log')
    file.bytes = Buffer.from(file.bytes)
    file.bytes[file.bytes.length - 1] ^= 1
    const restore = slowLooks()
    let turns
    try {
      turns = await turnsOf(() => bench.open())
    } finally {
      restore()
    }
    assert(turns > 10, `${turns}`)
    assert.equal(bench.queue.recovered.jobs, 10)
    assert(bench.queue.recovered.cut.bytes > 2 ** 22)
  })

  it('rejects if the log fails while jobs are put into the queue', async () => {
    const options = { maxWaitMs: 1000, ack: 'disk' }
    await fill(options)
    await bench.queue.close({ timeoutMs: 0 })
    bench.clock.advance(5000)
    const restore = slowLooks()
    const warnings = captureWarnings()
    try {
      // the first one is that of the end of the log
      let syncsCount = 0
      bench.disk.fault = kind => kind === 'sync' && ++syncsCount > 1 ? systemError('EIO') : undefined
      await assert.rejects(bench.open(options), { code: 'FAIRLANE_ERR_IO' })
      await warnings.until(1)
      assert.equal(bench.disk.openCount, 0)
    } finally {
      warnings.release()
      restore()
    }
  })

  it('gives the folder back if it fails, whatever has failed', async () => {
    await bench.open()
    await bench.queue.push('a', { delayMs: 1000 })
    await bench.queue.close()
    const kept = new Set()
    const lock = async () => {
      kept.add(lock)
      return { release: async () => kept.delete(lock), isOurs: () => true }
    }
    const now = () => { throw new Error('no time') }
    await assert.rejects(durable(() => {}, { path: FOLDER }, { files: bench.disk, lock, now }), /no time/)
    assert.equal(kept.size, 0)
    assert.equal(bench.disk.openCount, 0)
  })
})

describe('looking at the jobs of a queue', () => {
  it('reads none of them from the disk for its id and type', async () => {
    const random = seeded(base)
    for (const options of [{}, { scheduler: 'equal' }, { scheduler: 'equal', maxTypes: 1 }]) {
      const bench = new Bench()
      const queue = await bench.open(options)
      queue.pause()
      const types = new Map()
      for (let i = 0; i < 100; i++) {
        const type = `type ${random.below(5)}`
        types.set(await queue.pushType(type, i), type)
      }
      let reads = 0
      bench.disk.fault = kind => { if (kind === 'read') reads++ }
      const seen = []
      assert.equal(queue.remove(({ id }) => { seen.push(id) }), 0)
      assert.deepEqual(seen.sort((a, b) => a - b), [...types.keys()])
      assert.equal([...queue.jobs()].length, 100)
      if (options.scheduler !== undefined) {
        queue.remove(({ id, type }) => { assert.equal(type, types.get(id)) })
        for (const { id, type } of queue.jobs()) assert.equal(type, types.get(id))
      }
      assert.equal(reads, 0, JSON.stringify(options))
      for (const { id, type, payload } of queue.jobs()) assert.deepEqual([type, typeof payload], [types.get(id), 'number'])
      await queue.close({ timeoutMs: 0 })
    }
  })
})
