'use strict'

// Drives a job queue on a simulated disk at random, with a History: closes it, kills it and opens it again, and compares each record with
// what its users could see.

const assert = require('node:assert/strict')
const { Postponed, Throttled } = require('../../lib/durable')
const { History } = require('../../lib/history')
const { structured } = require('../../lib/job/serializers')
const { HistoryModel, countsOf } = require('../support/history-model')
const { seeded } = require('../support/random')
const { quiet } = require('../support/turns')
const { Bench } = require('./bench')

const STEPS = 80
const MAX_ATTEMPTS = 3
const TYPES = ['a', 'b', '__proto__']

class ObservedRound {
  constructor (seed) {
    const random = this.random = seeded(seed)
    this.bench = new Bench()
    this.isTyped = random.chance(0.5)
    this.options = {
      concurrency: 1 + random.below(4),
      maxAttempts: MAX_ATTEMPTS,
      maxInflightOps: random.pick([1, 2, undefined]),
      maxWaitMs: random.pick([undefined, undefined, 300]),
      timeoutMs: random.pick([undefined, undefined, 50]),
      scheduler: this.isTyped ? random.pick(['equal', 'fair', 'capped']) : undefined,
      priorityMs: random.pick([undefined, 10]),
      serialize: { encode: structured.encode, decode: bytes => decode(bytes) }
    }
    this.backoffMs = random.pick([0, 5, 40])
    this.givenUpShare = random.pick([0, 0.2]) // of the attempts that have failed: backoffMs says that there is to be no other one
    this.isGivenUp = false // the job that has just failed, before its attempts are over
    this.pushes = [] // by payload: { at, type, delayMs, name } of the job that has it; name: of its key
    this.holders = new Map() // name of a key → the push whose job took it last
    this.model = undefined
    this.dueAt = new Map() // id → when it is tried again
    this.kept = new Map() // id → what its last attempt that counts failed with
  }

  async play () {
    await this.open()
    for (let i = 0; i < STEPS; i++) await this.step()
    const { queue } = this
    queue.resume()
    for (const type of this.isTyped ? TYPES : []) queue.resumeType(type)
    for (let i = 0; i < 3000 && queue.length > 0; i++) {
      this.end(false)
      await this.goOn(50)
    }
    assert.equal(queue.length, 0, 'not all jobs have come to an end')
    this.compare()
    await this.close()
  }

  // private from here on

  get now () {
    return this.bench.clock.now()
  }

  /** The option backoffMs of a queue. @param {HistoryModel} model of it */
  backoff (model) {
    const { backoffMs, givenUpShare } = this
    if (givenUpShare === 0) return backoffMs
    return () => {
      if (model !== this.model) return backoffMs
      this.isGivenUp = this.random.chance(givenUpShare)
      return this.isGivenUp ? Infinity : backoffMs
    }
  }

  /** Opens the queue. What it finds is what the last model knows. */
  async open () {
    const { bench, model: before } = this
    const model = this.model = Object.assign(new HistoryModel(() => this.now), { buried: new Set() })
    this.cancelled = new Map() // id → { at, text }, of jobs whose pushes have not told their ids yet
    this.runs = new Set() // { id, attempt, done } of runners that have not ended
    for (const id of [...before?.jobs.keys() ?? []].sort((a, b) => a - b)) this.recall(id, before)
    this.history = new History()
    // a queue that was killed goes on here, since its clock does; nobody sees that of a process
    const alive = listener => (...about) => { if (model === this.model) listener(...about) }
    const runner = alive((index, done, { id, attempt }) => {
      this.know(id, index)
      this.due(id) // it may start as soon as its delay is over
      model.started(id)
      assert.equal(model.jobs.get(id).versions.at(-1).attempt, attempt)
      this.runs.add({ id, attempt, done })
    })
    const queue = this.queue = await bench.open({ runner, observers: this.history, backoffMs: this.backoff(model), ...this.options })
    queue.on('retry', alive(({ id, error, delayMs }) => {
      model.came(id, 'delayed', textOf(error))
      this.kept.set(id, textOf(error))
      this.dueAt.set(id, this.now + delayMs)
    }))
    queue.on('failed', alive(({ id, attempt, error }) => {
      // its payload could not be decoded, so no runner was called
      if (error.message === 'not decoded') model.started(id)
      assert.equal(model.jobs.get(id).versions.at(-1).attempt, attempt)
      if (this.isGivenUp) model.came(id, 'delayed', textOf(error))
      this.isGivenUp = false
      model.died(id, textOf(error))
      this.kept.set(id, textOf(error))
    }))
    queue.on('done', alive(({ id }) => {
      model.came(id, 'done')
    }))
    queue.on('cancelled', alive(({ id, error }) => {
      if (id === undefined) return
      if (model.jobs.has(id)) model.came(id, 'cancelled', textOf(error))
      else this.cancelled.set(id, { at: this.now, text: textOf(error) })
    }))
    await quiet()
    this.compare()
  }

