'use strict'

const assert = require('node:assert/strict')
const { Classes } = require('../../lib/adaptive/classes')

/** Jobs of a class start and end. @param {(i: number) => number} rootOf the root of the time of each @returns {number} its baseline */
function learn (jobClass, count, rootOf, slow = 1) {
  for (let i = 0; i < count; i++) {
    if (jobClass.starts()) jobClass.begins(rootOf(i), slow)
    else if (jobClass.baseline > 0) jobClass.learn(rootOf(i))
  }
  return jobClass.baseline
}

describe('a class of jobs', () => {
  it('has a baseline when 45 of the first 50 jobs that started have ended; the others count as the longest', () => {
    const jobClass = new Classes().of('t', 0)
    const started = Array.from({ length: 60 }, () => jobClass.starts())
    assert.deepEqual(started, [...Array(50).fill(true), ...Array(10).fill(false)])
    for (let i = 0; i < 44; i++) jobClass.begins(i === 0 ? 10 : 1, 1)
    assert.equal(jobClass.baseline, 0)
    jobClass.begins(1, 1)
    assert.equal(jobClass.baseline, (44 + 10 + 5 * 10) / 50)
    jobClass.begins(100, 1)
    assert.equal(jobClass.baseline, 104 / 50)
    assert.equal(jobClass.starts(), false)
  })

  it('is learnt from jobs that are slow now, as if they were not', () => {
    assert.equal(learn(new Classes().of('t', 0), 50, () => 6, 3), 2)
  })

  it('of which all jobs take no time has none, and goes on learning', () => {
    const jobClass = new Classes().of('t', 0)
    assert.equal(learn(jobClass, 120, () => 0), 0)
    assert.equal(learn(jobClass, 120, () => 3) > 0, true)
  })

  it('goes halfway down when 512 jobs were quicker and that is no chance, and never up', () => {
    const jobClass = new Classes().of('t', 0)
    learn(jobClass, 45, () => 10)
    assert.equal(learn(jobClass, 511, () => 6), 10)
    assert.equal(learn(jobClass, 1, () => 6), 8)
    assert.equal(learn(jobClass, 512, i => i % 2 === 0 ? 0 : 15.8), 8)
    assert.equal(learn(jobClass, 512, () => 20), 8)
  })
})

describe('classes', () => {
  it('adopt what was measured of each where enough jobs were, else the common factor', () => {
    const classes = new Classes()
    const [measured, other, unknown] = ['a', 'b', 'c'].map(name => classes.of(name, 0))
    learn(measured, 50, () => 4)
    learn(other, 50, () => 4)
    for (let i = 0; i < 50; i++) measured.tried(10)
    for (let i = 0; i < 49; i++) other.tried(10)
    classes.adopt(2)
    assert.deepEqual([measured.baseline, other.baseline, unknown.baseline], [10, 8, 0])
    classes.forgetTries()
    classes.adopt(2)
    assert.deepEqual([measured.baseline, other.baseline], [20, 16])
  })

  it('are a thousand; others share one, until some have not been seen for long', () => {
    const classes = new Classes()
    const first = classes.of('0', 0)
    for (let i = 1; i < 1000; i++) classes.of(`${i}`, 0).lastMs = 1e6
    first.lastMs = 1
    assert.equal(classes.of('0', 5), first)
    const others = classes.of('1000', 5)
    assert.equal(classes.of('1001', 5), others)
    assert.equal(classes.size, 1000)
    assert.equal(classes.of('1002', 60001), others)
    assert.notEqual(classes.of('1003', 600002), others)
    assert.equal(classes.size, 1000)
    assert.equal(classes.of('1004', 600003), others)
    assert.notEqual(classes.of('0', 1e9), first)
  })

  it('know types that are names of properties', () => {
    const classes = new Classes()
    assert.notEqual(classes.of('__proto__', 0), classes.of('constructor', 0))
    assert.equal(classes.of(undefined, 0), classes.of(undefined, 1))
  })
})
