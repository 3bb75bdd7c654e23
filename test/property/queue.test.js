'use strict'

// Random mixtures of all operations, from outside and from inside runners, callbacks, drain and fflush callbacks,
// against a naive model: an array of the waiting jobs, a set of the running ones. Every invariant is checked at every
// step. Replay a failure with SEED=n; each round depends on the seed alone (and on the time slices of the queue, which
// end at a time, not at a count: only the order of events between two turns can differ).

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { captureUncaught, captureWarnings } = require('../support/uncaught')
const { setPace } = require('../support/pace')
const { turn } = require('../support/turns')

const MIN_OPERATIONS = rounds(100000)
const ROUND_SIZES = [30, 100, 300, 1000, 1000, 3000, 10000]
const MAX_DEPTH = 3

// How a job ends first, per settleBy. The names are those of the methods of Job that play them.
const BY_DONE = ['doneAtOnce', 'doneAtOnce', 'doneInTick', 'doneInMicrotask', 'doneInImmediate', 'doneAtGate', 'doneAtGate', 'doneAtGate']
const BY_MISUSE = ['doneThenThrow', 'doneThenReject', 'doneThenFulfil']
const BY_PROMISE = ['fulfilled', 'rejected', 'fulfilledLater', 'rejectedLater', 'promiseAtGate', 'promiseAtGate', 'rejectedFalsy']
const BY_THENABLE = ['thenable', 'thenableLater', 'thenableThrows', 'thenableGetterThrows', 'thenableResolvesThenThrows']
const ENDS = {
  either: [...BY_DONE, ...BY_DONE, ...BY_MISUSE, ...BY_PROMISE, ...BY_THENABLE, 'throws'],
  callback: [...BY_DONE, 'doneThenThrow', 'throws', 'ignoredPromise'],
  promise: [...BY_PROMISE, ...BY_THENABLE, 'throws', 'value']
}

const STRANGE_PAYLOADS = [undefined, null, '', -1, NaN, Promise.resolve(), () => {}]

describe('the queue against a naive model', function () {
  const seed = seedFromEnvironment()
  let uncaught
  let warnings

  beforeEach(function () {
    uncaught = captureUncaught()
    warnings = captureWarnings()
  })

  afterEach(function () {
    uncaught.release()
    warnings.release()
  })

  it(`holds every invariant under ${MIN_OPERATIONS} random operations (SEED=${seed})`, async function () {
    const random = seeded(seed)
    let operations = 0
    let misused = 0
    for (let number = 0; operations < MIN_OPERATIONS; number++) {
      const round = new Round(random.below(4294967296), random.pick(ROUND_SIZES))
      try {
        await round.play()
        assert.deepEqual(uncaught.seen.splice(0), round.thrown, 'exactly what user code threw is uncaught, in order')
      } catch (error) {
        const where = `SEED=${seed}, round ${number}, after ${round.operations} operations, settleBy ${round.settleBy}`
        throw Object.assign(new Error(`${where}: ${error.message}`), { stack: `${where}: ${error.stack}` })
      }
      operations += round.operations
      if (round.misuse > 0) misused++
    }
    assert.equal(warnings.seen.length, misused, 'one warning for each queue with a misuse')
    assert.ok(warnings.seen.every((warning) => warning.code === 'FAIRLANE_WARN_SETTLED_TWICE'))
  })
})

// One queue, its model, and random operations on both.
class Round {
  constructor (seed, size) {
    this.seed = seed
    this.size = size
    this.random = seeded(seed)
    this.settleBy = this.random.pick(['either', 'either', 'either', 'callback', 'promise'])
    this.load = this.random.pick([1, 3, 10, 40, 40, 300]) // about so many jobs, so that some rounds see the queue empty often
    this.throwChance = this.random.pick([0, 0, 0.05])
    this.operations = 0
    this.turns = 0

    this.jobs = []
    this.waiting = []
    this.running = new Set() // started, and the end not yet seen
    this.ending = new Set() // those of them whose end has begun: the queue may or may not have noticed
    this.unsettled = new Set() // in order of acceptance
    this.gates = []
    this.staleDones = []
    this.limit = this.random.pick([1, 1, 2, 3, 10, Infinity])
    this.lastLimit = this.limit
    this.counts = { done: 0, failed: 0, cancelled: 0 }
    this.misuse = 0
    this.flushes = []
    this.idles = []
    this.drains = 0
    this.drainEvents = 0
    this.drainedAt = 0
    this.thrown = []

    this.isInCall = false // in a call that starts nothing
    this.removals = [] // the calls of remove on the stack
    this.isInRunner = false
    this.depth = 0
    this.failure = undefined

    const { limit: concurrency, settleBy } = this
    this.queue = fairlane((payload, done, context) => this.run(payload, done, context), { concurrency, settleBy })
    setPace(this.queue, 'all at once')
    this.queue.drain = () => this.drained()
    this.queue.on('drain', () => { this.drainEvents++ })
  }

