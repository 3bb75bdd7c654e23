'use strict'

const assert = require('node:assert/strict')
const { verdictOf, tableOf } = require('../../bench/compare')
const { ratioInterval, summarise, summary } = require('../../bench/statistics')
const { seeded } = require('../support/random')

describe('what the rounds of a measurement are said to be', () => {
  it('is the best of them for times and rates, and how far the best quarter reaches', () => {
    assert.deepEqual(summary([12, 10, 11, 30, 40], { best: true }), { value: 10, min: 10, max: 40, spread: 0.1 })
    assert.deepEqual(summary([12, 10, 11, 30, 40], { best: true, higherIsBetter: true }), { value: 40, min: 10, max: 40, spread: 0.25 })
  })

  it('is their median for all else, with half the range', () => {
    assert.deepEqual(summary([12, 10, 20]), { value: 12, min: 10, max: 20, spread: 5 / 12 })
    assert.deepEqual(summary([0, 0]), { value: 0, min: 0, max: 0, spread: 0 })
  })

  it('has ratios to ours', () => {
    const contenders = { fairlane: { rounds: [{ ns: 10 }, { ns: 20 }] }, other: { rounds: [{ ns: 30 }, {}] }, none: { rounds: [{}] } }
    summarise(contenders, [{ key: 'ns', best: true }])
    assert.equal(contenders.other.ns.ratio, 3)
    assert.equal(contenders.none.ns, undefined)
  })
})

describe('the verdict on old code and new', () => {
  const { next: random } = seeded(7)

  /** As measurements are: never less than the cost, often a little more, at times much more. */
  const measured = (cost) => Array.from({ length: 40 }, () => cost * (1 - 0.08 * Math.log(1 - random()) + (random() < 0.3 ? 0.1 : 0)))
  const verdictsOf = (cost, metric) => Array.from({ length: 50 }, () => verdictOf(ratioInterval(measured(100), measured(cost), metric), 40))
  const share = (verdicts, wanted) => verdicts.filter((verdict) => wanted.includes(verdict)).length / verdicts.length

  it('calls code of the same cost not slower, or is undecided', () => {
    const verdicts = verdictsOf(100)
    assert(share(verdicts, ['slower']) <= 0.02, verdicts.join())
    assert(share(verdicts, ['not slower', 'faster']) >= 0.5, verdicts.join())
  })

  it('calls slower what takes a tenth more, and faster what takes a tenth less', () => {
    assert(share(verdictsOf(110), ['slower']) > 0.9)
    assert(share(verdictsOf(90), ['faster']) > 0.9)
  })

  it('is none before there were sixteen rounds, however far apart they are', () => {
    const interval = ratioInterval([10, 10], [20, 20])
    assert.deepEqual([verdictOf(interval, 15), verdictOf(interval, 16)], ['undecided', 'slower'])
  })

  it('takes more for worse only where less is better', () => {
    const { ratio } = ratioInterval([100, 100], [110, 110], { higherIsBetter: true })
    assert(ratio < 1, String(ratio))
  })

  it('is the same for the same rounds', () => {
    const rounds = [measured(100), measured(103)]
    assert.deepEqual(ratioInterval(...rounds), ratioInterval(...rounds))
  })

  it('stands in a row of a table', () => {
    const row = { what: 'fifo: sync', ...ratioInterval([10, 10], [11, 11]), verdict: 'slower', rounds: 2 }
    assert.deepEqual(tableOf([row], 'HEAD').rows, [['fifo: sync', '10', '11', '1.100', '1.100', '1.100', '2', 'slower']])
  })
})
