'use strict'

// The rounds by themselves: what a limit becomes after rounds of which the slowdown is given.

const assert = require('node:assert/strict')
const { Classes } = require('../../lib/adaptive/classes')
const { Rounds } = require('../../lib/adaptive/rounds')

const PROBE = 100 // rounds from one probe to the next

/**
 * @param {object} [limits] of the Rounds
 * @returns {object} `close(slowdown, options)` gives why the limit is another one after a round of jobs that took so many times their
 *   baseline; `grow(limit)` brings the limit there
 */
function playing (limits) {
  const classes = new Classes()
  const jobClass = classes.of('t', 0)
  jobClass.begin(2)
  const rounds = new Rounds({ least: 1, most: 1000, first: 10, ...limits }, classes)
  let now = 0

  const close = (slowdown, { count = 400, rejects = 0, isPressed = true, noise = 0 } = {}) => {
    now += 1000
    const of = jobClass.baseline / 2
    for (let i = 0; i < count; i++) {
      const root = Math.max(0, 2 * Math.sqrt(slowdown) * (1 + (i % 2 === 0 ? noise : -noise)))
      rounds.ended(root, 2 * of, isPressed)
      if (rounds.isTrying) jobClass.tried(root)
    }
    for (let i = 0; i < rejects; i++) rounds.rejected()
    return rounds.close(now)
  }
  const grow = limit => {
    while (rounds.limit < limit) assert.equal(close(1), 'growth')
  }
  return { rounds, jobClass, close, grow, settle: () => { rounds.endStart(); rounds.probeAt = rounds.roundCount + PROBE } }
}

