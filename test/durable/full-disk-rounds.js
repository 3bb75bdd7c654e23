'use strict'

// Rounds of a job queue on small disks, at random: disks that it fills itself, or that somebody else fills, and gives room back. Jobs fail,
// are put off, have keys, come from schedules, become dead letters. What must be so: nothing that was accepted is lost, no job ends twice.
// Disks that the queue has filled itself are emptied by it; else it says that there is an outage, and goes on when there is room. It can be
// closed whenever it has room for what has ended.

const assert = require('node:assert')
const { Postponed, Throttled } = require('../../lib/durable')
const { seeded } = require('../support/random')
const { turn } = require('../support/turns')
const { Bench } = require('./bench')

const REFUSALS = new Set(['FAIRLANE_ERR_IO', 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_RESULT'])
const LONGEST_MS = 10000

/** One round. @returns {Promise<object>} what there was */
async function surviveFullDisk (seed) {
  const { now } = performance
  const round = new Round(seed)
  performance.now = () => round.bench.clock.now()
  try {
    return await round.run()
  } catch (err) {
    throw new Error(`SEED=${seed}: ${err.message}`, { cause: err })
  } finally {
    performance.now = now
  }
}

class Round {
  constructor (seed) {
    const random = this.random = seeded(seed)
    this.bench = new Bench()
    this.maxAttempts = 1 + random.below(3)
    this.isOwn = random.chance(0.5) // nobody else takes room
    this.options = {
      ack: random.pick(['os', 'disk']),
      segmentBytes: random.pick([4096, 16384, 65536]),
      concurrency: random.pick([1, 3, 20]),
      maxAttempts: this.maxAttempts,
      backoffMs: random.pick([5, 1000]),
      scheduler: random.pick([undefined, 'equal']),
      schedules: random.chance(0.3) ? { s: { everyMs: 5000, type: 'a', payload: 'scheduled' } } : undefined
    }
    this.failing = random.pick([0, 0.2, 0.5])
    this.count = 0
    this.accepted = new Set() // ids of jobs whose push was acknowledged, and that have not ended
    this.ended = new Set() // ids of those that have, in the life of the queue
    this.everEnded = new Set() // ... or before: a key may have outlived its job
    this.lives = 0
    this.outages = 0
    this.seen = { jobs: 0, outages: 0, retries: 0, dead: 0, reopened: 0, killed: 0 }
  }

  /** Whether the reserve has room for what becomes of all jobs that ran when the disk was full. */
  get hasReserve () {
    const { concurrency, segmentBytes } = this.options
    return concurrency * 120 < segmentBytes / 8
  }

  /** Whether the reserve is large for its jobs, of which few stay as dead letters, and no process died while the disk was full. */
  get isEasy () {
    const { concurrency, segmentBytes } = this.options
    return segmentBytes >= 16384 && concurrency <= segmentBytes / 1000 && this.failing <= 0.2 && this.maxAttempts === 3 && this.lives === 0
  }

  async run () {
    const { random, bench } = this
    await this.open()
    for (let part = 0; part < 3; part++) {
      if (this.isOwn) {
        bench.disk.capacity = bench.disk.usedBytes + random.pick([0, 1, 2, 4]) * this.options.segmentBytes + random.below(3000)
      }
      await this.fill()
      if (!this.isOwn) bench.disk.capacity = bench.disk.usedBytes + random.below(2 * this.options.segmentBytes)
      if (random.chance(0.2)) await this.reopen(random.chance(0.5))
      const isEmpty = await this.settleAll(1500)
      if (this.isOwn && this.isEasy) assert(isEmpty, `it stops on a disk that it has filled itself: ${JSON.stringify(this.queue.stats())}`)
      if (!isEmpty) assert(this.outages % 2 === 1, 'it has stopped, and says nothing')
      if (random.chance(0.3)) await this.reopen(random.chance(0.5))
      bench.disk.capacity = Infinity
      assert(await this.settleAll(4000), `it does not go on when there is room: ${JSON.stringify(this.queue.stats())}`)
      assert.equal(this.accepted.size, 0, 'jobs are lost')
    }
    await this.goOn(LONGEST_MS)
    await this.goOn(LONGEST_MS)
    assert.equal(this.outages % 2, 0, 'an outage goes on')
    await this.queue.pushType('a', 'there is room').catch(err => assert.fail(err))
    await this.settleAll(1000)
    await this.queue.close({ drain: true })
    assert.equal(bench.disk.openCount, 0)
    await this.open()
    // what died on a full disk may have left no text
    const texts = new Set((await this.queue.deadLetters()).map(({ error }) => error.message))
    if (this.lives === 0) assert.deepEqual([...texts], texts.size === 0 ? [] : ['it fails'.repeat(20)])
    await this.queue.close({ timeoutMs: 0 })
    return this.seen
  }

  async open () {
    const runner = (payload, done) => {
      const { random } = this
      const end = () => {
        if (!random.chance(this.failing)) done()
        else if (random.chance(0.1)) done(new Throttled(1))
        else if (random.chance(0.1)) done(new Postponed(10))
        else done(new Error('it fails'.repeat(20)))
      }
      if (random.chance(0.5)) setImmediate(end)
      else end()
    }
    const queue = this.queue = await this.bench.open({ runner, ...this.options })
    this.ended.clear()
    this.outages = 0
    for (const name of ['done', 'failed', 'cancelled']) queue.on(name, ({ id }) => this.end(id, name))
    queue.on('retry', () => this.seen.retries++)
    queue.on('outage', () => {
      this.outages++
      this.seen.outages++
    })
    queue.on('outageover', () => this.outages++)
    await turn()
  }

  end (id, name) {
    assert(!this.ended.has(id), `job ${id} ends twice`)
    this.ended.add(id)
    this.everEnded.add(id)
    this.accepted.delete(id)
    if (name === 'failed') this.seen.dead++
  }

  /** Pushes until the disk is full, or many times. */
  async fill () {
    const { random, queue, lives } = this
    const bytes = random.pick([10, 200, 1500])
    let isFull = false
    for (let i = 0; i < 400 && !isFull; i++) {
      const options = random.chance(0.2)
        ? { key: `${random.below(20)}`, keyUntil: random.pick(['started', 'settled', 1000]), onDuplicate: random.pick(['join', 'replace']) }
        : {}
      const pushed = queue.pushType('a', `${this.count++}`.padEnd(random.below(bytes)), options)
      const told = pushed.then(id => {
        this.seen.jobs++
        if (lives === this.lives && !this.everEnded.has(id)) this.accepted.add(id)
      }, err => {
        assert(REFUSALS.has(err.code), err)
        isFull = err.code === 'FAIRLANE_ERR_IO'
      })
      if (random.chance(0.5)) await told
      if (random.chance(0.01)) await this.changeDead()
    }
    await turn()
  }

  async changeDead () {
    const { queue, random } = this
    const [letter] = await queue.deadLetters({ limit: 1 })
    if (letter === undefined) return
    const isRetry = random.chance(0.5)
    if (isRetry && this.outages % 2 === 0) this.ended.delete(letter.id)
    queue[isRetry ? 'retryDead' : 'deleteDead'](letter.id).catch(err => assert(REFUSALS.has(err.code), err))
  }

  /** @returns {Promise<boolean>} whether all jobs have settled */
  async settleAll (most) {
    for (let i = 0; i < most && this.queue.length > 0; i++) await this.goOn(i % 10 === 0 ? LONGEST_MS : 10)
    return this.queue.length === 0
  }

  async goOn (ms) {
    this.bench.clock.advance(ms)
    await turn()
  }

  /** Closes the queue, or has its process die, and opens it again: nothing that has not ended may be lost. */
  async reopen (isKilled) {
    const { queue, bench, accepted } = this
    this.lives++
    let isLost = isKilled
    if (isKilled) {
      this.seen.killed++
      bench.disk = bench.disk.afterKill()
    } else {
      this.seen.reopened++
      // what has ended and is not written runs again, and close() says so
      isLost = await queue.close({ timeoutMs: 0 }).then(() => false, err => assert.equal(err.code, 'FAIRLANE_ERR_IO', err) ?? true)
      if (this.isOwn && this.hasReserve) assert.equal(isLost, false, 'it cannot be closed')
      if (isLost) bench.disk = bench.disk.afterKill()
    }
    for (const name of ['done', 'failed', 'cancelled', 'outage', 'outageover', 'retry']) queue.removeAllListeners(name)
    const { ended } = this
    const before = new Set(ended)
    await this.open()
    this.queue.pause()
    const dead = new Set((await this.queue.deadLetters()).map(({ id }) => id))
    for (const id of accepted) {
      if (dead.has(id)) accepted.delete(id)
      else assert(this.ended.has(id) || await this.queue.get(id) !== undefined || this.ended.has(id), `job ${id} is lost`)
    }
    if (!isLost) {
      for (const id of before) {
        assert(!this.ended.has(id) && (dead.has(id) || await this.queue.get(id) === undefined), `job ${id} has ended, and is back`)
      }
    }
    this.queue.resume()
  }
}

module.exports = { surviveFullDisk }