  async play () {
    const { random } = this
    while (this.operations < this.size) {
      for (let i = random.below(8); i >= 0; i--) this.act(random)
      this.rethrow()
      if (random.chance(0.5)) await this.nextTurn()
      else if (random.chance(0.3)) await null
    }
    await this.finish()
  }

  // Lets everything end, and checks that it did.
  async finish () {
    for (let calm = 0; calm < 3;) {
      if (this.queue.paused) this.resume(undefined)
      this.gates.splice(0).forEach((end) => end())
      this.staleDones.splice(0).forEach((done) => this.misuseBy(done))
      await this.nextTurn()
      calm = this.queue.length === 0 && this.gates.length === 0 ? calm + 1 : 0
      this.expect(this.turns < 100 * this.size, 'the queue comes to its end')
    }
    this.rethrow()
    for (const job of this.jobs) {
      if (job.hasCallback) this.expect(job.settlements === 1, `job ${job.id} was called back ${job.settlements} times`)
    }
    this.expect(this.unsettled.size === 0, 'each job has settled')
    this.expect(this.flushes.length === 0, 'each fflush has fired')
    this.expect(this.idles.length === 0, 'each onIdle has resolved')
    const { accepted, waiting, running, done, failed, cancelled, misuse } = this.queue.stats()
    assert.deepEqual({ accepted, waiting, running, done, failed, cancelled, misuse },
      { accepted: this.jobs.length, waiting: 0, running: 0, ...this.counts, misuse: this.misuse })
    this.rethrow()
  }

  // In a new turn all ends that had begun are over, so that every count is known.
  async nextTurn () {
    await turn()
    this.turns++
    for (const job of this.ending) {
      this.expect(!job.hasCallback, `job ${job.id} is called back in the turn in which it ends`)
      this.running.delete(job)
    }
    this.ending.clear()
    this.check()
    this.expect(this.queue.running === this.running.size, 'running is exact')
    const { done, failed, cancelled, misuse } = this.queue.stats()
    assert.deepEqual({ done, failed, cancelled, misuse }, { ...this.counts, misuse: this.misuse })

    const [oldest = Infinity] = this.unsettled
    this.flushes = this.flushes.filter((flush) => !flush.fired)
    for (const flush of this.flushes) {
      if (flush.mark <= oldest && (!flush.atOnce || flush.turn < this.turns - 1)) this.fail('an fflush is overdue')
    }
    this.idles = this.idles.filter((idle) => !idle.fired)
    if (this.queue.length === 0) {
      this.expect(this.idles.every((idle) => idle.turn >= this.turns - 1), 'an onIdle is overdue')
      this.expect(this.drainedAt === this.jobs.length, 'the queue has emptied without a drain')
    }
    this.expect(this.drains === this.drainEvents, 'a drain event for each drain')
    this.rethrow()
  }

  // ---- operations ----

  act (random) {
    if (this.operations >= this.size || this.failure || this.depth >= MAX_DEPTH) return
    this.operations++
    this.depth++
    const kind = random.next()
    const pushChance = this.queue.length < this.load ? 0.46 : 0.2
    if (kind < pushChance) this.push(random)
    else if (kind < 0.70) this.endGate(random)
    else if (kind < 0.72) this.pause()
    else if (kind < 0.78) this.resume(random.chance(0.5) ? undefined : random.pick([1, 2, 5, '3', Infinity]))
    else if (kind < 0.84) this.setConcurrency(random.pick([1, 1, 2, 3, 4, 10, 10, '2', Infinity, 0, '-1']))
    else if (kind < 0.90) this.fflush(random)
    else if (kind < 0.92) this.onIdle()
    else if (kind < 0.955) this.misuseStale(random)
    else if (kind < 0.97) this.compareJobs()
    else if (kind < 0.985) this.remove(random)
    else if (random.chance(this.waiting.length > 50 ? 0.03 : 0.3)) this.clear(random)
    this.check()
    this.depth--
  }

