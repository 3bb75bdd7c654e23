'use strict'

// Drives a job queue on a simulated disk through outages at random, and knows how its jobs must have settled in the end: those that were
// accepted once each, whatever failed meanwhile, and none again that was over.

const assert = require('node:assert')
const { seeded } = require('../support/random')
const { turn } = require('../support/turns')
const { Bench } = require('./bench')
const { systemError } = require('../log/disk')

const STEPS = 150
const MAX_ATTEMPTS = 3

// What may fail for a while. A sync that fails is the end of a log, and no outage.
const OUTAGES = {
  full: (disk, random) => { disk.capacity = disk.usedBytes + random.below(300) },
  'full, at times': (disk, random) => {
    disk.fault = kind => (kind === 'write' || kind === 'create') && random.chance(0.6) ? systemError('ENOSPC') : undefined
  },
  'no descriptors': disk => {
    disk.fault = kind => ['create', 'open', 'syncFolder'].includes(kind)
      ? Object.assign(systemError('EMFILE'), { syscall: 'open' })
      : undefined
  },
  'nothing can be written': disk => { disk.fault = kind => ['write', 'create'].includes(kind) ? systemError('EIO') : undefined },
  'nothing can be changed': disk => {
    disk.fault = kind => ['write', 'create', 'truncate', 'remove'].includes(kind)
      ? systemError('EIO')
      : undefined
  },
  'some calls fail': (disk, random) => {
    disk.fault = kind => {
      if (!['write', 'create', 'truncate', 'remove'].includes(kind) || !random.chance(0.4)) return undefined
      return kind === 'write' && random.chance(0.3) ? 'short' : systemError('EIO')
    }
  }
}

/** One round: a queue goes through outages, is closed and opened again at times, and comes to its end. */
async function surviveOutages (seed, options) {
  const { now } = performance
  const bench = new Bench()
  // so that the reserve is looked for as the clock goes on
  performance.now = () => bench.clock.now()
  try {
    await new Round(seed, options, bench).run()
  } catch (err) {
    throw err.message.includes('SEED=') ? err : new Error(`SEED=${seed}: ${err.message}`, { cause: err })
  } finally {
    performance.now = now
  }
}

class Round {
  constructor (seed, options, bench) {
    this.random = seeded(seed)
    this.bench = bench
    this.options = { concurrency: this.random.below(4) + 1, maxAttempts: MAX_ATTEMPTS, backoffMs: 5, ...options }
    this.isTyped = options.scheduler !== undefined
    this.count = 0
    this.running = 0
    this.accepted = new Set() // ids of jobs whose push was acknowledged
    this.over = new Map() // id → 'done', 'failed' or 'cancelled', in the life of the queue
    this.attempts = new Map() // id → of the last start
    this.known = new Set() // ids of jobs that have been seen by a runner, or in a listing
    this.outagesCount = 0
    this.deletionsCount = 0 // of dead letters, that are under way
  }

  async run () {
    await this.open()
    for (let i = 0; i < STEPS; i++) await this.step()
    this.endOutage()
    this.queue.resume()
    if (this.isTyped) for (const type of ['a', 'b']) this.queue.resumeType(type)
    for (let i = 0; i < 3000 && (this.queue.length > 0 || this.deletionsCount > 0); i++) await this.goOn(1000)
    assert.equal(this.queue.length, 0, 'not all jobs have come to an end')
    assert.equal(this.deletionsCount, 0, 'not all deletions have come to an end')
    await this.queue.fflush()
    await this.checkEnd()
  }

  async open () {
    const { random } = this
    this.attempts.clear()
    this.over.clear()
    const runner = (payload, done, { id, attempt }) => {
      assert(++this.running <= this.options.concurrency, 'more runners than slots')
      assert(!this.over.has(id), `job ${id} is over (${this.over.get(id)}), and runs again`)
      const last = this.attempts.get(id)
      assert(last === undefined || attempt === last + 1, `attempt ${attempt} of job ${id} follows ${last}`)
      this.attempts.set(id, attempt)
      const end = () => {
        this.running--
        if (random.chance(0.2)) done(new Error('x'.repeat(random.below(1200))))
        else done()
      }
      if (random.chance(0.5)) setImmediate(end)
      else Promise.resolve().then(end)
    }
    this.queue = await this.bench.open({ runner, ...this.options })
    for (const name of ['done', 'failed', 'cancelled']) {
      this.queue.on(name, ({ id }) => {
        assert(!this.over.has(id), `job ${id} is ${name}, and was ${this.over.get(id)}`)
        if (id !== undefined) this.over.set(id, name)
      })
    }
    this.queue.on('outage', err => {
      assert.equal(err.code, 'FAIRLANE_ERR_IO')
      this.outagesCount++
    })
    this.queue.on('outageover', () => this.outagesCount--)
    this.queue.on('close', (count, err) => {
      if (!this.isClosing) throw err
    })
    // what opening found is told then, of dead letters too that are retried from here on
    await turn()
  }