  /** A job of the last queue is still there: as it was on disk. */
  recall (id, before) {
    const { model } = this
    const { type, isDead, versions, index } = before.jobs.get(id)
    const { state, attempt } = versions.at(-1)
    const text = this.kept.get(id)
    const error = text === 'a text' ? 'Error: a text' : text // a disk keeps errors only
    const isLive = isDead || ['waiting', 'running', 'delayed'].includes(state)
    if (!isLive || before.buried.has(id)) return
    model.accepted(id, type, { at: this.pushes[index].at, attempts: attempt })
    model.jobs.get(id).index = index
    if (isDead) model.died(id, error)
    if (state === 'delayed' && this.dueAt.get(id) > this.now) model.came(id, 'delayed', error)
  }

  /** A job has an id. */
  know (id, index) {
    const { model, pushes } = this
    if (model.jobs.has(id)) return
    const { at, type, delayMs } = pushes[index]
    const { acceptedAt } = this.history.get(id)
    if (this.options.maxInflightOps === undefined) assert.equal(acceptedAt, at)
    else assert(acceptedAt >= at && acceptedAt <= this.now) // it may have been held
    model.accepted(id, type, { at: acceptedAt })
    model.jobs.get(id).index = index
    const end = this.cancelled.get(id)
    const dueAt = at + delayMs
    const { versions } = model.jobs.get(id)
    const came = (state, at, error) => versions.push({ state, at, attempt: 0, error })
    // one that was held may be due in the moment in which it is written: before that, or after it
    const isDelayed = dueAt > acceptedAt || (delayMs > 0 && dueAt === acceptedAt && this.history.versions(id)[1]?.state === 'delayed')
    if (isDelayed) came('delayed', acceptedAt)
    if (isDelayed && dueAt <= (end?.at ?? this.now)) came('waiting', dueAt)
    else if (isDelayed && end === undefined) this.dueAt.set(id, dueAt)
    if (end !== undefined) came('cancelled', end.at, end.text)
  }

  async step () {
    const { queue, random } = this
    const kind = random.next()
    if (kind < 0.30) for (let i = random.below(4); i >= 0; i--) this.push()
    else if (kind < 0.55) this.end(true)
    else if (kind < 0.60) queue[random.pick(['pause', 'resume', 'resume'])]()
    else if (kind < 0.64 && this.isTyped) queue[random.pick(['pauseType', 'resumeType'])](random.pick(TYPES))
    else if (kind < 0.67) queue.remove(({ id }) => id !== undefined && id % 5 === 0)
    else if (kind < 0.69 && this.isTyped) queue.clear({ type: random.pick(TYPES) })
    else if (kind < 0.77) this.changeDead()
    else if (kind < 0.79) await this.reopen()
    else if (kind < 0.81) await this.kill()
    else if (kind < 0.84) queue.concurrency = 1 + random.below(4)
    else if (kind < 0.88) await this.lookUp(random.chance(0.7))
    if (random.chance(0.6)) await this.goOn(random.pick([0, 1, 5, 30, 100]))
  }