  push (random) {
    const burst = random.chance(0.002) ? random.below(Math.min(this.size >> 2, 2500)) : 1
    for (let i = 0; i < burst; i++) {
      if (i > 0) this.operations++
      const job = new Job(this, this.jobs.length, random)
      const atHead = random.chance(0.25)
      const args = random.chance(0.1) ? ['a type', job.payload] : [job.payload]
      const method = (atHead ? 'unshift' : 'push') + (args.length === 2 ? 'Type' : '')
      if (job.hasCallback) args.push((error, result) => job.settled(error, result))
      this.jobs.push(job)
      this.unsettled.add(job.id)
      this.waiting[atHead ? 'unshift' : 'push'](job)
      this.quietly(() => this.expect(this.queue[method](...args) === this.queue, `${method} returns the queue`))
    }
  }

  endGate (random) {
    for (let i = random.below(3); i >= 0 && this.gates.length > 0; i--) {
      const [end] = this.gates.splice(random.below(this.gates.length), 1)
      end()
    }
  }

  pause () {
    this.limit = -1
    this.quietly(() => this.queue.pause())
  }

  resume (concurrency) {
    this.limit = this.lastLimit = concurrency === undefined ? this.lastLimit : Number(concurrency)
    this.quietly(() => this.queue.resume(concurrency))
  }

  setConcurrency (value) {
    this.limit = Number(value) > 0 ? Number(value) : -1
    if (this.limit > 0) this.lastLimit = this.limit
    this.quietly(() => { this.queue.concurrency = value })
  }

  fflush (random) {
    const flush = { mark: this.jobs.length, turn: this.turns, fired: false, atOnce: this.queue.length === 0 }
    const inside = seeded(this.seed + this.operations)
    const throws = random.chance(this.throwChance)
    this.flushes.push(flush)
    const callback = () => {
      this.entered()
      const [oldest = Infinity] = this.unsettled
      this.expect(!this.isInCall, 'an fflush callback is never called in the call')
      this.expect(!flush.fired, 'an fflush fires once')
      this.expect(oldest >= flush.mark, 'an fflush fires after all jobs before it have settled')
      flush.fired = true
      this.maybeAct(inside)
      if (throws) this.throwUncaught('fflush')
    }
    this.quietly(() => {
      if (throws || random.chance(0.7)) this.queue.fflush(callback)
      else this.queue.fflush().then(() => { flush.fired = true })
    })
  }

  onIdle () {
    const idle = { turn: this.turns, fired: false, drains: this.drains, atOnce: this.queue.length === 0 }
    this.idles.push(idle)
    this.quietly(() => this.queue.onIdle()).then(() => {
      idle.fired = true
      this.expect(idle.atOnce || this.drains > idle.drains, 'an onIdle resolves only when the queue was empty')
    })
  }

  compareJobs () {
    const jobs = this.quietly(() => [...this.queue.jobs()])
    this.expect(jobs.length === this.waiting.length && jobs.every((job, i) => Object.is(job.payload, this.waiting[i].payload)),
      'jobs() gives the waiting jobs in order')
  }

  remove (random) {
    const inside = seeded(this.seed + this.operations)
    const modulus = 2 + random.below(30)
    const removal = { picked: [], isInTest: false, chosen: undefined }
    this.removals.push(removal)
    const count = this.queue.remove(({ type, payload }) => {
      removal.isInTest = true
      this.expect(type === undefined, 'there are no types')
      if (inside.chance(0.03)) this.act(inside)
      removal.isInTest = false
      const picks = typeof payload === 'number' && payload % modulus === 0
      if (picks) removal.picked.push(this.jobs[payload])
      return picks
    })
    this.entered()
    this.removals.pop()
    this.expect(count === removal.chosen.length, `remove says that it took ${count}, not ${removal.chosen.length}`)
    this.expect(removal.chosen.every((job) => job.state === 'cancelled'), 'remove has called back when it returns')
  }

  // The queue has called back or returned: if it was in a remove whose test function is through, its jobs are out now.
  entered () {
    const removal = this.removals[this.removals.length - 1]
    if (removal === undefined || removal.isInTest || removal.chosen !== undefined) return
    // The test function may have had some of them cancelled already.
    removal.chosen = removal.picked.filter((job) => job.state === 'waiting')
    this.cancelling(removal.chosen)
    this.waiting = this.waiting.filter((job) => job.state === 'waiting')
  }

  clear (random) {
    const chosen = this.waiting
    this.waiting = []
    this.cancelling(chosen)
    const count = random.chance(0.5) ? this.queue.clear() : this.queue.clear({ reason: 'random' })
    this.expect(count === chosen.length, 'clear says how many')
    this.expect(chosen.every((job) => job.state === 'cancelled'), 'clear has called back when it returns')
  }

  cancelling (jobs) {
    this.counts.cancelled += jobs.length
    for (const job of jobs) {
      job.state = job.hasCallback ? 'cancelling' : 'cancelled'
      if (!job.hasCallback) this.unsettled.delete(job.id)
    }
  }