describe('rounds', () => {
  it('are over after twice as many ends as may run, 20 at least, and 100 ms', () => {
    const { rounds } = playing({ first: 30 })
    for (let i = 0; i < 59; i++) rounds.ended(2, 2, true)
    assert(!rounds.isDue(1000))
    rounds.rejected()
    assert(rounds.isDue(1000))
    rounds.close(1000)
    for (let i = 0; i < 200; i++) rounds.ended(2, 2, true)
    assert(!rounds.isDue(1099))
    assert(rounds.isDue(1200))
    const few = playing({ first: 2 }).rounds
    for (let i = 0; i < 19; i++) few.ended(2, 2, true)
    assert(!few.isDue(0))
    few.ended(2, 2, true)
    assert(few.isDue(0))
  })

  it('count jobs that began since the limit is what it is, from when those that ended first were not the short ones', () => {
    const { rounds, close } = playing()
    const { epoch } = rounds
    assert(rounds.counts(epoch, 0))
    close(1) // the mean root is 2: jobs of 4 ms
    assert(!rounds.counts(epoch, 2000))
    assert(!rounds.counts(rounds.epoch, 1015))
    assert(rounds.counts(rounds.epoch, 1016))
    assert.equal(rounds.lookAt, 1116)
  })

  it('have the limit grow by half until something is too much, then by a twelfth, by one at least', () => {
    const { rounds, close, settle } = playing()
    const limits = [1, 1, 1, 1].map(slowdown => { close(slowdown); return rounds.limit })
    assert.deepEqual(limits, [15, 22, 33, 49])
    settle()
    assert.deepEqual([1, 1].map(slowdown => { close(slowdown); return rounds.limit }), [52, 56])
    const few = playing({ first: 2 })
    few.settle()
    few.close(1)
    assert.equal(few.rounds.limit, 3)
  })

  it('have it grow no further than most', () => {
    const { rounds, close } = playing({ most: 12 })
    assert.equal(close(1), 'growth')
    assert.deepEqual([rounds.limit, close(1)], [12, undefined])
  })

  it('leave it where a few jobs only wait', () => {
    const { rounds, close } = playing({ first: 50 })
    assert.deepEqual([close(1.1), rounds.limit], [undefined, 50])
    assert.equal(rounds.isStarting, false)
  })

  it('leave it where the queue has not enough jobs', () => {
    const { rounds, close } = playing()
    assert.deepEqual([close(1, { isPressed: false }), close(4, { isPressed: false }), rounds.limit], [undefined, undefined, 10])
  })

  it('cut it by the root of the slowdown, by half at most', () => {
    const { rounds, close } = playing({ first: 100 })
    assert.deepEqual([close(1.44), close(1.44), rounds.limit], [undefined, 'slowdown', 83])
    close(1)
    assert.deepEqual([rounds.limit, close(9), close(9), rounds.limit], [89, undefined, 'slowdown', 44])
  })

  it('do not cut it for a single round, which may be slow for a pause of the process', () => {
    const { rounds, close } = playing({ first: 100 })
    for (const slowdown of [9, 1.05, 9, 1.05]) close(slowdown)
    assert(rounds.limit >= 100)
  })

  it('do not cut it where that may be chance', () => {
    const { rounds, close } = playing({ first: 50 })
    for (let i = 0; i < 5; i++) assert.equal(close(1.3, { count: 40, noise: 0.9 }), undefined)
    assert.equal(rounds.limit, 50)
    rounds.probeAt = Infinity
    close(1.3, { count: 4000, noise: 0.9 })
    assert.equal(close(1.3, { count: 4000, noise: 0.9 }), 'slowdown')
  })

  it('tell small limits apart from large ones: with few slots one job that waits is much', () => {
    const { rounds, close } = playing({ first: 4 })
    assert.deepEqual([close(4), close(4), rounds.limit], [undefined, 'slowdown', 2])
  })

  it('take slowness that stays with half the load for another time that jobs take', () => {
    const { rounds, jobClass, close } = playing({ first: 100 })
    assert.deepEqual([close(3), close(3), rounds.limit], [undefined, 'slowdown', 57])
    assert.deepEqual([close(3), rounds.limit], ['slowdown', 50])
    assert.deepEqual([close(3), rounds.limit], ['restore', 100])
    assert(Math.abs(jobClass.baseline - 2 * Math.sqrt(3)) < 1e-9)
    assert.equal(rounds.slowdown, 1)
  })

  it('go on cutting where half the load made it better', () => {
    const { rounds, jobClass, close } = playing({ first: 100 })
    close(9)
    for (const slowdown of [9, 3]) assert.equal(close(slowdown), 'slowdown')
    assert.deepEqual([rounds.limit, jobClass.baseline], [28, 2])
  })

  it('take what jobs take at the least limit for what they take, after some rounds', () => {
    const { rounds, jobClass, close } = playing({ least: 8, first: 8 })
    for (let i = 0; i < 3; i++) assert.equal(close(16), undefined)
    assert.equal(jobClass.baseline, 2)
    assert.deepEqual([close(16), rounds.limit, jobClass.baseline], [undefined, 8, 8])
  })

  it('look now and then what jobs take with half the load, and go back', () => {
    const { rounds, jobClass, close, settle } = playing({ first: 50, most: 50 })
    settle()
    for (let i = 0; i < PROBE - 1; i++) assert.equal(close(1), undefined)
    assert.deepEqual([close(1), rounds.limit, rounds.isTrying], ['probe', 25, true])
    assert.deepEqual([close(1), rounds.limit, rounds.isTrying], ['restore', 50, false])
    assert.equal(jobClass.baseline, 2)
    for (let i = 0; i < PROBE - 1; i++) assert.equal(close(1), undefined)
    assert.equal(close(1), 'probe')
  })

  it('look sooner where the limit neither grows nor falls, and not so soon again if that was no use', () => {
    const { close, settle } = playing({ first: 50 })
    settle()
    for (const patience of [25, 50, 100, 100]) {
      for (let i = 0; i < patience - 1; i++) assert.equal(close(1.1), undefined)
      assert.equal(close(1.1), 'probe')
      assert.equal(close(1), 'restore')
    }
  })

  it('do so in rounds in a row only', () => {
    const { close, settle } = playing({ first: 50, most: 50 })
    settle()
    for (let i = 0; i < PROBE - 1; i++) assert.equal(close(i % 20 === 0 ? 1 : 1.1), undefined)
  })

  it('look as soon as that again after something was learnt', () => {
    const { rounds, close, settle } = playing({ first: 50 })
    settle()
    for (let i = 0; i < 25; i++) close(1.1)
    close(1)
    for (let i = 0; i < 50; i++) close(1.1)
    close(1.08)
    rounds.probeAt = Infinity
    const again = () => close(1.08 * 1.1)
    for (let i = 0; i < 24; i++) assert.equal(again(), undefined)
    assert.equal(again(), 'probe')
  })

  it('learn from that, down or up, and look again soon', () => {
    for (const [slowdown, learnt] of [[0.64, 0.64], [1.08, 1.08], [1.02, 1.02], [0.999, 0.999]]) {
      const { rounds, jobClass, close } = playing({ first: 50 })
      rounds.endStart()
      rounds.probeAt = 1
      assert.equal(close(1.1), 'probe')
      close(slowdown)
      assert(Math.abs(jobClass.baseline - 2 * Math.sqrt(learnt)) < 1e-9, `${slowdown}`)
      assert.equal(rounds.probeAt, rounds.roundCount + 5)
    }
    const { rounds, jobClass, close } = playing({ first: 50 })
    rounds.probeAt = 1
    close(1.1)
    close(1.02, { count: 100, noise: 0.8 }) // chance, perhaps
    assert.deepEqual([jobClass.baseline, rounds.probeAt], [2, 2 + PROBE])
  })

  it('do not look where half the load is less than the least', () => {
    const { rounds, close } = playing({ first: 15, least: 8 })
    rounds.endStart()
    rounds.probeAt = 0
    assert.equal(close(1), 'growth')
    assert.equal(rounds.limit, 16)
    assert.equal(close(1), 'probe')
    assert.equal(rounds.limit, 8)
  })

  it('look soon after something has been too much for the first time', () => {
    const { rounds, close } = playing({ first: 50 })
    close(1.1)
    for (let i = 0; i < 4; i++) assert.equal(close(1.1), undefined)
    assert.equal(close(1.1), 'probe')
    assert.equal(rounds.limit, 25)
  })

  it('cut it after rejects by a tenth, or by three tenths if they are many', () => {
    const { rounds, close } = playing({ first: 100 })
    assert.deepEqual([close(1, { count: 98, rejects: 2 }), rounds.limit], ['rejects', 90])
    assert.deepEqual([close(1, { count: 80, rejects: 20 }), rounds.limit], ['rejects', 62])
    assert.deepEqual([close(1, { count: 0, rejects: 200 }), rounds.limit], ['rejects', 43])
    assert.equal(rounds.rejectCount, 222)
  })

  it('do so during a probe, and are not told to go back', () => {
    const { rounds, close } = playing({ first: 50 })
    rounds.probeAt = 1
    assert.equal(close(1.1), 'probe')
    assert.deepEqual([close(1, { count: 80, rejects: 20 }), rounds.limit, rounds.isTrying], ['rejects', 17, false])
  })

  it('let it grow slowly near a limit at which there were rejects, for a hundred rounds', () => {
    const { rounds, close } = playing({ first: 100 })
    close(1, { count: 98, rejects: 2 })
    const before = rounds.limit
    for (let i = 0; i < 40; i++) close(1)
    assert.equal(rounds.limit, before + 10)
    for (let i = 0; i < 60; i++) close(1)
    assert(rounds.limit > before + 20)
  })

  it('take no account of very few rejects', () => {
    const { rounds, close } = playing()
    assert.equal(close(1, { count: 998, rejects: 2 }), 'growth')
    assert.equal(rounds.rejectCount, 2)
  })

  it('take rejects that stay with half the load for none of ours, for a hundred rounds', () => {
    const { rounds, close } = playing({ first: 100 })
    const rejecting = () => close(1, { count: 98, rejects: 2 })
    let causes = []
    while (causes.at(-1) !== 'restore') causes.push(rejecting())
    assert.deepEqual(causes, [...Array(7).fill('rejects'), 'restore'])
    assert.equal(rounds.limit, 100)
    causes = []
    for (let i = 0; i < 99; i++) causes.push(rejecting())
    assert(!causes.includes('rejects'))
    assert.equal(rejecting(), 'rejects')
  })

  it('never take many rejects for that', () => {
    const { rounds, close } = playing({ first: 100 })
    for (let i = 0; i < 20; i++) close(1, { count: 50, rejects: 50 })
    assert.equal(rounds.limit, 1)
  })

  it('take jobs that seem to take no time', () => {
    const { rounds, close } = playing()
    assert.equal(close(0), 'growth')
    assert(rounds.slow > 0)
  })
})