  push () {
    const { queue, random, pushes } = this
    const type = random.chance(0.1) && !this.isTyped ? undefined : random.pick(TYPES)
    const options = random.chance(0.7) ? undefined : { delayMs: random.pick([0, 1, 20, 200]), maxAttempts: random.pick([undefined, 1, 5]) }
    if (options !== undefined && this.options.priorityMs) options.priority = random.below(3)
    const name = options !== undefined && random.chance(0.6) ? `${type} ${random.below(3)}` : undefined
    if (name !== undefined) {
      Object.assign(options, {
        key: name, keyUntil: random.pick(['started', 'settled', 60]), onDuplicate: random.pick(['join', 'replace'])
      })
    }
    const push = { at: this.now, type, delayMs: options?.delayMs ?? 0, name }
    const index = pushes.push(push) - 1
    const { joined } = queue.stats()
    const method = random.chance(0.2) ? 'unshift' : 'push'
    const pushed = type === undefined ? queue[method](index, options) : queue[`${method}Type`](type, index, options)
    const isJoined = queue.stats().joined > joined
    // a push that shares a job is not one of its own
    if (isJoined) pushes[index] = this.holders.get(name)
    else if (name !== undefined) this.holders.set(name, push)
    const { model } = this
    // it may not have been told before a kill, or have ended
    const know = id => { if (model === this.model && (!isJoined || this.history.get(id) !== undefined)) this.know(id, index) }
    pushed.then(know, ({ code }) => assert(['FAIRLANE_ERR_CLEARED', 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_ERR_MAX_WAIT'].includes(code), code))
  }

  /** Some runners end. */
  end (mayFail) {
    const { random } = this
    for (const run of [...this.runs]) {
      if (!random.chance(0.6)) continue
      const { id, done } = run
      this.runs.delete(run)
      if (mayFail && random.chance(0.2)) this.postpone(run)
      else if (mayFail && random.chance(0.5)) {
        done(random.pick([new TypeError(`of job ${id}`), Object.assign(new Error('no'), { code: 'E_NO' }), 'a text']))
      } else done()
    }
  }

  /** A runner fails, and its attempt does not count. */
  postpone ({ id, attempt, done }) {
    const { model, random } = this
    const isThrottled = random.chance(0.5)
    const ms = 1 + random.below(50)
    const error = isThrottled ? new Throttled(ms) : new Postponed(ms)
    const last = model.jobs.get(id)?.versions.at(-1)
    // else it has timed out, or was cancelled
    if (last.state === 'running' && last.attempt === attempt) {
      model.uncounted(id)
      model.came(id, 'delayed', textOf(error))
      if (isThrottled) model.came(id, 'waiting')
      else this.dueAt.set(id, this.now + ms)
    }
    done(error)
  }

  changeDead () {
    const { queue, model, random } = this
    const dead = [...model.jobs.values()].filter(({ id, isDead }) => isDead && !model.buried.has(id))
    if (dead.length === 0) return
    const { id } = random.pick(dead)
    if (random.chance(0.3)) {
      model.buried.add(id)
      queue.deleteDead(id).then(isThere => assert.equal(isThere, true))
    } else this.retry(id)
  }

  /** A dead letter runs again, if no other job has taken its key. */
  retry (id) {
    const { history, holders, kept, model, pushes, queue } = this
    const push = pushes[model.jobs.get(id).index]
    const mayBeRefused = push.name !== undefined && holders.get(push.name) !== push
    const retried = queue.retryDead(id)
    const isRetried = history.get(id).state === 'waiting'
    assert(isRetried || mayBeRefused, `job ${id} is not retried, and nobody has its key`)
    if (isRetried) {
      model.revived(id)
      kept.delete(id)
    }
    retried.then(isThere => assert.equal(isThere, isRetried))
  }

  /** What is said of a job by its id is what its record says, and perhaps it is cancelled. */
  async lookUp (isCancelled) {
    await quiet()
    const { queue, model, random } = this
    if (model.jobs.size === 0) return
    const { id, isDead, versions } = random.pick([...model.jobs.values()])
    const { state, attempt } = versions.at(-1)
    const isLive = ['waiting', 'running', 'delayed'].includes(state)
    const isThere = isDead && !model.buried.has(id)
    const found = await queue.get(id)
    assert.equal(found?.state, isLive ? state : isThere ? 'dead' : undefined)
    if (isLive || isThere) assert.equal(found.attempts, state === 'running' ? attempt - 1 : attempt)
    if (isCancelled) assert.equal(await queue.cancel(id), isLive)
  }

  async goOn (ms) {
    for (let i = 0; i <= ms; i++) {
      this.bench.clock.advance(i === 0 ? 0 : 1)
      for (const [id, at] of this.dueAt) if (at <= this.now) this.due(id)
    }
    await quiet()
    this.compare()
  }

  /** The delay of a job is over. */
  due (id) {
    this.dueAt.delete(id)
    const isDelayed = this.model.jobs.get(id)?.versions.at(-1).state === 'delayed'
    if (isDelayed) this.model.came(id, 'waiting')
  }

  async reopen () {
    await this.close()
    await this.open()
  }

  /** Jobs that run stay on disk, and their attempts count for nothing. */
  async close () {
    await quiet()
    const running = [...this.model.jobs.values()].filter(({ versions }) => versions.at(-1).state === 'running')
    const closed = this.queue.close({ timeoutMs: 0 })
    for (const { id } of running) this.model.uncounted(id)
    await closed
    this.compareRecords()
  }

  async kill () {
    await quiet()
    this.compare()
    this.bench.disk = this.bench.disk.afterKill()
    await this.open()
  }

  compareRecords () {
    const { history, model } = this
    const jobs = [...model.jobs.keys()].sort((a, b) => b - a).map(id => model.job(id))
    assert.deepEqual([...history.list({ limit: Infinity })], jobs)
    assert.deepEqual(history.counts(), countsOf(jobs))
    for (const { id } of jobs) assert.deepEqual(history.versions(id), model.jobs.get(id).versions)
  }

  compare () {
    this.compareRecords()
    const { done, cancelled, waiting, running } = this.queue.stats()
    const counts = this.history.counts()
    assert(counts.waiting + counts.delayed + counts.running <= waiting + running, 'more records than jobs')
    assert(counts.done === done && counts.cancelled <= cancelled)
  }
}

function decode (bytes) {
  const index = structured.decode(bytes)
  if (index % 17 === 16) throw new Error('not decoded')
  return index
}

function textOf (error) {
  return typeof error === 'string' ? error : `${error.code ?? error.name}: ${error.message}`
}

module.exports = { ObservedRound }
