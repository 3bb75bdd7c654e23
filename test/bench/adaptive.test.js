'use strict'

// The scenarios of the bench, shortened: what is asked of the control in each, of the best fixed limit. Deterministic, but for what
// versions of Node reckon differently in the last digit.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const benchCase = require('../../bench/cases/adaptive')
const { FIRST, LEAST, MOST, limitersWith } = require('../../bench/adaptive/limiters')
const { SCENARIOS } = require('../../bench/adaptive/scenarios')
const { simulate } = require('../../bench/adaptive/simulation')
const { randomNumbers } = require('../../bench/simulation')
const { adaptive } = require('../../lib/adaptive')
const { root } = require('../support/child')

// A server that has been overloaded since the first job: only who looks with half the load learns that jobs need not take so long.
const CONGESTED = {
  draw: 'skewed',
  phases: Array(3).fill({ capacity: 4, mostInFlight: 500, slower: 1, types: { quick: 1 } }),
  bests: [1000, 1000, 1000],
  least: { mean: 0.7, each: 0.6 }
}
const PHASE_MS = { capacity: 4000, refusals: 12000, costly: 4000, slower: 12000, bursts: 48000, tails: 6000, congested: 8000 }
const { cells } = JSON.parse(readFileSync(join(root, 'bench/results/adaptive.json'), 'utf8'))
// what the best fixed limit gets in each phase
const BESTS = { congested: CONGESTED.bests }
for (const { id, contenders: { 'best fixed': { rounds: [best] } } } of cells) BESTS[id] = [best.phase1, best.phase2, best.phase3]
const LEAST_OF = { ...Object.fromEntries(Object.entries(SCENARIOS).map(([id, { least }]) => [id, least])), congested: CONGESTED.least }

describe('a control before a server that is a formula', () => {
  for (const [id, scenario] of Object.entries({ ...SCENARIOS, congested: CONGESTED })) {
    it(`gets nearly as much as the best fixed limit of each phase: ${id}`, async () => {
      const control = adaptive({ least: LEAST, most: MOST, first: FIRST })
      const { okPerSecond, refused } = await simulate(scenario, { phaseMs: PHASE_MS[id], control })
      const shares = okPerSecond.map((ok, i) => ok / BESTS[id][i])
      const mean = shares.reduce((a, b) => a + b) / shares.length
      const least = LEAST_OF[id]
      assert(mean >= least.mean, `${mean} on average: ${okPerSecond}`)
      for (const share of shares) assert(share >= least.each, `${okPerSecond}`)
      assert(refused < 0.02, `${refused} were refused`)
    })
  }

  it('is before one that is as fast as was reckoned', async () => {
    const limiter = { limit: 25, ended () {} }
    const { okPerSecond, limits, times } = await simulate(SCENARIOS.capacity, { phaseMs: 1000, everyMs: 500, limiter })
    for (const ok of okPerSecond) assert(ok > 5900 && ok < 6300, `${ok}`)
    assert(limits.every(limit => limit === 25))
    assert(times.every(ms => ms > 3.8 && ms < 4.2), `${times}`)
  })
})

describe('what is compared with it', () => {
  /** Seconds of calls that take so long, each with so many others. */
  function limitAfter (name, seconds, { ms = 4, inFlight, isRejected = false }) {
    const limiter = limitersWith(randomNumbers(1)).get(name)()
    for (let i = 0; i <= 20 * seconds; i++) {
      const calls = inFlight ?? Math.ceil(limiter.limit)
      limiter.ended({ ms: typeof ms === 'function' ? ms(i / 20) : ms, inFlight: calls, isRejected, now: 50 * i })
    }
    return limiter.limit
  }

  it('grows while calls are as quick as ever, and stays within bounds', () => {
    for (const name of ['AIMD', 'Vegas', 'gradient2']) {
      assert(limitAfter(name, 30, {}) > 20, name)
      assert.equal(limitAfter(name, 1000, {}), MOST, name)
    }
  })

  it('does not grow where calls are few', () => {
    for (const name of ['AIMD', 'Vegas', 'gradient2']) assert.equal(limitAfter(name, 100, { inFlight: 1 }), FIRST, name)
  })

  it('falls when calls take longer', () => {
    const ms = second => second < 30 ? 4 : 40
    for (const name of ['AIMD', 'Vegas', 'gradient2']) {
      assert(limitAfter(name, 60, { ms }) < limitAfter(name, 29, {}), name)
    }
  })
})

describe('bench/results/adaptive.json', () => {
  it('has every scenario, and every contender', () => {
    assert.deepEqual(cells.map(({ id }) => id), Object.keys(SCENARIOS))
    for (const { contenders } of cells) {
      assert.deepEqual(Object.keys(contenders), ['best fixed', 'fixed 48', 'AIMD', 'Vegas', 'gradient2', 'fairlane'])
    }
  })

  for (const { id, contenders } of cells) {
    it(`meets what is asked of the control: ${id}`, () => {
      const [{ mean, worst }] = contenders.fairlane.rounds
      const { least } = SCENARIOS[id]
      assert(mean >= least.mean && worst >= least.each, `${mean}, ${worst}`)
    })
  }

  it('is what a rerun gives', async () => {
    const [cell] = benchCase.cells({ quick: false })
    const { contenders: { gradient2 } } = cells.find(({ id }) => id === cell.id)
    const { phase1, phase2, phase3 } = await benchCase.measure(cell, 'gradient2')
    for (const [key, value] of Object.entries({ phase1, phase2, phase3 })) {
      assert(Math.abs(value / gradient2.rounds[0][key] - 1) < 1e-3, key)
    }
  })
})
