'use strict'

// Random mixtures of answers, failures, aborts, limits of time and ends of bodies. Whatever happens, each call settles, no type is asked
// while it is held, no more calls have a slot than may, and in the end nobody has one.

const assert = require('node:assert/strict')
const { fairFetch } = require('../../lib/fetch')
const { fakeClock } = require('../../lib/testing')
const { seeded, seedFromEnvironment } = require('../support/random')
const { playRounds, rounds } = require('../support/rounds')
const { quiet, turns } = require('../support/turns')

const TYPES = ['a', 'b', 'c']
const STATUSES = [200, 200, 200, 404, 429, 500, 503]
const STEPS = 120
const seed = seedFromEnvironment()

class Round {
  constructor (seed) {
    const { random } = Object.assign(this, { random: seeded(seed) })
    this.clock = fakeClock()
    this.options = {
      clock: this.clock,
      concurrency: 1 + random.below(4),
      until: this.random.pick(['headers', 'body']),
      maxAttempts: 1 + random.below(3),
      backoffMs: this.random.pick([0, 50, attempt => attempt > 1 ? Infinity : 10]),
      timeoutMs: this.random.pick([undefined, 500]),
      maxWaitMs: this.random.pick([undefined, 2000]),
      maxWaitingPerType: this.random.pick([undefined, 5]),
      asyncContext: this.random.pick([undefined, 'queue'])
    }
    this.description = JSON.stringify({ ...this.options, clock: undefined })
    this.heldUntil = new Map(TYPES.map(type => [type, 0]))
    this.open = new Set() // calls of the given fetch that have no response
    this.responses = [] // whose bodies are to be read
    this.controllers = []
    this.unsettled = 0
    this.fetch = fairFetch((input, init) => this.send(input, init), this.options)
  }

  /** The given fetch. */
  send (type, { signal }) {
    assert(this.open.size < this.options.concurrency, `${this.open.size} have a slot`)
    assert(this.clock.now() >= this.heldUntil.get(type), `${type} is asked at ${this.clock.now()} before ${this.heldUntil.get(type)}`)
    return new Promise((resolve, reject) => {
      const call = { type, resolve, reject }
      this.open.add(call)
      signal.addEventListener('abort', () => this.end(call, () => reject(signal.reason)))
    })
  }

  end (call, settle) {
    if (!this.open.delete(call)) return
    settle()
  }

  call () {
    const controller = new AbortController()
    const type = this.random.pick(TYPES)
    this.unsettled++
    const init = { method: this.random.pick(['GET', 'PUT', 'POST']), signal: this.random.below(2) === 0 ? controller.signal : undefined }
    if (init.signal !== undefined) this.controllers.push(controller)
    this.fetch(type, { ...init, fairlane: { type } }).then(response => this.got(response), err => {
      if (err === undefined) throw new Error('a call has failed with nothing')
    }).finally(() => { this.unsettled-- })
  }

  got (response) {
    this.responses.push(response)
    if (this.random.chance(0.7)) this.read()
  }

  /** Somebody reads a body, or does not want it. */
  read () {
    const response = this.responses.pop()
    if (response === undefined) return
    if (this.random.chance(0.5)) response.text().catch(() => {})
    else response.body.cancel().catch(() => {})
  }

  answer () {
    const call = this.random.pick([...this.open])
    if (call === undefined) return
    const status = this.random.pick(STATUSES)
    const headers = {}
    const seconds = 1 + this.random.below(3)
    const kind = this.random.below(4)
    if (kind === 0) headers['Retry-After'] = String(seconds)
    if (kind === 1) headers.RateLimit = `"default";r=0;t=${seconds}`
    const isHeld = kind === 1 || (kind === 0 && (status === 429 || status === 503))
    if (isHeld) this.heldUntil.set(call.type, Math.max(this.heldUntil.get(call.type), this.clock.now() + seconds * 1000))
    this.end(call, () => call.resolve(new Response('text', { status, headers })))
  }

  fail () {
    const call = this.random.pick([...this.open])
    if (call === undefined) return
    const err = this.random.pick([new TypeError('fetch failed'), new TypeError('wrong'), new Error('of any make'), 'text', null])
    this.end(call, () => call.reject(err))
  }

  async step () {
    const kind = this.random.below(12)
    if (kind < 5) this.call()
    else if (kind < 8) this.answer()
    else if (kind === 8) this.fail()
    else if (kind === 9) this.random.pick(this.controllers)?.abort(new Error('aborted'))
    else if (kind === 10) this.clock.advance(this.random.below(700))
    else if (this.random.chance(0.8)) this.read()
    else if (this.random.chance(0.5)) this.fetch.queue.clear({ type: this.random.pick(TYPES) })
    if (this.random.below(3) === 0) await turns(1 + this.random.below(4))
  }

  async play () {
    for (let i = 0; i < STEPS; i++) await this.step()
    if (this.random.below(4) === 0) this.fetch.queue.close({ drain: false })
    for (let i = 0; this.unsettled > 0 || this.fetch.queue.length > 0; i++) {
      assert(i < 1000, `${this.unsettled} calls have not settled, ${this.fetch.queue.running} run, ${this.fetch.queue.waiting} wait`)
      this.answer()
      this.read()
      this.clock.advance(500)
      await quiet()
    }
    const { accepted, done, failed, cancelled, waiting, running, overrun } = this.fetch.queue.stats()
    assert.deepEqual([waiting, running, overrun, this.open.size], [0, 0, 0, 0])
    assert.equal(accepted, done + failed + cancelled)
  }
}

describe('a fetch', () => {
  it(`keeps its word in random mixtures of what may happen, SEED=${seed}`, async () => {
    await playRounds(rounds(40), seed, seed => new Round(seed), round => round.play())
  })
})
