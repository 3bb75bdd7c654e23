'use strict'

const assert = require('node:assert/strict')
const { Slice, PACE } = require('../../lib/platform/slice')
const { stoppedTime } = require('../support/time')

describe('a slice of work', function () {
  let time

  beforeEach(function () {
    time = stoppedTime(1000)
  })

  afterEach(function () { time.release() })

  /** Does pieces that take so many ms each. @returns {number} how many until it is over */
  function workUntilOver (slice, ms) {
    for (let count = 1; count < 1e6; count++) {
      time.pass(ms)
      if (slice.isOver()) return count
    }
    throw new Error('it goes on for ever')
  }

  it('has 2 ms, and looks at the clock after 16 pieces first', function () {
    assert.deepEqual({ ...PACE }, { ms: 2, pieces: 16 })
    const slice = new Slice(PACE)
    time.lookCount = 0
    for (let i = 0; i < 15; i++) slice.isOver()
    assert.equal(time.lookCount, 0)
    slice.isOver()
    assert.equal(time.lookCount, 1)
  })

  it('looks after twice as many pieces each time while they are quick, up to 32, or to as many as it began with', function () {
    for (const [pieces, strides] of [[1, [1, 2, 4, 8, 16, 32, 32]], [500, [500, 500, 500]]]) {
      const slice = new Slice({ ms: 2, pieces })
      const looks = []
      for (let count = 1; looks.length < strides.length; count++) {
        const before = time.lookCount
        assert.equal(slice.isOver(), false)
        if (time.lookCount > before) looks.push(count)
      }
      assert.deepEqual(looks.map((count, i) => count - (looks[i - 1] ?? 0)), strides)
    }
  })

  it('looks after each piece once they take more than a quarter of what is left', function () {
    const slice = new Slice({ ms: 2, pieces: 4 })
    time.pass(0.5)
    for (let i = 0; i < 4; i++) assert.equal(slice.isOver(), false) // 0.5 ms of 1.5 that are left
    time.lookCount = 0
    for (let i = 0; i < 3; i++) {
      time.pass(0.1)
      slice.isOver()
    }
    assert.equal(time.lookCount, 2) // quick again: after one piece, then after two
  })

  it('is over when its time is, to the point', function () {
    assert.equal(workUntilOver(new Slice({ ms: 2, pieces: 1 }), 0.25), 8)
    assert.equal(workUntilOver(new Slice({ ms: 2, pieces: 1 }), 0.5), 4)
  })

  it('counts pieces that are done at once', function () {
    const slice = new Slice({ ms: 2, pieces: 16 })
    time.pass(3)
    assert.equal(slice.isOver(15), false)
    assert.equal(slice.isOver(), true)
  })

  it('has all of its time again after a turn', function () {
    const slice = new Slice({ ms: 2, pieces: 1 })
    workUntilOver(slice, 0.5)
    slice.begin()
    assert.equal(workUntilOver(slice, 0.5), 4)
  })
})
