'use strict'

// Random mixtures of everything that can end, refuse or hold back a job, on a clock that the test moves, with every kind of
// scheduler. Replay a failure with SEED=n.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { checkInvariants, fakeClock, gateRunner, Model } = require('../../lib/testing')
const { seeded, seedFromEnvironment } = require('../support/random')
const { turn, turns } = require('../support/turns')

const ROUNDS = 600
const STEPS = 150
const TYPES = ['a', 'b', 'c', 'd']
const REFUSALS = ['FAIRLANE_ERR_QUEUE_FULL', 'FAIRLANE_ERR_TYPE_FULL']

const windowScheduler = () => ({ waiting () {}, start () {}, done () {}, removed () {}, select: (types) => types.size() === 0 ? -1 : 0 })

describe('a queue with limits, signals and deadlines', function () {
  const seed = seedFromEnvironment()

  it(`settles every accepted job once, and tells every refused one once (SEED=${seed})`, async function () {
    this.timeout(120000)
    const random = seeded(seed)
    for (let number = 0; number < ROUNDS; number++) {
      const round = new Round(seeded(random.below(4294967296)))
      try {
        await round.play()
      } catch (error) {
        throw Object.assign(error, { message: `SEED=${seed}, round ${number}: ${error.message}` })
      }
    }
  })
})

class Round {
  constructor (random) {
    this.random = random
    this.clock = fakeClock()
    this.gate = gateRunner()
    this.model = new Model()
    this.count = 0
    this.failures = []
    this.controllers = Array.from({ length: 4 }, () => new AbortController())
    this.flushes = { asked: 0, fired: 0 }
    this.maxWaiting = random.pick([Infinity, Infinity, 0, 3, 20])
    this.scheduler = random.pick([undefined, undefined, 'equal', 'fair', 'capped', windowScheduler()])
    this.perType = this.scheduler !== undefined && random.chance(0.3) ? { a: 2, b: 5 } : undefined
    const isLanes = typeof this.scheduler === 'string'
    this.canPause = isLanes
    this.queue = fairlane((payload, done, context) => this.run(payload, done, context), {
      concurrency: random.pick([1, 2, 5]),
      clock: this.clock,
      scheduler: this.scheduler,
      maxTypes: isLanes ? random.pick([Infinity, 2]) : undefined,
      maxWaiting: this.maxWaiting,
      maxWaitingPerType: this.perType,
      maxWaitMs: random.pick([undefined, undefined, 40]),
      timeoutMs: random.pick([undefined, undefined, 30]),
      onTimeout: random.pick(['hold', 'release']),
      keepContext: random.chance(0.3)
    })
    if (random.chance(0.3)) this.queue.on('jobfailed', () => this.guard(() => checkInvariants(this.queue)))
  }

  async play () {
    const { random } = this
    for (let i = 0; i < STEPS; i++) {
      this.act(random)
      this.check()
      if (random.chance(0.4)) await turn()
    }
    await this.finish()
  }

  async finish () {
    const { random, queue, gate } = this
    const isDrained = random.chance(0.5)
    const closing = { isOver: false }
    queue.close({ drain: isDrained, timeoutMs: isDrained ? undefined : 1 }).then(() => { closing.isOver = true })
    for (let i = 0; !closing.isOver; i++) {
      assert(i < 2000, 'the queue closes')
      while (gate.open.length > 0) gate.release()
      await turn()
      this.clock.advance(1)
      this.check()
    }
    while (gate.open.length > 0) gate.release()
    await turns(2)
    this.check()
    this.model.finish(queue)
    assert.deepEqual([queue.length, queue.stats().overrun, queue.stats().misuse, queue.stats().types], [0, 0, 0, 0])
    assert.equal(this.flushes.fired, this.flushes.asked, 'each fflush has fired')
    assert.equal(this.clock.timerCount, 0, 'no timer is left')
  }

  act (random) {
    const kind = random.next()
    const { queue } = this
    if (kind < 0.45) this.push(random)
    else if (kind < 0.65) this.end(random)
    else if (kind < 0.75) this.clock.advance(random.below(15))
    else if (kind < 0.80) this.abort(random)
    else if (kind < 0.83) queue.pause()
    else if (kind < 0.88) queue.resume(random.pick([undefined, 1, 2, 5]))
    else if (kind < 0.91) this.fflush()
    else if (kind < 0.93) queue.remove(({ payload }) => payload % 5 === 0)
    else if (kind < 0.94) queue.clear()
    else if (kind < 0.96 && this.canPause) queue.pauseType(random.pick(TYPES))
    else if (this.canPause) queue.resumeType(random.pick(TYPES))
  }

  push (random) {
    const { queue, model } = this
    const job = this.count++
    const type = this.scheduler === undefined ? undefined : random.pick(TYPES)
    const wasClosed = queue.closed
    let isInCall = true
    model.pushed(job)
    const settled = (error) => this.guard(() => {
      assert(!isInCall, 'nothing is called back inside push')
      const isRefused = error && (wasClosed || REFUSALS.includes(error.code) || (error.code === 'FAIRLANE_ERR_ABORTED' && early))
      if (isRefused) model.refused(job)
      else model.settled(job)
      checkInvariants(queue)
      if (random.chance(0.1)) this.act(random)
    })
    const before = queue.waiting
    const { signal } = random.pick(this.controllers)
    const early = signal.aborted
    const atHead = random.chance(0.2)
    if (random.chance(0.5)) {
      const options = { type, unshift: atHead }
      if (random.chance(0.7)) options.signal = signal
      if (random.chance(0.3)) options.timeoutMs = 1 + random.below(30)
      if (random.chance(0.3)) options.maxWaitMs = 1 + random.below(30)
      queue.add(job, options).then(() => settled(), settled)
    } else {
      const method = (atHead ? 'unshift' : 'push') + (type === undefined ? '' : 'Type')
      queue[method](...(type === undefined ? [] : [type]), job, settled)
    }
    isInCall = false
    const free = Math.max(0, queue.concurrency - queue.running)
    if (queue.waiting > before) {
      assert(queue.waiting <= this.maxWaiting + free, 'maxWaiting holds')
      if (this.perType?.[type] !== undefined) assert(queue.stats(type).waiting <= this.perType[type] || queue.stats('c').waiting > 0, 'maxWaitingPerType holds')
    }
  }

  end (random) {
    const { open } = this.gate
    if (open.length === 0) return
    const [{ payload, done }] = open.splice(random.below(open.length), 1)
    if (random.chance(0.3)) done(new Error('expected'))
    else done(null, payload)
  }

  abort (random) {
    const i = random.below(this.controllers.length)
    this.controllers[i].abort()
    if (random.chance(0.8)) this.controllers[i] = new AbortController()
  }

  fflush () {
    this.flushes.asked++
    this.queue.fflush(() => { this.flushes.fired++ })
  }

  run (payload, done, context) {
    this.guard(() => {
      this.model.started(payload)
      checkInvariants(this.queue)
      assert(!context.signal.aborted)
    })
    if (this.random.chance(0.2)) return done(null, payload)
    if (this.random.chance(0.05)) this.abort(this.random)
    this.gate.runner(payload, done, context)
  }

  check () {
    checkInvariants(this.queue)
    if (this.failures.length > 0) throw this.failures[0]
  }

  // The queue would take a throw for one of the user's code, so it is kept and thrown by the driver.
  guard (fn) {
    try {
      fn()
    } catch (error) {
      this.failures.push(error)
    }
  }
}