  misuseStale (random) {
    if (this.staleDones.length === 0) return
    this.misuseBy(this.staleDones.splice(random.below(this.staleDones.length), 1)[0])
  }

  misuseBy (done) {
    this.misuse++
    done('stale')
  }

  // ---- what the queue calls ----

  run (payload, done, context) {
    const job = this.waiting.shift()
    this.operations++
    this.expect(!this.isInCall, 'nothing starts inside a call')
    this.expect(!this.isInRunner, 'no runner starts inside another')
    this.expect(job !== undefined, 'only waiting jobs start')
    if (job === undefined) return done()
    this.expect(Object.is(payload, job.payload), `job ${job.id} is the next to start`)
    this.expect(job.state === 'waiting', `job ${job.id} starts once`)
    this.running.add(job)
    this.expect(this.running.size - this.ending.size <= this.limit, 'no start above the concurrency')
    this.expect(this.queue.running <= this.limit, 'no start above the concurrency, as the queue counts')
    this.check()
    job.state = 'running'
    this.isInRunner = true
    try {
      this.maybeAct(job.random)
      return job[job.end](done, context)
    } finally {
      this.isInRunner = false
    }
  }

  drained () {
    this.entered()
    this.drains++
    this.expect(this.queue.length === 0, 'drain comes when the queue is empty')
    this.expect(this.drainedAt < this.jobs.length, 'drain comes once each time')
    this.drainedAt = this.jobs.length
    this.check()
    const inside = seeded(this.seed - this.drains)
    this.maybeAct(inside)
    if (inside.chance(this.throwChance)) this.throwUncaught('drain')
  }

  // ---- support ----

  // Calls what promises to start nothing and to call nothing back.
  quietly (call) {
    const before = this.isInCall
    this.isInCall = true
    try {
      return call()
    } finally {
      this.isInCall = before
    }
  }

  maybeAct (random) {
    while (random.chance(0.25)) this.act(random)
  }

  throwUncaught (where) {
    const error = new Error(`expected, from ${where}`)
    this.thrown.push(error)
    throw error
  }

  check () {
    if (this.failure) return
    const { queue } = this
    const { accepted, waiting, running, done, failed, cancelled, rejected, overrun } = queue.stats()
    this.expect(queue.length === queue.waiting + queue.running, 'length = waiting + running')
    this.expect(queue.waiting === this.waiting.length, `waiting is ${queue.waiting}, not ${this.waiting.length}`)
    this.expect(running <= this.running.size && running >= this.running.size - this.ending.size,
      `running is ${running}, not ${this.running.size} (${this.ending.size} ending)`)
    this.expect(waiting === queue.waiting && running === queue.running, 'stats and properties agree')
    this.expect(accepted === this.jobs.length, 'accepted is exact')
    this.expect(accepted === waiting + running + done + failed + cancelled, 'the sum of all states is what was accepted')
    this.expect(cancelled === this.counts.cancelled, 'cancelled is exact')
    this.expect(rejected === 0 && overrun === 0, 'nothing is rejected or overruns')
    this.expect(queue.concurrency === this.limit, `concurrency is ${queue.concurrency}, not ${this.limit}`)
    this.expect(queue.paused === (this.limit === -1), 'paused tells')
  }

  expect (condition, message) {
    if (!condition) this.fail(message)
  }

  // The queue would take a throw for one of the user's code, so it is kept and thrown by the driver.
  fail (message) {
    if (this.failure === undefined) this.failure = new assert.AssertionError({ message, stackStartFn: this.fail })
  }

  rethrow () {
    if (this.failure) throw this.failure
  }
}

// One job of a round: how it ends, what its callback must get, and how its runner misbehaves.
class Job {
  constructor (round, id, random) {
    this.round = round
    this.id = id
    this.random = seeded(round.seed + 7 * id)
    this.payload = random.chance(0.1) ? random.pick(STRANGE_PAYLOADS) : id
    this.end = random.pick(ENDS[round.settleBy])
    this.fails = random.chance(0.2)
    this.again = random.pick([undefined, undefined, undefined, 'at once', 'in a later turn', 'kept'])
    this.hasCallback = random.chance(0.8)
    this.callbackThrows = random.chance(round.throwChance)
    this.error = { of: id } // an Error takes 10 µs to make
    this.result = { id }
    this.state = 'waiting'
    this.settlements = 0
    this.expected = undefined
  }