  async step () {
    const { queue, random } = this
    switch (random.below(14)) {
      case 0: case 1: case 2: case 3:
        this.push()
        break
      case 4:
        if (random.chance(0.5)) queue.pause()
        else queue.resume()
        break
      case 5:
        if (this.isTyped) queue[random.pick(['pauseType', 'resumeType'])](random.pick(['a', 'b']))
        break
      case 6:
        if (random.chance(0.2)) queue.remove(({ id }) => id % 7 === 0)
        break
      case 7:
        await this.changeDead()
        break
      case 8: case 9:
        this.endOutage()
        if (random.chance(0.7)) OUTAGES[random.pick(Object.keys(OUTAGES))](this.bench.disk, random)
        break
      case 10:
        queue.flush().catch(isIo)
        break
      case 11:
        if (random.chance(0.1)) await this.reopen()
        break
      default:
        await this.goOn(random.pick([1, 5, 100, 1000]))
    }
    if (random.chance(0.3)) await turn()
  }

  push () {
    const { queue, random } = this
    const type = random.pick(['a', 'b'])
    const payload = `${type}${this.count++}`.padEnd(random.below(600))
    const pushed = this.isTyped ? queue.pushType(type, payload) : queue.push(payload)
    pushed.then(id => this.accepted.add(id), isIo)
  }

  async changeDead () {
    const { queue, random } = this
    const letters = await queue.deadLetters()
    if (letters.length === 0) return
    const { id } = random.pick(letters)
    assert.equal(this.over.get(id) ?? 'failed', 'failed')
    if (random.chance(0.5)) {
      this.deletionsCount++
      const end = () => this.deletionsCount--
      queue.deleteDead(id).then(() => this.over.set(id, 'deleted'), isIo).then(end, end)
      return
    }
    const { isOn } = this
    queue.retryDead(id).then(isThere => assert.equal(isThere, true), isIo)
    if ((await queue.deadLetters()).some(letter => letter.id === id)) return // refused
    assert(!isOn)
    this.over.delete(id)
    this.attempts.delete(id)
  }

  /** Whether the queue has told of an outage. */
  get isOn () {
    return this.outagesCount > 0
  }

  endOutage () {
    this.bench.disk.fault = () => undefined
    this.bench.disk.capacity = Infinity
  }

  async goOn (ms) {
    this.bench.clock.advance(ms)
    await turn()
  }

  /** Closes the queue, in the middle of an outage perhaps: then jobs that were over may come back. */
  async reopen () {
    const { queue } = this
    this.isClosing = true
    const closing = { isLost: undefined }
    queue.close({ timeoutMs: 1 }).then(() => { closing.isLost = false }, err => { closing.isLost = isIo(err) })
    await turn()
    while (closing.isLost === undefined) await this.goOn(1)
    const { isLost } = closing
    this.isClosing = false
    this.running = 0
    this.endOutage()
    const over = isLost ? new Map() : new Map(this.over)
    if (isLost) this.bench.disk = this.bench.disk.afterKill()
    this.outagesCount = 0
    await this.open()
    const there = new Set([...this.queue.jobs(), ...await this.queue.deadLetters()].map(({ id }) => id))
    for (const id of this.accepted) {
      if (there.has(id)) assert(!['done', 'cancelled', 'deleted'].includes(over.get(id)), `job ${id} was ${over.get(id)}, and is back`)
      else this.accepted.delete(id)
    }
  }

  async checkEnd () {
    const { queue, bench } = this
    const dead = new Set((await queue.deadLetters()).map(({ id }) => id))
    for (const id of this.accepted) {
      const end = this.over.get(id)
      // one that was dead when the queue was opened
      assert(end !== undefined || dead.has(id), `job ${id} has come to no end`)
      assert.equal(dead.has(id), end === undefined || end === 'failed', `job ${id}: ${end}`)
    }
    const { accepted, done, failed, cancelled, waiting, running, delayed } = queue.stats()
    assert.deepEqual([waiting, running, delayed], [0, 0, 0])
    assert(done + failed + cancelled >= accepted - dead.size, `${done} done, ${failed} failed, ${cancelled} cancelled of ${accepted}`)
    for (let i = 0; i < 20; i++) await this.goOn(10000)
    assert.equal(this.outagesCount, 0, 'an outage goes on')
    await queue.flush()
    this.isClosing = true
    await queue.close({ drain: true })
    assert.equal(bench.disk.openCount, 0)
    await this.open()
    assert.deepEqual(new Set((await this.queue.deadLetters()).map(({ id }) => id)), dead)
    assert.equal(this.queue.recovered.jobs, dead.size)
    await this.queue.close({ drain: true })
  }
}

function isIo (err) {
  if (!['FAIRLANE_ERR_IO', 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_CLEARED'].includes(err.code)) throw err
  return true
}

module.exports = { surviveOutages }
