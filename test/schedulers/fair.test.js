'use strict'

const assert = require('node:assert/strict')
const { Fair } = require('../../schedulers')
const { seeded, seedFromEnvironment } = require('../support/random')

const lane = (type, size, running, headSeq) => ({ type, size, running, headSeq, isPaused: false, state: undefined })

/** A scheduler that knows these lanes. */
function knowing (lanes, options) {
  const fair = new Fair(options)
  for (const each of lanes) {
    const { size, running } = each
    Object.assign(each, { size: 0, running: 0, state: undefined })
    for (let i = 0; i < running; i++) {
      each.size++
      fair.queued(each)
      each.size--
      each.running++
      fair.started(each)
    }
    for (let i = 0; i < size; i++) {
      each.size++
      fair.queued(each)
    }
  }
  return fair
}

/** The rule, word for word. */
function expected (lanes, { maxTypeShare, maxScanLength, hard, concurrency }) {
  const waiting = lanes.filter(({ size }) => size > 0).sort((a, b) => a.headSeq - b.headSeq)
  const waitingCount = waiting.reduce((sum, { size }) => sum + size, 0)
  const examined = waiting.slice(0, Math.max(maxScanLength, 1))
  const isUnder = ({ running }) => running / concurrency < maxTypeShare
  const eligible = examined.find(each => isUnder(each) && each.running / concurrency < each.size / waitingCount)
  return eligible ?? (hard ? examined.find(isUnder) : waiting[0])
}

describe('fair', function () {
  it('picks by the rule, whatever maxScanLength and hard are', function () {
    const seed = seedFromEnvironment()
    const random = seeded(seed)
    for (let i = 0; i < 3000; i++) {
      const options = {
        maxTypeShare: random.pick([0, 0.1, 0.3, 0.8, 1, Infinity]),
        maxScanLength: random.pick([0, 1, 2, 3, 1000]),
        hard: random.chance(0.5),
        concurrency: random.pick([1, 5, 10, Infinity])
      }
      const lanes = Array.from({ length: 1 + random.below(12) }, (_, n) => lane(`type ${n}`, random.below(5), random.below(4), n))
      for (const each of lanes) each.headSeq = random.next()
      const fair = knowing(lanes, options)
      assert.equal(fair.next(), expected(lanes, options), `SEED=${seed}, ${JSON.stringify({ options, lanes: lanes.map(({ size, running, headSeq }) => [size, running, headSeq]) })}`)
    }
  })

  it('looks at one type in front of others however many jobs it has', function () {
    const flood = lane('flood', 5000, 9, 0)
    const quiet = lane('quiet', 1, 0, 5000)
    assert.equal(knowing([flood, quiet], { maxScanLength: 2 }).next(), quiet)
    assert.equal(knowing([flood, quiet], { maxScanLength: 1 }).next(), flood)
  })

  it('compares quotients: 7 of 100 slots are a share of 0.07', function () {
    const full = lane('full', 10, 7, 0)
    const other = lane('other', 1, 0, 100)
    assert.ok(0.07 * 100 > 7)
    assert.equal(knowing([full, other], { concurrency: 100, maxTypeShare: 0.07 }).next(), other)
    assert.equal(knowing([full], { concurrency: 100, maxTypeShare: 0.07, hard: true }).next(), undefined)
  })

  it('counts paused types nowhere', function () {
    const a = lane('a', 6, 2, 0)
    const b = lane('b', 53, 0, 1)
    const c = lane('c', 1, 0, 2)
    const fair = knowing([a, b, c], { concurrency: 10 })
    assert.equal(fair.next(), b, 'a has a fifth of the slots, a tenth of the waiting jobs')
    b.isPaused = true
    fair.paused(b)
    assert.equal(fair.next(), a)
    b.isPaused = false
    fair.resumed(b)
    assert.equal(fair.next(), b)
  })

  it('counts jobs that were removed nowhere', function () {
    const a = lane('a', 6, 2, 0)
    const b = lane('b', 54, 0, 1)
    const fair = knowing([a, b], { concurrency: 10 })
    assert.equal(fair.next(), b, 'a has a fifth of the slots, a tenth of the waiting jobs')
    for (let i = 0; i < 50; i++) {
      b.size--
      fair.removed(b)
    }
    assert.equal(fair.next(), a)
  })

  it('knows how many types run', function () {
    const lanes = ['a', 'b'].map(type => lane(type, 0, 2, 0))
    const fair = knowing(lanes)
    const counts = []
    for (const each of [...lanes, ...lanes]) {
      each.running--
      fair.ended(each)
      counts.push(fair.runningTypesCount)
    }
    assert.deepEqual(counts, [2, 2, 1, 0])
  })

  it('has nothing to choose from when nothing waits', function () {
    assert.equal(new Fair().next(), undefined)
  })
})