  // The callback.
  settled (error, result) {
    const { round } = this
    round.entered()
    this.settlements++
    round.expect(this.settlements === 1, `job ${this.id} settles once`)
    round.expect(!round.isInCall, 'no callback is called inside a call that starts nothing')
    if (this.state === 'cancelling') {
      round.expect(error instanceof fairlane.FairlaneError && error.code === 'FAIRLANE_ERR_CLEARED', 'a cancelled job gets its code')
      this.state = 'cancelled'
    } else {
      round.expect(this.state === 'ending', `job ${this.id} is called back while ${this.state}`)
      this.expectOutcome(error, result)
      this.state = 'settled'
      round.running.delete(this)
      round.ending.delete(this)
    }
    round.unsettled.delete(this.id)
    round.check()
    round.maybeAct(this.random)
    if (this.callbackThrows) round.throwUncaught(`callback ${this.id}`)
  }

  expectOutcome (error, result) {
    const { kind, value } = this.expected
    if (kind === 'error') this.round.expect(error === value, `job ${this.id} gets its error`)
    else if (kind === 'wrapped') this.round.expect(error.code === 'FAIRLANE_ERR_RUNNER' && error.cause === value, `job ${this.id} gets a wrapped reason`)
    else this.round.expect(!error && result === value, `job ${this.id} gets its result`)
  }

  // Its end begins here: from now on the queue may count it as ended.
  ends (kind, value) {
    const { round } = this
    round.expect(this.state === 'running', `job ${this.id} ends while ${this.state}`)
    this.state = 'ending'
    this.expected = { kind, value }
    round.ending.add(this)
    round.counts[kind === 'result' ? 'done' : 'failed']++
    if (!this.hasCallback) round.unsettled.delete(this.id)
  }

  // Calls done for the first time, and perhaps again.
  callDone (done) {
    const { round } = this
    if (this.fails) {
      this.ends('error', this.error)
      done(this.error)
    } else {
      this.ends('result', this.result)
      done(null, this.result)
    }
    if (this.again === 'at once') round.misuseBy(done)
    if (this.again === 'in a later turn') round.gates.push(() => round.misuseBy(done))
    if (this.again === 'kept') round.staleDones.push(done)
  }

  doneAtOnce (done) { this.callDone(done) }
  doneInTick (done) { process.nextTick(() => this.callDone(done)) }
  doneInMicrotask (done) { queueMicrotask(() => this.callDone(done)) }
  doneInImmediate (done) { setImmediate(() => this.callDone(done)) }
  doneAtGate (done) { this.round.gates.push(() => this.callDone(done)) }

  doneThenThrow (done) {
    this.callDone(done)
    this.round.throwUncaught(`runner ${this.id} after done`)
  }

  doneThenReject (done) {
    this.callDone(done)
    this.round.misuse++
    return Promise.reject(this.error)
  }

  doneThenFulfil (done) {
    this.callDone(done)
    return Promise.resolve('too late')
  }

  throws () {
    this.ends('error', this.error)
    throw this.error
  }

  fulfilled () {
    this.ends('result', this.result)
    return Promise.resolve(this.result)
  }

  rejected () {
    this.ends('error', this.error)
    return Promise.reject(this.error)
  }

  rejectedFalsy () {
    const reason = this.id % 2 ? undefined : 0
    this.ends('wrapped', reason)
    return Promise.reject(reason)
  }

  async fulfilledLater () {
    await null
    this.ends('result', this.result)
    return this.result
  }

  async rejectedLater () {
    await null
    this.ends('error', this.error)
    throw this.error
  }

  promiseAtGate () {
    return new Promise((resolve, reject) => {
      this.round.gates.push(() => {
        if (this.fails) {
          this.ends('error', this.error)
          reject(this.error)
        } else {
          this.ends('result', this.result)
          resolve(this.result)
        }
      })
    })
  }

  thenable () {
    this.ends('result', this.result)
    return { then: (resolve) => resolve(this.result) }
  }

  thenableLater () {
    return {
      then: (resolve, reject) => {
        this.round.gates.push(() => {
          this.ends('error', this.error)
          reject(this.error)
          resolve('too late')
        })
      }
    }
  }

  thenableThrows () {
    this.ends('error', this.error)
    return { then: () => { throw this.error } }
  }

  thenableGetterThrows () {
    this.ends('error', this.error)
    const { error } = this
    return { get then () { throw error } }
  }

  thenableResolvesThenThrows () {
    this.ends('result', this.result)
    return {
      then: (resolve) => {
        resolve(this.result)
        throw this.error
      }
    }
  }

  ignoredPromise (done) {
    this.round.gates.push(() => this.callDone(done))
    return Promise.resolve('ignored')
  }

  value () {
    this.ends('result', this.result)
    return this.result
  }
}
