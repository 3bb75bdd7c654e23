'use strict'

// Drives a job queue with keys on a simulated disk at random, through kills and losses of power, and while the clock of the machine is set
// back; and knows who may have which key.

const assert = require('node:assert')
const { seeded } = require('../support/random')
const { quiet, turn } = require('../support/turns')
const { openJobStore } = require('../../lib/durable/life/job-store')
const { Bench } = require('./bench')
const { FOLDER, unlocked } = require('../log/history')

const LIVES = 4
const KEPT_MS = 100
// What keyUntil is, by the first letter of the key.
const UNTIL = { s: 'started', e: 'settled', t: KEPT_MS }

class KeyRound {
  constructor (seed) {
    this.seed = seed
    const random = this.random = seeded(seed)
    this.bench = new Bench()
    this.isLossy = random.chance(0.5)
    this.isTyped = random.chance(0.5)
    this.options = {
      ack: this.isLossy ? 'disk' : 'os',
      concurrency: 1 + random.below(3),
      maxAttempts: 2,
      backoffMs: random.pick([0, 5, 50]),
      maxInflightOps: random.pick([1, 3, undefined]),
      scheduler: this.isTyped ? 'equal' : undefined,
      priorityMs: random.pick([undefined, 10]),
      segmentBytes: random.pick([1024, 4096])
    }
    this.count = 0
    this.jobs = new Map() // id → { name, pushedAt, hasStarted, isOver } of jobs that somebody knows
    this.updates = new Map() // id → the number of the last update that was acknowledged before the first start
  }

  async play () {
    const { bench, random } = this
    for (let life = 0; life < LIVES; life++) {
      const isLast = life === LIVES - 1
      await this.open()
      for (let i = 0; i < 60; i++) await this.step()
      if (isLast) break
      if (random.chance(0.3)) await this.queue.close({ timeoutMs: 0 })
      else bench.disk = this.isLossy ? bench.disk.afterPowerLoss(random) : bench.disk.afterKill()
      this.generation = undefined
      this.setBack()
    }
    this.queue.resume()
    for (let i = 0; i < 1000 && this.queue.length > 0; i++) {
      this.end(false)
      bench.clock.advance(5)
      await quiet()
    }
    assert.equal(this.queue.length, 0, this.say('not all jobs have come to an end'))
    bench.clock.advance(2 * KEPT_MS)
    await quiet()
    const { dead } = this.queue.stats()
    await this.queue.close({ drain: true })
    assert.equal(await this.storedCount(), dead, this.say('keys are kept whose time is over'))
  }

  // private from here on

  say (what) {
    return `SEED=${this.seed}: ${what}`
  }

  get now () {
    return this.bench.clock.now()
  }

  setBack () {
    if (this.random.chance(0.3)) this.bench.epoch -= this.random.pick([10, 1000, 1e9])
  }

  async storedCount () {
    const store = await openJobStore(FOLDER, { ack: 'os', segmentBytes: 4096 }, { files: this.bench.disk, lock: unlocked })
    const { size } = store.table
    await store.close()
    return size
  }

  async open () {
    const generation = this.generation = {}
    this.runs = new Set()
    const alive = fn => (...args) => { if (this.generation === generation) fn(...args) }
    const runner = alive((payload, done, { id }) => this.started(payload, done, id))
    this.queue = await this.bench.open({ runner, ...this.options })
    this.queue.on('done', alive(({ id }) => this.over(id)))
    this.queue.on('failed', alive(({ id }) => this.over(id)))
    this.queue.on('cancelled', alive(({ id }) => this.over(id)))
    // a crash may have undone what was not safe: what is there, is
    for (const { id, payload } of this.queue.jobs()) this.know(id, payload.name, payload.pushedAt)
    this.check()
  }

  know (id, name, pushedAt) {
    if (!this.jobs.has(id)) this.jobs.set(id, { id, name, pushedAt, hasStarted: false, isOver: false })
    return this.jobs.get(id)
  }

  over (id) {
    this.jobs.get(id).isOver = true
  }

  started ({ name, pushedAt, number }, done, id) {
    const job = this.know(id, name, pushedAt)
    assert.equal(job.name, name)
    if (!job.hasStarted) {
      assert(number >= (this.updates.get(id) ?? 0), this.say(`job ${id} starts with update ${number}, after ${this.updates.get(id)}`))
    }
    job.hasStarted = true
    this.runs.add(done)
  }

