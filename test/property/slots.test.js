'use strict'

// Random mixtures of functions, slots and jobs of a runner, and of all that ends, refuses or holds them back, on a clock that the test
// moves. Replay a failure with SEED=n: it plays the same rounds, up to the time slices of the queue, which are of real time.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../..')
const { checkInvariants, fakeClock } = require('../../lib/testing')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds, playRounds } = require('../support/rounds')
const { turn, turns } = require('../support/turns')

const ROUNDS = rounds(100)
const STEPS = 100
const TYPES = ['a', 'b', '', '__proto__', 'constructor']
const storage = new AsyncLocalStorage()

class Round {
  constructor (seed) {
    const random = this.random = seeded(seed)
    this.clock = fakeClock()
    this.options = {
      concurrency: 1 + random.below(4),
      scheduler: random.pick([null, 'equal', 'fair', 'capped']),
      settleBy: random.pick(['either', 'callback', 'promise']),
      asyncContext: random.pick(['queue', 'push']),
      onTimeout: random.pick(['hold', 'release']),
      maxWaiting: random.pick([Infinity, 20]),
      maxAttempts: random.pick([1, 3]),
      timeoutMs: random.pick([Infinity, 200]),
      backoffMs: 10
    }
    this.description = JSON.stringify(this.options)
    this.hasRunner = random.chance(0.5)
    const usesDone = this.options.settleBy === 'callback' || (this.options.settleBy === 'either' && random.chance(0.5))
    const runner = (payload, done) => this.work(usesDone ? done : undefined)
    this.queue = fairlane(this.hasRunner ? runner : null, { ...this.options, clock: this.clock })
    this.slots = []
    this.ends = [] // of functions and runners that pend
    this.controllers = []
    this.told = 0
    this.asked = 0
    this.faults = []
    this.starts = 0
  }

  async play () {
    for (let step = 0; step < STEPS; step++) {
      this.act()
      checkInvariants(this.queue)
      if (this.random.chance(0.5)) await turn()
      this.look()
    }
    const closed = this.queue.close(this.random.pick([undefined, { drain: false }, { timeoutMs: 100 }, { drain: false, timeoutMs: 100 }]))
    const state = { isClosed: false }
    closed.then(() => { state.isClosed = true })
    for (let i = 0; i < 2000 && (!state.isClosed || this.told < this.asked || this.slots.length + this.ends.length > 0); i++) {
      for (const slot of this.slots.splice(0)) slot.release()
      for (const end of this.ends.splice(0)) end()
      this.clock.advance(50)
      await turns(2)
      checkInvariants(this.queue)
    }
    this.look()
    const { accepted, waiting, running, overrun, done, failed, cancelled } = this.queue.stats()
    assert.deepEqual([state.isClosed, this.told, waiting, running, overrun], [true, this.asked, 0, 0, 0])
    assert.equal(accepted, done + failed + cancelled)
  }

  // private from here on

  look () {
    if (this.faults.length > 0) throw this.faults[0]
    const { concurrency, running } = this.queue
    assert(concurrency < 0 || running <= 8, `${running} run`)
  }

  act () {
    const { random, queue } = this
    const kind = random.below(20)
    if (kind < 5) this.ask(options => queue.acquire(options).then(slot => this.got(slot, options)), false)
    else if (kind < 9) this.run()
    else if (kind < 11 && this.hasRunner) this.ask(options => queue.add(1, options), true)
    else if (kind < 14) this.release()
    else if (kind < 16) this.ends.splice(random.below(this.ends.length), 1)[0]?.()
    else if (kind === 16) this.controllers.splice(random.below(this.controllers.length), 1)[0]?.abort('expected')
    else if (kind === 17) this.clock.advance(random.below(150))
    else if (kind === 18) random.pick([() => queue.pause(), () => queue.resume(1 + random.below(8)), () => queue.hold(20)])()
    else random.pick([() => queue.clear(), () => queue.remove(() => random.chance(0.3)), () => queue.resume(2)])()
  }

  optionsOf (isTriedAgain) {
    const { random } = this
    const options = { type: random.pick(TYPES) }
    if (random.chance(0.3)) {
      if (this.controllers.length === 0 || random.chance(0.5)) this.controllers.push(new AbortController())
      options.signal = random.pick(this.controllers).signal
    }
    if (random.chance(0.2)) options.timeoutMs = 1 + random.below(100)
    if (random.chance(0.2)) options.maxWaitMs = 1 + random.below(100)
    if (random.chance(0.1)) options.delayMs = random.below(50)
    if (random.chance(0.1)) options.unshift = true
    if (isTriedAgain && random.chance(0.2)) options.maxAttempts = 1 + random.below(3)
    if (isTriedAgain && random.chance(0.2)) Object.assign(options, { key: random.below(3), onDuplicate: random.pick(['join', 'replace', 'postpone']) })
    return options
  }

  ask (call, isTriedAgain) {
    this.asked++
    const tell = () => { this.told++ }
    call(this.optionsOf(isTriedAgain)).then(tell, err => {
      tell()
      if (err.code === undefined && err !== 'expected' && err.message !== 'expected' && !/throttled|postponed/.test(err.message)) this.faults.push(err)
    })
  }

  run () {
    const name = {}
    this.ask(options => storage.run(name, () => this.queue.run(({ type, signal }) => {
      this.expect(options.key !== undefined || storage.getStore() === name, 'it runs in the context of another one')
      this.expect(type === (this.options.scheduler === null ? undefined : options.type), 'it is told another type')
      if (this.random.chance(0.2)) signal.addEventListener('abort', () => { this.queue.run(() => {}, { type: 'a' }).catch(() => {}) })
      return this.work(undefined)
    }, options)), true)
  }

  /** What a function, or a runner, does. */
  work (done) {
    this.starts++
    const outcome = this.random.pick([undefined, undefined, new Error('expected'), new fairlane.Throttled(5), new fairlane.Postponed(5)])
    if (this.random.chance(0.2)) {
      if (outcome !== undefined) throw outcome
      return done === undefined ? Promise.resolve(1) : done(null, 1)
    }
    if (done !== undefined) {
      this.ends.push(() => done(outcome, 1))
      return undefined
    }
    return new Promise((resolve, reject) => this.ends.push(() => outcome === undefined ? resolve(1) : reject(outcome)))
  }

  got (slot, { type }) {
    this.expect(slot.waitedMs >= 0 && slot.type === (this.options.scheduler === null ? undefined : type), 'the slot is another one')
    if (this.random.chance(0.5)) slot.signal.addEventListener('abort', () => { if (this.random.chance(0.5)) slot.release() })
    this.slots.push(slot)
  }

  release () {
    if (this.slots.length === 0) return
    const [slot] = this.slots.splice(this.random.below(this.slots.length), 1)
    slot.release(this.random.pick([undefined, null, new Error('expected'), new fairlane.Throttled(5), new fairlane.Postponed(5)]))
    checkInvariants(this.queue)
    if (this.random.chance(0.3)) slot.release(new Error('too late'))
  }

  expect (condition, message) {
    if (!condition) this.faults.push(new Error(message))
  }
}

describe('a queue that runs functions and gives out slots', function () {
  const seed = seedFromEnvironment()

  it(`settles each of them once, and leaks no slot (SEED=${seed})`, () => playRounds(ROUNDS, seed, seed => new Round(seed), round => round.play()))
})