  async step () {
    const { random, queue } = this
    const kind = random.next()
    if (kind < 0.6) this.push()
    else if (kind < 0.75) this.end(true)
    else if (kind < 0.8) queue[random.pick(['pause', 'resume'])]()
    else if (kind < 0.85) await queue.flush()
    else if (kind < 0.9) this.setBack()
    // the last ones, of which some run
    else if (kind < 0.9 && this.jobs.size > 0) queue.cancel(random.pick([...this.jobs.keys()].slice(-5))).catch(() => {})
    if (random.chance(0.5)) await turn()
    if (random.chance(0.3)) {
      this.bench.clock.advance(random.pick([0, 1, 5, 30]))
      await quiet()
      this.check()
    }
  }

  /** Pushes a job, or several at once. */
  push () {
    const { random, queue, generation } = this
    const jobs = Array.from({ length: random.pick([1, 1, 2, 4]) }, () => this.jobToPush())
    const [{ type, payload, ...said }] = jobs
    const pushed = jobs.length === 1 ? queue.pushType(type, payload, said).then(id => [id]) : queue.pushAll(jobs)
    pushed.then(ids => {
      if (this.generation !== generation) return
      ids.forEach((id, i) => this.pushed(id, jobs[i]))
    }, () => assert.fail(this.say('refused')))
  }

  jobToPush () {
    const { random } = this
    const key = random.pick(['s1', 's2', 'e1', 'e2', 't1', 't2'])
    const type = random.pick(['a', 'b'])
    const onDuplicate = random.pick(['join', 'replace', 'postpone'])
    return {
      type,
      payload: { name: `${type} ${key}`, number: ++this.count, pushedAt: this.now, filling: 'x'.repeat(random.below(300)) },
      key,
      keyUntil: UNTIL[key[0]],
      onDuplicate,
      delayMs: random.pick([undefined, 0, 5, 40]),
      maxDelayMs: onDuplicate === 'postpone' ? 100 : undefined,
      priority: this.options.priorityMs && random.pick([undefined, 0, 3])
    }
  }

  /** A push was acknowledged. */
  pushed (id, { payload: { name, number, pushedAt }, onDuplicate }) {
    const job = this.know(id, name, pushedAt)
    assert.equal(job.name, name, this.say(`job ${id} is that of another key`))
    if (onDuplicate !== 'join' && !job.hasStarted) this.updates.set(id, Math.max(number, this.updates.get(id) ?? 0))
  }

  end (mayFail) {
    for (const done of [...this.runs]) {
      if (!this.random.chance(0.6)) continue
      this.runs.delete(done)
      if (mayFail && this.random.chance(0.4)) done(new Error('no'))
      else done()
    }
  }

  /** No key is that of two jobs. */
  check () {
    const there = new Set([...this.queue.jobs()].map(({ id }) => id))
    const byName = new Map()
    for (const job of this.jobs.values()) {
      if (!byName.has(job.name)) byName.set(job.name, [])
      byName.get(job.name).push(job)
    }
    for (const [name, jobs] of byName) {
      const kind = name.split(' ')[1][0]
      if (kind === 's') this.atMostOne(name, jobs.filter(({ id, hasStarted }) => there.has(id) && !hasStarted))
      if (kind === 'e') this.atMostOne(name, jobs.filter(({ isOver }) => !isOver))
      // the key of one that was cancelled before is free
      if (kind === 't') this.checkTimes(name, jobs.filter(({ hasStarted, isOver }) => hasStarted || !isOver))
    }
  }

  atMostOne (name, jobs) {
    assert(jobs.length <= 1, this.say(`${name} is the key of ${jobs.map(({ id }) => id)}`))
  }

  checkTimes (name, jobs) {
    jobs.sort((a, b) => a.id - b.id)
    for (let i = 1; i < jobs.length; i++) {
      const ms = jobs[i].pushedAt - jobs[i - 1].pushedAt
      assert(ms >= KEPT_MS, this.say(`${name} is the key of ${jobs[i - 1].id} and ${ms} ms later of ${jobs[i].id}`))
    }
  }
}

module.exports = { KeyRound }
